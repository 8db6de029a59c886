// Counters of tries that nodes share through a real Redis: one limit for all of them, and none that is lost with Redis.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { sharedThrottle } from "../../src/shared-state/redis-sign-in-throttle.ts";
import { createThrottle, type SignInThrottle } from "../../src/shared-state/sign-in-throttle.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

const LIMIT = { failures: 5, windowMs: 60_000 };

describe.skipIf(!HAS_REDIS)("tries on two nodes", () => {
  let redis: TestRedis;
  let nodes: RedisNode[];
  let count = 0;

  beforeAll(async () => {
    redis = await startRedis();
    nodes = [await joinRedis(redis.url), await joinRedis(redis.url)];
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.redis.close();
    await redis?.stop();
  });

  const counters = (what: string, limit = LIMIT): [SignInThrottle, SignInThrottle] =>
    nodes.map((node) =>
      sharedThrottle({ ...node, what, limit: () => limit, local: createThrottle(systemClock, () => limit) }),
    ) as [SignInThrottle, SignInThrottle];
  const fresh = () => counters(`test ${++count}`);
  const allowed = async (attempts: SignInThrottle, names = ["ann"]) => (await attempts.begin(names)).allowed;

  test("share one limit, however many are sent at once", async () => {
    const both = fresh();
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => allowed(both[n % 2]!)));
    expect(all.filter(Boolean)).toHaveLength(LIMIT.failures);
  });

  test("are refused with the time until the next, and count under each of their names", async () => {
    const [one, other] = fresh();
    for (let n = 0; n < 3; n++) await one.begin(["ann", `address ${n}`]);
    for (let n = 0; n < 2; n++) await other.begin(["ann", "address x"]);
    const refused = await one.begin(["ann", "address y"]);
    expect(refused.allowed).toBe(false);
    if (refused.allowed) return;
    expect(refused.retryAfterSeconds).toBeGreaterThan(0);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(LIMIT.windowMs / 1000);
    // What was refused counted under no name.
    for (let n = 0; n < LIMIT.failures; n++) expect(await allowed(other, ["address y"])).toBe(true);
    expect(await allowed(one, ["address y"])).toBe(false);
  });

  test("that succeeded do not count, on any node", async () => {
    const [one, other] = fresh();
    for (let n = 0; n < 3 * LIMIT.failures; n++) {
      const attempt = await (n % 2 === 0 ? one : other).begin(["ann"]);
      if (!attempt.allowed) throw new Error("refused");
      attempt.uncount();
    }
    expect(await allowed(one)).toBe(true);
  });

  test("of one kind do not count for another", async () => {
    const [one] = fresh();
    const [two] = fresh();
    for (let n = 0; n < LIMIT.failures; n++) await one.begin(["ann"]);
    expect([await allowed(one), await allowed(two)]).toEqual([false, true]);
  });

  test("leave no name readable on Redis, and leave by themselves", async () => {
    const [one] = fresh();
    await one.begin(["ann@x.example"]);
    const keys = (await redis.ask("KEYS", `sallyport:tries:test ${count}:*`)) as string[];
    expect(keys).toHaveLength(1);
    expect(keys[0]).not.toContain("ann");
    expect(Number(await redis.ask("PTTL", keys[0]!))).toBeGreaterThan(0);
  });

  test("are limited by each node alone while Redis is gone, and by both when it is back empty", async () => {
    const [one, other] = fresh();
    for (let n = 0; n < LIMIT.failures; n++) expect(await allowed(one)).toBe(true);
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    // Its own tries still count, and the other node counts its own.
    expect(await allowed(one)).toBe(false);
    for (let n = 0; n < LIMIT.failures; n++) expect(await allowed(other)).toBe(true);
    expect(await allowed(other)).toBe(false);
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    expect([await allowed(one), await allowed(other)]).toEqual([false, false]);
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => allowed(n % 2 === 0 ? one : other, ["bob"])));
    expect(all.filter(Boolean)).toHaveLength(LIMIT.failures);
  }, 30_000);
});
