// Tokens a minute, in memory and on a real Redis: over any order of requests, ends and time, what is taken never exceeds the limit;
// nodes share it exactly, keep their share without Redis, and a node that dies gives back what it held.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { connectRedis, type SharedRedis } from "../../src/shared-state/redis.ts";
import { type SharedTokenWindows, sharedTokenWindows } from "../../src/shared-state/redis-token-windows.ts";
import type { ScopedLimit } from "../../src/shared-state/request-slots.ts";
import {
  memoryTokenWindows,
  type TokenHold,
  type TokenVerdict,
  type TokenWindows,
  type TokenWish,
} from "../../src/shared-state/token-windows.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";

let count = 0;
const keyOf = (limit: number, of: ScopedLimit["of"] = "key"): ScopedLimit => ({ id: `${of}-${++count}`, of, limit });
const exactly = (tokens: number): TokenWish => ({ least: tokens, most: tokens });
const MINUTE = 60_000;

describe("in memory", () => {
  type Step =
    | { readonly do: "take"; readonly least: number; readonly more: number }
    | { readonly do: "settle"; readonly at: number; readonly percent: number }
    | { readonly do: "wait"; readonly ms: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant("take" as const), least: fc.integer({ min: 1, max: 60 }), more: fc.nat(60) }),
    fc.record({ do: fc.constant("settle" as const), at: fc.nat(50), percent: fc.nat(100) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(20_000) }),
  );

  test("whatever begins and ends in whatever order, no minute holds more than the limit", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let now = 1_000_000;
        const windows = memoryTokenWindows({ now: () => now });
        const limits = [keyOf(70), keyOf(10_000, "project")];
        const [key] = limits as [ScopedLimit];
        const open: { hold: TokenHold; entry: { atMs: number; tokens: number } }[] = [];
        const all: { atMs: number; tokens: number }[] = [];
        const since = (fromMs: number) => all.reduce((sum, { atMs, tokens }) => sum + (atMs > fromMs ? tokens : 0), 0);
        const within = () => since(now - MINUTE);
        for (const one of steps) {
          if (one.do === "wait") now += one.ms;
          else if (one.do === "settle") {
            const [ended] = open.splice(open.length === 0 ? 0 : one.at % open.length, 1);
            if (ended === undefined) continue;
            const used = Math.floor((ended.entry.tokens * one.percent) / 100);
            ended.hold.settle(used);
            // A second time changes nothing.
            ended.hold.settle(0);
            ended.entry.tokens = used;
          } else {
            const { remaining } = windows.take([key], exactly(key.limit + 1));
            const verdict = windows.take(limits, { least: one.least, most: one.least + one.more });
            expect(verdict.of).toBe(key);
            // A slice leaves the window when all of it is a minute old, so that a refusal may come a moment late.
            if (verdict.hold === undefined) expect(since(now - MINUTE - 200) + one.least).toBeGreaterThan(key.limit);
            else {
              const entry = { atMs: now, tokens: remaining - verdict.remaining };
              expect(entry.tokens).toBeWithin(one.least, one.least + one.more + 1);
              all.push(entry);
              open.push({ hold: verdict.hold, entry });
            }
          }
          expect(within()).toBeLessThanOrEqual(key.limit);
        }
      }),
    );
  });

  test("what is used beyond the estimate counts from then on, also long after the request began", () => {
    let now = 1_000_000;
    const windows = memoryTokenWindows({ now: () => now });
    const key = keyOf(100);
    const { hold } = windows.take([key], exactly(10));
    now += 2 * MINUTE;
    hold?.settle(60);
    expect(windows.take([key], exactly(60))).toMatchObject({ hold: undefined, remaining: 50, waitMs: 60_100 });
    windows.count([key], 20);
    expect(windows.take([key], exactly(31)).remaining).toBe(30);
    now += MINUTE + 100;
    expect(windows.take([key], exactly(100)).hold).toBeDefined();
  });
});

interface Node {
  readonly windows: SharedTokenWindows;
  readonly redis: SharedRedis;
  becomes(isUp: boolean): Promise<void>;
  close(): Promise<void>;
}

function join(url: string, onFailure: "local" | "closed" = "local"): Node {
  const waiting: { isUp: boolean; resolve: () => void }[] = [];
  const redis = connectRedis({
    url,
    changed: (isUp) => {
      for (const one of waiting) if (one.isUp === isUp) one.resolve();
    },
    problem: () => undefined,
  });
  const windows = sharedTokenWindows({
    redis,
    local: memoryTokenWindows(systemClock),
    onFailure: () => onFailure,
    liveNodes: () => 3,
    node: crypto.randomUUID(),
    now: () => systemClock.now(),
  });
  const becomes = async (isUp: boolean) => {
    if (redis.isUp() === isUp) return;
    await new Promise<void>((resolve) => waiting.push({ isUp, resolve }));
  };
  const close = async () => {
    windows.stop();
    await redis.close();
  };
  return { windows, redis, becomes, close };
}

const three = async (url: string) => {
  const nodes = [join(url), join(url), join(url)];
  await Promise.all(nodes.map((node) => node.becomes(true)));
  return nodes;
};

/** What this many requests take, which are sent to the nodes in turn, all at once. */
async function taken(
  nodes: readonly { readonly windows: TokenWindows }[],
  limits: readonly ScopedLimit[],
  { wish, requests }: { wish: TokenWish; requests: number },
): Promise<TokenHold[]> {
  const asked = Array.from({ length: requests }, async (_, n) => nodes[n % nodes.length]!.windows.take(limits, wish));
  return (await Promise.all(asked)).flatMap(({ hold }) => hold ?? []);
}

/** What is left, after all that the nodes have told Redis so far. */
async function left(nodes: readonly Node[], key: ScopedLimit): Promise<number> {
  const wish = exactly(key.limit + 1);
  const verdicts: TokenVerdict[] = [];
  for (const { windows } of nodes) verdicts.push(await windows.take([key], wish));
  return verdicts.at(-1)!.remaining;
}

describe.skipIf(!HAS_REDIS)("over a real Redis", () => {
  let redis: TestRedis;
  let nodes: Node[];
  beforeAll(async () => {
    redis = await startRedis();
    nodes = await three(redis.url);
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await redis.stop();
  });

  test("three nodes admit exactly what fits, whatever it is, and settle by what was used", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 100 }), async (limit, tokens) => {
        const key = keyOf(limit);
        const holds = await taken(nodes, [key], { wish: exactly(tokens), requests: 30 });
        expect(holds).toHaveLength(Math.min(30, Math.floor(limit / tokens)));
        const used = Math.floor(tokens / 3);
        for (const hold of holds) hold.settle(used);
        expect(await left(nodes, key)).toBe(limit - holds.length * used);
      }),
      { numRuns: 12 },
    );
  });

  test("tokens are taken of every limit, or of none; what is left is taken, and named", async () => {
    const [key, project] = [keyOf(1_000_000_000_000), keyOf(100, "project")];
    const wish = { least: 30, most: 80 };
    const first = await nodes[0]!.windows.take([key, project], wish);
    expect(first).toMatchObject({ of: project, remaining: 20 });
    expect(await nodes[1]!.windows.take([key, project], wish)).toMatchObject({
      ...{ hold: undefined, of: project, remaining: 20, waitMs: 0 },
    });
    expect(await left(nodes, key)).toBe(key.limit - 80);
    first.hold?.settle(95);
    expect([await left(nodes, key), await left(nodes, project)]).toEqual([key.limit - 95, 5]);
    nodes[2]!.windows.count([key, project], 5);
    expect(await left([nodes[2]!], project)).toBe(0);
    expect((await nodes[0]!.windows.take([project], exactly(1))).waitMs).toBeWithin(50_000, 60_101);
  });

  test("what a node held that died is given back when its entries have expired, within 30 s", async () => {
    const key = keyOf(100);
    const dying = await three(redis.url);
    expect(await taken(dying, [key], { wish: exactly(30), requests: 9 })).toHaveLength(3);
    await Promise.all(dying.map((node) => node.close()));
    expect(await left(nodes, key)).toBe(10);
    const held = `sallyport:tokens:${key.id}:held`;
    const [seconds] = (await redis.ask("TIME")) as string[];
    const entries = (await redis.ask("ZRANGE", held, "0", "-1")) as string[];
    expect(entries).toHaveLength(3);
    for (const entry of entries) {
      expect(Number(await redis.ask("ZSCORE", held, entry)) - Number(seconds) * 1000).toBeWithin(1, 31_001);
      // The time has passed.
      await redis.ask("ZADD", held, "1", entry);
    }
    expect(await left(nodes, key)).toBe(100);
  });

  test("what is older than a minute is not counted", async () => {
    const key = keyOf(100);
    const [hold] = await taken(nodes, [key], { wish: exactly(60), requests: 1 });
    hold!.settle(60);
    await left(nodes, key);
    const [window, slices] = [`sallyport:tokens:${key.id}`, `sallyport:tokens:${key.id}:slices`];
    const [slice] = (await redis.ask("ZRANGE", slices, "0", "-1")) as string[];
    const old = String(Number(slice) - 700);
    await redis.ask("HSET", window, old, "60");
    await redis.ask("HDEL", window, slice!);
    await redis.ask("ZADD", slices, old, old);
    await redis.ask("ZREM", slices, slice!);
    expect(await left(nodes, key)).toBe(100);
  });
});

describe.skipIf(!HAS_REDIS)("when Redis is gone", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test("each node admits its share, and together never more, also when an empty Redis is back", async () => {
    const nodes = await three(redis.url);
    const key = keyOf(90);
    expect(await taken(nodes, [key], { wish: exactly(10), requests: 3 })).toHaveLength(3);
    await redis.kill();
    await Promise.all(nodes.map((node) => node.becomes(false)));
    const holds = await taken(nodes, [key], { wish: exactly(10), requests: 60 });
    expect(holds).toHaveLength(6);
    await redis.start();
    await Promise.all(nodes.map((node) => node.becomes(true)));
    expect(await taken(nodes, [key], { wish: exactly(10), requests: 60 })).toHaveLength(0);
    for (const hold of holds) hold.settle(10);
    expect(await taken(nodes, [key], { wish: exactly(10), requests: 60 })).toHaveLength(0);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test("with the setting `closed`, none is admitted", async () => {
    const node = join(redis.url, "closed");
    await node.becomes(true);
    await redis.kill();
    await node.becomes(false);
    const asked = (async () => node.windows.take([keyOf(9)], exactly(1)))();
    await expect(asked).rejects.toMatchObject({ apiCode: "server_busy" });
    await node.close();
  });
});
