// The cache of answers on a real Redis: nobody gets the answer of another account, a Redis that is lost costs nothing but the hits,
// and what is cleared is gone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { runCommand } from "../../../decisions/command.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../../../support/redis.ts";
import { chatAnswer, startUpstream } from "../../../support/upstream.ts";

describe.skipIf(!HAS_REDIS)("answers in Redis", () => {
  let asked = 0;
  const upstream = startUpstream(() => chatAnswer({ content: `Answer ${++asked}.` }));
  let redis: TestRedis;
  let app: TestApp;
  const config = () => ({
    redis: { url: redis.url },
    cache: { mode: "on" },
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: ["m", "n"].map((id) => ({ id, routes: [{ provider: "up", model: "up-model" }] })),
  });
  beforeAll(async () => {
    redis = await startRedis();
    app = await startTestApp({ config: config() });
  });
  afterAll(async () => {
    await app?.stop();
    await upstream.stop();
    await redis?.stop();
  });

  async function ask(text: string, { key = app.key, model = "m" } = {}) {
    const body = { model, messages: [{ role: "user", content: text }], temperature: 0 };
    const response = await app.post("/v1/chat/completions", body, { authorization: `Bearer ${key}` });
    expect(response.status).toBe(200);
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    return { cache: response.headers.get("x-sallyport-cache"), said: choices[0]?.message.content };
  }
  const entries = async () => (await redis.ask("KEYS", "sallyport:answer:*")) as string[];
  async function keyOf(accountId: string, name: string) {
    const store = await app.openStore();
    const made = await keyStore(store).createKey({ accountId, name });
    await store.close();
    return made;
  }

  test("an equal request hits, and the database keeps nothing", async () => {
    const first = await ask("kept");
    expect(first.cache).toBe("miss");
    expect(await ask("kept")).toEqual({ cache: expect.stringMatching(/^hit/) as unknown as string, said: first.said });
    expect(await entries()).toHaveLength(1);
    const [content] = (await redis.ask("HMGET", (await entries())[0]!, "content")) as string[];
    expect(Buffer.from(content!, "base64").toString("latin1")).not.toContain("Answer");
    const store = await app.openStore();
    expect(await store.statement("SELECT key FROM cached_answers").all()).toEqual([]);
    await store.close();
    await app.restart(config());
    expect((await ask("kept")).cache).toMatch(/^hit/);
  });

  test("no account gets the answer of another, not even one that stands under its own name", async () => {
    const store = await app.openStore();
    const made = { username: "other", email: "o@example.com", tier: "premium", emailVerified: true } as const;
    const other = await accountStore(store).createAccount(made);
    await store.close();
    if ("refused" in other) throw new Error(other.refused);
    const { key } = await keyOf(other.id, "k");
    await redis.ask("FLUSHALL");
    await ask("mine");
    const [mine] = await entries();
    expect((await ask("mine", { key })).cache).toBe("miss");
    const theirs = (await entries()).find((name) => name !== mine)!;
    await redis.ask("COPY", mine!, theirs, "REPLACE");
    expect((await ask("mine", { key })).cache).toBe("miss");
  });

  test("the answer of a key that was revoked is not given again", async () => {
    const { key, id } = await keyOf(app.accountId, "short");
    await ask("by another key", { key });
    expect((await ask("by another key")).cache).toMatch(/^hit/);
    const store = await app.openStore();
    await keyStore(store).revokeKey(id);
    await store.close();
    expect((await ask("by another key")).cache).toBe("miss");
  });

  test("`cache clear` deletes them", async () => {
    await redis.ask("FLUSHALL");
    await ask("a");
    await ask("a", { model: "n" });
    const clear = (...flags: string[]) =>
      runCommand(app.dataDir, ["cache", "clear", "--json", "--config", "test.yaml", ...flags]);
    expect(JSON.parse((await clear("--model", "n")).out)).toEqual({ deleted: 1 });
    expect((await ask("a")).cache).toMatch(/^hit/);
    expect((await ask("a", { model: "n" })).cache).toBe("miss");
    expect(JSON.parse((await clear()).out)).toEqual({ deleted: 2 });
    expect((await ask("a")).cache).toBe("miss");
  });

  test("while Redis is gone every request is asked anew, which is counted", async () => {
    await ask("before");
    await redis.kill();
    const failures = async () =>
      Number(/sallyport_cache_failures_total (\d+)/.exec(await (await app.call("/metrics")).text())?.[1]);
    const before = await failures();
    for (let n = 0; n < 3; n++) expect((await ask("before")).cache).toBe("miss");
    expect(await failures()).toBeGreaterThan(before);
    const clear = await runCommand(app.dataDir, ["cache", "clear", "--config", "test.yaml"]);
    expect([clear.code, clear.err]).toEqual([1, expect.stringContaining("redis.url cannot be reached")]);
    await redis.start();
    while (!(await ask("after")).cache?.startsWith("hit"));
    await app.flushLogs();
    expect(app.logs.filter(({ msg }) => msg === "the cache of answers failed")).toEqual([]);
  });
});
