import { expect, test } from "bun:test";
import fc from "fast-check";
import { latencyBucket, percentileMs } from "../../src/store/usage/latency.ts";

test("nothing counted has no percentile", () => {
  expect(percentileMs([], 0.5)).toBeNull();
  expect(percentileMs([{ bucket: 3, count: 0 }], 0.5)).toBeNull();
});

test("a percentile is within an eighth of the true one, in whatever parts the histogram comes", () => {
  const durations = fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.9, 0.99, 1), (values, percentile) => {
      const counts = values.map((ms) => ({ bucket: latencyBucket(ms), count: 1 }));
      const sorted = values.toSorted((a, b) => a - b);
      const truth = sorted[Math.max(0, Math.ceil(percentile * values.length) - 1)]!;
      const found = percentileMs(counts, percentile)!;
      // Rounding to whole milliseconds matters below ten.
      expect(Math.abs(found - truth)).toBeLessThanOrEqual(truth * 0.125 + 1);
    }),
  );
});

test.each([Number.NaN, -1, 0, 0.4])("%p falls into the first bucket", (ms) => {
  expect(latencyBucket(ms)).toBe(0);
});
