// How good probabilities were on labelled rows. Calibration alone is no quality, so it never stands alone: accuracy with the
// rate of the most frequent answer, log-loss and Brier score beside it, and how sure the calibration error itself is.

import { argMax } from "./confidence.ts";

/** An answered row. */
export interface Judged {
  readonly probabilities: readonly number[];
  readonly truth: number;
  /** Of the right answer, for the rate of the most frequent one. */
  readonly label: string;
}

export interface Metrics {
  readonly rows: number;
  readonly accuracy: number;
  /** What always saying the most frequent answer would reach. */
  readonly majority: number;
  readonly logLoss: number;
  readonly brier: number;
  /** Expected calibration error of the most probable option, bins of equal size. */
  readonly ece: number;
  /** 95 % of resamples lie between, freed of what resampling itself adds to the error. */
  readonly eceLow: number;
  readonly eceHigh: number;
}

/** One bin of a reliability diagram. */
export interface Bin {
  readonly confidence: number;
  readonly accuracy: number;
  readonly rows: number;
}

const BINS = 15;
const RESAMPLES = 300;
/** A right answer of no probability costs this much at most. */
const LEAST = 1e-6;

/** Measures the rows; there must be at least one. */
export function measureRows(rows: readonly Judged[]): Metrics {
  const counts = new Map<string, number>();
  let [right, loss, brier] = [0, 0, 0];
  for (const { probabilities, truth, label } of rows) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    if (argMax(probabilities) === truth) right += 1;
    loss -= Math.log(Math.max(probabilities[truth]!, LEAST));
    brier += probabilities.reduce((sum, p, at) => sum + (p - (at === truth ? 1 : 0)) ** 2, 0);
  }
  const n = rows.length;
  const ece = calibrationError(rows);
  const [eceLow, eceHigh] = interval(rows, ece);
  return {
    rows: n,
    accuracy: right / n,
    majority: Math.max(...counts.values()) / n,
    logLoss: loss / n,
    brier: brier / n,
    ece,
    eceLow,
    eceHigh,
  };
}

/** The bins of a reliability diagram, least sure first; of equal numbers of rows. */
export function reliability(rows: readonly Judged[], bins = BINS): Bin[] {
  const tops = rows
    .map(({ probabilities, truth }) => {
      const top = argMax(probabilities);
      return { confidence: probabilities[top]!, right: top === truth ? 1 : 0 };
    })
    .sort((a, b) => a.confidence - b.confidence);
  const out: Bin[] = [];
  const count = Math.min(bins, tops.length);
  for (let bin = 0; bin < count; bin++) {
    const own = tops.slice(Math.floor((bin * tops.length) / count), Math.floor(((bin + 1) * tops.length) / count));
    const mean = (of: (top: (typeof own)[number]) => number) => own.reduce((sum, top) => sum + of(top), 0) / own.length;
    out.push({ confidence: mean((top) => top.confidence), accuracy: mean((top) => top.right), rows: own.length });
  }
  return out;
}

function calibrationError(rows: readonly Judged[]): number {
  return reliability(rows).reduce(
    (sum, { confidence, accuracy, rows: own }) => sum + (Math.abs(confidence - accuracy) * own) / rows.length,
    0,
  );
}

/**
 * Resamples the rows, always in the same way, so that a report can be repeated. Rows that come twice make bins look worse than
 * they are, so that of few rows nearly every resample would lie above the figure itself: that much is taken off.
 */
function interval(rows: readonly Judged[], error: number): [number, number] {
  const random = seeded(rows.length);
  const errors = Array.from({ length: RESAMPLES }, () =>
    calibrationError(rows.map(() => rows[Math.floor(random() * rows.length)]!)),
  ).sort((a, b) => a - b);
  const added = errors.reduce((sum, one) => sum + one, 0) / RESAMPLES - error;
  const at = (share: number) => Math.max(0, errors[Math.floor(RESAMPLES * share)]! - added);
  return [at(0.025), at(0.975)];
}

/** Uniform numbers in [0, 1) from a seed: a 32-bit congruential generator, mixed. */
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
