// Evaluates an ensemble of small decision trees: a row of features in, log odds out.

/** One tree as parallel arrays. A node whose `feature` is -1 is a leaf; the right child follows the left one. */
export interface Tree {
  readonly feature: readonly number[];
  /** The value of a leaf, or the threshold of the feature: a row with a smaller or equal feature goes to the left child. */
  readonly value: readonly number[];
  readonly left: readonly number[];
}

/** Trees whose values add up to the log odds. */
export interface Ensemble {
  readonly bias: number;
  readonly trees: readonly Tree[];
}

/** The nodes of all trees in a row, with the first node of each tree. A left child is told by its place in that row. */
interface Nodes {
  readonly roots: Int32Array;
  readonly feature: Int16Array;
  readonly value: Float64Array;
  readonly left: Int32Array;
}

const known = new WeakMap<readonly Tree[], Nodes>();

function nodesOf(trees: readonly Tree[]): Nodes {
  let nodes = known.get(trees);
  if (nodes === undefined) {
    const roots: number[] = [];
    let count = 0;
    for (const { feature } of trees) {
      roots.push(count);
      count += feature.length;
    }
    nodes = {
      roots: Int32Array.from(roots),
      feature: Int16Array.from(trees.flatMap(({ feature }) => feature)),
      value: Float64Array.from(trees.flatMap(({ value }) => value)),
      left: Int32Array.from(trees.flatMap(({ left }, tree) => left.map((node) => node + (roots[tree] as number)))),
    };
    known.set(trees, nodes);
  }
  return nodes;
}

/** The log odds of many rows. They are evaluated tree by tree, so that the current tree stays in the processor's cache. */
export function evaluateAll({ bias, trees }: Ensemble, rows: readonly Float32Array[]): Float64Array {
  const sums = new Float64Array(rows.length).fill(bias);
  const { roots, feature, value, left } = nodesOf(trees);
  for (const root of roots) {
    const first = feature[root] as number;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as Float32Array;
      let node = root;
      let split = first;
      while (split >= 0) {
        node = (left[node] as number) + ((row[split] as number) <= (value[node] as number) ? 0 : 1);
        split = feature[node] as number;
      }
      sums[i] = (sums[i] as number) + (value[node] as number);
    }
  }
  return sums;
}

/** Log odds as a probability. */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
