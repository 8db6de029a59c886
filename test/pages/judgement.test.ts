// The judgement over extraction's development sets: what counts as a fall, and what readers would notice.

import { describe, expect, test } from "bun:test";
import {
  calibrationOf,
  changeOf,
  inventedNumbers,
  isBlocked,
  repeatedParagraphs,
  risenFaults,
} from "../../scripts/fit/judgement.ts";

const KEYS = Array.from({ length: 200 }, (_, at) => `set/${at}`);
const scores = (of: (at: number) => number) => Object.fromEntries(KEYS.map((key, at) => [key, of(at)]));
const BEFORE = scores((at) => 0.5 + (at % 10) / 40);

describe("a change", () => {
  const cases: readonly (readonly [string, (at: number) => number, boolean])[] = [
    ["of nothing lands", () => 0, false],
    ["that helps lands", () => 0.01, false],
    ["that falls a little on every page is blocked: the fall is certain", () => -0.001, true],
    ["that helps as many pages as it hurts lands", (at) => (at % 2 === 0 ? 0.02 : -0.02), false],
    ["that may fall by less than .002 lands", (at) => (at % 2 === 0 ? 0.2 : -0.203), false],
    ["that falls by more than .002 in the mean is blocked", (at) => (at % 2 === 0 ? 0.2 : -0.206), true],
  ];
  for (const [name, by, blocked] of cases)
    test(name, () => {
      const change = changeOf(
        KEYS,
        scores((at) => (BEFORE[`set/${at}`] ?? 0) + by(at)),
        BEFORE,
      );
      expect(change).toBeDefined();
      if (change === undefined) return;
      expect(change.low).toBeLessThanOrEqual(change.mean + 1e-9);
      expect(change.high).toBeGreaterThanOrEqual(change.mean - 1e-9);
      expect(isBlocked(change)).toBe(blocked);
    });

  test("of pages that only one run has is not known", () => {
    expect(changeOf(["other/1"], { "other/1": 1 }, BEFORE)).toBeUndefined();
  });
});

test("numbers that the page does not have are found", () => {
  expect(inventedNumbers("built in 19112, 40 m long", "built in 1911 (note 2), 40 m long")).toEqual(["19112"]);
  expect(inventedNumbers("40 and 40", "40")).toEqual([]);
});

test("long paragraphs that come twice are counted, whatever their signs, short ones are not", () => {
  const long =
    "The mole keeps the swell away from the boats that lie in the harbour, as it has done since it was built";
  expect(repeatedParagraphs(`${long}.\nRead more\n**${long}!**\nRead more\n${long}`)).toBe(2);
});

test("faults of a set that are more than before are named; fewer, as many and those the base does not know are not", () => {
  const before = { "invented in A": 1, "repeated in A": 7, "repeated in B": 0 };
  expect(risenFaults("A", { invented: 2, repeated: 8 }, before)).toEqual(["invented in A", "repeated in A"]);
  expect(risenFaults("A", { invented: 1, repeated: 6 }, before)).toEqual([]);
  expect(risenFaults("B", { invented: 5, repeated: 1 }, before)).toEqual(["repeated in B"]);
  expect(risenFaults("A", { invented: 5, repeated: 9 })).toEqual([]);
});

describe("the prediction of quality", () => {
  test("that is right on every page has no error", () => {
    const pages = Array.from({ length: 100 }, (_, at) => ({ predicted: at / 100, true: at / 100 }));
    const { correlation, error, groups } = calibrationOf(pages);
    expect(correlation).toBeCloseTo(1, 6);
    expect(error).toBeCloseTo(0, 6);
    expect(groups).toHaveLength(10);
    expect(groups[0]?.predicted).toBeCloseTo(0.045, 6);
  });

  test("that says the same of every page has no correlation", () => {
    const { correlation, error } = calibrationOf([0, 0.5, 1].map((one) => ({ predicted: 0.5, true: one })));
    expect(correlation).toBe(0);
    expect(error).toBeCloseTo(1 / 3, 6);
  });
});
