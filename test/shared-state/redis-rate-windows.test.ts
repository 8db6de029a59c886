// Rate windows that nodes share through a real Redis: exact while it is available, each node's share while it is not,
// and never multiplied after Redis was emptied.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { EXACT_LIMIT_MAX, memoryRateLimiter, type RateLimiter } from "../../src/shared-state/rate-windows.ts";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { sharedRateLimiter } from "../../src/shared-state/redis-rate-windows.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

interface Node {
  readonly limiter: RateLimiter;
  readonly redis: SharedRedis;
  /** Resolves when the connection is in the wanted state. */
  becomes(isUp: boolean): Promise<void>;
}

function join(url: string, { nodes = 3, onFailure = "local" as "local" | "closed" } = {}): Node {
  const waiting: { isUp: boolean; resolve: () => void }[] = [];
  const redis = connectRedis({
    url,
    changed: (isUp) => {
      for (const one of waiting) if (one.isUp === isUp) one.resolve();
    },
    problem: () => undefined,
  });
  const limiter = sharedRateLimiter({
    redis,
    local: memoryRateLimiter(systemClock),
    onFailure: () => onFailure,
    liveNodes: () => nodes,
    node: crypto.randomUUID(),
    now: () => systemClock.now(),
  });
  const becomes = async (isUp: boolean) => {
    if (redis.isUp() === isUp) return;
    await new Promise<void>((resolve) => waiting.push({ isUp, resolve }));
  };
  return { limiter, redis, becomes };
}

/** A node on the same connection, which counts its calls. */
function countingNode(connection: SharedRedis) {
  const redis = {
    calls: 0,
    isUp: () => connection.isUp(),
    run: (...call: Parameters<SharedRedis["run"]>) => {
      redis.calls += 1;
      return connection.run(...call);
    },
  };
  const limiter = sharedRateLimiter({
    redis,
    local: memoryRateLimiter(systemClock),
    onFailure: () => "closed",
    liveNodes: () => 3,
    node: crypto.randomUUID(),
    now: () => systemClock.now(),
  });
  return { redis, limiter };
}

/** The number of admitted requests out of this many, which are sent to the nodes in turn, all at once. */
async function admitted(nodes: readonly Node[], key: string, { limit, requests }: { limit: number; requests: number }) {
  const asked = Array.from({ length: requests }, async (_, n) => nodes[n % nodes.length]!.limiter.admit(key, limit));
  const verdicts = await Promise.all(asked);
  return verdicts.filter((verdict) => verdict.admitted).length;
}

let count = 0;
const newKey = () => `key-${++count}`;

describe.skipIf(!HAS_REDIS)("over a real Redis", () => {
  let redis: TestRedis;
  let nodes: Node[];

  beforeAll(async () => {
    redis = await startRedis();
    nodes = [join(redis.url), join(redis.url), join(redis.url)];
    await Promise.all(nodes.map((node) => node.becomes(true)));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.redis.close()));
    await redis.stop();
  });

  test("three nodes admit exactly the limit, whatever it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 80 }), async (limit, requests) => {
        expect(await admitted(nodes, newKey(), { limit, requests })).toBe(Math.min(limit, requests));
      }),
      { numRuns: 20 },
    );
  });

  test.each([3, EXACT_LIMIT_MAX + 1])("a slot that is taken back is free again, with a limit of %d", async (limit) => {
    const key = newKey();
    const { limiter } = nodes[0]!;
    const first = await limiter.admit(key, limit);
    const second = await limiter.admit(key, limit);
    expect(second.remaining).toBe(limit - 2);
    await limiter.takeBack(key, second);
    expect((await limiter.admit(key, limit)).remaining).toBe(limit - 2);
    await limiter.takeBack(key, first);
    expect((await limiter.admit(key, limit)).remaining).toBe(limit - 2);
  });

  test("a window counted in slices admits exactly the limit too", async () => {
    const key = newKey();
    const limit = EXACT_LIMIT_MAX + 1;
    // Most of the window is written at once, since only its end is tested.
    await nodes[0]!.limiter.admit(key, limit);
    const slices = `sallyport:rate:${key}:slices`;
    const first = Number(await redis.ask("HGET", slices, "first"));
    await redis.ask("HINCRBY", slices, String(first), String(limit - 11));
    await redis.ask("HINCRBY", slices, "total", String(limit - 11));
    expect(await admitted(nodes, key, { limit, requests: 30 })).toBe(10);
  });

  test("requests of one turn get the verdicts that they would get one after another", async () => {
    // The third limit is counted in slices; two limits of one key are asked one after the other.
    const wishes = [
      { limit: 3, name: "a" },
      { limit: 5, name: "b" },
      { limit: EXACT_LIMIT_MAX + 1, name: "c" },
      { limit: 4, name: "a" },
    ];
    const turn = fc.array(fc.constantFrom(...wishes), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const prefix = newKey();
        const alone = memoryRateLimiter(systemClock);
        for (const turn of turns) {
          const verdicts = await Promise.all(
            turn.map(async (wish) => ({
              wish,
              ...(await nodes[0]!.limiter.admit(`${prefix}-${wish.name}`, wish.limit)),
            })),
          );
          const ordered = wishes.flatMap((wish) => verdicts.filter((verdict) => verdict.wish === wish));
          // Redis takes those that ask for the same together, in the order of the first of each.
          const first = [...new Set(turn)];
          ordered.sort((a, b) => first.indexOf(a.wish) - first.indexOf(b.wish));
          for (const { wish, admitted, limit, remaining } of ordered) {
            const { resetSeconds, ...expected } = alone.admit(wish.name, wish.limit);
            expect({ admitted, limit, remaining }).toEqual(expected);
            expect(resetSeconds).toBeWithin(1, 61);
          }
          expect(new Set(verdicts.map(({ slot }) => slot)).size).toBe(verdicts.length);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("requests of one turn are asked with one call, more than a hundred windows with several", async () => {
    const { redis, limiter } = countingNode(nodes[0]!.redis);
    const key = newKey();
    await Promise.all(Array.from({ length: 50 }, (_, n) => limiter.admit(n % 2 === 0 ? key : `${key}-x`, 40)));
    expect(redis.calls).toBe(1);
    await Promise.all(Array.from({ length: 250 }, (_, n) => limiter.admit(`${key}-${n}`, 40)));
    expect(redis.calls).toBe(4);
    // More of one window than one command of a script may be given.
    const many = await Promise.all(Array.from({ length: 2500 }, () => limiter.admit(`${key}-y`, 2400)));
    expect(many.filter(({ admitted }) => admitted).length).toBe(2400);
    expect(redis.calls).toBe(5);
  });

  test("a verdict says what is left and when a slot frees", async () => {
    const key = newKey();
    expect(await nodes[0]!.limiter.admit(key, 2)).toMatchObject({ admitted: true, limit: 2, remaining: 1 });
    const last = await nodes[1]!.limiter.admit(key, 2);
    expect(last).toMatchObject({ admitted: true, limit: 2, remaining: 0 });
    const refused = await nodes[2]!.limiter.admit(key, 2);
    expect(refused).toMatchObject({ admitted: false, limit: 2, remaining: 0 });
    expect(refused.resetSeconds).toBeWithin(1, 61);
  });

  test("what is older than a minute is not counted", async () => {
    const key = newKey();
    const [seconds] = (await redis.ask("TIME")) as string[];
    const at = (secondsAgo: number) => String((Number(seconds) - secondsAgo) * 1000);
    await redis.ask("ZADD", `sallyport:rate:${key}`, at(61), "old", at(30), "young");
    expect(await admitted(nodes, key, { limit: 3, requests: 9 })).toBe(2);
  });

  test("keys do not count against each other", async () => {
    const [one, other] = [newKey(), newKey()];
    expect(await admitted(nodes, one, { limit: 5, requests: 9 })).toBe(5);
    expect(await admitted(nodes, other, { limit: 5, requests: 9 })).toBe(5);
  });
});

describe.skipIf(!HAS_REDIS)("when Redis is gone", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test("each node admits its share, one at least; and exactly the limit again when it is back", async () => {
    const nodes = [join(redis.url), join(redis.url), join(redis.url)];
    await Promise.all(nodes.map((node) => node.becomes(true)));
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    expect(await admitted(nodes, newKey(), { limit: 9, requests: 60 })).toBe(9);
    expect(await admitted(nodes, newKey(), { limit: 2, requests: 60 })).toBe(3);
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    expect(await admitted(nodes, newKey(), { limit: 9, requests: 60 })).toBe(9);
    await Promise.all(nodes.map((node) => node.redis.close()));
  });

  test("what was admitted through Redis counts against the share", async () => {
    const nodes = [join(redis.url), join(redis.url), join(redis.url)];
    await Promise.all(nodes.map((node) => node.becomes(true)));
    const key = newKey();
    expect(await admitted(nodes, key, { limit: 9, requests: 9 })).toBe(9);
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    expect(await admitted(nodes, key, { limit: 9, requests: 60 })).toBe(0);
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    // Redis was emptied. Each node learns of it with its first request, and then admits only its share.
    expect(await admitted(nodes, key, { limit: 9, requests: 60 })).toBeLessThanOrEqual(9);
    for (const node of nodes) await node.limiter.admit(newKey(), 9);
    expect(await admitted(nodes, key, { limit: 9, requests: 60 })).toBe(0);
    await Promise.all(nodes.map((node) => node.redis.close()));
  });

  test("closed: nothing is admitted, and the client is told when to come back", async () => {
    const node = join(redis.url, { onFailure: "closed" });
    await node.becomes(true);
    await redis.kill();
    await node.becomes(false);
    expect(() => node.limiter.admit(newKey(), 9)).toThrow(
      expect.objectContaining({ apiCode: "server_busy", detail: expect.objectContaining({ retryAfterSeconds: 5 }) }),
    );
    await redis.start();
    await node.becomes(true);
    expect(await node.limiter.admit(newKey(), 9)).toMatchObject({ admitted: true });
    await node.redis.close();
  });

  test("killed under load: no promise is lost, and no verdict is another key's", async () => {
    const nodes = [join(redis.url), join(redis.url), join(redis.url)];
    await Promise.all(nodes.map((node) => node.becomes(true)));
    const key = newKey();
    const limit = 300;
    let done = 0;
    const load = nodes.map(async ({ limiter }) => {
      let let_in = 0;
      for (let n = 0; n < 400; n++) {
        const [verdict, other] = await Promise.all([limiter.admit(key, limit), limiter.admit(`${key}-x`, 7)]);
        done += 1;
        if (verdict.admitted) let_in += 1;
        expect([verdict.limit, other.limit]).toEqual([limit, 7]);
        if (done === 300) await redis.kill();
      }
      return let_in;
    });
    const total = (await Promise.all(load)).reduce((sum, one) => sum + one, 0);
    // The limit with Redis, and each node's share of it without.
    expect(total).toBeLessThanOrEqual(2 * limit);
    await redis.start();
    await Promise.all(nodes.map((node) => node.redis.close()));
  });
});
