// A PostgreSQL that falls silent: its connections stay open and nothing is answered on them, as when its host lost power or
// the network drops packets.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { joinNodes, type NodePlace } from "../../src/store/engine/postgres/nodes.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { StoreUnreachable } from "../../src/store/engine/store-error.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { usageRecord } from "./records.ts";

const WAIT_MS = 400;
const CONNECTIONS = 3;

describe.skipIf(!HAS_POSTGRES)("a PostgreSQL that falls silent", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let store: PostgresStore;
  let node: NodePlace;
  /** Around the proxy. */
  let direct: PostgresStore;

  beforeAll(async () => {
    const server = await testPostgres();
    database = await server.database();
    proxy = await startTcpProxy(server.port);
    const url = new URL(database.url);
    url.port = String(proxy.port);
    direct = await openPostgres({ url: database.url, dataDir: tmpdir(), connections: 1 });
    store = await openPostgres({ url: url.href, dataDir: tmpdir(), connections: CONNECTIONS, waitMs: WAIT_MS });
    const problem = () => undefined;
    node = await joinNodes({ url: url.href, name: "a", alone: true, waitMs: WAIT_MS, problem });
  }, 60_000);
  afterAll(async () => {
    proxy?.restore();
    await Promise.all([store?.close(), node?.leave(), direct?.close()]);
    await proxy?.stop();
    await database?.drop();
  }, 60_000);

  const everyConnection = () =>
    Promise.all(Array.from({ length: CONNECTIONS }, () => store.pool.query("SELECT pg_sleep(0.01)", [])));
  const answers = async () => {
    for (;;) {
      try {
        return await store.ping();
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnreachable);
      }
    }
  };

  const STATEMENTS: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["a read", () => store.pool.query("SELECT 1", [])],
    ["a write", () => store.pool.query("DELETE FROM secrets", [])],
    ["a repeatable write", () => store.pool.repeatable("DELETE FROM secrets", [])],
    ["a transaction", () => store.pool.transaction("read committed", (query) => query("SELECT 1", []))],
    ["a ping", () => store.ping()],
    ["a comparison of clocks", () => store.compareClock()],
  ];

  test("has its clock compared with at a heartbeat", async () => {
    let compared = 0;
    const counting = { ...store, compareClock: async () => void compared++ };
    await node.appear(counting);
    expect(compared).toBe(1);
  });

  test("refuses every statement within its deadline, also those that wait for a connection", async () => {
    await everyConnection();
    proxy.stall();
    // More of each than there are connections.
    const asked = STATEMENTS.flatMap(([what, ask]) =>
      Array.from({ length: CONNECTIONS + 1 }, () => [what, ask] as const),
    );
    const ends = await Promise.allSettled(asked.map(([, ask]) => ask()));
    for (const [at, end] of ends.entries()) {
      const reason = end.status === "rejected" ? end.reason : "an answer";
      expect([asked[at]?.[0], reason]).toEqual([asked[at]?.[0], expect.any(StoreUnreachable)]);
    }
    proxy.restore();
    await answers();
  }, 60_000);

  test("serves again when only its old connections stay silent", async () => {
    await everyConnection();
    proxy.strand();
    // One statement finds out, for all connections that were idle.
    await expect(store.pool.query("DELETE FROM secrets", [])).rejects.toBeInstanceOf(StoreUnreachable);
    await everyConnection();
    await store.pool.transaction("serializable", (query) => query("DELETE FROM secrets", []));
  }, 60_000);

  test("keeps a node's name, which the server still gives to the silent connection", async () => {
    const lost = async () => {
      while (node.holds()) await Bun.sleep(5);
    };
    proxy.strand();
    await lost();
    while (!node.holds()) await Bun.sleep(5);
    const locks = await direct.pool.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted", []);
    expect(locks.values).toEqual([[2]]);
    await expect(joinNodes({ url: database.url, name: "a", alone: true, problem: () => undefined })).rejects.toThrow(
      "Another node serves",
    );
  }, 60_000);

  test("is listened to again", async () => {
    proxy.strand();
    const account = await accountStore(direct).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    const accountId = "id" in account ? account.id : "";
    const before = store.changeCounter();
    // Messages that were missed count as a change.
    while (store.changeCounter() === before) await Bun.sleep(5);
    const again = store.changeCounter();
    await keyStore(direct).createKey({ accountId, name: "k" });
    while (store.changeCounter() === again) await Bun.sleep(5);
  }, 60_000);

  test("is left behind by the last write of usage", async () => {
    const account = await accountStore(direct).createAccount({ email: "u@example.com", username: "u", tier: "free" });
    if (!("id" in account)) throw new Error("refused");
    const writer = new UsageWriter(usageStore(store), { flushMs: 1 });
    const isWhole = () =>
      everyConnection().then(
        () => true,
        () => false,
      );
    while (!(await isWhole()));
    proxy.strand();
    writer.record(usageRecord({ accountId: account.id }));
    expect(await writer.close(600_000)).toBe(true);
    expect(writer.state.failures).toBeGreaterThan(0);
    expect((await usageStore(direct).listLog({ accountId: account.id })).rows).toHaveLength(1);
  }, 60_000);
});
