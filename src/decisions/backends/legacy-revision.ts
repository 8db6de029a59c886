// How the previous release interpreted upstreams' answers. Versions that it stored are read like this until they are calibrated
// again, since their thresholds and temperatures were fitted to these figures. Remove this file together with `LEGACY_REVISION`.

import type { QuestionType } from "../questions.ts";
import { NonsenseAnswer } from "./backend.ts";
import type { AskedGroup } from "./groups.ts";

/** The previous release showed choices in rotations only. */
export function legacyOrders(options: readonly number[], type: QuestionType, count: number): number[][] {
  const most = type === "choice" ? Math.min(count, options.length) : Math.min(count, 2);
  if (most <= 1) return [[...options]];
  if (most === 2) return [[...options], [...options].reverse()];
  return Array.from({ length: most }, (_, turn) => {
    const from = Math.floor((turn * options.length) / most);
    return [...options.slice(from), ...options.slice(0, from)];
  });
}

/** The smallest probability of an option in a large choice. */
const TAIL_FLOOR = 1e-6;

/**
 * In the previous release, each group had the probability that it did not give to "none of these", and its finalists shared it.
 */
export function legacyJoin(groups: readonly AskedGroup[], final: ReadonlyMap<number, number>): number[] {
  const weights: number[] = [];
  for (const { options, shares } of groups) {
    options.forEach((option, at) => {
      weights[option] = shares[at]!;
    });
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const finalMass = [...final.keys()].reduce((sum, option) => sum + weights[option]!, 0) / total;
  const joined = weights.map((weight) => weight / total);
  for (const [option, share] of final) joined[option] = finalMass * share;
  const floored = joined.map((p) => Math.max(p, TAIL_FLOOR));
  const sum = floored.reduce((all, p) => all + p, 0);
  return floored.map((p) => p / sum);
}

const SLACK = 0.02;
const EXACT = 1e-9;
const DECIMALS_MIN = 2;
const DECIMALS_MAX = 6;

/** The previous release divided rounded values by their sum. Throws `NonsenseAnswer`. */
export function legacyScale(probabilities: readonly number[], key: string): number[] {
  const sum = probabilities.reduce((total, p) => total + p, 0);
  if (Math.abs(sum - 1) > SLACK + roundingOf(probabilities) || sum <= 0) {
    throw new NonsenseAnswer(`The probabilities of question ${JSON.stringify(key)} sum to ${sum}.`);
  }
  return Math.abs(sum - 1) < EXACT ? [...probabilities] : probabilities.map((p) => p / sum);
}

function roundingOf(probabilities: readonly number[]): number {
  for (let decimals = DECIMALS_MIN; decimals <= DECIMALS_MAX; decimals++) {
    const scale = 10 ** decimals;
    const printed = probabilities.every((p) => Math.abs(p * scale - Math.round(p * scale)) < 1e-9 * scale);
    if (printed) return (probabilities.length * 0.5) / scale;
  }
  return 0;
}
