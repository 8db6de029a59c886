// The kept answers themselves: requests join one under way until its answer can be found, and the oldest give way.

import { expect, test } from "bun:test";
import { AnswerCache, type FoundAnswer } from "../../../../src/gateway/stages/cache/answer-cache.ts";
import { Sealer } from "../../../../src/gateway/stages/compaction/seal.ts";

const FOR = { key: "k", accountId: "a", keyId: "key", model: "m" };
const ANSWER = { events: [], source: { protocol: "openai-chat", minter: "up" } };

/** A store whose writes wait for `written`. */
function cacheOver({ maxSizeBytes = 1_000_000, sizes = [] as number[] } = {}) {
  const written = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const kept: string[] = [];
  const told: number[] = [];
  const clock = { ms: 5, now: () => clock.ms };
  const cache = new AnswerCache({
    clock,
    sealer: new Sealer("s"),
    settings: () => ({ mode: "on", share: "account", ttlMs: 1000, maxSizeBytes }),
    sized: (bytes) => told.push(bytes),
    failed: (error) => failures.push(error),
    store: {
      findCachedAnswer: async () => undefined,
      async keepCachedAnswer({ key }) {
        await written.promise;
        kept.push(key);
        return true;
      },
      cachedBytes: async () => sizes.reduce((sum, one) => sum + one, 0),
      deleteOldestCached: async () => sizes.shift() ?? 0,
    },
  });
  return { cache, written, failures, kept, sizes, told, clock };
}

test("requests join one under way until its answer is written", async () => {
  const { cache, written } = cacheOver();
  const flight = cache.begin("k");
  const early = cache.underWay("k");
  const found: FoundAnswer = { ...ANSWER, createdAtMs: 5 };
  const write = cache.keep(FOR, ANSWER);
  flight.end(found, write);
  // The end of the request comes after, and takes nothing back.
  flight.end(undefined);
  expect(await early).toBe(found);
  expect(await cache.underWay("k")).toBe(found);
  written.resolve();
  await write;
  await Promise.resolve();
  expect(cache.underWay("k")).toBeUndefined();
});

test("an end without an answer lets those that wait go on, and the next request begins anew", async () => {
  const { cache } = cacheOver();
  const flight = cache.begin("k");
  const waiting = cache.underWay("k");
  flight.end(undefined);
  expect(await waiting).toBeUndefined();
  expect(cache.underWay("k")).toBeUndefined();
});

test("beyond the limit the oldest are deleted, down to nine tenths of it", async () => {
  const { cache, written, sizes } = cacheOver({ maxSizeBytes: 100_000, sizes: [20_000, 20_000, 50_000, 30_000] });
  written.resolve();
  await cache.keep(FOR, ANSWER);
  expect(sizes).toEqual([50_000, 30_000]);
});

test("a store that fails is told of, and nothing else happens", async () => {
  const { cache, written, failures, kept } = cacheOver();
  written.reject(new Error("no database"));
  await cache.keep(FOR, ANSWER);
  expect(failures).toEqual([new Error("no database")]);
  expect(kept).toEqual([]);
});

test("the size that is told follows answers that ended meanwhile", async () => {
  const { cache, written, sizes, told, clock } = cacheOver({ sizes: [5000, 5000] });
  written.resolve();
  await cache.keep(FOR, ANSWER);
  expect(told.at(-1)).toBe(10_000);
  sizes.length = 1;
  await cache.keep(FOR, ANSWER);
  expect(told.at(-1)).toBeGreaterThan(10_000);
  clock.ms += 60_000;
  await cache.keep(FOR, ANSWER);
  expect(told.at(-1)).toBe(5000);
});
