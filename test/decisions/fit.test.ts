import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ordersOf } from "../../src/decisions/backends/orders.ts";
import {
  bucketOf,
  calibrate,
  type Observation,
  observationOf,
  softmax,
} from "../../src/decisions/calibration/calibration.ts";
import { reliabilitySvg, reliabilityText } from "../../src/decisions/calibration/diagram.ts";
import { fitCalibration, type LabelledReading, unfittable } from "../../src/decisions/calibration/fit.ts";
import {
  type AnsweredRow,
  type CalibrationMetrics,
  cautionOn,
  measureRows,
  reliability,
  seeded,
} from "../../src/decisions/calibration/metrics.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { draw } from "./simulated.ts";

const question = (type: Question["type"], count: number): Question => ({
  key: "q",
  type,
  instructions: "?",
  options: Array.from({ length: count }, (_, i) => ({ label: String(i), criterion: null })),
});

interface World {
  type: Question["type"];
  count: number;
  rows: number;
  /** The factor by which the model multiplies its logits. */
  sharpness: number;
  /** The amount that the model adds to the log-odds of true before sharpening. */
  bias?: number;
  gains?: number[];
  orders: number;
  seed: number;
  /** Whether the orders of levels may be rotated like those of choices. */
  freely?: boolean;
}

/** Simulated rows with known truth: labels are drawn from the true probabilities, and the model distorts these probabilities. */
function simulate({
  type,
  count,
  rows,
  sharpness,
  bias = 0,
  gains = [],
  orders,
  seed,
  freely = false,
}: World): LabelledReading[] {
  const random = seeded(seed);
  const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
  const asked = question(type, count);
  return Array.from({ length: rows }, () => {
    const logits = Array.from({ length: count }, () => 1.2 * normal());
    const p = softmax(logits);
    const truth = draw(p, random);
    const readings = ordersOf(
      logits.map((_, i) => i),
      { type, count: orders, freely },
    ).map((order): Observation => {
      const scores = order.map(
        (option, at) => sharpness * (logits[option]! + (option === 0 ? bias : 0)) + (gains[at] ?? 0),
      );
      return { order, logProbabilities: softmax(scores).map(Math.log), labelled: true };
    });
    return { question: asked, readings, truth };
  });
}

const judged = (rows: readonly LabelledReading[], calibration: ReturnType<typeof fitCalibration>): AnsweredRow[] =>
  rows.map((row) => ({
    probabilities: calibrate(row.question, row.readings, calibration),
    truth: row.truth,
    label: String(row.truth),
  }));

const NONE = { method: "none" as const, buckets: {} };

describe("the parameters of a simulated model are found", () => {
  test.each([0.4, 1, 2.5])("a model that is overconfident by a factor of %p", (sharpness) => {
    const world = { type: "choice" as const, count: 4, sharpness, orders: 2 };
    const fitted = fitCalibration(simulate({ ...world, rows: 1500, seed: 1 }));
    if (sharpness !== 1) expect(fitted.method).toBe("fitted");
    const { temperature } = fitted.buckets["choice:3-5"] ?? { temperature: 1 };
    expect(Math.abs(temperature / sharpness - 1)).toBeLessThan(0.12);
    const held = simulate({ ...world, rows: 1000, seed: 2 });
    const [before, after] = [measureRows(judged(held, NONE)), measureRows(judged(held, fitted))];
    if (sharpness !== 1) expect(after.logLoss).toBeLessThan(before.logLoss);
    expect(after.ece).toBeLessThan(0.05);
    expect(after.accuracy).toBe(before.accuracy);
  });

  test("a bias for yes", () => {
    const world = { type: "noul" as const, count: 2, sharpness: 2, bias: 1.5, orders: 2 };
    const fitted = fitCalibration(simulate({ ...world, rows: 2000, seed: 3 }));
    const { temperature, bias } = fitted.buckets["noul"]!;
    expect(Math.abs(temperature - 2)).toBeLessThan(0.25);
    // The factor of two makes the bias twice 1.5 in the model's output. Tempering makes it 1.5 again.
    expect(Math.abs(bias! + 1.5)).toBeLessThan(0.25);
    const held = simulate({ ...world, rows: 1000, seed: 4 });
    const [before, after] = [measureRows(judged(held, NONE)), measureRows(judged(held, fitted))];
    expect(after.logLoss).toBeLessThan(before.logLoss - 0.1);
    expect(after.ece).toBeLessThan(before.ece);
  });

  test("a position bias that two orders do not cancel", () => {
    const gains = [1.2, 0.1, 0.1, -0.2, -1.2];
    const world = { type: "choice" as const, count: 5, sharpness: 1, gains };
    const turned = simulate({ ...world, rows: 25, orders: 5, seed: 5 });
    const rows = simulate({ ...world, rows: 800, orders: 1, seed: 6 });
    const fitted = fitCalibration(rows, turned);
    const found = fitted.buckets["choice:3-5"]!.positions!["5"]!;
    found.forEach((gain, at) => {
      expect(Math.abs(gain - gains[at]!)).toBeLessThan(1e-6);
    });
    const held = simulate({ ...world, rows: 800, orders: 1, seed: 7 });
    const [before, after] = [measureRows(judged(held, NONE)), measureRows(judged(held, fitted))];
    expect(after.logLoss).toBeLessThan(before.logLoss - 0.05);
    expect(after.accuracy).toBeGreaterThan(before.accuracy);
  });

  test("a bias for both ends of a scale, which two directions do not cancel", () => {
    const gains = [0.9, -0.6, -0.6, -0.6, 0.9];
    const world = { type: "score" as const, count: 5, sharpness: 1, gains };
    const turned = simulate({ ...world, rows: 25, orders: 5, seed: 15, freely: true });
    const rows = simulate({ ...world, rows: 800, orders: 2, seed: 16 });
    const fitted = fitCalibration(rows, turned);
    const found = fitted.buckets["score:3-5"]!.positions!["5"]!;
    found.forEach((gain, at) => {
      expect(Math.abs(gain - gains[at]!)).toBeLessThan(1e-6);
    });
    const held = simulate({ ...world, rows: 800, orders: 2, seed: 17 });
    const [before, after] = [measureRows(judged(held, NONE)), measureRows(judged(held, fitted))];
    expect(after.logLoss).toBeLessThan(before.logLoss - 0.02);
  });

  test("each kind of question is fitted separately, and not with too few rows", () => {
    const yes = simulate({ type: "noul", count: 2, rows: 200, sharpness: 3, orders: 2, seed: 8 });
    const few = simulate({ type: "score", count: 4, rows: 19, sharpness: 3, orders: 2, seed: 9 });
    const fitted = fitCalibration([...yes, ...few]);
    expect(Object.keys(fitted.buckets)).toEqual(["noul"]);
    expect(fitCalibration(few)).toEqual(NONE);
    expect(bucketOf("score", 4)).toBe("score:3-5");
  });

  test.each([0.6, 0.75, 0.9])("a well-calibrated model (%p) is not changed", (p) => {
    for (const rows of [20, 40, 100, 400]) {
      const exact = Array.from({ length: rows }, (_, row): LabelledReading => {
        const reading = { order: [0, 1], logProbabilities: [Math.log(p), Math.log(1 - p)], labelled: false };
        return { question: question("choice", 2), readings: [reading], truth: row < p * rows ? 0 : 1 };
      });
      expect(fitCalibration(exact)).toEqual(NONE);
    }
  });

  test("random patterns in a hundred rows are not learned", () => {
    // Well-calibrated models of many kinds. A fit to random noise must not make any of them noticeably worse.
    for (let seed = 20; seed < 40; seed++) {
      const world = { type: "noul" as const, count: 2, sharpness: 1, orders: 2 };
      const fitted = fitCalibration(simulate({ ...world, rows: 100, seed }));
      const held = simulate({ ...world, rows: 400, seed: seed + 1000 });
      const [before, after] = [measureRows(judged(held, NONE)), measureRows(judged(held, fitted))];
      expect(after.logLoss).toBeLessThan(before.logLoss + 0.03);
    }
  }, 60_000);

  test("rows that a model always gets right do not make it certain", () => {
    const rows = simulate({ type: "choice", count: 3, rows: 50, sharpness: 1, orders: 1, seed: 10 }).map((row) => ({
      ...row,
      truth: row.readings[0]!.logProbabilities.indexOf(Math.max(...row.readings[0]!.logProbabilities)),
    }));
    const { temperature } = fitCalibration(rows).buckets["choice:3-5"]!;
    expect(temperature).toBeGreaterThan(0.05);
    expect(temperature).toBeLessThan(1);
  });
});

describe("rows without information on a kind of question", () => {
  const world = { type: "noul" as const, count: 2, sharpness: 2, orders: 2, seed: 3 };
  const rows = simulate({ ...world, rows: 200 });
  const [yes, no] = [rows.filter(({ truth }) => truth === 0), rows.filter(({ truth }) => truth === 1)];

  test.each<[string, LabelledReading[], string]>([
    ["all of one answer", yes, "have the same answer"],
    ["all of one answer but four", [...yes, ...no.slice(0, 4)], "have the same answer"],
    ["nineteen rows", rows.slice(0, 19), "19 rows are too few"],
  ])("%s: it is not changed", (_, given, why) => {
    expect(fitCalibration(given)).toEqual({ method: "none", buckets: {} });
    expect(unfittable(given)).toEqual([{ bucket: "noul", why: expect.stringContaining(why) }]);
  });

  test("other kinds are fitted all the same", () => {
    const choices = simulate({ type: "choice", count: 3, rows: 100, sharpness: 2.5, orders: 2, seed: 4 });
    expect(Object.keys(fitCalibration([...yes, ...choices]).buckets)).toEqual(["choice:3-5"]);
    expect(unfittable([...yes, ...choices]).map(({ bucket }) => bucket)).toEqual(["noul"]);
    expect(unfittable(rows)).toEqual([]);
  });
});

describe("an upstream that reports exactly 0 and 1", () => {
  const native = (probabilities: number[], truth: number): LabelledReading => ({
    question: question("choice", 3),
    readings: [observationOf(probabilities)],
    truth,
  });

  test("is softened like any other overconfident model", () => {
    // The model is right in seven of ten rows and is certain each time.
    const rows = Array.from({ length: 200 }, (_, at) =>
      native(
        [1, 0, 0].map((_p, i) => (i === at % 3 ? 1 : 0)),
        (at % 3) * 1 + (at % 10 < 7 ? 0 : at % 3 === 2 ? -1 : 1),
      ),
    );
    const fitted = fitCalibration(rows);
    expect(fitted.buckets["choice:3-5"]!.temperature).toBeGreaterThan(1.5);
    const [top] = calibrate(rows[0]!.question, rows[0]!.readings, fitted);
    expect(Math.abs(top! - 0.7)).toBeLessThan(0.05);
    const held = judged(rows, fitted);
    expect(measureRows(held).logLoss).toBeLessThan(measureRows(judged(rows, NONE)).logLoss / 3);
  });

  test("is passed on unchanged without a fit, and its order is kept with one", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 8 }), (weights) => {
        const sum = weights.reduce((total, weight) => total + weight, 0);
        fc.pre(sum > 0);
        const given = weights.map((weight) => weight / sum);
        const asked = question("choice", given.length);
        expect(calibrate(asked, [observationOf(given)], NONE)).toEqual(given);
        const bucket = bucketOf("choice", given.length);
        const softer = { method: "fitted" as const, buckets: { [bucket]: { temperature: 2, rows: 30 } } };
        const out = calibrate(asked, [observationOf(given)], softer);
        expect(Math.min(...out)).toBeGreaterThan(0);
        for (let a = 0; a < given.length; a++)
          for (let b = 0; b < given.length; b++) if (given[a]! > given[b]!) expect(out[a]!).toBeGreaterThan(out[b]!);
      }),
    );
  });
});

describe("metrics", () => {
  test("of a perfect and of an indifferent model", () => {
    const perfect = Array.from({ length: 30 }, (_, i) => ({ probabilities: [1, 0], truth: 0, label: String(i % 2) }));
    expect(measureRows(perfect)).toMatchObject({ accuracy: 1, majority: 0.5, logLoss: 0, brier: 0, ece: 0 });
    const even = Array.from({ length: 30 }, (_, i) => ({ probabilities: [0.5, 0.5], truth: i % 2, label: "x" }));
    const { accuracy, logLoss, brier, ece } = measureRows(even);
    expect(accuracy).toBe(0.5);
    expect(logLoss).toBeCloseTo(Math.LN2, 9);
    expect(brier).toBeCloseTo(0.5, 9);
    expect(ece).toBeLessThan(0.51);
  });

  test("every row is in one bin, the least confident first", () => {
    const row = fc.tuple(fc.double({ min: 0.5, max: 1, noNaN: true }), fc.boolean());
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), (rows) => {
        const judged = rows.map(([p, right]) => ({ probabilities: [p, 1 - p], truth: right ? 0 : 1, label: "x" }));
        const bins = reliability(judged);
        expect(bins.reduce((sum, bin) => sum + bin.rows, 0)).toBe(rows.length);
        for (let i = 1; i < bins.length; i++)
          expect(bins[i]!.confidence).toBeGreaterThanOrEqual(bins[i - 1]!.confidence);
        const { ece, eceByChance, eceByChanceMax } = measureRows(judged);
        for (const one of [ece, eceByChance, eceByChanceMax]) expect(Math.abs(one - 0.5)).toBeLessThanOrEqual(0.5);
      }),
      { numRuns: 30 },
    );
  });

  /** Rows of a model that is right as often as it claims, or less often by `wrong`. */
  function rowsOf(count: number, seed: number, wrong = 0): AnsweredRow[] {
    const random = seeded(seed);
    return Array.from({ length: count }, () => {
      const p = 0.5 + random() / 2;
      return { probabilities: [p, 1 - p], truth: random() < p - wrong ? 0 : 1, label: "x" };
    });
  }

  test.each([50, 100])(
    "the error of a perfectly calibrated model on %p rows is what chance explains",
    (count) => {
      const all = Array.from({ length: 40 }, (_, seed) => measureRows(rowsOf(count, (seed + 1) * 104_729)));
      const mean = (of: (one: CalibrationMetrics) => number) => all.reduce((sum, one) => sum + of(one), 0) / all.length;
      expect(Math.abs(mean(({ ece }) => ece) / mean(({ eceByChance }) => eceByChance) - 1)).toBeLessThan(0.12);
      // 19 of 20, within the range that 40 trials allow.
      const within = all.filter(({ ece, eceByChanceMax }) => ece <= eceByChanceMax).length;
      expect(within).toBeGreaterThanOrEqual(34);
      for (const one of all) if (one.ece <= one.eceByChanceMax) expect(cautionOn(one)).toContain("says nothing");
    },
    30_000,
  );

  test("an error that chance does not explain is reported if there are enough rows", () => {
    expect(cautionOn(measureRows(rowsOf(1000, 7, 0.15)))).toBeUndefined();
    expect(cautionOn(measureRows(rowsOf(100, 7, 0.3)))).toContain("says little");
    expect(cautionOn(measureRows(rowsOf(100, 7)))).toContain("says nothing");
  });

  test("diagrams show every bin, and a title is text", () => {
    const bins = [
      { confidence: 0.6, accuracy: 0.5, rows: 10 },
      { confidence: 0.9, accuracy: 1, rows: 5 },
    ];
    const text = reliabilityText(bins);
    expect(text.split("\n")).toHaveLength(3);
    expect(text).toContain(" 60 % said");
    const svg = reliabilitySvg({ binsBefore: bins.slice(0, 1), bins }, "a <b> & c");
    // The circles are two dots and one ring, and another dot and ring in the legend.
    expect(svg.match(/<circle/g)).toHaveLength(5);
    expect(svg).toContain("a &lt;b&gt; &amp; c");
  });
});
