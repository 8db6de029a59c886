// Fits a calibration to labelled rows: by type of question and number of options one temperature, for yes/no also a bias, and
// position biases. Few parameters on purpose: with a few hundred rows anything richer would overfit.

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

/** With fewer rows of a kind its probabilities stay as the model gives them. */
export const FIT_ROWS_MIN = 20;
/**
 * At least this many rows must have another label than the most frequent one: otherwise a fit would learn to predict that one
 * always.
 */
const OTHERS_MIN = 5;
const TEMPERATURE_MIN = 0.05;
const TEMPERATURE_MAX = 20;
/** Regularisation towards "no change", with the weight of about one row: separable rows must not lead to certainty. */
const PRIOR_WEIGHT = 1;

/**
 * The calibration with the highest likelihood. `turned` are rows read in many orders, from which position biases are learned;
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
    // Position biases are learned without labels; the labels must confirm that removing them helps.
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

/** The kinds of questions whose rows are not informative, and why. */
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

/** Candidate values for a rounded 0, two per factor of ten. */
const ZEROS = Array.from({ length: 13 }, (_, step) => 5e-3 * 10 ** (-step / 2));
/** The fitted value for a 0 must improve the likelihood by this much over the default: by chance one in twenty does. */
const ZERO_GAIN_MIN = 4;

/**
 * The value for a 0 of an upstream that rounds, if the rows determine it: how often an option printed as 0 is the right one.
 * A value that is too high makes the model look underconfident, and the temperature is fitted too low.
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

/** Temperature, and for yes/no a bias. */
interface Parameters {
  readonly temperature: number;
  readonly bias?: number;
}

/** A fit, and its improvement over no fit: twice the difference of the log likelihoods. */
interface Candidate {
  readonly parameters: Parameters;
  readonly gain: number;
  /** Number of free parameters. */
  readonly free: number;
}

const AS_IT_IS: Parameters = { temperature: 1 };

/** The expected improvement of an irrelevant parameter by chance, doubled. */
const CHANCE = 2;
/** A bias must improve the likelihood by this much over a temperature alone: by chance one in twenty does. */
const BIAS_GAIN_MIN = 4;

/**
 * The parameters that the rows support, shrunk towards "no change" by the share of the improvement that chance would give.
 * With a hundred rows every model seems slightly over- or underconfident; taking that at face value made good models worse.
 * Undefined: the rows show no more than chance.
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
  // Includes a search that ended very close to "no change" without an improvement.
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

/** The log loss has a single minimum over the logarithm of the temperature: golden-section search finds it. */
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

/** Keeps a logarithm finite. */
const LEAST = 1e-12;
const NEWTON_STEPS = 50;

/** Platt scaling: the log odds of true times a slope plus a bias, by Newton's method on a convex loss. */
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
    // Half steps at most one unit long: the loss is convex, but far out a full step may overshoot.
    const scale = Math.min(1, 1 / Math.max(Math.abs(ds), Math.abs(db), 1e-12));
    slope -= ds * scale;
    bias -= db * scale;
    if (Math.abs(ds) + Math.abs(db) < 1e-9) break;
  }
  slope = Math.min(1 / TEMPERATURE_MIN, Math.max(1 / TEMPERATURE_MAX, slope));
  return { temperature: 1 / slope, bias };
}

/** An upstream may print a rounded 0 or 1. */
function clampOdds(odds: number): number {
  return Math.min(30, Math.max(-30, odds));
}

/** Rows read in several orders separate the score of an option from the bias of its position. */
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

/** Alternates between the scores of each row's options and the position biases over all rows. */
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
