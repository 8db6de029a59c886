// Kept answers that nodes share through a real Redis: bounded in size and time, and gone when they are cleared.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type SharedAnswer, type SharedAnswers, sharedAnswers } from "../../src/shared-state/redis-answers.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

const NOW = 1_000_000;
const answer = (key: string, { bytes = 1000, model = "m", ttlMs = 60_000 } = {}): SharedAnswer => ({
  ...{ key, model, accountId: "a", keyId: "k", expiresAtMs: NOW + ttlMs },
  content: Buffer.alloc(bytes, key),
});

describe.skipIf(!HAS_REDIS)("kept answers on two nodes", () => {
  let redis: TestRedis;
  let nodes: RedisNode[];
  let bytesMax = 1_000_000;
  let one: SharedAnswers;
  let other: SharedAnswers;

  beforeAll(async () => {
    redis = await startRedis();
    nodes = [await joinRedis(redis.url), await joinRedis(redis.url)];
    [one, other] = nodes.map((node) =>
      sharedAnswers({ redis: node.redis, now: () => NOW, bytesMax: () => bytesMax }),
    ) as [SharedAnswers, SharedAnswers];
  });
  beforeEach(async () => {
    bytesMax = 1_000_000;
    await redis.ask("FLUSHALL");
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.redis.close();
    await redis?.stop();
  });
  const kept = async () => (await redis.ask("KEYS", "sallyport:answer:*")) as string[];
  const total = async () => Number(await redis.ask("GET", "sallyport:answers:bytes"));

  test("are found by every node, byte for byte, in place of earlier ones", async () => {
    const bytes = crypto.getRandomValues(Buffer.alloc(5000));
    expect(await other.findCachedAnswer("x")).toBeUndefined();
    await one.keepCachedAnswer(answer("x"));
    await one.keepCachedAnswer({ ...answer("x"), content: bytes, keyId: "k2" });
    expect(await other.findCachedAnswer("x")).toEqual({ content: bytes, createdAtMs: NOW, keyId: "k2" });
    expect(await total()).toBeLessThan(8000);
  });

  test("end with the time of Redis, and leave the index then", async () => {
    await one.keepCachedAnswer(answer("long", { ttlMs: 60_000 }));
    await one.keepCachedAnswer(answer("short", { ttlMs: 1 }));
    const left = Number(await redis.ask("PTTL", "sallyport:answer:long"));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    // The index stays as long as the longest answer.
    expect(Number(await redis.ask("PTTL", "sallyport:answers:sizes"))).toBeGreaterThan(50_000);
    while ((await other.findCachedAnswer("short")) !== undefined);
    await one.keepCachedAnswer(answer("new"));
    expect((await redis.ask("HKEYS", "sallyport:answers:sizes")) as string[]).toEqual(["long", "new"]);
  });

  test("go with their API keys, and leave the index", async () => {
    const of = (keyId: string, key: string) => ({ ...answer(key, { model: 'a "quoted" model' }), keyId });
    for (const name of ["a", "b"]) await one.keepCachedAnswer(of("ended", name));
    await one.keepCachedAnswer(of("live", "c"));
    const isLive = async (keyId: string) => keyId === "live";
    expect(await other.deleteOfEnded(isLive)).toBe(2);
    expect(await kept()).toEqual(["sallyport:answer:c"]);
    expect(await redis.ask("SMEMBERS", "sallyport:answers:holders")).toEqual(["live"]);
    expect(await redis.ask("EXISTS", "sallyport:answers:of:ended")).toBe(0);
    const before = await total();
    expect(await other.deleteOfEnded(isLive)).toBe(0);
    // An answer in place of another one is its own key's alone.
    await one.keepCachedAnswer(of("next", "c"));
    expect(await redis.ask("EXISTS", "sallyport:answers:of:live")).toBe(0);
    expect(await total()).toBe(before);
    expect(await other.deleteOfEnded(isLive)).toBe(1);
    expect([await kept(), await total()]).toEqual([[], 0]);
    expect(await redis.ask("EXISTS", "sallyport:answers:holders")).toBe(0);
  });

  test("stay within the limit of all together: those that end first go", async () => {
    bytesMax = 10_000;
    for (let n = 0; n < 20; n++) {
      await (n % 2 === 0 ? one : other).keepCachedAnswer(answer(`n${n}`, { ttlMs: 60_000 + n }));
      expect(await total()).toBeLessThanOrEqual(bytesMax);
    }
    const names = (await kept()).map((key) => key.replace("sallyport:answer:", "")).sort();
    expect(names).toEqual(["n15", "n16", "n17", "n18", "n19"]);
    expect(await redis.ask("ZCARD", "sallyport:answers:order")).toBe(5);
    expect(await one.cachedBytes()).toBe((await total()) - 0);
    // One that is larger than the limit displaces nothing.
    expect(await one.keepCachedAnswer(answer("huge", { bytes: 20_000 }))).toBe(false);
    expect(await kept()).toHaveLength(5);
  });

  test("are cleared, all or those of one model", async () => {
    for (let n = 0; n < 1200; n++)
      await one.keepCachedAnswer(answer(`n${n}`, { bytes: 1, model: n % 3 === 0 ? "m" : "o" }));
    expect(await other.clearCache("m")).toBe(400);
    expect(await kept()).toHaveLength(800);
    expect(await other.clearCache()).toBe(800);
    expect(await redis.ask("KEYS", "*")).toEqual(["sallyport:answers:bytes"]);
    expect(await total()).toBe(0);
  });

  test("are not asked for while Redis is gone", async () => {
    await one.keepCachedAnswer(answer("x"));
    await redis.kill();
    await nodes[0]!.becomes(false);
    await expect(one.findCachedAnswer("x")).rejects.toThrow("cannot be reached");
    await expect(one.keepCachedAnswer(answer("y"))).rejects.toThrow("cannot be reached");
    await redis.start();
    await nodes[0]!.becomes(true);
    expect(await one.findCachedAnswer("x")).toBeUndefined();
  });
});

test.each<[string, string]>([
  ["the connection broke under it", "cannot be reached"],
  ["Redis refused it", "OOM"],
])("a call is told apart: %s", async (_name, told) => {
  const error =
    told === "OOM"
      ? new Error("OOM command not allowed")
      : Object.assign(new Error("Reached the max retries per request limit"), { name: "MaxRetriesPerRequestError" });
  const redis = { isUp: () => true, run: async () => Promise.reject(error) };
  const answers = sharedAnswers({ redis, now: () => NOW, bytesMax: () => 1_000_000 });
  await expect(answers.findCachedAnswer("x")).rejects.toThrow(told);
});
