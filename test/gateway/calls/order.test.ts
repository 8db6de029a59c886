import { expect, test } from "bun:test";
import fc from "fast-check";
import { orderRoutes } from "../../../src/gateway/calls/order.ts";

const route = (provider: string, priority = 1, weight = 1) => ({ provider, priority, weight });

const routeArbitrary = fc.record({
  provider: fc.constantFrom("a", "b", "c", "d"),
  priority: fc.integer({ min: -2, max: 3 }),
  weight: fc.oneof(fc.nat(5), fc.constantFrom(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY)),
});

test("every route occurs once, in the order of priorities", () => {
  fc.assert(
    fc.property(
      fc.array(routeArbitrary),
      fc.func(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (all, f) => {
        let calls = 0;
        const order = orderRoutes(all, { random: () => f(calls++) });
        expect(order).toHaveLength(all.length);
        expect(new Set(order)).toEqual(new Set(all));
        for (let i = 1; i < order.length; i++)
          expect(order[i]!.priority).toBeGreaterThanOrEqual(order[i - 1]!.priority);
      },
    ),
  );
});

test("skipped routes are never tried", () => {
  fc.assert(
    fc.property(fc.array(routeArbitrary), (all) => {
      const order = orderRoutes(all, { random: () => 0.5, skip: ({ provider }) => provider === "a" });
      expect(order.length).toBe(all.filter(({ provider }) => provider !== "a").length);
      expect(order.some(({ provider }) => provider === "a")).toBe(false);
    }),
  );
});

test("routes without weight come after the others of their priority", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (r) => {
      const order = orderRoutes([route("zero", 1, 0), route("one"), route("none", 1, -1), route("late", 2)], {
        random: () => r,
      });
      expect(order.map(({ provider }) => provider)).toEqual(["one", "zero", "none", "late"]);
    }),
  );
});

test.each([
  [0, "a"],
  [0.249, "a"],
  [0.25, "b"],
  [0.999, "b"],
])("a quarter of the numbers goes to a quarter of the weight: %p", (random, want) => {
  expect(orderRoutes([route("a", 1, 1), route("b", 1, 3)], { random: () => random })[0]?.provider).toBe(want);
});

test("over many draws the first choice follows the weights", () => {
  // A low-discrepancy sequence instead of random numbers. It is the same in every run.
  let n = 0;
  const random = () => (n++ * 0.618_033_988_749_895) % 1;
  const first = { a: 0, b: 0, c: 0 } as Record<string, number>;
  for (let i = 0; i < 3000; i++)
    first[orderRoutes([route("a", 1, 1), route("b", 1, 2), route("c", 1, 7)], { random })[0]!.provider]!++;
  expect(first["a"]! / 3000).toBeCloseTo(0.1, 1);
  expect(first["b"]! / 3000).toBeCloseTo(0.2, 1);
  expect(first["c"]! / 3000).toBeCloseTo(0.7, 1);
});

test("the given list is not changed", () => {
  const routes = [route("b", 2), route("a", 1)];
  orderRoutes(routes, { random: () => 0 });
  expect(routes.map(({ provider }) => provider)).toEqual(["b", "a"]);
});
