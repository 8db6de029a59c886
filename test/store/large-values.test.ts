// Answers, threads and items of megabytes: they are stored in parts, whole or not at all, and go with their rows.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { openPostgres } from "../../src/store/engine/postgres/open.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { type Verbs, verbsOf } from "../../src/store/verbs.ts";
import { expiredValuesSweep, largeValueStore } from "../../src/store/work/large-values.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";

const LATER = 1e15;
const BYTES = 3_500_000;
const postgres = HAS_POSTGRES ? await testPostgres() : undefined;

describe.each(postgres === undefined ? ["SQLite"] : ["SQLite", "PostgreSQL"])("%s", (engine) => {
  let dir: string;
  let database: TestDatabase | undefined;
  let store: Store;
  let verbs: Verbs;
  const clock = new FakeClock();
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "sallyport-large-"));
    if (engine === "SQLite") store = openStore({ dataDir: join(dir, "data"), clock });
    else {
      database = await postgres!.database();
      store = await openPostgres({ url: database.url, dataDir: dir, clock });
    }
    verbs = verbsOf(store, () => 1e12);
  });
  afterAll(async () => {
    await store.close();
    await database?.drop();
    rmSync(dir, { recursive: true, force: true });
  });

  const account = async (name: string): Promise<string> => {
    const made = await verbs.accounts.createAccount({ username: name, email: `${name}@x.example`, tier: "free" });
    return "id" in made ? made.id : "";
  };
  /** The number of rows of the two tables. */
  const rows = async (): Promise<number[]> => {
    const count = async (table: string) =>
      Number((await store.statement<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`).get())?.n);
    return [await count("large_values"), await count("large_value_parts")];
  };
  const response = (accountId: string, id: string, text: string) => ({
    ...{ id, accountId, model: "m", previousId: null, provider: null, upstreamId: null },
    ...{ input: [text], body: { output: [{ id: `item-${id}`, text }] }, expiresAtMs: LATER },
  });
  const thread = (accountId: string, state: Buffer) => ({
    ...{ accountId, kind: "thread" as const, threadId: "t", model: "m", messages: 1, tokens: 1 },
    ...{ state, expiresAtMs: LATER },
  });
  // Characters of one, two, three and four bytes, so that parts end within some.
  const TEXT = "aé的😀".repeat(BYTES / 10);
  const bytes = (fill: number) => Buffer.alloc(BYTES, fill);

  test("a response is read as it was stored, found by its items and in a chain, and deleted whole", async () => {
    const ann = await account("ann");
    await verbs.responses.saveResponse(response(ann, "r", TEXT));
    expect(await rows()).toEqual([1, 7]);
    const found = await verbs.responses.findResponse(ann, "r");
    expect(found?.input[0] === TEXT && Object.keys(found).includes("valueId") === false).toBe(true);
    expect(await verbs.responses.findItems(ann, ["item-r"])).toHaveLength(1);
    expect((await verbs.responses.responseChain(ann, "r"))?.responses).toHaveLength(1);
    expect(await verbs.responses.responseChain(ann, "r", { bytesMax: BYTES })).toMatchObject({ tooLarge: true });
    expect((await verbs.storage.storageOf(ann)).usedBytes).toBeGreaterThan(2 * BYTES);
    expect(await verbs.responses.deleteResponse(ann, "r")).toBe(true);
    expect([await rows(), (await verbs.storage.storageOf(ann)).usedBytes]).toEqual([[0, 0], 0]);
  });

  test("a thread that is replaced leaves nothing of its last content", async () => {
    const bob = await account("bob");
    const name = { accountId: bob, kind: "thread" as const, threadId: "t" };
    for (const fill of [1, 2]) {
      await verbs.threads.saveThread(thread(bob, bytes(fill)));
      expect((await verbs.threads.findThread(name))?.state.equals(bytes(fill))).toBe(true);
      expect(await rows()).toEqual([1, 4]);
    }
    const [listed] = await verbs.threads.listThreads(bob, "thread");
    expect(listed?.bytes).toBe(BYTES + 1);
    await verbs.threads.changeThread(name, { state: bytes(3), expiresAtMs: LATER });
    expect((await verbs.threads.findThread(name))?.state[0]).toBe(3);
    await verbs.threads.saveThread(thread(bob, Buffer.from([4])));
    expect((await verbs.threads.findThread(name))?.state).toEqual(Buffer.from([4]));
    expect(await rows()).toEqual([0, 0]);
  });

  test("items of a conversation go one by one, and with their account", async () => {
    const carol = await account("carol");
    await verbs.threads.saveThread(thread(carol, bytes(1)));
    const name = { accountId: carol, kind: "thread" as const, threadId: "t" };
    const items = ["a", "b"].map((id) => ({ id, otherId: `${id}2`, bytes: BYTES, state: bytes(5) }));
    expect(await verbs.threads.appendItems(name, items, { expiresAtMs: LATER })).toEqual(["a", "b"]);
    expect(
      (await verbs.threads.itemsOf(name, { bytesMax: LATER }))?.map(({ state }) => state.equals(bytes(5))),
    ).toEqual([true, true]);
    expect((await verbs.threads.findItem(name, "a"))?.state.byteLength).toBe(BYTES);
    expect(await verbs.threads.deleteItem(name, "a")).toBe(true);
    expect(await rows()).toEqual([2, 8]);
    expect((await verbs.storage.storageOf(carol)).usedBytes).toBeGreaterThan(2 * BYTES);
    await verbs.accounts.deleteAccount(carol);
    expect(await rows()).toEqual([0, 0]);
  });

  test("the oldest text makes room with all of its parts", async () => {
    const dave = await account("dave");
    const small = verbsOf(store, () => 3 * BYTES);
    await small.responses.saveResponse(response(dave, "first", TEXT));
    clock.advance(1);
    await small.responses.saveResponse(response(dave, "second", TEXT));
    expect(await small.storage.makeRoom(dave, 0)).toBe(true);
    const left = await Promise.all(["first", "second"].map((id) => small.responses.findResponse(dave, id)));
    expect(left.map((one) => one?.id)).toEqual([undefined, "second"]);
    await verbs.accounts.deleteAccount(dave);
  });

  test("what a program wrote before it was killed is not seen, counts for no longer than its time, and is deleted", async () => {
    const eve = await account("eve");
    const { valueId } = await largeValueStore(store).place(eve, bytes(1));
    await verbs.responses.saveResponse(response(eve, "kept", TEXT));
    expect(valueId).not.toBeNull();
    const sweep = expiredValuesSweep(store);
    expect(await sweep()).toBe(0);
    clock.advance(3_600_000);
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    expect(await rows()).toEqual([1, 7]);
    expect((await verbs.responses.findResponse(eve, "kept"))?.input[0] === TEXT).toBe(true);
    await verbs.accounts.deleteAccount(eve);
    expect(await rows()).toEqual([0, 0]);
  });
});
