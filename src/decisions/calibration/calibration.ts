// Calculates calibrated probabilities from a model's readings. A reading is one answer to a question with its options in some
// order. The log probabilities of the readings are averaged, corrected for position biases, and divided by a temperature that was
// fitted on labelled rows. Without a fit they are only averaged.

import type { Question, QuestionType } from "../questions.ts";
import { LEGACY_REVISION } from "../revision.ts";

/** One reading: the log probability at each position, and the option that was there. */
export interface Observation {
  readonly order: readonly number[];
  readonly logProbabilities: readonly number[];
  /** Whether the positions were labels in a prompt, for which a bias may be known. */
  readonly labelled: boolean;
  /** The probabilities by position, if the upstream gave probabilities. Without a fit they are returned exactly. */
  readonly probabilities?: readonly number[];
}

/** The fit for one type of question and range of numbers of options. */
export interface BucketParameters {
  /** A value above 1 flattens the probabilities, a value below 1 sharpens them. */
  readonly temperature: number;
  /** Only for yes/no: added to the log odds of true. */
  readonly bias?: number;
  /** The value that replaces a 0 of an upstream that rounds, before scaling. */
  readonly zero?: number;
  /** The bias of each position, by the exact number of options. */
  readonly positions?: Readonly<Record<string, readonly number[]>>;
  /** The number of rows on which it was fitted. */
  readonly rows: number;
}

/** The calibration of a version, by `bucketOf`. */
export interface Calibration {
  readonly method: "none" | "fitted";
  /** The prior of the readings on which it was fitted, in a file; stored versions state it beside the calibration. */
  readonly prior?: "content_free";
  readonly buckets: Readonly<Record<string, BucketParameters>>;
}

/** The calibration of a version without a fit. */
export const UNCALIBRATED: Calibration = { method: "none", buckets: {} };

/** The group of questions that share parameters. */
export function bucketOf(type: QuestionType, options: number): string {
  if (type === "noul") return "noul";
  if (options <= 2) return `${type}:2`;
  if (options <= 5) return `${type}:3-5`;
  return options <= 20 ? `${type}:6-20` : `${type}:>20`;
}

/** The probabilities in the order of the question's options; they sum to 1. */
export function calibrate(
  question: Pick<Question, "type" | "options">,
  readings: readonly Observation[],
  calibration: Calibration,
): number[] {
  const count = question.options.length;
  const parameters = calibration.buckets[bucketOf(question.type, count)];
  const [only] = readings;
  if (parameters === undefined && readings.length === 1 && only?.probabilities !== undefined) {
    const given = new Array<number>(count);
    for (let at = 0; at < count; at++) given[only.order[at]!] = only.probabilities[at]!;
    return given;
  }
  const scores = averageScores(readings, count, {
    positions: parameters?.positions?.[String(count)],
    zero: parameters?.zero,
  });
  if (parameters === undefined) return softmax(scores);
  const tempered = scores.map((score) => score / parameters.temperature);
  if (question.type === "noul") tempered[0]! += parameters.bias ?? 0;
  return softmax(tempered);
}

/** What is known of a model beside its temperature. */
export interface KnownHabits {
  /** The bias of each position. */
  readonly positions?: readonly number[] | undefined;
  /** The value that replaces a rounded 0. */
  readonly zero?: number | undefined;
}

/** The mean log probability of each option over the readings, without position biases. */
export function averageScores(
  readings: readonly Observation[],
  count: number,
  { positions, zero }: KnownHabits = {},
): number[] {
  const scores = new Array<number>(count).fill(0);
  for (const { order, logProbabilities, labelled, probabilities } of readings) {
    for (let at = 0; at < order.length; at++) {
      const gain = labelled ? (positions?.[at] ?? 0) : 0;
      const isZero = zero !== undefined && probabilities?.[at] === 0;
      scores[order[at]!]! += ((isZero ? Math.log(zero) : logProbabilities[at]!) - gain) / readings.length;
    }
  }
  return scores;
}

/** The probabilities for log scores; uniform if all options are impossible. */
export function softmax(scores: readonly number[]): number[] {
  const top = Math.max(...scores);
  if (top === Number.NEGATIVE_INFINITY) return scores.map(() => 1 / scores.length);
  const weights = scores.map((score) => Math.exp(score - top));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** A value that is printed as 0 with two decimals is between 0 and 0.005; this is the middle. */
const PRINTED_ZERO = 0.0025;
/** The largest total of all options printed as 0 that is assumed without a fit. */
const ZEROS_TOGETHER = 0.01;

/**
 * A reading of an upstream's own probabilities, in the order of the options. For scaling, a 0 is replaced by a small value, since
 * no temperature could flatten it. A fit may replace that value.
 */
export function observationOf(probabilities: readonly number[], revision?: number): Observation {
  const zeros = probabilities.filter((p) => p === 0).length;
  const least = Math.min(...probabilities.filter((p) => p > 0), 1);
  const together = revision === LEGACY_REVISION ? Number.POSITIVE_INFINITY : ZEROS_TOGETHER / Math.max(1, zeros);
  const zero = Math.min(PRINTED_ZERO, least / 4, together);
  return {
    order: probabilities.map((_, index) => index),
    logProbabilities: probabilities.map((p) => Math.log(p === 0 ? zero : p)),
    labelled: false,
    probabilities,
  };
}

/** Parses a calibration from a file or from the store; undefined if it is invalid. */
export function readCalibration(value: unknown): Calibration | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { method, buckets, prior } = value as { method?: unknown; buckets?: unknown; prior?: unknown };
  if ((method !== "none" && method !== "fitted") || typeof buckets !== "object" || buckets === null) return undefined;
  const sound = Object.values(buckets).every((bucket: Partial<BucketParameters> | null) => {
    if (typeof bucket !== "object" || bucket === null) return false;
    const { temperature, bias, zero, positions, rows } = bucket;
    if (typeof temperature !== "number" || !(temperature > 0) || !Number.isFinite(temperature)) return false;
    if (bias !== undefined && !Number.isFinite(bias)) return false;
    if (zero !== undefined && !(zero > 0 && zero < 1)) return false;
    const gains = Object.values(positions ?? {});
    return Number.isFinite(rows) && gains.every((row) => Array.isArray(row) && row.every(Number.isFinite));
  });
  if (!sound) return undefined;
  return { method, buckets: buckets as Calibration["buckets"], ...(prior === "content_free" ? { prior } : {}) };
}
