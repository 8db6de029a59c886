// Fits the weights of the words of names and texts: a logistic regression over the signs that occur on several sites.

import { sigmoid } from "../../src/pages/content/boost.ts";
import { readNeighbourhood } from "../../src/pages/content/context.ts";
import { type BlockSigns, readWordSigns, type SignIndex } from "../../src/pages/content/word-reader.ts";
import type { SignWeights, WordWeights } from "../../src/pages/content/word-signs.ts";
import type { LabelledPage } from "./labelled-pages.ts";

/** Signs of fewer sites say nothing about other sites. */
const SITES_MIN = 5;
/** The shrinkage of the weights. Names repeat on all pages of a site, so they need more. */
const SHRINK: Readonly<Record<keyof BlockSigns, number>> = { names: 1, texts: 0.4 };
const ROUNDS = 40;
/** Steps whose gradients are remembered. */
const MEMORY = 8;

/** A labelled block: its page and index, its target and weight. */
export interface SignSample {
  readonly page: LabelledPage;
  readonly index: number;
  readonly target: number;
  readonly weight: number;
}

/** The signs of pages, read once: each sign has a number. */
export interface PageSigns {
  /** The hash of each sign. */
  readonly hashes: readonly number[];
  readonly of: ReadonlyMap<LabelledPage, readonly BlockSigns[]>;
}

/** Reads the signs of all pages. */
export function readSigns(pages: readonly LabelledPage[]): PageSigns {
  const numbers = new Map<number, number>();
  const index: SignIndex = (sign) => {
    const known = numbers.get(sign) ?? numbers.size;
    numbers.set(sign, known);
    return known;
  };
  const of = new Map(pages.map((page) => [page, readWordSigns(readNeighbourhood(page.blocks), index)]));
  return { hashes: [...numbers.keys()], of };
}

/** Fits the weights on these blocks. */
export function fitWords(samples: readonly SignSample[], signs: PageSigns): WordWeights {
  return { names: fitSigns(samples, signs, "names"), texts: fitSigns(samples, signs, "texts") };
}

function fitSigns(samples: readonly SignSample[], { hashes, of }: PageSigns, group: keyof BlockSigns): SignWeights {
  const all = samples.map(({ page, index }) => (of.get(page)?.[index]?.[group] ?? []).flat());
  const sites = new Map<number, Set<string>>();
  all.forEach((row, at) => {
    const { site } = (samples[at] as SignSample).page;
    for (const sign of row) {
      const known = sites.get(sign);
      if (known === undefined) sites.set(sign, new Set([site]));
      else if (known.size < SITES_MIN) known.add(site);
    }
  });
  const signs = [...sites.keys()].filter((sign) => (sites.get(sign)?.size ?? 0) >= SITES_MIN);
  signs.sort((a, b) => (hashes[a] as number) - (hashes[b] as number));
  const at = new Map(signs.map((sign, i) => [sign, i]));
  const rows = all.map((row) => Int32Array.from(row.flatMap((sign) => at.get(sign) ?? [])));
  const weights = regress({ rows, samples, width: signs.length, shrink: SHRINK[group] });
  const hundredths = Array.from(weights.subarray(0, signs.length), (weight) => Math.round(weight * 100));
  const told = signs.filter((_, i) => hundredths[i] !== 0).map((sign) => hashes[sign] as number);
  return {
    bias: Number((weights[signs.length] as number).toFixed(4)),
    signs: told.map((hash, i) => hash - (told[i - 1] ?? 0)),
    weights: hundredths.filter((weight) => weight !== 0),
  };
}

interface Regression {
  readonly rows: readonly Int32Array[];
  readonly samples: readonly SignSample[];
  readonly width: number;
  readonly shrink: number;
}

/** The loss, and its slope into `slope`. The last weight is the bias, which is not shrunk. */
function lossOf({ rows, samples, width, shrink }: Regression, weights: Float64Array, slope: Float64Array): number {
  let loss = 0;
  slope.fill(0);
  for (let i = 0; i < width; i++) {
    const weight = weights[i] as number;
    loss += (shrink / 2) * weight * weight;
    slope[i] = shrink * weight;
  }
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Int32Array;
    const { target, weight } = samples[i] as SignSample;
    let odds = weights[width] as number;
    for (let k = 0; k < row.length; k++) odds += weights[row[k] as number] as number;
    const share = sigmoid(odds);
    loss -= weight * (target * Math.log(share + 1e-12) + (1 - target) * Math.log(1 - share + 1e-12));
    const push = weight * (share - target);
    slope[width] = (slope[width] as number) + push;
    for (let k = 0; k < row.length; k++) slope[row[k] as number] = (slope[row[k] as number] as number) + push;
  }
  return loss;
}

/** Minimises the loss by L-BFGS. */
function regress(problem: Regression): Float64Array {
  const width = problem.width + 1;
  let weights = new Float64Array(width);
  let slope = new Float64Array(width);
  let loss = lossOf(problem, weights, slope);
  const steps: { readonly moved: Float64Array; readonly turned: Float64Array; readonly rho: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const way = direction(slope, steps);
    const fall = dot(way, slope);
    let length = steps.length === 0 ? 1 / Math.sqrt(dot(slope, slope)) : 1;
    let next = weights;
    let nextSlope = slope;
    let nextLoss = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 20 && !(nextLoss <= loss + 1e-4 * length * fall); tries++) {
      if (tries > 0) length /= 2;
      next = weights.map((weight, i) => weight + length * (way[i] as number));
      nextSlope = new Float64Array(width);
      nextLoss = lossOf(problem, next, nextSlope);
    }
    const moved = next.map((weight, i) => weight - (weights[i] as number));
    const turned = nextSlope.map((one, i) => one - (slope[i] as number));
    const curve = dot(moved, turned);
    if (curve > 1e-10) steps.push({ moved, turned, rho: 1 / curve });
    if (steps.length > MEMORY) steps.shift();
    [weights, slope, loss] = [next, nextSlope, nextLoss];
  }
  return weights;
}

function direction(
  slope: Float64Array,
  steps: readonly { readonly moved: Float64Array; readonly turned: Float64Array; readonly rho: number }[],
): Float64Array {
  const way = slope.map((one) => -one);
  const shares: number[] = [];
  for (const { moved, turned, rho } of [...steps].reverse()) {
    const share = rho * dot(moved, way);
    shares.push(share);
    addTo(way, turned, -share);
  }
  const last = steps[steps.length - 1];
  if (last !== undefined) {
    const scale = 1 / (last.rho * dot(last.turned, last.turned));
    for (let i = 0; i < way.length; i++) way[i] = (way[i] as number) * scale;
  }
  steps.forEach(({ moved, turned, rho }, at) => {
    addTo(way, moved, (shares[steps.length - 1 - at] as number) - rho * dot(turned, way));
  });
  return way;
}

function addTo(sum: Float64Array, other: Float64Array, factor: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + factor * (other[i] as number);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
