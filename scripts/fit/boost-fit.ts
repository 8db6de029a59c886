// Fits an ensemble of small decision trees by gradient boosting over binned features. It is deterministic: the same
// rows and seed give the same trees.

import { type Ensemble, sigmoid, type Tree } from "../../src/pages/content/boost.ts";

/** The binned features of rows, one column for each feature. They are computed once and used for many fits. */
export interface Binned {
  readonly edges: readonly (readonly number[])[];
  readonly columns: readonly Uint8Array[];
}

/** The training data: indexes of binned rows, with soft targets (0..1) and weights. */
export interface Samples {
  readonly binned: Binned;
  readonly rows: Int32Array;
  /** By the index of the binned row. */
  readonly targets: Float64Array;
  readonly weights: Float64Array;
}

/** The options of the fit. */
export interface FitOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** The smallest sum of weights in a leaf. */
  readonly leafWeightMin: number;
  readonly l2: number;
  /** The share of features that each tree may use. */
  readonly featureShare: number;
  /** The share of rows on which each tree is grown. */
  readonly rowShare: number;
  readonly seed?: number;
}

const BINS = 64;
/** The sums for each bin: gradient, second derivative and weight. */
const SUMS = 3;

/** Assigns the features of every row to bins. */
export function binRows(rows: readonly Float32Array[]): Binned {
  const width = rows[0]?.length ?? 0;
  const edges = Array.from({ length: width }, (_, feature) => binEdges(rows, feature));
  const columns = edges.map(() => new Uint8Array(rows.length));
  rows.forEach((row, at) => {
    for (let feature = 0; feature < width; feature++)
      (columns[feature] as Uint8Array)[at] = binOf(edges[feature] as number[], row[feature] as number);
  });
  return { edges, columns };
}

/** Fits the ensemble. */
export function fit({ binned, rows: all, targets, weights }: Samples, options: FitOptions): Ensemble {
  const { edges, columns } = binned;
  const mean = weightedMean(all, targets, weights);
  const bias = Math.log(mean / (1 - mean));
  const scores = new Float64Array(targets.length).fill(bias);
  const gradients = new Float64Array(targets.length);
  const hessians = new Float64Array(targets.length);
  const trees: Tree[] = [];
  const random = seeded(options.seed ?? 7);
  for (let round = 0; round < options.trees; round++) {
    for (const i of all) {
      const p = sigmoid(scores[i] as number);
      const weight = weights[i] as number;
      gradients[i] = weight * (p - (targets[i] as number));
      hessians[i] = weight * Math.max(p * (1 - p), 1e-6);
    }
    const features = [...columns.keys()].filter(() => random() < options.featureShare);
    const chosen = all.map(() => (random() < options.rowShare ? 1 : 0));
    const growth = { bins: columns, edges, gradients, hessians, features, options, weights, scores };
    // The predictions of all rows are updated, including those on which the tree is not grown.
    trees.push(
      growTree(growth, { rows: all.filter((_, i) => chosen[i] === 1), idle: all.filter((_, i) => chosen[i] === 0) }),
    );
  }
  return { bias: round5(bias), trees };
}

interface Growth {
  readonly bins: readonly Uint8Array[];
  readonly edges: readonly (readonly number[])[];
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  readonly weights: Float64Array;
  readonly features: readonly number[];
  readonly options: FitOptions;
  readonly scores: Float64Array;
}

/** The rows on which the tree is grown, and those that are only assigned to its leaves. */
interface Parted {
  readonly rows: Int32Array;
  readonly idle: Int32Array;
}

interface Leaf extends Parted {
  readonly node: number;
  readonly sums: Float64Array;
  readonly split: Split | undefined;
}

interface Split {
  readonly feature: number;
  readonly bin: number;
  readonly gain: number;
}

function growTree(growth: Growth, all: Parted): Tree {
  const tree = { feature: [-1], value: [0], left: [0] };
  const { options } = growth;
  let leaves: Leaf[] = [leafOf(growth, { node: 0, ...all, sums: sumUp(growth, all.rows) })];
  while (leaves.length < options.leaves) {
    const next = leaves.reduce<Leaf | undefined>(
      (best, leaf) => (leaf.split !== undefined && leaf.split.gain > (best?.split?.gain ?? 0) ? leaf : best),
      undefined,
    );
    if (next?.split === undefined) break;
    const { feature, bin } = next.split;
    const column = growth.bins[feature] as Uint8Array;
    const isLow = (row: number) => (column[row] as number) <= bin;
    const isHigh = (row: number) => (column[row] as number) > bin;
    const low = next.rows.filter(isLow);
    const high = next.rows.filter(isHigh);
    const node = tree.feature.length;
    tree.feature[next.node] = feature;
    tree.value[next.node] = Number((growth.edges[feature]?.[bin] ?? 0).toPrecision(6));
    tree.left[next.node] = node;
    for (const _ of [low, high]) {
      tree.feature.push(-1);
      tree.left.push(0);
      tree.value.push(0);
    }
    // Only the smaller side is summed; the sums of the other side are the difference.
    const few = sumUp(growth, low.length < high.length ? low : high);
    const many = next.sums.map((sum, i) => sum - (few[i] as number));
    const [lowSums, highSums] = low.length < high.length ? [few, many] : [many, few];
    leaves = leaves.filter((leaf) => leaf !== next);
    leaves.push(leafOf(growth, { node, rows: low, idle: next.idle.filter(isLow), sums: lowSums }));
    leaves.push(leafOf(growth, { node: node + 1, rows: high, idle: next.idle.filter(isHigh), sums: highSums }));
  }
  for (const leaf of leaves) {
    let g = 0;
    let h = 0;
    for (const row of leaf.rows) {
      g += growth.gradients[row] as number;
      h += growth.hessians[row] as number;
    }
    const value = round5((-options.rate * g) / (h + options.l2));
    tree.value[leaf.node] = value;
    for (const rows of [leaf.rows, leaf.idle])
      for (const row of rows) growth.scores[row] = (growth.scores[row] as number) + value;
  }
  return tree;
}

/** The sums for every bin of the features in use. */
function sumUp({ bins, gradients, hessians, weights, features }: Growth, rows: Int32Array): Float64Array {
  const sums = new Float64Array(features.length * BINS * SUMS);
  const count = rows.length;
  const own = new Float64Array(count * SUMS);
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    own[i * SUMS] = gradients[row] as number;
    own[i * SUMS + 1] = hessians[row] as number;
    own[i * SUMS + 2] = weights[row] as number;
  }
  for (let at = 0; at < features.length; at++) {
    const column = bins[features[at] as number] as Uint8Array;
    const start = at * BINS * SUMS;
    for (let i = 0; i < count; i++) {
      const to = start + (column[rows[i] as number] as number) * SUMS;
      const from = i * SUMS;
      sums[to] = (sums[to] as number) + (own[from] as number);
      sums[to + 1] = (sums[to + 1] as number) + (own[from + 1] as number);
      sums[to + 2] = (sums[to + 2] as number) + (own[from + 2] as number);
    }
  }
  return sums;
}

function leafOf(growth: Growth, leaf: Omit<Leaf, "split">): Leaf {
  return { ...leaf, split: bestSplit(growth, leaf.sums) };
}

function bestSplit({ features, edges, options }: Growth, sums: Float64Array): Split | undefined {
  let totalG = 0;
  let totalH = 0;
  let totalW = 0;
  for (let bin = 0; bin < BINS; bin++) {
    totalG += sums[bin * SUMS] as number;
    totalH += sums[bin * SUMS + 1] as number;
    totalW += sums[bin * SUMS + 2] as number;
  }
  if (totalW < 2 * options.leafWeightMin) return undefined;
  const worth = (g: number, h: number) => (g * g) / (h + options.l2);
  const base = worth(totalG, totalH);
  let best: Split | undefined;
  features.forEach((feature, at) => {
    let g = 0;
    let h = 0;
    let w = 0;
    const cuts = edges[feature]?.length ?? 0;
    for (let bin = 0; bin < cuts; bin++) {
      const from = (at * BINS + bin) * SUMS;
      g += sums[from] as number;
      h += sums[from + 1] as number;
      w += sums[from + 2] as number;
      if (w < options.leafWeightMin) continue;
      if (totalW - w < options.leafWeightMin) break;
      const gain = worth(g, h) + worth(totalG - g, totalH - h) - base;
      if (gain > (best?.gain ?? 1e-9)) best = { feature, bin, gain };
    }
  });
  return best;
}

function binEdges(rows: readonly Float32Array[], feature: number): number[] {
  const step = Math.max(1, Math.floor(rows.length / 20_000));
  const values = new Float64Array(Math.ceil(rows.length / step));
  for (let i = 0; i < values.length; i++) values[i] = (rows[i * step] as Float32Array)[feature] as number;
  values.sort();
  const distinct = values.filter((value, i) => i === 0 || value !== values[i - 1]);
  if (distinct.length <= BINS)
    return [...distinct.subarray(0, -1)].map((value, i) => (value + (distinct[i + 1] as number)) / 2);
  const cuts = new Set<number>();
  for (let bin = 1; bin < BINS; bin++) cuts.add(values[Math.floor((values.length * bin) / BINS)] as number);
  return [...cuts].sort((a, b) => a - b);
}

function binOf(cuts: readonly number[], value: number): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= (cuts[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function weightedMean(rows: Int32Array, targets: Float64Array, weights: Float64Array): number {
  let sum = 0;
  let weight = 0;
  for (const row of rows) {
    sum += (targets[row] as number) * (weights[row] as number);
    weight += weights[row] as number;
  }
  return Math.min(0.999, Math.max(0.001, sum / weight));
}

function round5(value: number): number {
  return Number(value.toPrecision(5));
}

/** Random numbers from 0 to 1, determined by the seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
