import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { answersView, distinct, nativeAnswersView } from "../../src/decisions/api/answers.ts";
import { choiceConfidence, scoreConfidence } from "../../src/decisions/api/confidence.ts";
import { soundDistribution } from "../../src/decisions/backends/distribution.ts";
import { ordersOf } from "../../src/decisions/backends/orders.ts";
import {
  bucketOf,
  calibrate,
  type Observation,
  readCalibration,
  softmax,
} from "../../src/decisions/calibration/calibration.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { LEGACY_REVISION } from "../../src/decisions/revision.ts";

const distribution = (min = 1, max = 12) =>
  fc
    .array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: min, maxLength: max })
    .map((weights) => weights.map((w) => w / weights.reduce((a, b) => a + b, 0)));

const question = (type: Question["type"], labels: readonly string[]): Question => ({
  key: "q",
  type,
  instructions: "?",
  options: labels.map((label) => ({ label, criterion: label })),
});

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

describe("confidence", () => {
  // Figures that the format's own service published.
  test.each<[number[], number]>([
    [[0.88, 0.12, 0], 0.82],
    [[1 / 3, 1 / 3, 1 / 3], 0],
    [[1], 1],
    [[1, 0], 1],
    [[0.5, 0.5], 0],
  ])("of the choice %p is %p", (p, confidence) => {
    expect(choiceConfidence(p)).toBeCloseTo(confidence, 2);
  });

  test.each<[number[], number]>([
    [[0, 0.95, 0.05], 0.925],
    [[0, 0, 1], 1],
    [[1], 1],
    [[0.5, 0, 0.5], 0],
  ])("of the score %p is %p", (p, confidence) => {
    expect(scoreConfidence(p)).toBeCloseTo(confidence, 6);
  });

  test("lies between 0 and 1, and a choice's does not depend on the order", () => {
    fc.assert(
      fc.property(distribution(), (p) => {
        for (const value of [choiceConfidence(p), scoreConfidence(p)]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(choiceConfidence([...p].reverse())).toBeCloseTo(choiceConfidence(p), 12);
      }),
    );
  });
});

describe("calibrate", () => {
  const reading = (p: readonly number[], order: readonly number[]): Observation => ({
    order,
    logProbabilities: order.map((option) => Math.log(p[option]!)),
    labelled: true,
  });

  test("sums to 1 and, without calibration, equals a single reading", () => {
    fc.assert(
      fc.property(distribution(2), (p) => {
        const options = p.map((_, i) => String(i));
        const none = { method: "none" as const, buckets: {} };
        const out = calibrate(question("choice", options), [reading(p, p.map((_, i) => i).reverse())], none);
        expect(sum(out)).toBeCloseTo(1, 9);
        for (let i = 0; i < p.length; i++) expect(out[i]).toBeCloseTo(p[i]!, 9);
      }),
    );
  });

  test("permuting the options permutes the probabilities", () => {
    const permuted = distribution(2).chain((p) =>
      fc.tuple(
        fc.constant(p),
        fc.shuffledSubarray(
          p.map((_, i) => i),
          { minLength: p.length, maxLength: p.length },
        ),
      ),
    );
    fc.assert(
      fc.property(permuted, fc.double({ min: 0.2, max: 5, noNaN: true }), ([p, order], temperature) => {
        const labels = p.map((_, i) => String(i));
        const bucket = bucketOf("choice", p.length);
        const calibration = { method: "fitted" as const, buckets: { [bucket]: { temperature, rows: 1 } } };
        const straight = labels.map((_, i) => i);
        const one = calibrate(question("choice", labels), [reading(p, straight)], calibration);
        const moved = order.map((i) => p[i]!);
        const other = calibrate(question("choice", labels), [reading(moved, straight)], calibration);
        order.forEach((from, to) => {
          expect(other[to]).toBeCloseTo(one[from]!, 9);
        });
      }),
    );
  });

  test("position bias is removed, in any order", () => {
    const gains = [0.9, 0.1, -0.4, -0.6];
    const truth = [0.1, 0.2, 0.3, 0.4];
    const calibration = {
      method: "fitted" as const,
      buckets: { "choice:3-5": { temperature: 1, positions: { "4": gains }, rows: 10 } },
    };
    const biased = (order: readonly number[]): Observation => ({
      order,
      logProbabilities: order.map((option, at) => Math.log(truth[option]!) + gains[at]!),
      labelled: true,
    });
    const readings = [biased([0, 1, 2, 3]), biased([3, 2, 1, 0])];
    const out = calibrate(question("choice", ["a", "b", "c", "d"]), readings, calibration);
    truth.forEach((p, i) => {
      expect(out[i]).toBeCloseTo(p, 9);
    });
  });

  test("an option that is impossible stays so", () => {
    expect(softmax([Math.log(1), Math.log(0)])).toEqual([1, 0]);
    expect(softmax([Math.log(0), Math.log(0)])).toEqual([0.5, 0.5]);
  });

  test.each([
    [null],
    [{}],
    [{ method: "fitted" }],
    [{ method: "x", buckets: {} }],
    [{ method: "fitted", buckets: { noul: { temperature: 0, rows: 1 } } }],
    [{ method: "fitted", buckets: { noul: { temperature: 1, bias: null, rows: 1 } } }],
    [{ method: "fitted", buckets: { noul: { temperature: 1, positions: { "2": ["x"] }, rows: 1 } } }],
  ])("does not read %p as a calibration", (value) => {
    expect(readCalibration(value)).toBeUndefined();
  });
});

describe("orders", () => {
  test("each is a permutation; with as many rotations as options each stands everywhere once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 30 }), (n, count) => {
        const all = Array.from({ length: n }, (_, i) => i);
        const orders = ordersOf(all, { type: "choice", count });
        const paired = count === 1 ? 1 : 2 * Math.floor(count / 2);
        expect(orders.length).toBe(count >= n ? n : paired);
        for (const order of orders) expect([...order].sort((a, b) => a - b)).toEqual(all);
        if (count >= n) for (let at = 0; at < n; at++) expect(new Set(orders.map((order) => order[at])).size).toBe(n);
      }),
    );
  });

  test.each([2, 3, 4, 6, 7])("%p orders of eight cancel a bias that decreases with the position", (count) => {
    const orders = ordersOf([0, 1, 2, 3, 4, 5, 6, 7], { type: "choice", count });
    const places = Array.from({ length: 8 }, (_, option) => sum(orders.map((order) => order.indexOf(option))));
    expect(new Set(places).size).toBe(1);
  });

  test("levels are rotated too if position bias is to be learned", () => {
    const orders = ordersOf([0, 1, 2], { type: "score", count: 8, freely: true });
    expect(new Set(orders.map((order) => order[0])).size).toBe(3);
  });

  test("otherwise levels are only shown in ascending and descending order", () => {
    expect(ordersOf([0, 1, 2], { type: "score", count: 8 })).toEqual([
      [0, 1, 2],
      [2, 1, 0],
    ]);
  });
});

describe("distributions of an upstream", () => {
  test("rounding to two decimals is corrected", () => {
    fc.assert(
      fc.property(distribution(2, 255), (p) => {
        const out = soundDistribution(
          p.map((value) => Math.round(value * 100) / 100),
          "q",
        );
        expect(sum(out)).toBeCloseTo(1, 9);
      }),
    );
  });

  test("rounded values are read as the nearest distribution with that rounding", () => {
    fc.assert(
      fc.property(distribution(2, 255), (p) => {
        const printed = p.map((value) => Math.round(value * 100) / 100);
        const out = soundDistribution(printed, "q");
        expect(sum(out)).toBeCloseTo(1, 9);
        out.forEach((value, at) => {
          expect(Math.abs(value - printed[at]!)).toBeLessThanOrEqual(0.005 + 1e-9);
        });
      }),
    );
  });

  const many = (top: number, rest: number, count: number) => [top, ...new Array<number>(count - 1).fill(rest)];
  test.each<[string, number[], number, number]>([
    ["255 options, one of .30", many(0.3, 0, 255), 0.3 + 0.7 / 255, 0.7 / 255],
    ["77 options, one of .60", many(0.6, 0.01, 77), 0.6 - 0.36 / 77, 0.01 - 0.36 / 77],
    ["255 options of nothing", many(0, 0, 255), 1 / 255, 1 / 255],
    ["three thirds", [0.33, 0.33, 0.33], 1 / 3, 1 / 3],
    ["what sums to 1 as it is", [0.9, 0.1, 0], 0.9, 0.1],
    ["three digits", many(0.5, 0.001, 400), 0.5 + 0.101 / 400, 0.001 + 0.101 / 400],
    [
      "full precision, off by little",
      [0.661, 0.331_234_567_8],
      0.661 / 0.992_234_567_8,
      0.331_234_567_8 / 0.992_234_567_8,
    ],
  ])("%s", (_name, values, first, second) => {
    const out = soundDistribution(values, "q");
    expect([out[0], out[1]]).toEqual([expect.closeTo(first, 6), expect.closeTo(second, 6)]);
  });

  test("a version of the previous release reads them as before", () => {
    expect(soundDistribution(many(0.3, 0, 255), "q", LEGACY_REVISION)[0]).toBe(1);
    expect(() => soundDistribution(many(0, 0, 255), "q", LEGACY_REVISION)).toThrow();
  });

  test.each([
    ["the first of a hundred", [0.123_456_7, ...new Array<number>(99).fill(0)]],
    ["half of two hundred", Array.from({ length: 200 }, (_, at) => (at < 100 ? 1 / 220 : 0))],
    ["three decimals", Array.from({ length: 200 }, (_, at) => (at < 100 ? 0.003 : 0))],
  ])("unrounded values, or values with more rounding, are refused: %s", (_name, values) => {
    expect(() => soundDistribution(values, "q")).toThrow();
  });

  test.each([[[0.2, 0.2]], [[0, 0]], [[1, 1]], [["0.5", 0.5]], [[Number.NaN, 1]], [[-0.5, 1.5]], [[undefined, 1]]])(
    "%p is none",
    (values) => {
      expect(() => soundDistribution(values, "q")).toThrow();
    },
  );
});

describe("answers", () => {
  test("levels with equal text are distinguished, and no name is used twice", () => {
    expect(distinct(["a", "a", "b", "a"])).toEqual(["a", "a (2)", "b", "a (3)"]);
    expect(distinct(["a", "a", "a (2)"])).toEqual(["a", "a (3)", "a (2)"]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "a (2)", "a (3)", "b")), (texts) => {
        expect(new Set(distinct(texts)).size).toBe(texts.length);
      }),
    );
  });

  test("a score in both formats", () => {
    const answered = [{ question: question("score", ["bad", "fair", "good"]), probabilities: [0.1, 0.3, 0.6] }];
    expect(answersView(answered)).toEqual({
      q: {
        type: "score",
        score: 1.5,
        legend: "good",
        probabilities: { bad: 0.1, fair: 0.3, good: 0.6 },
        confidence: expect.any(Number),
        legend_map: { "0": "bad", "1": "fair", "2": "good" },
        level_probabilities: { "0": 0.1, "1": 0.3, "2": 0.6 },
      },
    });
    const levels = answered.map(({ probabilities }) => ({
      probabilities,
      question: { ...question("score", ["0", "1", "2"]) },
    }));
    expect(nativeAnswersView(levels)).toMatchObject({
      q: { legend: { "0": "0", "1": "1", "2": "2" }, probabilities: { "0": 0.1, "1": 0.3, "2": 0.6 } },
    });
  });

  test("more mass on higher levels never lowers the score", () => {
    fc.assert(
      fc.property(distribution(2, 10), fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (p, pick, part) => {
        const from = pick % (p.length - 1);
        const moved = p.map((value, i) =>
          i === from ? value * (1 - part) : i === from + 1 ? value + p[from]! * part : value,
        );
        const score = (values: number[]) => {
          const labels = values.map((_, i) => `level ${i}`);
          const view = answersView([{ question: question("score", labels), probabilities: values }]);
          return (view["q"] as { score: number }).score;
        };
        expect(score(moved)).toBeGreaterThanOrEqual(score(p) - 1e-9);
      }),
    );
  });

  test("an option may be called __proto__", () => {
    const view = answersView([{ question: question("choice", ["__proto__", "b"]), probabilities: [0.7, 0.3] }]);
    expect(JSON.stringify(view["q"])).toContain('"probabilities":{"__proto__":0.7,"b":0.3}');
  });
});
