// A text model's bias for positions and words, corrected by its answer to a question without a state.

import { expect, test } from "bun:test";
import { answerOf, SPEC, totalVariation, truthOf, worthsOf } from "../../scripts/decisions/consistent.ts";
import { seeded } from "../../src/decisions/calibration/metrics.ts";

/** The model prefers both ends of the list. Asking in two orders does not cancel this. */
const ends = (at: number, count: number) => (at === 0 || at === count - 1 ? 1.5 : 0);
const freed = (path: string) => ({ ...SPEC, prior: "content_free" as const, routes: [{ ...SPEC.routes[0]!, path }] });

test.each([2, 3, 5, 8])("a position bias of %p options", async (count) => {
  const worths = worthsOf(count, 1, seeded(count));
  const habits = { worths, none: { worth: 0 }, gain: ends };
  const plain = await answerOf(habits);
  if (count > 2) expect(totalVariation(truthOf(worths), plain.probabilities)).toBeGreaterThan(0.05);
  const { probabilities } = await answerOf(habits, freed("/positions"));
  expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(1e-6);
});

test("a bias for words", async () => {
  const worths = worthsOf(4, 1, seeded(9));
  const liked = new Map([...worths.keys()].map((name, at) => [name, at]));
  const both = new Map([...worths].map(([name, worth]) => [name, worth + liked.get(name)!]));
  const { probabilities } = await answerOf({ worths: both, none: { worth: 0 }, stateless: liked }, freed("/words"));
  expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(1e-6);
});

test("a question without a state is asked once per model", async () => {
  const worths = worthsOf(4, 1, seeded(10));
  const habits = { worths, none: { worth: 0 }, gain: ends };
  const calls = async (path: string) => (await answerOf(habits, freed(path))).calls;
  expect([await calls("/once"), await calls("/once"), await calls("/other")]).toEqual([4, 2, 4]);
});
