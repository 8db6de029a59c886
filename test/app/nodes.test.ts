// Two nodes with one PostgreSQL and one Redis, over HTTP: they share limits and keys, and every request is recorded
// once.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

const CAN_RUN = HAS_POSTGRES && HAS_REDIS;

describe.skipIf(!CAN_RUN)("two nodes", () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let nodes: TestApp[];
  const made: string[] = [];

  beforeAll(async () => {
    const server = await testPostgres();
    [database, redis] = await Promise.all([server.database(), startRedis()]);
    const config = { database: { url: database.url }, redis: { url: redis.url }, usage: { flush: "1ms" } };
    nodes = [
      await startTestApp({ name: "first", config: { ...config, node: { name: "a" } } }),
      await startTestApp({ name: "second", config: { ...config, node: { name: "b" } } }),
    ];
  }, 60_000);
  afterAll(async () => {
    for (const node of nodes ?? []) await node.stop();
    await redis?.stop();
    await database?.drop();
  });

  /** A key of the first account, with a limit. */
  async function newKey(rpm: number): Promise<{ id: string; key: string }> {
    const store = await openDatabase({ dataDir: nodes[0]!.dataDir, database: { url: database.url } });
    try {
      return await keyStore(store).createKey({ accountId: nodes[0]!.accountId, name: "shared", rpm });
    } finally {
      await store.close();
    }
  }

  const body = JSON.stringify({ model: "demo-echo", messages: [{ role: "user", content: "hi" }] });
  const ask = async (node: TestApp, key: string) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": "same" };
    const answer = await fetch(`${node.url}/v1/chat/completions`, { method: "POST", headers, body });
    await answer.text();
    made.push(String(answer.status));
    return answer.status;
  };
  const json = async (node: TestApp, path: string) => (await node.call(path)).json() as Promise<Record<string, never>>;

  test("know each other", async () => {
    for (const node of nodes) {
      let health = await json(node, "/health");
      while (Number(health["subsystems"]?.["nodes"]?.["live"]) < 2) health = await json(node, "/health");
      expect(health).toMatchObject({ subsystems: { nodes: { live: 2 }, redis: { status: "ok", mode: "shared" } } });
    }
  }, 60_000);

  test("admit a key's limit together, exactly", async () => {
    const { key } = await newKey(15);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(nodes[n % 2]!, key)));
    expect(answers.filter((status) => status === 200)).toHaveLength(15);
    expect(answers.filter((status) => status === 429)).toHaveLength(25);
  });

  test("refuse a key that was revoked on the other", async () => {
    const { id, key } = await newKey(1000);
    expect([await ask(nodes[0]!, key), await ask(nodes[1]!, key)]).toEqual([200, 200]);
    const store = await openDatabase({ dataDir: nodes[0]!.dataDir, database: { url: database.url } });
    await keyStore(store).revokeKey(id);
    await store.close();
    for (const node of nodes) while ((await ask(node, key)) !== 401);
  });

  test("see at once what the other stored", async () => {
    const stored = await nodes[0]!.post("/v1/responses", { model: "demo-echo", input: "remember" });
    const { id } = (await stored.json()) as { id: string };
    const read = await fetch(`${nodes[1]!.url}/v1/responses/${id}`, {
      headers: { authorization: `Bearer ${nodes[0]!.key}` },
    });
    expect([read.status, ((await read.json()) as { id: string }).id]).toEqual([200, id]);
  });

  test("write every request down once, though all have one id", async () => {
    const answered = made.filter((status) => status === "200").length + 1;
    const total = async (node: TestApp) => Number((await json(node, "/v1/stats/tokens"))["requests"]);
    for (const node of nodes) {
      while ((await total(node)) < answered) await Bun.sleep(20);
      expect(await total(node)).toBe(answered);
    }
  });
});

test.each([
  [{}, "needs database.url and redis.url"],
  [{ database: { url: "postgres://h/d" } }, "needs redis.url"],
  [{ redis: { url: "redis://h" } }, "needs database.url"],
])("server.reuse_port with %j is refused", async (more, said) => {
  const file = join(mkdtempSync(join(tmpdir(), "sallyport-nodes-")), "c.yaml");
  await Bun.write(file, JSON.stringify({ server: { reuse_port: true }, ...more }));
  const loaded = loadConfig({ file, env: {} });
  expect(loaded.ok ? [] : loaded.problems).toEqual([expect.stringContaining(`server.reuse_port: ${said}`)]);
});
