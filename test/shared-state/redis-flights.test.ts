// Work that nodes share through a real Redis: done once, handed to all who wait, and done by each node where that fails.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Flights } from "../../src/base/flights.ts";
import { sharedFlights } from "../../src/shared-state/redis-flights.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../support/redis.ts";

describe.skipIf(!HAS_REDIS)("work on three nodes", () => {
  let redis: TestRedis;
  let nodes: RedisNode[];
  let flights: Flights[];
  let count = 0;

  beforeAll(async () => {
    redis = await startRedis();
    nodes = [await joinRedis(redis.url), await joinRedis(redis.url), await joinRedis(redis.url)];
    flights = nodes.map(sharedFlights);
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.redis.close();
    await redis?.stop();
  });

  const newKey = () => `work ${++count}`;
  const kept = (ms: number | undefined) => ({ keptMs: () => ms });

  /** Work that ends when told, and how often it began. */
  function slow<T>(value: T) {
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const state = { times: 0, begun: begun.promise, end: end.resolve, fail: end.reject };
    const work = async () => {
      state.times++;
      begun.resolve();
      await end.promise;
      return value;
    };
    return { state, work };
  }

  test("is done once, and all get the value", async () => {
    const key = newKey();
    const { state, work } = slow({ found: ["é", 1, null] });
    const all = flights.map((one) => one.share(key, work, kept(10_000)));
    await state.begun;
    state.end();
    for (const { value } of await Promise.all(all)) expect(value).toEqual({ found: ["é", 1, null] });
    expect(state.times).toBe(1);
  });

  test("is not done again while its value is kept, unless someone wants it anew", async () => {
    const key = newKey();
    let times = 0;
    const work = async () => ++times;
    await flights[0]!.share(key, work, kept(60_000));
    // Handing it over is not waited for.
    let later = await flights[1]!.share(key, work, kept(60_000));
    while (later.value !== 1) later = await flights[1]!.share(key, work, kept(60_000));
    expect(later.leftMs).toBeGreaterThan(0);
    expect(later.leftMs).toBeLessThanOrEqual(60_000);
    const before = times;
    expect((await flights[2]!.share(key, work, { ...kept(60_000), anew: true })).value).toBe(before + 1);
  });

  test("that failed is done by each of those who waited", async () => {
    const key = newKey();
    const { state, work } = slow("never");
    const first = flights[0]!.share(key, work, kept(1000));
    first.catch(() => undefined);
    await state.begun;
    let own = 0;
    const second = flights[1]!.share(key, async () => ++own, kept(1000));
    state.fail(new Error("it failed"));
    expect(first).rejects.toThrow("it failed");
    expect((await second).value).toBe(1);
  });

  test.each([
    ["must not be handed over", undefined, "secret"],
    ["is too large", 60_000, "x".repeat(1_100_000)],
  ])("whose value %s is done by each node", async (_, ms, value) => {
    const key = newKey();
    let times = 0;
    const work = async () => {
      times++;
      return value;
    };
    for (const one of flights) expect((await one.share(key, work, kept(ms))).value).toBe(value);
    expect(times).toBe(3);
  });

  test("of a node that crashed is done by another when its lock ends", async () => {
    const key = newKey();
    const crashed = await joinRedis(redis.url);
    const { state, work } = slow("never");
    void sharedFlights(crashed).share(key, work, kept(1000));
    await state.begun;
    // It renews no lock.
    await crashed.redis.close();
    const taken = await flights[0]!.share(key, async (hasWaited) => ["mine", hasWaited], kept(1000));
    expect(taken.value).toEqual(["mine", true]);
  }, 30_000);

  test("is no longer waited for by who has given up", async () => {
    const key = newKey();
    const { state, work } = slow(1);
    const first = flights[0]!.share(key, work, kept(1000));
    await state.begun;
    const stop = new AbortController();
    const second = flights[1]!.share(key, work, { ...kept(1000), signal: stop.signal });
    stop.abort(new Error("enough"));
    expect(second).rejects.toThrow("enough");
    state.end();
    expect((await first).value).toBe(1);
    expect(state.times).toBe(1);
  });

  test("goes on when Redis is killed under it, and is shared again when it is back empty", async () => {
    const key = newKey();
    const { state, work } = slow("made");
    const all = flights.map((one) => one.share(key, work, kept(60_000)));
    await state.begun;
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    state.end();
    for (const { value } of await Promise.all(all)) expect(value).toBe("made");
    expect((await flights[0]!.share(newKey(), async () => "alone", kept(1))).value).toBe("alone");
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    const again = slow("again");
    const next = newKey();
    const shared = flights.map((one) => one.share(next, again.work, kept(60_000)));
    await again.state.begun;
    again.state.end();
    for (const { value } of await Promise.all(shared)) expect(value).toBe("again");
    expect(again.state.times).toBe(1);
  }, 30_000);

  test("of many keys at once never gets another's value, even while Redis is killed", async () => {
    let running = true;
    const wrong: string[] = [];
    const load = Array.from({ length: 30 }, async (_, worker) => {
      for (let n = 0; running || n < 20; n++) {
        const own = `crossing ${worker % 10} ${n}`;
        const work = async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return `value of ${own}`;
        };
        const { value } = await flights[worker % 3]!.share(own, work, kept(50));
        if (value !== `value of ${own}`) wrong.push(`${own}: ${value}`);
      }
    });
    await redis.kill();
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    running = false;
    await Promise.all(load);
    expect(wrong).toEqual([]);
  }, 30_000);
});
