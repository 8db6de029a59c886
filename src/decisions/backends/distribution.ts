// Checks the probabilities an upstream gives: all there, between 0 and 1, and summing to 1 as far as its rounding allows.
// Gives them renormalised; what is further off is no distribution and fails the request.

import { NonsenseAnswer } from "./backend.ts";

/** What a sum may be off by besides rounding. */
const SLACK = 0.02;
/** Nearer to 1 a sum is right, as far as such numbers can be added. */
const EXACT = 1e-9;
/** Decimals that are told apart from full precision; fewer than two would excuse anything. */
const DECIMALS_MIN = 2;
const DECIMALS_MAX = 6;

/** The distribution, summing to 1. Throws `NonsenseAnswer`. */
export function soundDistribution(values: readonly unknown[], key: string): number[] {
  const probabilities = values.map((value) => soundProbability(value, key));
  const sum = probabilities.reduce((total, p) => total + p, 0);
  if (Math.abs(sum - 1) > SLACK + roundingOf(probabilities) || sum <= 0) {
    throw new NonsenseAnswer(`The probabilities of question ${JSON.stringify(key)} sum to ${sum}.`);
  }
  return Math.abs(sum - 1) < EXACT ? probabilities : probabilities.map((p) => p / sum);
}

/** How far printing may have moved the sum: by half of the last decimal for each option. */
function roundingOf(probabilities: readonly number[]): number {
  for (let decimals = DECIMALS_MIN; decimals <= DECIMALS_MAX; decimals++) {
    const scale = 10 ** decimals;
    const printed = probabilities.every((p) => Math.abs(p * scale - Math.round(p * scale)) < 1e-9 * scale);
    if (printed) return (probabilities.length * 0.5) / scale;
  }
  return 0;
}

/** One probability. Throws `NonsenseAnswer`. */
export function soundProbability(value: unknown, key: string): number {
  if (typeof value !== "number" || !(value >= -1e-9 && value <= 1 + 1e-6)) {
    throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has no probability where one must be.`);
  }
  return Math.min(1, Math.max(0, value));
}

/** Splits a list into parts of at most `size`. */
export function batches<T>(items: readonly T[], size: number): T[][] {
  const out: T[][] = [];
  for (let at = 0; at < items.length; at += size) out.push(items.slice(at, at + size));
  return out;
}
