import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  billedClasses,
  costMicros,
  knownCostMicros,
  type Measured,
  type Prices,
  withBilling,
} from "../../src/catalog/prices.ts";

const PRICES = {
  input: 2,
  output: 10,
  cacheRead: 0.5,
  cacheWrite: 3,
  services: { priority: 2, flex: 0.5 },
  perSearch: 0.01,
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
  ["a service tier", { inputTokens: 100, outputTokens: 10, service: "priority" }, 600],
  ["a service tier for long prompts", { inputTokens: 1001, outputTokens: 1, service: "priority" }, 8048],
  [
    "a cheaper service tier, cache included",
    { inputTokens: 100, outputTokens: 0, cachedTokens: 60, service: "flex" },
    55,
  ],
  ["an unknown service tier", { inputTokens: 100, outputTokens: 10, service: "constructor" }, 300],
  [
    "searches, which no service tier makes dearer",
    { inputTokens: 0, outputTokens: 1, searches: 3, service: "priority" },
    30_020,
  ],
  ["nothing", { inputTokens: 0, outputTokens: 0 }, 0],
])("the cost of a request follows from its usage: %s", (_name, usage, want) =>
  expect(costMicros(PRICES, usage)).toBe(want),
);

test("an amount that is no number costs nothing, and spoils no other", () => {
  const usage = { inputTokens: Number.NaN, outputTokens: 10, cachedTokens: 60 };
  const prices = { input: 2, output: 10, cacheRead: 0.5 };
  expect(costMicros(prices, usage)).toBe(130);
  expect(billedClasses(prices, usage).map(({ name }) => name)).toEqual(["cached_input", "output"]);
});

const UNIT = { inputTokens: 0, outputTokens: 0 };
test.each([
  ["without prices", undefined, { inputTokens: 9, outputTokens: 9 }],
  ["minutes without a price", { input: 1 }, { ...UNIT, seconds: 60 }],
  ["images without a price", { input: 1, perMinute: 1 }, { ...UNIT, images: 1 }],
  ["characters without a price", { input: 1 }, { ...UNIT, characters: 10 }],
])("%s, the cost is unknown and counts as nothing", (_name, prices, usage) => {
  expect(knownCostMicros(prices, usage)).toBeUndefined();
  expect(costMicros(prices, usage)).toBe(0);
});

test.each([
  ["minutes", { input: 1, perMinute: 0.006 }, { ...UNIT, seconds: 30 }, 3000],
  ["images", { input: 0, perImage: 0.04 }, { ...UNIT, images: 2 }, 80_000],
  ["characters", { input: 0, perMillionCharacters: 15 }, { ...UNIT, characters: 100 }, 1500],
  ["a request", { input: 0, perRequest: 0.002 }, UNIT, 2000],
  ["free images", { input: 0, perImage: 0 }, { ...UNIT, images: 2 }, 0],
  ["images that are counted in tokens", { input: 1 }, { inputTokens: 5, outputTokens: 0, images: 1 }, 5],
])("what has a price of its own has a known cost: %s", (_name, prices, usage, want) =>
  expect(knownCostMicros(prices, usage)).toBe(want),
);

test("prices take precedence over what the vendor bills", () => {
  const billing = { services: { priority: 2, flex: 0.5 }, perSearch: 0.01 };
  expect(withBilling({ input: 1, services: { priority: 3 }, perSearch: 0 }, billing)).toEqual({
    input: 1,
    services: { priority: 3, flex: 0.5 },
    perSearch: 0,
  });
  expect(withBilling({ input: 1 }, undefined)).toEqual({ input: 1 });
  expect(withBilling(undefined, billing)).toBeUndefined();
});

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

const named = (prices: Prices | undefined, usage: Measured) =>
  billedClasses(prices, usage).map(({ name, amount, costMicros: cost }) => [name, amount, cost]);

test("an answer is billed by class", () => {
  const tokens = {
    inputTokens: 100,
    outputTokens: 10,
    cachedTokens: 20,
    cacheWriteTokens: 60,
    cacheWriteHourTokens: 40,
  };
  expect(named(PRICES, { ...tokens, searches: 2 })).toEqual([
    ["input", 20, 40],
    ["cached_input", 20, 10],
    ["cache_write", 20, 60],
    ["cache_write_1h", 40, 160],
    ["output", 10, 100],
    ["searches", 2, 20_000],
  ]);
  expect(named(PRICES, { inputTokens: 1001, outputTokens: 1 })).toEqual([
    ["input above 1000", 1001, 4004],
    ["output above 1000", 1, 20],
  ]);
  expect(named({ input: 0, perMinute: 0.006 }, { ...UNIT, seconds: 0.5 })).toEqual([["audio_ms", 500, 50]]);
  expect(named({ input: 1 }, { inputTokens: 5, outputTokens: 0, images: 1 })).toEqual([["input", 5, 5]]);
  // Where a price is missing, the amount alone is known.
  expect(named({ input: 1 }, { ...UNIT, images: 2 })).toEqual([["images", 2, undefined]]);
  expect(named(undefined, tokens).every(([, , cost]) => cost === undefined)).toBe(true);
  expect(named(PRICES, UNIT)).toEqual([]);
});

test("the costs of an answer's classes add up to its cost", () => {
  const tokens = fc.nat(2_000_000);
  const price = fc.double({ min: 0, max: 30, noNaN: true });
  const unit = fc.option(price, { nil: undefined });
  const usages = fc.record({
    ...{ inputTokens: tokens, outputTokens: tokens, cachedTokens: tokens, cacheWriteTokens: tokens },
    ...{ cacheWriteHourTokens: tokens, searches: fc.nat(9), images: fc.nat(3), characters: fc.nat(99) },
    ...{ seconds: fc.double({ min: 0, max: 99, noNaN: true }), service: fc.constantFrom("flex", "priority", "other") },
  });
  const prices = fc.record({
    ...{ input: price, output: unit, cacheRead: unit, cacheWrite: unit, cacheWrite1h: unit },
    ...{ perImage: unit, perMinute: unit, perMillionCharacters: unit, perSearch: unit, perRequest: unit },
    services: fc.constant({ priority: 2, flex: 0.5 }),
    tiers: fc.constantFrom(undefined, [{ above: 1000, input: 3, output: 9 }]),
  });
  fc.assert(
    fc.property(prices, usages, (known, usage) => {
      const sum = billedClasses(known, usage).reduce((total, { costMicros: cost }) => total + (cost ?? 0), 0);
      expect(sum).toBe(costMicros(known, usage));
    }),
  );
});
