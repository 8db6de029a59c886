import { expect, test } from "bun:test";
import fc from "fast-check";
import { FakeClock } from "../../src/base/clock.ts";
import { Pace } from "../../src/search/pace.ts";

test("no time window has more turns than a network allows, however they are requested", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.record({ afterMs: fc.nat(700), cancels: fc.boolean() }), { maxLength: 60 }),
      (requests, asks) => {
        const clock = new FakeClock();
        const pace = new Pace(clock);
        const times: number[] = [];
        for (const { afterMs, cancels } of asks) {
          clock.advance(afterMs);
          const turn = pace.next("n", { requests, perMs: 1000 }, 3000);
          if (turn === undefined) continue;
          expect(turn.waitMs).toBeLessThanOrEqual(3000);
          // A turn without a wait has already been used.
          if (cancels && turn.waitMs > 0) turn.cancel();
          else times.push(clock.now() + turn.waitMs);
        }
        times.sort((a, b) => a - b);
        for (let at = requests; at < times.length; at++)
          expect((times[at] as number) - (times[at - requests] as number)).toBeGreaterThanOrEqual(1000);
      },
    ),
  );
});

test("networks do not wait for each other, and excess requests are refused", () => {
  const clock = new FakeClock();
  const pace = new Pace(clock);
  const limit = { requests: 1, perMs: 1000 };
  expect(pace.next("a", limit, 0)?.waitMs).toBe(0);
  expect(pace.next("b", limit, 0)?.waitMs).toBe(0);
  expect(pace.next("a", limit, 999)).toBeUndefined();
  expect(pace.next("a", limit, 1000)?.waitMs).toBe(1000);
  let waiting = 1;
  while (pace.next("a", limit, 1e9) !== undefined) waiting++;
  expect(waiting).toBe(100);
});
