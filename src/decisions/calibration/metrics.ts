// The quality of probabilities on labelled rows. Calibration alone is not quality, so it is reported together with accuracy, the
// majority rate, log loss and the Brier score, and with the calibration error that a perfectly calibrated model would show on as
// many rows. For few rows, that is most or all of the error.

import { argMax } from "../api/confidence.ts";

/** A row with its answer. */
export interface AnsweredRow {
  readonly probabilities: readonly number[];
  readonly truth: number;
  /** The label of the right answer, for the majority rate. */
  readonly label: string;
}

export interface CalibrationMetrics {
  readonly rows: number;
  readonly accuracy: number;
  /** The accuracy of always giving the most frequent answer. */
  readonly majority: number;
  readonly logLoss: number;
  readonly brier: number;
  /** The expected calibration error of the most probable option, over bins with equal numbers of rows. */
  readonly ece: number;
  /** The error that a perfectly calibrated model with the same confidences shows: on average, and at most in 19 of 20 cases. */
  readonly eceByChance: number;
  readonly eceByChanceMax: number;
}

/** One bin of a reliability diagram. */
export interface Bin {
  readonly confidence: number;
  readonly accuracy: number;
  readonly rows: number;
}

const BINS = 15;
const DRAWS = 300;
/** The smallest probability of a right answer in the log loss, which keeps the loss finite. */
const LEAST = 1e-6;

/** Measures the rows; there must be at least one. */
export function measureRows(rows: readonly AnsweredRow[]): CalibrationMetrics {
  const counts = new Map<string, number>();
  let [right, loss, brier] = [0, 0, 0];
  for (const { probabilities, truth, label } of rows) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    if (argMax(probabilities) === truth) right += 1;
    loss -= Math.log(Math.max(probabilities[truth]!, LEAST));
    brier += probabilities.reduce((sum, p, at) => sum + (p - (at === truth ? 1 : 0)) ** 2, 0);
  }
  const n = rows.length;
  const tops = topsOf(rows);
  const chance = byChance(tops);
  return {
    rows: n,
    accuracy: right / n,
    majority: Math.max(...counts.values()) / n,
    logLoss: loss / n,
    brier: brier / n,
    ece: calibrationError(tops),
    eceByChance: chance.mean,
    eceByChanceMax: chance.most,
  };
}

/** With fewer rows, most of a calibration error is chance. */
const ECE_ROWS_MIN = 150;

/** A remark on a calibration error that proves little; undefined if none is needed. */
export function cautionOn({ rows, ece, eceByChance, eceByChanceMax }: CalibrationMetrics): string | undefined {
  if (ece > eceByChanceMax && rows >= ECE_ROWS_MIN) return undefined;
  const chance = `a perfectly calibrated model shows ${eceByChance.toFixed(4)} on average on such ${rows} rows, up to ${eceByChanceMax.toFixed(4)} in 19 of 20 cases`;
  return ece > eceByChanceMax
    ? `the ECE says little: ${chance}.`
    : `the ECE says nothing: ${chance}. Judge by log-loss and Brier score, or measure on more rows.`;
}

/** Whether the most probable answer of a row is right, and its probability. */
interface Top {
  readonly confidence: number;
  readonly right: boolean;
}

function topsOf(rows: readonly AnsweredRow[]): Top[] {
  return rows
    .map(({ probabilities, truth }) => {
      const top = argMax(probabilities);
      return { confidence: probabilities[top]!, right: top === truth };
    })
    .sort((a, b) => a.confidence - b.confidence);
}

/** The bins of a reliability diagram, the least confident first, with equal numbers of rows. */
export function reliability(rows: readonly AnsweredRow[], bins = BINS): Bin[] {
  return binned(topsOf(rows), bins);
}

function binned(tops: readonly Top[], bins: number): Bin[] {
  const out: Bin[] = [];
  const count = Math.min(bins, tops.length);
  for (let bin = 0; bin < count; bin++) {
    const [from, to] = [Math.floor((bin * tops.length) / count), Math.floor(((bin + 1) * tops.length) / count)];
    let [confidence, right] = [0, 0];
    for (let at = from; at < to; at++) {
      confidence += tops[at]!.confidence;
      if (tops[at]!.right) right += 1;
    }
    out.push({ confidence: confidence / (to - from), accuracy: right / (to - from), rows: to - from });
  }
  return out;
}

function calibrationError(tops: readonly Top[]): number {
  return binned(tops, BINS).reduce(
    (sum, { confidence, accuracy, rows }) => sum + (Math.abs(confidence - accuracy) * rows) / tops.length,
    0,
  );
}

/**
 * The calibration error of a model whose confidences are exact, with labels drawn at random by these confidences. The draws are
 * always the same, so that a report can be repeated. The error is never zero, since bins of few rows deviate by chance.
 */
function byChance(tops: readonly Top[]): { mean: number; most: number } {
  const random = seeded(tops.length);
  const errors = Array.from({ length: DRAWS }, () =>
    calibrationError(tops.map(({ confidence }) => ({ confidence, right: random() < confidence }))),
  ).sort((a, b) => a - b);
  return { mean: errors.reduce((sum, one) => sum + one, 0) / DRAWS, most: errors[Math.floor(DRAWS * 0.95)]! };
}

/** Creates uniform random numbers in [0, 1) from a seed: a 32-bit congruential generator with mixing. */
export function seeded(seed: number): () => number {
  let state = (seed ^ 0x5bd1e995) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    let mixed = state ^ (state >>> 15);
    mixed = Math.imul(mixed, 0x2c1b3c6d);
    mixed ^= mixed >>> 12;
    return (mixed >>> 0) / 4294967296;
  };
}
