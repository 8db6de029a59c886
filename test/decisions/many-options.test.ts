// Choices with more options than an engine has letters, with a model whose belief in an option does not depend on the other
// options. The correct answer is therefore known.

import { describe, expect, test } from "bun:test";
import {
  answerOf,
  type NoneHabit,
  SPEC,
  totalVariation,
  truthOf,
  worthsOf,
} from "../../scripts/decisions/consistent.ts";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { LEGACY_REVISION } from "../../src/decisions/revision.ts";

const COUNTS = [21, 77, 150, 255];
const NONES: readonly [string, NoneHabit][] = [
  ["worth little", { worth: -4 }],
  ["worth as much as a wrong option", { worth: 0 }],
  ["worth as much as the right one", { worth: 8 }],
  ["worth all that is not shown", "complement"],
];
const cases = COUNTS.flatMap((count) => NONES.map(([name, none]) => [count, name, none] as const));

describe("the answer of a consistent model equals its beliefs", () => {
  test.each(cases)("%p options, none of these %s", async (count, _name, none) => {
    const worths = worthsOf(count, 8, seeded(count));
    const { probabilities, calls } = await answerOf({ worths, none });
    expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(0.001);
    // Two orders of each group of 16, and two of the final.
    expect(calls).toBe(2 * (Math.ceil(count / 16) + 1));
  });

  test.each(COUNTS)("%p options, letters that are spelt in three ways", async (count) => {
    const worths = worthsOf(count, 8, seeded(count + 1));
    const { probabilities } = await answerOf({ worths, none: { worth: 0 }, variants: 0.25 });
    expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(0.01);
  });

  test.each([17, 20])("%p options in one call, letters that are spelt in three ways", async (count) => {
    const worths = worthsOf(count, 4, seeded(count));
    const { probabilities } = await answerOf({ worths, none: { worth: 0 }, variants: 0.25 });
    expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(0.01);
  });

  test("more groups than finalists", async () => {
    const worths = worthsOf(255, 8, seeded(3));
    for (const [, none] of NONES) {
      const { probabilities } = await answerOf({ worths, none }, { ...SPEC, limits: { top_logprobs: 6 } });
      expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(0.01);
    }
  });
});

test.each(COUNTS)("with %p options, other names and fewer options change nothing", async (count) => {
  const worths = worthsOf(count, 8, seeded(count));
  const none = { worth: 0 };
  const { probabilities } = await answerOf({ worths, none });
  const names = [...worths.keys()];
  const renamed = new Map([...worths].map(([name, worth], at) => [`${(at * 7919) % count}-${name}`, worth]));
  const others = await answerOf({ worths: renamed, none });
  const back = new Map([...others.probabilities].map(([name, p]) => [name.replace(/^\d+-/, ""), p]));
  expect(totalVariation(probabilities, back)).toBeLessThan(1e-9);
  // The remaining options keep their proportions.
  const gone = new Set(names.filter((_, at) => at % 5 === 3 && worths.get(names[at]!)! < 5));
  const kept = new Map([...worths].filter(([name]) => !gone.has(name)));
  const left = await answerOf({ worths: kept, none });
  const whole = [...kept.keys()].reduce((sum, name) => sum + probabilities.get(name)!, 0);
  const scaled = new Map([...kept.keys()].map((name) => [name, probabilities.get(name)! / whole]));
  expect(totalVariation(scaled, left.probabilities)).toBeLessThan(1e-4);
});

test("a version of the previous release answers as before", async () => {
  const worths = worthsOf(77, 8, seeded(77));
  const former = { ...SPEC, revision: LEGACY_REVISION };
  const { probabilities } = await answerOf({ worths, none: { worth: 0 } }, former);
  // In five groups the wrong options were not outweighed by "none of these".
  expect(totalVariation(truthOf(worths), probabilities)).toBeGreaterThan(0.1);
  const ideal = await answerOf({ worths, none: "complement" }, former);
  expect(totalVariation(truthOf(worths), ideal.probabilities)).toBeLessThan(0.001);
});
