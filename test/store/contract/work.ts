// Responses, threads, files, and how much of them an account may store.

import { expect } from "bun:test";
import type { StoredResponse } from "../../../src/store/work/responses.ts";
import { STORAGE_BYTES } from "./engines.ts";
import { threadItems } from "./thread-items.ts";
import { BY_BYTES, type Contract, TEXTS, type World } from "./world.ts";

const response = ({ clock }: World, accountId: string, id: string, more: Partial<StoredResponse> = {}) => ({
  id,
  accountId,
  model: "m",
  previousId: null,
  provider: null,
  upstreamId: null,
  input: [id],
  body: { output: [{ id: `item-${id}` }] },
  expiresAtMs: clock.now() + 1000,
  ...more,
});

const thread = ({ clock }: World, accountId: string, threadId: string, more = {}) => ({
  accountId,
  kind: "thread" as const,
  threadId,
  model: "m",
  messages: 1,
  tokens: 1,
  state: Buffer.from([0, 1, 255]),
  expiresAtMs: clock.now() + 1000,
  ...more,
});
const nameOf = (accountId: string, threadId: string) => ({ accountId, kind: "thread" as const, threadId });
const summary = ({ clock }: World, accountId: string, id: string, more = {}) => ({
  ...nameOf(accountId, "t"),
  id,
  tokens: 1,
  state: Buffer.from(id),
  createdAtMs: clock.now(),
  ...more,
});

const file = (accountId: string, id: string, filename = "f") => ({
  id,
  accountId,
  filename,
  purpose: "vision",
  mediaType: "image/png",
});

const responses: Contract<"responses"> = {
  saveResponse: {
    "concurrency: an id is saved once": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      const all = await Promise.allSettled(
        [world.verbs, other].map((own) => own.responses.saveResponse(response(world, accountId, "r"))),
      );
      expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    },
    "cascade: it goes with its account": async (world) => {
      const accountId = await world.account();
      await world.verbs.responses.saveResponse(response(world, accountId, "r"));
      await world.verbs.accounts.deleteAccount(accountId);
      expect(await world.verbs.responses.findResponse(accountId, "r")).toBeUndefined();
      await expect(world.verbs.responses.saveResponse(response(world, accountId, "s"))).rejects.toThrow();
    },
    "text: any JSON comes back, NUL too": async (world) => {
      const accountId = await world.account();
      const saved = response(world, accountId, "r", {
        input: [...TEXTS, "a\u0000b", "\ud800"],
        body: { "\u0000": 0.1 },
      });
      await world.verbs.responses.saveResponse(saved);
      expect(await world.verbs.responses.findResponse(accountId, "r")).toEqual({
        ...saved,
        createdAtMs: world.clock.now(),
      });
    },
  },
  findResponse: {
    "time: until it expires": async (world) => {
      const accountId = await world.account();
      await world.verbs.responses.saveResponse(response(world, accountId, "r"));
      world.clock.advance(999);
      expect(await world.verbs.responses.findResponse(accountId, "r")).toBeDefined();
      world.clock.advance(1);
      expect(await world.verbs.responses.findResponse(accountId, "r")).toBeUndefined();
    },
    "basics: by the very id, of its account": async (world) => {
      const accountId = await world.account();
      await world.verbs.responses.saveResponse(response(world, accountId, "r"));
      for (const id of ["R", "", "r\u0000", "r "])
        expect(await world.verbs.responses.findResponse(accountId, id)).toBeUndefined();
      expect(await world.verbs.responses.findResponse("other", "r")).toBeUndefined();
    },
  },
  responseChain: {
    "order: the oldest first, within one account": async (world) => {
      const [ann, bob] = [await world.account("ann"), await world.account("bob")];
      const save = (id: string, previousId: string | null, owner = ann) =>
        world.verbs.responses.saveResponse(response(world, owner, id, { previousId }));
      await save("z", null);
      await save("a", "z");
      await save("m", "a");
      await save("bobs", null, bob);
      await save("stolen", "bobs");
      const chain = await world.verbs.responses.responseChain(ann, "m");
      expect([chain?.responses.map(({ id }) => id), chain?.complete]).toEqual([["z", "a", "m"], true]);
      expect(await world.verbs.responses.responseChain(ann, "stolen")).toMatchObject({ complete: false });
      expect(await world.verbs.responses.responseChain(ann, "bobs")).toBeUndefined();
      expect(await world.verbs.responses.responseChain(ann, "m", { bytesMax: 5 })).toMatchObject({ tooLarge: true });
    },
  },
  findItems: {
    "order: the newest first, and of several with one id the newest": async (world) => {
      const accountId = await world.account();
      for (const [n, id] of ["z", "a", "m"].entries()) {
        const output = [{ id: "same", n }, { id, n }, null];
        await world.verbs.responses.saveResponse(response(world, accountId, id, { body: { output } }));
        world.clock.advance(1);
      }
      expect(await world.verbs.responses.findItems(accountId, ["a", "same", "none"])).toEqual([
        { id: "same", n: 2 },
        { id: "a", n: 1 },
      ]);
      expect(await world.verbs.responses.findItems(accountId, [])).toEqual([]);
      expect(await world.verbs.responses.findItems("other", ["a"])).toEqual([]);
    },
    "text: by the very id": async (world) => {
      const accountId = await world.account();
      const output = TEXTS.map((id) => ({ id, is: id }));
      await world.verbs.responses.saveResponse(response(world, accountId, "r", { body: { output } }));
      expect(await world.verbs.responses.findItems(accountId, TEXTS)).toEqual(output);
      expect(await world.verbs.responses.findItems(accountId, ["STRASSE", "É"])).toEqual([]);
    },
  },
  deleteResponse: {
    "concurrency: once, and its owner's only": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      await world.verbs.responses.saveResponse(response(world, accountId, "r"));
      expect(await world.verbs.responses.deleteResponse("other", "r")).toBe(false);
      const all = await Promise.all([world.verbs, other].map((own) => own.responses.deleteResponse(accountId, "r")));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  deleteExpiredResponses: {
    "time: from their end on": async (world) => {
      await world.verbs.responses.saveResponse(response(world, await world.account(), "r"));
      world.clock.advance(999);
      expect(await world.verbs.responses.deleteExpiredResponses()).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.responses.deleteExpiredResponses()).toBe(1);
    },
  },
};

const threads: Contract<"threads"> = {
  ...threadItems,
  saveThread: {
    "concurrency: the last state holds, and the first time": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      const createdAtMs = world.clock.now();
      await Promise.all(
        [world.verbs, other].map((own, n) => own.threads.saveThread(thread(world, accountId, "t", { tokens: n }))),
      );
      world.clock.advance(1);
      await other.threads.saveThread(thread(world, accountId, "t", { tokens: 9 }));
      expect(await world.verbs.threads.findThread(nameOf(accountId, "t"))).toMatchObject({
        tokens: 9,
        createdAtMs,
        updatedAtMs: createdAtMs + 1,
      });
    },
    "cascade: it goes with its account": async (world) => {
      const accountId = await world.account();
      await world.verbs.threads.saveThread(thread(world, accountId, "t"));
      await world.verbs.accounts.deleteAccount(accountId);
      expect(await world.verbs.threads.findThread(nameOf(accountId, "t"))).toBeUndefined();
    },
  },
  findThread: {
    "text: by the very name; bytes come back": async (world) => {
      const accountId = await world.account();
      for (const name of TEXTS) await world.verbs.threads.saveThread(thread(world, accountId, name));
      for (const name of TEXTS) {
        const found = await world.verbs.threads.findThread(nameOf(accountId, name));
        expect([found?.threadId, [...(found?.state ?? [])]]).toEqual([name, [0, 1, 255]]);
      }
      expect(await world.verbs.threads.findThread(nameOf(accountId, "STRASSE"))).toBeUndefined();
    },
    "time: until it expires": async (world) => {
      const accountId = await world.account();
      await world.verbs.threads.saveThread(thread(world, accountId, "t"));
      world.clock.advance(1000);
      expect(await world.verbs.threads.findThread(nameOf(accountId, "t"))).toBeUndefined();
    },
  },
  listThreads: {
    "order: the latest first, equals by bytes": async (world) => {
      const accountId = await world.account();
      for (const name of BY_BYTES) await world.verbs.threads.saveThread(thread(world, accountId, name));
      world.clock.advance(1);
      await world.verbs.threads.saveThread(thread(world, accountId, "b"));
      await world.verbs.threads.saveThread(thread(world, accountId, "other", { kind: "messages" }));
      const listed = (await world.verbs.threads.listThreads(accountId, "thread")).map(({ threadId }) => threadId);
      expect(listed).toEqual(["b", ...BY_BYTES.filter((name) => name !== "b").toReversed()]);
      expect(await world.verbs.threads.listThreads(accountId, "thread", 2)).toHaveLength(2);
    },
  },
  deleteThread: {
    "cascade: its summaries go with it, another's stay": async (world) => {
      const accountId = await world.account();
      for (const kind of ["thread", "messages"] as const) {
        await world.verbs.threads.saveThread(thread(world, accountId, "t", { kind }));
        await world.verbs.threads.saveSummary(summary(world, accountId, "s", { kind }));
      }
      expect(await world.verbs.threads.deleteThread(nameOf(accountId, "t"))).toBe(true);
      expect(await world.verbs.threads.deleteThread(nameOf(accountId, "t"))).toBe(false);
      expect(await world.verbs.threads.summariesOf(nameOf(accountId, "t"))).toEqual([]);
      expect(await world.verbs.threads.summariesOf({ ...nameOf(accountId, "t"), kind: "messages" })).toHaveLength(1);
    },
  },
  saveSummary: {
    "concurrency: the same one is one": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      await world.verbs.threads.saveThread(thread(world, accountId, "t"));
      await Promise.all([world.verbs, other].map((own) => own.threads.saveSummary(summary(world, accountId, "s"))));
      expect(await world.verbs.threads.summariesOf(nameOf(accountId, "t"))).toHaveLength(1);
    },
  },
  deleteSummaries: {
    "basics: all of its own, and no others": async (world) => {
      const accountId = await world.account();
      for (const kind of ["thread", "messages"] as const) {
        await world.verbs.threads.saveThread(thread(world, accountId, "t", { kind }));
        for (const id of ["a", "b"]) await world.verbs.threads.saveSummary(summary(world, accountId, id, { kind }));
      }
      expect(await world.verbs.threads.deleteSummaries(nameOf(accountId, "t"))).toBe(2);
      expect(await world.verbs.threads.summariesOf(nameOf(accountId, "t"))).toEqual([]);
      expect(await world.verbs.threads.summariesOf({ ...nameOf(accountId, "t"), kind: "messages" })).toHaveLength(2);
    },
  },
  summariesOf: {
    "order: the oldest first, equals by bytes; of many the newest are kept": async (world) => {
      const accountId = await world.account();
      await world.verbs.threads.saveThread(thread(world, accountId, "t"));
      for (const id of BY_BYTES.toReversed()) await world.verbs.threads.saveSummary(summary(world, accountId, id));
      const listed = (await world.verbs.threads.summariesOf(nameOf(accountId, "t"))).map(({ id }) => id);
      expect(listed).toEqual(BY_BYTES.slice(-8));
    },
  },
  deleteExpiredThreads: {
    "time: from their end on": async (world) => {
      const accountId = await world.account();
      for (const kind of ["thread", "messages"])
        await world.verbs.threads.saveThread(thread(world, accountId, "t", { kind }));
      await world.verbs.threads.saveThread(
        thread(world, accountId, "later", { expiresAtMs: world.clock.now() + 2000 }),
      );
      world.clock.advance(999);
      expect(await world.verbs.threads.deleteExpiredThreads()).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.threads.deleteExpiredThreads()).toBe(2);
    },
  },
};

const files: Contract<"files"> = {
  createFile: {
    "concurrency: an id is made once": async ({ verbs, account, again }) => {
      const [accountId, other] = [await account(), await again()];
      const make = (n: number) => (n % 2 ? verbs : other).files.createFile(file(accountId, `f${n}`), new Uint8Array(n));
      await Promise.all([1, 2, 3, 4].map(make));
      expect(await verbs.files.listFiles(accountId)).toHaveLength(4);
    },
    "text: a name comes back as it was": async ({ verbs, account }) => {
      const accountId = await account();
      for (const [n, text] of TEXTS.entries())
        await verbs.files.createFile(file(accountId, `f${n}`, text), new Uint8Array(1));
      for (const [n, text] of TEXTS.entries())
        expect((await verbs.files.findFile(accountId, `f${n}`))?.filename).toBe(text);
    },
  },
  findFile: {
    "basics: its owner's only, by the very id": async ({ verbs, account }) => {
      const accountId = await account();
      await verbs.files.createFile(file(accountId, "f"), new Uint8Array(1));
      expect(await verbs.files.findFile(accountId, "f")).toMatchObject({ bytes: 1 });
      for (const [owner, id] of [
        ["other", "f"],
        [accountId, "F"],
        [accountId, "f\u0000"],
      ] as const)
        expect(await verbs.files.findFile(owner, id)).toBeUndefined();
    },
  },
  readFile: {
    "basics: the bytes, to their owner": async ({ verbs, account }) => {
      const accountId = await account();
      await verbs.files.createFile(file(accountId, "f"), new Uint8Array([0, 255]));
      expect(await verbs.files.readFile(accountId, "f")).toEqual(new Uint8Array([0, 255]));
      expect(await verbs.files.readFile("other", "f")).toBeUndefined();
    },
  },
  listFiles: {
    "order: by the bytes of the id, the last first": async ({ verbs, account }) => {
      const accountId = await account();
      for (const id of ["a", "_", "B", "Z", "b"]) await verbs.files.createFile(file(accountId, id), new Uint8Array(1));
      expect((await verbs.files.listFiles(accountId)).map(({ id }) => id)).toEqual(["b", "a", "_", "Z", "B"]);
    },
    "paging: every file once": async ({ verbs, account }) => {
      const accountId = await account();
      for (const id of ["a", "_", "B", "Z", "b"]) await verbs.files.createFile(file(accountId, id), new Uint8Array(1));
      const first = await verbs.files.listFiles(accountId, { limit: 2 });
      const rest = await verbs.files.listFiles(accountId, { beforeId: first[1]!.id });
      expect([...first, ...rest].map(({ id }) => id)).toEqual(["b", "a", "_", "Z", "B"]);
    },
  },
  deleteFile: {
    "concurrency: once": async ({ verbs, account, again }) => {
      const [accountId, other] = [await account(), await again()];
      await verbs.files.createFile(file(accountId, "f"), new Uint8Array(1));
      const all = await Promise.all([verbs, other].map((own) => own.files.deleteFile(accountId, "f")));
      expect(all.sort()).toEqual([false, true]);
      expect(await verbs.files.readFile(accountId, "f")).toBeUndefined();
    },
  },
};

const storage: Contract<"storage"> = {
  storageOf: {
    "basics: bytes, not letters, of all that an account keeps": async (world) => {
      const accountId = await world.account();
      expect(await world.verbs.storage.storageOf(accountId)).toEqual({ usedBytes: 0, limitBytes: STORAGE_BYTES });
      await world.verbs.responses.saveResponse(response(world, accountId, "r", { input: ["é"], body: {} }));
      expect((await world.verbs.storage.storageOf(accountId)).usedBytes).toBe('["é"]'.length + 1 + "{}".length);
      await world.verbs.files.createFile(file(accountId, "f"), new Uint8Array(100));
      await world.verbs.responses.deleteResponse(accountId, "r");
      expect((await world.verbs.storage.storageOf(accountId)).usedBytes).toBe(100);
    },
  },
  topStorage: {
    "order: those that keep the most first, and none that keep nothing": async (world) => {
      const { verbs } = world;
      const [a, b] = [await world.account("a"), await world.account("b")];
      await world.account("c");
      await verbs.files.createFile(file(a, "f"), new Uint8Array(10));
      await verbs.files.createFile(file(b, "g"), new Uint8Array(30));
      const found = async (limit: number) =>
        (await verbs.storage.topStorage(limit)).map(({ accountId, bytes }) => [accountId, bytes]);
      expect(await found(9)).toEqual([
        [b, 30],
        [a, 10],
      ]);
      expect(await found(1)).toEqual([[b, 30]]);
    },
  },
  makeRoom: {
    "order: the oldest goes first, equals by bytes": async (world) => {
      const accountId = await world.account();
      const body = { text: "x".repeat(1000) };
      for (const id of ["b", "B", "a"])
        await world.verbs.responses.saveResponse(response(world, accountId, id, { body }));
      await world.verbs.threads.saveThread(
        thread(world, accountId, "t", { kind: "messages", state: Buffer.alloc(1000) }),
      );
      world.clock.advance(1);
      await world.verbs.threads.saveThread(thread(world, accountId, "t", { state: Buffer.alloc(1000) }));
      const left = async () =>
        (await Promise.all(["b", "B", "a"].map((id) => world.verbs.responses.findResponse(accountId, id)))).map(
          (one) => one?.id,
        );
      expect(await world.verbs.storage.makeRoom(accountId, STORAGE_BYTES - 6500)).toBe(true);
      expect(await left()).toEqual(["b", undefined, "a"]);
      expect(await world.verbs.storage.makeRoom(accountId, STORAGE_BYTES - 2500)).toBe(true);
      expect(await left()).toEqual([undefined, undefined, undefined]);
      expect(await world.verbs.threads.findThread(nameOf(accountId, "t"))).toBeDefined();
      expect(await world.verbs.storage.makeRoom(accountId, STORAGE_BYTES + 1)).toBe(false);
    },
  },
  claim: {
    "concurrency: of many no more than fit": async ({ verbs, account }) => {
      const accountId = await account();
      const claims = await Promise.all([1, 2, 3].map(() => verbs.storage.claim(accountId, STORAGE_BYTES / 2)));
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(2);
      claims[0]?.();
      expect(await verbs.storage.claim(accountId, STORAGE_BYTES / 2)).toBeDefined();
    },
  },
};

/** The cases of the verbs over an account's stored data. */
export const workContract = { responses, threads, files, storage };
