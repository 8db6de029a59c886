import { expect, test } from "bun:test";
import fc from "fast-check";
import { FakeClock } from "../../src/base/clock.ts";
import { createOutcomes } from "../../src/status/outcomes.ts";

const outcome = (latencyMs: number) => ({ status: 200, errorCode: null, latencyMs });

test("newest first, since a time, at most the limit, never more than 200", () => {
  fc.assert(
    fc.property(fc.nat(450), fc.nat(250), fc.nat(500), (count, limit, age) => {
      const clock = new FakeClock();
      const outcomes = createOutcomes(clock);
      for (let at = 0; at < count; at++) {
        clock.advance(1);
        outcomes.note("m", outcome(at));
      }
      const got = outcomes.recent("m", { sinceMs: clock.now() - age, limit }).map(({ latencyMs }) => latencyMs);
      const want = Array.from({ length: Math.min(count, 200, limit, age + 1) }, (_, back) => count - 1 - back);
      expect(got).toEqual(want);
    }),
  );
});

test("models are bounded; the one idle longest makes room", () => {
  const outcomes = createOutcomes(new FakeClock());
  for (let at = 0; at < 2000; at++) outcomes.note(`m${at}`, outcome(at));
  outcomes.note("m0", outcome(0));
  outcomes.note("new", outcome(0));
  const known = (model: string) => outcomes.recent(model, { sinceMs: 0, limit: 9 }).length;
  expect([known("m0"), known("m1"), known("m2"), known("new"), known("never")]).toEqual([2, 0, 1, 1, 0]);
});
