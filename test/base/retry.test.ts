import { expect, test } from "bun:test";
import fc from "fast-check";
import { backoffMs, pause, retryWaitMs } from "../../src/base/retry.ts";

const BACKOFF = { baseMs: 1000, maxMs: 8000 };
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test.each([
  [0, 0, 500],
  [0, 0.999_999, 1000],
  [1, 0, 1000],
  [2, 0, 2000],
  [3, 0.5, 6000],
  [4, 0.999_999, 8000],
  [10_000, 0, 4000],
])("retry %p with random %p waits %p", (retry, random, want) =>
  expect(backoffMs(retry, BACKOFF, () => random)).toBe(want),
);

test("a wait lies between half a step and the maximum, is never shorter than asked, and ends before the deadline", () => {
  fc.assert(
    fc.property(
      fc.nat(100),
      unit,
      fc.integer({ min: 0, max: 60_000 }),
      fc.option(fc.nat(60)),
      (retry, r, remainingMs, asked) => {
        const waitMs = retryWaitMs(retry, BACKOFF, {
          random: () => r,
          remainingMs,
          retryAfterSeconds: asked ?? undefined,
        });
        if (waitMs === undefined) {
          expect(Math.max(BACKOFF.maxMs, (asked ?? 0) * 1000)).toBeGreaterThanOrEqual(remainingMs);
          return;
        }
        expect(waitMs).toBeGreaterThanOrEqual(Math.max(500, (asked ?? 0) * 1000));
        expect(waitMs).toBeLessThan(remainingMs);
        if (asked === null) expect(waitMs).toBeLessThanOrEqual(BACKOFF.maxMs);
      },
    ),
  );
});

test("a pause ends when its time has come", async () => {
  expect(await pause(1, new AbortController().signal)).toBeUndefined();
});

test("a pause ends at once with its signal's reason", async () => {
  const abort = new AbortController();
  const paused = pause(60_000, abort.signal);
  abort.abort(new Error("gone"));
  expect(paused).rejects.toThrow("gone");
  expect(pause(60_000, abort.signal)).rejects.toThrow("gone");
});
