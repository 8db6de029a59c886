// Compares two versions of extraction page by page, and says how well the program predicts its own quality.

import { seeded } from "./boost-fit.ts";

/** The scores of one run, by "SET/ID". */
export type PageScores = Readonly<Record<string, number>>;

/** How a set or a kind of page changed. */
export interface Change {
  /** The mean of the differences, page by page. */
  readonly mean: number;
  /** The 90 % interval of that mean. */
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2000;
/** A set may fall by this much, or less if the fall is certain. */
const FALL_MAX = 0.002;

/** The change between two runs over the pages that both have; undefined if there are none. */
export function changeOf(keys: readonly string[], now: PageScores, before: PageScores): Change | undefined {
  const differences = keys.flatMap((key) => {
    const [a, b] = [now[key], before[key]];
    return a === undefined || b === undefined ? [] : [a - b];
  });
  if (differences.length === 0) return undefined;
  const random = seeded(5);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < differences.length; i++)
      sum += differences[Math.floor(random() * differences.length)] as number;
    return sum / differences.length;
  }).sort((a, b) => a - b);
  return {
    mean: differences.reduce((sum, one) => sum + one, 0) / differences.length,
    low: means[Math.floor(RESAMPLES * 0.05)] as number,
    high: means[Math.floor(RESAMPLES * 0.95)] as number,
  };
}

/** Whether a change of a set must not land: it falls for certain, or by much. */
export function isBlocked({ mean, high }: Change): boolean {
  return high < 0 || mean < -FALL_MAX;
}

/** The names of a set's faults of which there are more than before. `before`: what the base knew, by "FAULT in SET"; it may know none. */
export function risenFaults(set: string, now: Readonly<Record<string, number>>, before: PageScores = {}): string[] {
  return Object.keys(now)
    .map((fault) => ({ name: `${fault} in ${set}`, count: now[fault] as number }))
    .filter(({ name, count }) => count > (before[name] ?? count))
    .map(({ name }) => name);
}

/** A page's predicted and true quality. */
export interface Predicted {
  readonly predicted: number;
  readonly true: number;
}

/** How well qualities are predicted: correlation, mean absolute error, and predicted and true means of ten equal groups. */
export function calibrationOf(pages: readonly Predicted[]): {
  readonly correlation: number;
  readonly error: number;
  readonly groups: readonly Predicted[];
} {
  const meanOf = (list: readonly Predicted[], of: (page: Predicted) => number) =>
    list.reduce((sum, page) => sum + of(page), 0) / Math.max(1, list.length);
  const predicted = meanOf(pages, (page) => page.predicted);
  const truth = meanOf(pages, (page) => page.true);
  const spread = (of: (page: Predicted) => number) => Math.sqrt(meanOf(pages, of));
  const covariance = meanOf(pages, (page) => (page.predicted - predicted) * (page.true - truth));
  const spreads = spread((page) => (page.predicted - predicted) ** 2) * spread((page) => (page.true - truth) ** 2);
  const sorted = [...pages].sort((a, b) => a.predicted - b.predicted);
  const size = Math.ceil(sorted.length / 10);
  const groups = Array.from({ length: Math.ceil(sorted.length / size) }, (_, at) => {
    const group = sorted.slice(at * size, (at + 1) * size);
    return { predicted: meanOf(group, (page) => page.predicted), true: meanOf(group, (page) => page.true) };
  });
  return {
    correlation: spreads === 0 ? 0 : covariance / spreads,
    error: meanOf(pages, (page) => Math.abs(page.predicted - page.true)),
    groups,
  };
}

/** The numbers of a text that stand nowhere in the page's own text: an extraction may leave numbers out, but never makes any. */
export function inventedNumbers(text: string, page: string): string[] {
  const own = new Set(page.match(/\d+/g) ?? []);
  return (text.match(/\d+/g) ?? []).filter((number) => !own.has(number));
}

/** How many paragraphs of a text stand in it a second time. */
export function repeatedParagraphs(text: string): number {
  const seen = new Set<string>();
  let repeated = 0;
  for (const line of text.split("\n")) {
    const words = line
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
    if (words.length < 80) continue;
    if (seen.has(words)) repeated++;
    seen.add(words);
  }
  return repeated;
}
