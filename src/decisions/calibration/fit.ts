// Fits a calibration to labelled rows. For each group of questions it has one temperature, for yes/no also a bias, and position
// biases. There are few parameters on purpose, since with a few hundred rows more of them would overfit.

import type { Question } from "../questions.ts";
import {
  averageScores,
  type BucketParameters,
  bucketOf,
  type Calibration,
  type Observation,
  softmax,
} from "./calibration.ts";

/** A question with its readings and its right option. */
export interface LabelledReading {
  readonly question: Question;
  readonly readings: readonly Observation[];
  readonly truth: number;
}

/** With fewer rows of a kind, its probabilities are not changed. */
export const FIT_ROWS_MIN = 20;
/**
 * At least this many rows must have a label other than the most frequent one. Otherwise a fit would learn to predict that label
 * always.
 */
const OTHERS_MIN = 5;
const TEMPERATURE_MIN = 0.05;
const TEMPERATURE_MAX = 20;
/**
 * The weight of the regularisation towards "no change", about that of one row. Without it, rows that can be separated perfectly
 * would lead to certainty.
 */
const PRIOR_WEIGHT = 1;

/**
 * The calibration that the rows support. `turned` are rows that were read in many orders, from which position biases are learned;
 * they need no labels.
 */
export function fitCalibration(
  rows: readonly LabelledReading[],
  turned: readonly Omit<LabelledReading, "truth">[] = [],
): Calibration {
  const buckets: Record<string, BucketParameters> = {};
  for (const [bucket, own] of groupBy(rows, bucketOfRow)) {
    if (whyNot(own) !== undefined) continue;
    const learned = bucket === "noul" ? {} : positionsOf(turned.filter((row) => bucketOfRow(row) === bucket));
    // Position biases are learned without labels, so they are only used if the labels confirm that this does not make the fit
    // worse.
    const positions = helpful(learned, own);
    const zero = zeroOf(own, positions);
    const fitted = trusted(scoredBy(own, positions, zero), bucket === "noul");
    const useful = Object.keys(positions).length > 0;
    if (fitted === undefined && !useful) continue;
    const habits = { ...(zero === undefined ? {} : { zero }), ...(useful ? { positions } : {}) };
    buckets[bucket] = { ...(fitted ?? AS_IT_IS), rows: own.length, ...habits };
  }
  return { method: Object.keys(buckets).length === 0 ? "none" : "fitted", buckets };
}

/** The kinds of questions whose rows cannot be fitted, and the reasons. */
export function unfittable(rows: readonly LabelledReading[]): { bucket: string; why: string }[] {
  return [...groupBy(rows, bucketOfRow)].flatMap(([bucket, own]) => {
    const why = whyNot(own);
    return why === undefined ? [] : [{ bucket, why }];
  });
}

function bucketOfRow({ question: { type, options } }: Pick<LabelledReading, "question">): string {
  return bucketOf(type, options.length);
}

function whyNot(own: readonly LabelledReading[]): string | undefined {
  if (own.length < FIT_ROWS_MIN) return `${own.length} rows are too few, ${FIT_ROWS_MIN} are needed`;
  const answers = groupBy(own, ({ question, truth }) => question.options[truth]!.label);
  const most = Math.max(...[...answers.values()].map(({ length }) => length));
  return own.length - most < OTHERS_MIN ? `${most} of its ${own.length} rows have the same answer` : undefined;
}

type Positions = Readonly<Record<string, readonly number[]>>;

function scoredBy(rows: readonly LabelledReading[], positions: Positions, zero?: number): Scored[] {
  return rows.map(({ question, readings, truth }) => {
    const count = question.options.length;
    return { scores: averageScores(readings, count, { positions: positions[String(count)], zero }), truth };
  });
}

/** The candidates for the value of a rounded 0, two for each factor of ten. */
const ZEROS = Array.from({ length: 13 }, (_, step) => 5e-3 * 10 ** (-step / 2));
/**
 * How much the fitted value of a 0 must improve the likelihood over the default. By chance this happens in one of twenty cases.
 */
const ZERO_GAIN_MIN = 4;

/**
 * The value of a 0 of an upstream that rounds, if the rows determine it, that is, how often an option printed as 0 is the right
 * one. With too high a value, the model looks underconfident, and the fitted temperature is too low.
 */
function zeroOf(rows: readonly LabelledReading[], positions: Positions): number | undefined {
  if (!rows.some(({ readings }) => readings.some(({ probabilities }) => probabilities?.includes(0) === true))) return;
  const loss = (zero?: number) => {
    const scored = scoredBy(rows, positions, zero);
    return lossSum(scored, fitTemperature(scored));
  };
  const losses = ZEROS.map(loss);
  const least = Math.min(...losses);
  return 2 * (loss() - least) > ZERO_GAIN_MIN ? ZEROS[losses.indexOf(least)] : undefined;
}

function helpful(learned: Positions, rows: readonly LabelledReading[]): Positions {
  if (Object.keys(learned).length === 0) return learned;
  const [without, taken] = [scoredBy(rows, {}), scoredBy(rows, learned)];
  return lossSum(taken, fitTemperature(taken)) <= lossSum(without, fitTemperature(without)) ? learned : {};
}

interface Scored {
  readonly scores: readonly number[];
  readonly truth: number;
}

/** A temperature, and for yes/no a bias. */
interface Parameters {
  readonly temperature: number;
  readonly bias?: number;
}

/** A fit with its improvement over no fit, which is twice the difference of the log likelihoods. */
interface Candidate {
  readonly parameters: Parameters;
  readonly gain: number;
  /** The number of free parameters. */
  readonly free: number;
}

const AS_IT_IS: Parameters = { temperature: 1 };

/** Twice the improvement that an irrelevant parameter is expected to give by chance. */
const CHANCE = 2;
/** How much a bias must improve the likelihood over a temperature alone. By chance this happens in one of twenty cases. */
const BIAS_GAIN_MIN = 4;

/**
 * The parameters that the rows support, moved towards "no change" by the share of the improvement that chance would give. With a
 * hundred rows, every model seems slightly over- or underconfident, and fitting that fully made good models worse. Undefined if
 * the rows show no more than chance.
 */
function trusted(rows: readonly Scored[], yesNo: boolean): Parameters | undefined {
  const plain = lossSum(rows, AS_IT_IS);
  const candidate = (parameters: Parameters, free: number): Candidate => {
    return { parameters, gain: 2 * (plain - lossSum(rows, parameters)), free };
  };
  let best = candidate(fitTemperature(rows), 1);
  if (yesNo) {
    const biased = candidate(fitYesNo(rows), 2);
    if (biased.gain - best.gain > BIAS_GAIN_MIN) best = biased;
  }
  const chance = CHANCE * best.free;
  // This includes a search that ended very close to "no change" without an improvement.
  if (!(best.gain > chance)) return undefined;
  const trust = 1 - chance / best.gain;
  const { temperature, bias } = best.parameters;
  return { temperature: temperature ** trust, ...(bias === undefined ? {} : { bias: bias * trust }) };
}

function lossSum(rows: readonly Scored[], parameters: Parameters): number {
  return rows.reduce((sum, row) => sum + lossOf(row, parameters), 0);
}

function lossOf({ scores, truth }: Scored, { temperature, bias = 0 }: Parameters): number {
  const tempered = scores.map((score, at) => score / temperature + (at === 0 ? bias : 0));
  return -Math.log(Math.max(softmax(tempered)[truth]!, LEAST));
}

/** Finds the temperature by golden-section search, since the loss has a single minimum over its logarithm. */
function fitTemperature(rows: readonly Scored[]): Parameters {
  const loss = (logT: number): number => {
    const temperature = Math.exp(logT);
    return lossSum(rows, { temperature }) + PRIOR_WEIGHT * logT * logT;
  };
  let [low, high] = [Math.log(TEMPERATURE_MIN), Math.log(TEMPERATURE_MAX)];
  const golden = (Math.sqrt(5) - 1) / 2;
  while (high - low > 1e-4) {
    const left = high - golden * (high - low);
    const right = low + golden * (high - low);
    if (loss(left) < loss(right)) high = right;
    else low = left;
  }
  return { temperature: Math.exp((low + high) / 2) };
}

/** The smallest probability in a logarithm, which keeps it finite. */
const LEAST = 1e-12;
const NEWTON_STEPS = 50;

/**
 * Platt scaling: the log odds of true are multiplied by a slope, and a bias is added. Both are found by Newton's method, as the
 * loss is convex.
 */
function fitYesNo(rows: readonly Scored[]): Parameters {
  const points = rows.map(({ scores: [yes, no], truth }) => {
    return { x: clampOdds(yes! - no!), y: truth === 0 ? 1 : 0 };
  });
  let [slope, bias] = [1, 0];
  for (let step = 0; step < NEWTON_STEPS; step++) {
    let [gs, gb] = [PRIOR_WEIGHT * (slope - 1), PRIOR_WEIGHT * 0.1 * bias];
    let [hss, hsb, hbb] = [PRIOR_WEIGHT, 0, PRIOR_WEIGHT * 0.1];
    for (const { x, y } of points) {
      const p = 1 / (1 + Math.exp(-(slope * x + bias)));
      const weight = Math.max(p * (1 - p), 1e-9);
      gs += (p - y) * x;
      gb += p - y;
      hss += weight * x * x;
      hsb += weight * x;
      hbb += weight;
    }
    const det = hss * hbb - hsb * hsb;
    const [ds, db] = [(hbb * gs - hsb * gb) / det, (hss * gb - hsb * gs) / det];
    // Each step is at most one unit long. The loss is convex, but far from the minimum a full step may overshoot.
    const scale = Math.min(1, 1 / Math.max(Math.abs(ds), Math.abs(db), 1e-12));
    slope -= ds * scale;
    bias -= db * scale;
    if (Math.abs(ds) + Math.abs(db) < 1e-9) break;
  }
  slope = Math.min(1 / TEMPERATURE_MIN, Math.max(1 / TEMPERATURE_MAX, slope));
  return { temperature: 1 / slope, bias };
}

/** Limits the log odds, as an upstream may print a rounded 0 or 1. */
function clampOdds(odds: number): number {
  return Math.min(30, Math.max(-30, odds));
}

/**
 * Minimum number of rows that were read in several orders. From this number on, the score of an option can be distinguished from
 * the bias of its position.
 */
const TURNED_ROWS_MIN = 5;
const ROUNDS = 30;

function positionsOf(rows: readonly Omit<LabelledReading, "truth">[]): Record<string, number[]> {
  const out: Record<string, number[]> = {};
  for (const [count, own] of groupBy(rows, (row) => String(row.question.options.length))) {
    const usable = own.filter(({ readings }) => readings.length > 1 && readings.every(({ labelled }) => labelled));
    if (usable.length >= TURNED_ROWS_MIN) out[count] = gainsOf(usable, Number(count));
  }
  return out;
}

/** Finds the position biases by computing in turn the scores of each row's options and the biases over all rows. */
function gainsOf(rows: readonly Omit<LabelledReading, "truth">[], count: number): number[] {
  let gains = new Array<number>(count).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const sums = new Array<number>(count).fill(0);
    let looks = 0;
    for (const { readings } of rows) {
      const centred = readings.map(({ order, logProbabilities }) => {
        const mean = logProbabilities.reduce((sum, value, at) => sum + value - gains[at]!, 0) / count;
        return { order, values: logProbabilities.map((value) => value - mean) };
      });
      const worth = new Array<number>(count).fill(0);
      for (const { order, values } of centred) {
        order.forEach((option, at) => {
          worth[option]! += (values[at]! - gains[at]!) / readings.length;
        });
      }
      for (const { order, values } of centred) {
        looks += 1;
        order.forEach((option, at) => {
          sums[at]! += values[at]! - worth[option]!;
        });
      }
    }
    const next = sums.map((sum) => sum / looks);
    const mean = next.reduce((sum, value) => sum + value, 0) / count;
    gains = next.map((value) => value - mean);
  }
  return gains;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
