// Usage, its sums, and the rate windows that survive a restart.

import { expect } from "bun:test";
import { dayOf, hourOf, type UsageRecord, UsageTally } from "../../../src/store/usage/record.ts";
import type { Verbs } from "../../../src/store/verbs.ts";
import { usageRecord } from "../records.ts";
import { requestLogContract } from "./request-log.ts";
import { usageOverviewContract } from "./usage-overview.ts";
import { usageReportContract } from "./usage-report.ts";
import { BY_BYTES, type Contract, TEXTS, UNSTORABLE, type World } from "./world.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Writes requests as one batch. */
async function write(verbs: Verbs, changes: readonly Partial<UsageRecord>[]): Promise<void> {
  const tally = new UsageTally();
  const rows = changes.map((change) => ({ record: usageRecord(change), uid: crypto.randomUUID(), repeats: 1 }));
  for (const { record } of rows) tally.add(record);
  await verbs.usage.writeUsage({ id: crypto.randomUUID(), rows, sums: [...tally.values()] });
}

/** One request of each model, in no particular order. */
async function ofEveryModel({ verbs, account, clock }: World): Promise<{ accountId: string; atMs: number }> {
  const [accountId, atMs] = [await account(), clock.now()];
  await write(
    verbs,
    BY_BYTES.toReversed().map((model) => ({ accountId, model, keyId: model, createdAtMs: atMs })),
  );
  return { accountId, atMs };
}

const usage: Contract<"usage"> = {
  writeUsage: {
    "basics: a row and every sum, all or nothing": async ({ verbs, account, clock }) => {
      const accountId = await account();
      const record = usageRecord({ accountId, createdAtMs: clock.now() });
      const row = { record, uid: "u", repeats: 1 };
      await expect(
        verbs.usage.writeUsage({
          id: crypto.randomUUID(),
          rows: [row, { ...row, uid: "v", record: { ...record, status: null as never } }],
          sums: [],
        }),
      ).rejects.toThrow();
      expect((await verbs.usage.listLog({ accountId: accountId })).rows).toEqual([]);
      await verbs.usage.writeUsage({ id: crypto.randomUUID(), rows: [row, { ...row, repeats: 2 }], sums: [] });
      expect((await verbs.usage.listLog({ accountId: accountId })).rows).toMatchObject([
        { requestId: "req-1", repeats: 3, estimated: false },
      ]);
    },
    "concurrency: sums of two connections add up": async ({ verbs, account, again }) => {
      const [accountId, other] = [await account(), await again()];
      await Promise.all(Array.from({ length: 8 }, (_, n) => write(n % 2 ? verbs : other, [{ accountId }])));
      expect(await verbs.usage.tokenTotals()).toMatchObject({ requests: 8, inputTokens: 80 });
      expect(await verbs.usage.tokensOf([accountId])).toEqual(new Map([[accountId, 120]]));
    },
    "time: budgets are counted in whole windows, from the millisecond they end": async ({ verbs, account, clock }) => {
      const accountId = await account();
      const budget = { budgetMicros: 100, budgetPeriodMs: HOUR_MS };
      const { id: keyId } = await verbs.keys.createKey({ accountId, name: "k", ...budget });
      const startMs = clock.now();
      await verbs.budgets.setAccountBudget(accountId, { limitMicros: 100, periodMs: HOUR_MS });
      const spend = (costMicros: number, afterMs: number) =>
        write(verbs, [{ accountId, keyId, costMicros, createdAtMs: startMs + afterMs }]);
      await spend(3, HOUR_MS - 1);
      expect(await verbs.keys.findKeyBudget(keyId)).toMatchObject({ spentMicros: 3, windowStartMs: startMs });
      await spend(5, 3.5 * HOUR_MS);
      clock.advance(3.5 * HOUR_MS);
      expect(await verbs.keys.findKeyBudget(keyId)).toMatchObject({
        spentMicros: 5,
        windowStartMs: startMs + 3 * HOUR_MS,
      });
      expect(await verbs.budgets.findAccountBudget(accountId, undefined)).toMatchObject({
        spentMicros: 5,
        resetsAtMs: startMs + 4 * HOUR_MS,
      });
    },
    "time: whole milliseconds and whole amounts only": async ({ verbs, account }) => {
      const accountId = await account();
      for (const change of [{ createdAtMs: 0.5 }, { costMicros: Number.NaN }, { inputTokens: 1e17 }])
        await expect(write(verbs, [{ accountId, ...change }])).rejects.toThrow("whole");
      for (const model of UNSTORABLE) await expect(write(verbs, [{ accountId, model }])).rejects.toThrow("model");
      expect((await verbs.usage.listLog({ accountId: accountId })).rows).toEqual([]);
    },
    "cascade: of an account that is gone it counts for nobody": async ({ verbs, account, clock }) => {
      const accountId = await account();
      await write(verbs, [{ accountId }]);
      await verbs.accounts.deleteAccount(accountId);
      await write(verbs, [{ accountId, createdAtMs: clock.now() }]);
      expect(await verbs.usage.tokenTotals()).toMatchObject({ requests: 2 });
      expect(await verbs.usage.topAccounts()).toEqual([]);
      expect(
        await verbs.usage.sumsBySlot({ unit: "day", from: dayOf(clock.now()), to: dayOf(clock.now()) }, "keyId", ""),
      ).toMatchObject([{ name: "", requests: 2 }]);
    },
    "text: names come back as they were": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        TEXTS.map((model) => ({ accountId, model, provider: model, errorCode: model })),
      );
      const listed = (await verbs.usage.listLog({ accountId: accountId })).rows;
      expect(listed.map(({ model }) => model)).toEqual(TEXTS.toReversed());
      expect(listed.map(({ provider }) => provider)).toEqual(TEXTS.toReversed());
    },
  },
  tokenTotals: {
    "basics: none is none; first and last": async ({ verbs }) => {
      expect(await verbs.usage.tokenTotals()).toEqual({
        requests: 0,
        inputTokens: 0,
        outputTokens: 0,
        sinceMs: null,
        updatedAtMs: null,
      });
      await write(verbs, [{ createdAtMs: 9 }]);
      await write(verbs, [{ createdAtMs: 5 }]);
      await write(verbs, [{ createdAtMs: 7, model: "n" }]);
      expect(await verbs.usage.tokenTotals()).toMatchObject({ requests: 3, sinceMs: 5, updatedAtMs: 9 });
    },
  },
  totalsByModel: {
    "order: most tokens first, equals by bytes": async (world) => {
      await ofEveryModel(world);
      await write(world.verbs, [{ model: "z" }]);
      const listed = (await world.verbs.usage.totalsByModel()).map(({ model }) => model);
      expect(listed).toEqual(["z", ...BY_BYTES.filter((model) => model !== "z")]);
      expect(await world.verbs.usage.totalsByModel(3)).toHaveLength(3);
    },
  },
  topAccounts: {
    "order: most tokens first, equals by id": async ({ verbs, account }) => {
      const ids = [await account("c"), await account("b"), await account("a")];
      await write(
        verbs,
        [...ids, ids[1]!].map((accountId) => ({ accountId })),
      );
      expect((await verbs.usage.topAccounts()).map(({ accountId }) => accountId)).toEqual([ids[1]!, ids[0]!, ids[2]!]);
      expect(await verbs.usage.topAccounts(1)).toHaveLength(1);
    },
    "cascade: not one that is gone": async ({ verbs, account }) => {
      const accountId = await account();
      await write(verbs, [{ accountId }]);
      await verbs.accounts.deleteAccount(accountId);
      expect(await verbs.usage.topAccounts()).toEqual([]);
    },
  },
  tokensOf: {
    "basics: of those that have any": async ({ verbs, account }) => {
      const [a, b] = [await account("a"), await account("b")];
      await write(verbs, [{ accountId: a }]);
      expect(await verbs.usage.tokensOf([a, b])).toEqual(new Map([[a, 15]]));
      expect((await verbs.usage.tokensOf([])).size).toBe(0);
    },
  },
  spendingByDay: {
    "order: by day, of one key": async ({ verbs, account }) => {
      const accountId = await account();
      const costs = [DAY_MS, 2 * DAY_MS, DAY_MS + 1].map((createdAtMs) => ({ createdAtMs, costMicros: 3 }));
      await write(
        verbs,
        costs.map((cost) => ({ accountId, keyId: "k", ...cost })),
      );
      await write(verbs, [{ accountId, keyId: "other", costMicros: 9 }]);
      expect(await verbs.usage.spendingByDay(accountId, "k")).toEqual([
        { day: 1, costMicros: 6 },
        { day: 2, costMicros: 3 },
      ]);
      expect(await verbs.usage.spendingByDay("nobody", "k")).toEqual([]);
    },
  },
  sumsByDayAndModel: {
    "order: by day, then by the bytes of the model": async (world) => {
      const { accountId, atMs } = await ofEveryModel(world);
      await write(world.verbs, [{ accountId, model: "B", createdAtMs: atMs - DAY_MS }]);
      const range = { fromDay: dayOf(atMs) - 1, toDay: dayOf(atMs) };
      const rows = await world.verbs.usage.sumsByDayAndModel(accountId, range);
      expect(rows.map(({ model }) => model)).toEqual(["B", ...BY_BYTES]);
      expect(await world.verbs.usage.sumsByDayAndModel("other", range)).toEqual([]);
    },
    "time: a day begins at midnight UTC, both ends of a range count": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        [DAY_MS - 1, DAY_MS, 2 * DAY_MS, 3 * DAY_MS].map((createdAtMs) => ({ accountId, createdAtMs })),
      );
      const rows = await verbs.usage.sumsByDayAndModel(accountId, { fromDay: 1, toDay: 2 });
      expect(rows.map(({ day, requests }) => [day, requests])).toEqual([
        [1, 1],
        [2, 1],
      ]);
    },
  },
  latencyByModel: {
    "order: by the bytes of the model, then status and bucket": async (world) => {
      const { accountId, atMs } = await ofEveryModel(world);
      const failed = { accountId, model: "B", status: 500, errorCode: "x", createdAtMs: atMs };
      await write(world.verbs, [failed]);
      const span = { unit: "day" as const, from: dayOf(atMs), to: dayOf(atMs) };
      const rows = await world.verbs.usage.latencyByModel(span, accountId);
      const slow = rows.filter(({ requests }) => requests > 0);
      expect(slow.map(({ model, statusClass }) => [model, statusClass])).toEqual([
        ["B", 2],
        ["B", 5],
        ...BY_BYTES.slice(1).map((model) => [model, 2]),
      ]);
      expect(await world.verbs.usage.latencyByModel(span)).toEqual(rows);
      expect(await world.verbs.usage.latencyByModel({ ...span, unit: "hour" })).toEqual([]);
    },
  },
  sumsOfHour: {
    "order: everybody's, by the bytes of the model": async (world) => {
      const { atMs } = await ofEveryModel(world);
      expect((await world.verbs.usage.sumsOfHour(hourOf(atMs))).map(({ model }) => model)).toEqual(BY_BYTES);
    },
  },
  sumsOfDay: {
    "order: everybody's, by the bytes of the model": async (world) => {
      const { accountId, atMs } = await ofEveryModel(world);
      await world.verbs.accounts.deleteAccount(accountId);
      expect((await world.verbs.usage.sumsOfDay(dayOf(atMs))).map(({ model }) => model)).toEqual(BY_BYTES);
    },
  },
  ...requestLogContract,
  ...usageOverviewContract,
  ...usageReportContract,
  deleteHourlyBefore: {
    "time: what is older than that hour, in steps till nothing is left": async ({ verbs, account }) => {
      const accountId = await account();
      const models = ["a", "b", "c"].map((model) => ({ accountId, model, createdAtMs: HOUR_MS - 1 }));
      await write(verbs, [...models, { accountId, createdAtMs: HOUR_MS }]);
      // Sums of three models, and two buckets of each one's histogram.
      for (const count of [2 + 2, 1 + 2, 2, 0]) expect(await verbs.usage.deleteHourlyBefore(1, 2)).toBe(count);
      expect(await verbs.usage.sumsBySlot({ unit: "hour", from: 0, to: 9 }, "model", accountId)).toHaveLength(1);
    },
  },
  deleteDailyBefore: {
    "time: what is older than that day, in steps till nothing is left": async ({ verbs, account }) => {
      const accountId = await account();
      const old = ["a", "b", "c"].map((model) => ({ accountId, model, createdAtMs: DAY_MS - 1 }));
      await write(verbs, [...old, { accountId, createdAtMs: DAY_MS }]);
      for (const count of [2, 1, 0]) expect(await verbs.usage.deleteDailyBefore(1, 2)).toBe(count);
      expect([await verbs.usage.sumsOfDay(0), (await verbs.usage.sumsOfDay(1)).length]).toEqual([[], 1]);
    },
  },
  deleteLatencyBefore: {
    "time: what is older than that day, in steps; sums stay": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        ["a", "b", "c"].map((model) => ({ accountId, model, createdAtMs: DAY_MS - 1 })),
      );
      for (const count of [2, 2, 2, 0]) expect(await verbs.usage.deleteLatencyBefore(1, 2)).toBe(count);
      expect(await verbs.usage.sumsOfDay(0)).toHaveLength(3);
    },
  },
  deleteRowsBefore: {
    "time: in steps, and their sums stay": async ({ verbs, account }) => {
      const accountId = await account();
      await write(
        verbs,
        [1, 2, 3, 4].map((createdAtMs) => ({ accountId, createdAtMs })),
      );
      expect(await verbs.usage.deleteRowsBefore(4, 2)).toBe(2);
      expect(await verbs.usage.deleteRowsBefore(4, 2)).toBe(1);
      expect((await verbs.usage.listLog({ accountId: accountId })).rows).toMatchObject([{ createdAtMs: 4 }]);
      expect(await verbs.usage.tokenTotals()).toMatchObject({ requests: 4 });
    },
  },
};

const rates: Contract<"rates"> = {
  saveRateWindows: {
    "concurrency: the last one holds, and a key that is gone fails nobody": async ({
      verbs,
      account,
      again,
      clock,
    }) => {
      const [accountId, other] = [await account(), await again()];
      const { id: keyId } = await verbs.keys.createKey({ accountId, name: "k" });
      const timesMs = [1_700_000_000_000, 9_007_199_254_740_991];
      await Promise.all(
        [verbs, other].map((own) =>
          own.rates.saveRateWindows([
            { keyId: "gone", timesMs },
            { keyId, timesMs },
          ]),
        ),
      );
      expect(await verbs.rates.loadRateWindows(clock.now())).toEqual([{ keyId, timesMs }]);
    },
    "cascade: it goes with its key's account": async ({ verbs, account }) => {
      const accountId = await account();
      const { id: keyId } = await verbs.keys.createKey({ accountId, name: "k" });
      await verbs.rates.saveRateWindows([{ keyId, timesMs: [1] }]);
      await verbs.accounts.deleteAccount(accountId);
      expect(await verbs.rates.loadRateWindows(0)).toEqual([]);
    },
  },
  loadRateWindows: {
    "basics: the window of a project with a limit is that of its keys": async ({ verbs, account, clock }) => {
      const accountId = await account();
      const made = async (rpm: number | null) => {
        const project = await verbs.projects.createProject(accountId, { name: "p", rpm });
        return typeof project === "string" ? project : project.id;
      };
      const [limited, free] = [await made(5), await made(null)];
      const keys: string[] = [];
      for (const projectId of [limited, limited, free])
        keys.push((await verbs.keys.createKey({ accountId, name: "k", projectId })).id);
      const [a, b, c] = keys as [string, string, string];
      await verbs.keys.revokeKey(b);
      const windows = [
        { keyId: a, timesMs: [2, 9] },
        { keyId: b, timesMs: [1, 10] },
        { keyId: c, timesMs: [3] },
      ];
      await verbs.rates.saveRateWindows([...windows, { keyId: limited, timesMs: [7] }]);
      const loaded = await verbs.rates.loadRateWindows(clock.now());
      expect(new Map(loaded.map(({ keyId, timesMs }) => [keyId, timesMs]))).toEqual(
        new Map([...windows, { keyId: limited, timesMs: [1, 2, 9, 10] }].map(({ keyId, timesMs }) => [keyId, timesMs])),
      );
    },
    "time: those saved since then; older ones are gone": async ({ verbs, account, clock }) => {
      const { id: keyId } = await verbs.keys.createKey({ accountId: await account(), name: "k" });
      await verbs.rates.saveRateWindows([{ keyId, timesMs: [] }]);
      expect(await verbs.rates.loadRateWindows(clock.now())).toEqual([{ keyId, timesMs: [] }]);
      expect(await verbs.rates.loadRateWindows(clock.now() + 1)).toEqual([]);
      expect(await verbs.rates.loadRateWindows(0)).toEqual([]);
    },
  },
};

/** The cases of the verbs over usage. */
export const usageContract = { usage, rates };
