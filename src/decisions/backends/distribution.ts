// Checks an upstream's probabilities, which must be complete and between 0 and 1. Returns the nearest distribution that rounds to
// the given values. If there is none, values whose sum is close to 1 are scaled; any other answer is unusable, and the request
// fails.

import { LEGACY_REVISION } from "../revision.ts";
import { NonsenseAnswer } from "./backend.ts";
import { legacyScale } from "./legacy-revision.ts";

/** The tolerance of a sum beyond rounding. */
const SLACK = 0.02;
/** A sum this close to 1 is exact, apart from floating-point errors. */
const EXACT = 1e-9;
/** Values with fewer decimals count as rounded to this many, since otherwise rounding would excuse any deviation. */
const DECIMALS_MIN = 2;
const DECIMALS_MAX = 6;
const HALVINGS = 60;

/** Returns the distribution, which sums to 1. Throws `NonsenseAnswer`. */
export function soundDistribution(values: readonly unknown[], key: string, revision?: number): number[] {
  const probabilities = values.map((value) => soundProbability(value, key));
  if (revision === LEGACY_REVISION) return legacyScale(probabilities, key);
  const sum = totalOf(probabilities);
  if (Math.abs(sum - 1) < EXACT) return probabilities;
  const half = halfOfLastDigit(probabilities);
  const near = nearestWithin(probabilities, half);
  if (near !== undefined) return near;
  if (sum <= 0 || Math.abs(sum - 1) > SLACK + half * probabilities.length) {
    throw new NonsenseAnswer(`The probabilities of question ${JSON.stringify(key)} sum to ${sum}.`);
  }
  return scaled(probabilities);
}

/**
 * The distribution that is within `half` of each value and changes the values least: all by the same amount, as far as their
 * bounds allow. Undefined if there is none.
 */
function nearestWithin(values: readonly number[], half: number): number[] | undefined {
  const moved = (by: number) => values.map((p) => Math.max(0, p + Math.max(-half, Math.min(half, by))));
  if (half === 0 || totalOf(moved(-half)) > 1 || totalOf(moved(half)) < 1) return undefined;
  let [low, high] = [-half, half];
  for (let round = 0; round < HALVINGS; round++) {
    const middle = (low + high) / 2;
    if (totalOf(moved(middle)) < 1) low = middle;
    else high = middle;
  }
  return scaled(moved((low + high) / 2));
}

/** Half of the last printed decimal; 0 for values in full precision. */
function halfOfLastDigit(probabilities: readonly number[]): number {
  for (let decimals = DECIMALS_MIN; decimals <= DECIMALS_MAX; decimals++) {
    const scale = 10 ** decimals;
    const printed = probabilities.every((p) => Math.abs(p * scale - Math.round(p * scale)) < 1e-9 * scale);
    if (printed) return 0.5 / scale;
  }
  return 0;
}

function scaled(values: readonly number[]): number[] {
  const sum = totalOf(values);
  return values.map((p) => p / sum);
}

function totalOf(values: readonly number[]): number {
  return values.reduce((total, p) => total + p, 0);
}

/** Checks one probability. Throws `NonsenseAnswer`. */
export function soundProbability(value: unknown, key: string): number {
  if (typeof value !== "number" || !(value >= -1e-9 && value <= 1 + 1e-6)) {
    throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has no probability where one must be.`);
  }
  return Math.min(1, Math.max(0, value));
}

/**
 * Throws `NonsenseAnswer` if an option that was not offered has a probability, as the rest is then not an answer to the question.
 */
export function refuseUnaskedOptions(
  given: Iterable<readonly [string, unknown]>,
  known: readonly string[],
  key: string,
): void {
  const names = new Set(known);
  for (const [name, value] of given) {
    if (names.has(name) || value === 0 || value === null || value === undefined) continue;
    throw new NonsenseAnswer(`The answer to question ${JSON.stringify(key)} has an option that was not asked for.`);
  }
}

/** Splits a list into parts of at most `size`. */
export function batches<T>(items: readonly T[], size: number): T[][] {
  const out: T[][] = [];
  for (let at = 0; at < items.length; at += size) out.push(items.slice(at, at + size));
  return out;
}
