// The request log: rows by their properties and outcome, in pages and as they are written.

import { expect } from "bun:test";
import { idNamedByRequest, prefixedId, uuid } from "../../../src/base/ids.ts";
import type { LogFilter, LogRow } from "../../../src/store/usage/log.ts";
import type { UsageRecord } from "../../../src/store/usage/record.ts";
import type { Verbs } from "../../../src/store/verbs.ts";
import { usageRecord } from "../records.ts";
import { type Contract, TEXTS } from "./world.ts";

type LogVerbs = Pick<
  Contract<"usage">,
  "listLog" | "followLog" | "findLogRow" | "findAnswer" | "lastLogId" | "namesOfKeys"
>;

async function write(verbs: Verbs, changes: readonly Partial<UsageRecord>[], makeUid = uuid as () => string | null) {
  const rows = changes.map((change) => ({ record: usageRecord(change), uid: makeUid(), repeats: 1 }));
  await verbs.usage.writeUsage({ id: crypto.randomUUID(), rows, sums: [] });
}

/** A value for each column that rows which are written together may share. */
const OTHER_VALUES: Partial<UsageRecord> = {
  ...{ keyId: "another", model: "another", provider: "another", upstreamModel: "another", endpoint: "/another" },
  ...{ status: 418, errorCode: "another", estimated: true, stream: true, unpriced: true, answerId: "another_" },
};

const ids = (rows: readonly LogRow[]) => rows.map(({ requestId }) => requestId);

/** Requests that each differ in one property, by id. */
const KINDS: Readonly<Record<string, Partial<UsageRecord>>> = {
  well: {},
  refused: { status: 429, errorCode: "rate_limit_exceeded" },
  failed: { status: 502, errorCode: "provider_unavailable" },
  broken: { status: 200, errorCode: "provider_stream_interrupted" },
  stopped: { status: 200, errorCode: "client_gone" },
  keyed: { keyId: "k2" },
  other: { model: "m2" },
  old: { createdAtMs: 5 },
};

const FOUND: readonly (readonly [LogFilter, readonly string[]])[] = [
  [{ outcome: "ok" }, ["old", "other", "keyed", "well"]],
  [{ outcome: "failed" }, ["broken", "failed", "refused"]],
  [{ outcome: "4xx" }, ["refused"]],
  [{ outcome: "5xx" }, ["failed"]],
  [{ outcome: "stopped" }, ["stopped"]],
  [{ errorCode: "provider_unavailable" }, ["failed"]],
  [{ keyId: "k2" }, ["keyed"]],
  [{ model: "m2" }, ["other"]],
  [{ requestId: "well" }, ["well"]],
  [{ requestId: "none" }, []],
  [{ sinceMs: 6, model: "m2" }, ["other"]],
  [{ sinceMs: 6, outcome: "ok" }, ["other", "keyed", "well"]],
];

/** The cases of the verbs over the request log. */
export const requestLogContract: LogVerbs = {
  listLog: {
    "order: each filter finds its own, the newest first, of one account or of everybody": async ({
      verbs,
      account,
      clock,
    }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      const record = ([requestId, change]: [string, Partial<UsageRecord>]) => ({
        ...{ accountId, requestId, keyId: "k1", model: "m1", createdAtMs: clock.now() },
        ...change,
      });
      await write(verbs, Object.entries(KINDS).map(record));
      await write(verbs, [{ accountId: other, requestId: "theirs", model: "m2", createdAtMs: clock.now() }]);
      for (const [filter, expected] of FOUND) {
        expect(ids((await verbs.usage.listLog({ accountId, ...filter })).rows)).toEqual([...expected]);
      }
      expect(ids((await verbs.usage.listLog({ model: "m2" })).rows)).toEqual(["theirs", "other"]);
    },
    "text: a model is found by its bytes": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        TEXTS.map((model, at) => ({ accountId, model, requestId: `t${at}` })),
      );
      for (const [at, model] of TEXTS.entries())
        expect(ids((await verbs.usage.listLog({ accountId, model })).rows)).toEqual([`t${at}`]);
    },
    "paging: every match once, with few rows read at a time": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        Array.from({ length: 20 }, (_, n) => ({ accountId, requestId: `r${n}`, model: n % 7 === 0 ? "rare" : "m" })),
      );
      const seen: string[] = [];
      let beforeId: number | undefined;
      for (let pages = 0; pages < 30; pages++) {
        const page = await verbs.usage.listLog(
          { accountId, model: "rare" },
          { limit: 1, scanMax: 3, ...(beforeId === undefined ? {} : { beforeId }) },
        );
        seen.push(...ids(page.rows));
        if (page.nextBeforeId === null) break;
        beforeId = page.nextBeforeId;
      }
      expect(seen).toEqual(["r14", "r7", "r0"]);
      expect((await verbs.usage.listLog({ accountId }, { limit: 20 })).nextBeforeId).toBeNull();
    },
    "time: a search ends where its span does": async ({ verbs, account }) => {
      const accountId = await account();
      const hourMs = 3_600_000;
      await write(
        verbs,
        [1, 2, 3, 4, 50].map((hours) => ({ accountId, createdAtMs: hours * hourMs, model: `m${hours}` })),
      );
      const page = await verbs.usage.listLog({ accountId, model: "m1", sinceMs: 48 * hourMs }, { scanMax: 2 });
      expect([page.rows.length, page.nextBeforeId]).toEqual([0, null]);
    },
  },
  followLog: {
    "order: what came after a row, the oldest first": async ({ verbs, account }) => {
      const accountId = await account();
      await write(verbs, [{ accountId, requestId: "before" }]);
      const last = await verbs.usage.lastLogId();
      await write(verbs, [
        { accountId, requestId: "a" },
        { accountId, requestId: "b", model: "other" },
        { accountId, requestId: "c" },
      ]);
      expect(ids(await verbs.usage.followLog({ accountId }, last))).toEqual(["a", "b", "c"]);
      expect(ids(await verbs.usage.followLog({ model: "other" }, last))).toEqual(["b"]);
      expect(ids(await verbs.usage.followLog({ accountId }, last, 1))).toEqual(["a"]);
      expect(await verbs.usage.followLog({ accountId: "nobody" }, 0)).toEqual([]);
    },
  },
  findLogRow: {
    "basics: one's own row, and nobody else's": async ({ verbs, account }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      await write(verbs, [{ accountId, requestId: "mine" }]);
      const id = await verbs.usage.lastLogId();
      expect(await verbs.usage.findLogRow(id, accountId)).toMatchObject({ requestId: "mine" });
      expect(await verbs.usage.findLogRow(id)).toMatchObject({ requestId: "mine" });
      expect(await verbs.usage.findLogRow(id, other)).toBeUndefined();
      expect(await verbs.usage.findLogRow(id + 1)).toBeUndefined();
    },
    "basics: a row that differs from those before it in one value only": async ({ verbs, account }) => {
      const accountId = await account();
      for (const [name, value] of Object.entries(OTHER_VALUES)) {
        const row = { accountId, [name]: value };
        await write(verbs, [{ accountId }, { accountId }, { accountId }, row], () => null);
        expect(await verbs.usage.findLogRow(await verbs.usage.lastLogId())).toMatchObject(row);
      }
    },
    "basics: many rows that are alike, and some between them that are not": async ({ verbs, account }) => {
      const accountId = await account();
      const rows = Array.from({ length: 150 }, (_, at) => ({
        accountId,
        requestId: `r${at}`,
        inputTokens: at,
        answerId: prefixedId("msg_"),
        ...(at % 40 === 39 ? { model: "another", stream: true, unpriced: true as const } : {}),
        ...(at > 140 ? { answerId: "msg_" } : {}),
      }));
      await write(verbs, rows, () => null);
      const { rows: found } = await verbs.usage.listLog({ accountId });
      const shown = await Promise.all(found.map(async ({ id }) => await verbs.usage.findLogRow(id)));
      for (const row of shown) {
        const written = rows.find(({ requestId }) => requestId === row?.requestId)!;
        expect(row).toMatchObject({ ...written, unpriced: "unpriced" in written ? true : null });
      }
      expect(shown.length).toBeGreaterThan(40);
      expect(shown.map((row) => row?.requestId)).toEqual(
        rows
          .map(({ requestId }) => requestId)
          .reverse()
          .slice(0, shown.length),
      );
    },
  },
  findAnswer: {
    "basics: one's own answer by its id, and nobody else's": async ({ verbs, account }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      const [one, two, three] = [prefixedId("chatcmpl-"), prefixedId("msg_"), prefixedId("chatcmpl-")];
      await write(verbs, [
        { accountId, requestId: "mine", answerId: one },
        { accountId: other, requestId: "theirs", answerId: two },
        { accountId, requestId: "none" },
      ]);
      expect(await verbs.usage.findAnswer(accountId, one)).toMatchObject({ requestId: "mine" });
      for (const id of [two, three, ""]) expect(await verbs.usage.findAnswer(accountId, id)).toBeUndefined();
    },
    "basics: an answer whose id is made of the request's id": async ({ verbs, account }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      const [mine, theirs, failed] = [uuid(), uuid(), uuid()];
      await write(verbs, [
        { accountId, requestId: mine, answerId: "msg_" },
        { accountId: other, requestId: theirs, answerId: "msg_" },
        { accountId, requestId: failed },
      ]);
      const find = (prefix: string, request: string) =>
        verbs.usage.findAnswer(accountId, idNamedByRequest(prefix, request));
      expect(await find("msg_", mine)).toMatchObject({ requestId: mine, answerId: "msg_" });
      expect(await find("chatcmpl-", mine)).toBeUndefined();
      expect(await find("", mine)).toBeUndefined();
      expect(await find("msg_", theirs)).toBeUndefined();
      expect(await find("msg_", failed)).toBeUndefined();
      expect(await verbs.usage.findAnswer(accountId, "msg_")).toBeUndefined();
    },
  },
  lastLogId: {
    "basics: none is 0": async ({ verbs, account }) => {
      expect(await verbs.usage.lastLogId()).toBe(0);
      await write(verbs, [{ accountId: await account() }]);
      expect(await verbs.usage.lastLogId()).toBeGreaterThan(0);
    },
  },
  namesOfKeys: {
    "basics: what keys are called, and whose they are": async ({ verbs, account }) => {
      const { id } = await verbs.keys.createKey({ accountId: await account("ann"), name: "laptop" });
      expect(await verbs.usage.namesOfKeys([id, "gone"])).toEqual(
        new Map([[id, { name: "laptop", username: "ann", debugUntilMs: null }]]),
      );
      expect((await verbs.usage.namesOfKeys([])).size).toBe(0);
    },
  },
};
