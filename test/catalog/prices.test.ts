import { expect, test } from "bun:test";
import fc from "fast-check";
import { costMicros } from "../../src/catalog/prices.ts";

const PRICES = {
  input: 2,
  output: 10,
  cacheRead: 0.5,
  cacheWrite: 3,
  tiers: [
    { above: 1000, input: 4, output: 20 },
    { above: 5000, input: 8, output: 40, cacheRead: 1 },
  ],
};

test.each([
  ["plain", { inputTokens: 100, outputTokens: 10 }, 300],
  ["cached", { inputTokens: 100, outputTokens: 0, cachedTokens: 60 }, 110],
  [
    "cache writes for an hour",
    { inputTokens: 100, outputTokens: 0, cacheWriteTokens: 100, cacheWriteHourTokens: 60 },
    40 * 3 + 60 * 2 * 2,
  ],
  ["cache writes", { inputTokens: 100, outputTokens: 0, cacheWriteTokens: 50, cachedTokens: 50 }, 175],
  ["the tier's edge belongs below", { inputTokens: 1000, outputTokens: 1 }, 2010],
  ["above it the whole request pays the tier", { inputTokens: 1001, outputTokens: 1 }, 4024],
  ["the highest tier that is exceeded", { inputTokens: 6000, outputTokens: 0, cachedTokens: 1000 }, 41_000],
  ["a tier without a cache price charges input", { inputTokens: 2000, outputTokens: 0, cachedTokens: 1000 }, 8000],
  ["more cached than input is no credit", { inputTokens: 10, outputTokens: 0, cachedTokens: 100 }, 50],
  ["nothing", { inputTokens: 0, outputTokens: 0 }, 0],
])("%s", (_name, usage, want) => expect(costMicros(PRICES, usage)).toBe(want));

test("unknown prices cost nothing", () => expect(costMicros(undefined, { inputTokens: 9, outputTokens: 9 })).toBe(0));

test("a cost is a whole number, never negative, and grows with the output", () => {
  const tokens = fc.nat(2_000_000);
  fc.assert(
    fc.property(tokens, tokens, tokens, tokens, (inputTokens, outputTokens, cachedTokens, cacheWriteTokens) => {
      const usage = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
      const cost = costMicros(PRICES, usage);
      expect(Number.isSafeInteger(cost) && cost >= 0).toBe(true);
      expect(costMicros(PRICES, { ...usage, outputTokens: outputTokens + 1 })).toBeGreaterThan(cost);
    }),
  );
});
