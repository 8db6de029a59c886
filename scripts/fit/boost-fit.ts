// Fits an ensemble of small decision trees by gradient boosting over binned features. Plain and deterministic: the same
// rows give the same trees.

import { type Ensemble, evaluate, sigmoid, type Tree } from "../../src/pages/content/boost.ts";

/** Rows with soft targets (0..1) and weights. */
export interface Samples {
  readonly rows: readonly Float32Array[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
}

/** How far to go. */
export interface FitOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** Least sum of weights in a leaf. */
  readonly leafWeightMin: number;
  readonly l2: number;
  /** Share of features looked at for each tree. */
  readonly featureShare: number;
  /** Share of rows each tree is grown on. */
  readonly rowShare: number;
}

const BINS = 64;

/** Fits the ensemble. */
export function fit(samples: Samples, options: FitOptions): Ensemble {
  const count = samples.rows.length;
  const width = samples.rows[0]?.length ?? 0;
  const edges = Array.from({ length: width }, (_, feature) => binEdges(samples, feature));
  const bins = edges.map((cuts, feature) =>
    Uint8Array.from(samples.rows, (row) => binOf(cuts, row[feature] as number)),
  );
  const mean = weightedMean(samples);
  const bias = Math.log(mean / (1 - mean));
  const scores = new Float64Array(count).fill(bias);
  const trees: Tree[] = [];
  const random = seeded(7);
  for (let round = 0; round < options.trees; round++) {
    const gradients = new Float64Array(count);
    const hessians = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const p = sigmoid(scores[i] as number);
      const weight = samples.weights[i] as number;
      gradients[i] = weight * (p - (samples.targets[i] as number));
      hessians[i] = weight * Math.max(p * (1 - p), 1e-6);
    }
    const features = [...Array(width).keys()].filter(() => random() < options.featureShare);
    const rows = Int32Array.from(gradients.keys()).filter(() => random() < options.rowShare);
    const tree = growTree({ bins, edges, gradients, hessians, features, options, weights: samples.weights }, rows);
    trees.push(tree);
    // All rows move, also those the tree was not grown on.
    const step: Ensemble = { bias: 0, trees: [tree] };
    for (let i = 0; i < count; i++) scores[i] = (scores[i] as number) + evaluate(step, samples.rows[i] as Float32Array);
  }
  return { bias: round5(bias), trees };
}

interface Growth {
  readonly bins: readonly Uint8Array[];
  readonly edges: readonly number[][];
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  readonly features: readonly number[];
  readonly options: FitOptions;
  readonly weights: readonly number[];
}

interface Leaf {
  readonly node: number;
  readonly rows: Int32Array;
  readonly split: Split | undefined;
}

interface Split {
  readonly feature: number;
  readonly bin: number;
  readonly gain: number;
}

function growTree(growth: Growth, all: Int32Array): Tree {
  const tree = { feature: [-1], value: [0], left: [0] };
  let leaves: Leaf[] = [{ node: 0, rows: all, split: bestSplit(growth, all) }];
  while (leaves.length < growth.options.leaves) {
    const next = leaves.reduce<Leaf | undefined>(
      (best, leaf) => (leaf.split !== undefined && leaf.split.gain > (best?.split?.gain ?? 0) ? leaf : best),
      undefined,
    );
    if (next?.split === undefined) break;
    const { feature, bin } = next.split;
    const column = growth.bins[feature] as Uint8Array;
    const low = next.rows.filter((row) => (column[row] as number) <= bin);
    const high = next.rows.filter((row) => (column[row] as number) > bin);
    const node = tree.feature.length;
    tree.feature[next.node] = feature;
    tree.value[next.node] = Number((growth.edges[feature]?.[bin] ?? 0).toPrecision(6));
    tree.left[next.node] = node;
    for (const _ of [low, high]) {
      tree.feature.push(-1);
      tree.left.push(0);
      tree.value.push(0);
    }
    leaves = leaves.filter((leaf) => leaf !== next);
    leaves.push({ node, rows: low, split: bestSplit(growth, low) });
    leaves.push({ node: node + 1, rows: high, split: bestSplit(growth, high) });
  }
  for (const leaf of leaves) {
    let g = 0;
    let h = 0;
    for (const row of leaf.rows) {
      g += growth.gradients[row] as number;
      h += growth.hessians[row] as number;
    }
    const value = round5((-growth.options.rate * g) / (h + growth.options.l2));
    tree.value[leaf.node] = value;
  }
  return tree;
}

function bestSplit(growth: Growth, rows: Int32Array): Split | undefined {
  const { gradients, hessians, weights, options } = growth;
  let totalG = 0;
  let totalH = 0;
  let totalW = 0;
  for (const row of rows) {
    totalG += gradients[row] as number;
    totalH += hessians[row] as number;
    totalW += weights[row] as number;
  }
  if (totalW < 2 * options.leafWeightMin) return undefined;
  const worth = (g: number, h: number) => (g * g) / (h + options.l2);
  const base = worth(totalG, totalH);
  let best: Split | undefined;
  const binG = new Float64Array(BINS);
  const binH = new Float64Array(BINS);
  const binW = new Float64Array(BINS);
  for (const feature of growth.features) {
    binG.fill(0);
    binH.fill(0);
    binW.fill(0);
    const column = growth.bins[feature] as Uint8Array;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const bin = column[row] as number;
      binG[bin] = (binG[bin] as number) + (gradients[row] as number);
      binH[bin] = (binH[bin] as number) + (hessians[row] as number);
      binW[bin] = (binW[bin] as number) + (weights[row] as number);
    }
    let g = 0;
    let h = 0;
    let w = 0;
    const cuts = growth.edges[feature]?.length ?? 0;
    for (let bin = 0; bin < cuts; bin++) {
      g += binG[bin] as number;
      h += binH[bin] as number;
      w += binW[bin] as number;
      if (w < options.leafWeightMin) continue;
      if (totalW - w < options.leafWeightMin) break;
      const gain = worth(g, h) + worth(totalG - g, totalH - h) - base;
      if (gain > (best?.gain ?? 1e-9)) best = { feature, bin, gain };
    }
  }
  return best;
}

function binEdges(samples: Samples, feature: number): number[] {
  const step = Math.max(1, Math.floor(samples.rows.length / 20_000));
  const values: number[] = [];
  for (let i = 0; i < samples.rows.length; i += step) values.push((samples.rows[i] as Float32Array)[feature] as number);
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (distinct.length <= BINS)
    return distinct.slice(0, -1).map((value, i) => (value + (distinct[i + 1] as number)) / 2);
  values.sort((a, b) => a - b);
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

function weightedMean(samples: Samples): number {
  let sum = 0;
  let weight = 0;
  samples.targets.forEach((target, i) => {
    sum += target * (samples.weights[i] as number);
    weight += samples.weights[i] as number;
  });
  return Math.min(0.999, Math.max(0.001, sum / weight));
}

function round5(value: number): number {
  return Number(value.toPrecision(5));
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
