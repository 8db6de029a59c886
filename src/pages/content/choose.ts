// Chooses which blocks of a page are its main content: two passes of fitted decision trees judge the blocks, then the set with
// the best expected F1 is taken. The choice depends on the page's structure and text, never on its site.

import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { type Ensemble, evaluateAll, sigmoid } from "./boost.ts";
import { contextRows } from "./context.ts";
import { readFeatures } from "./features.ts";

/** The two fitted ensembles. */
export interface Weights {
  readonly first: Ensemble;
  readonly second: Ensemble;
}

/** The probability that each block is main content. */
export function judgeBlocks(
  document: PageDocument,
  blocks: readonly Block[],
  { url, weights }: { url: string; weights: Weights },
): number[] {
  const { rows, beside } = readFeatures(document, blocks, url);
  const first = Array.from(evaluateAll(weights.first, rows), sigmoid);
  const second = Array.from(evaluateAll(weights.second, contextRows(blocks, rows, first)), sigmoid);
  // The second pass has more features, but its verdict on a block follows those on its neighbours. On pages outside the training
  // data, the mean of both passes has the smallest error.
  return second.map((verdict, index) =>
    beside.has(blocks[index] as Block) ? 0 : (verdict + (first[index] as number)) / 2,
  );
}

/**
 * The threshold that maximises the expected F1, weighted by the length of the blocks. A page with uncertain verdicts gets a lower
 * threshold, so that it is not left empty.
 */
export function bestThreshold(blocks: readonly Block[], verdicts: readonly number[]): number {
  const size = (block: Block) => block.text.length + 2;
  const order = blocks.map((block) => block.index).sort((a, b) => (verdicts[b] as number) - (verdicts[a] as number));
  let wanted = 0;
  for (const block of blocks) wanted += size(block) * (verdicts[block.index] as number);
  let taken = 0;
  let right = 0;
  let best = -1;
  let threshold = 0.5;
  for (const index of order) {
    const length = size(blocks[index] as Block);
    taken += length;
    right += length * (verdicts[index] as number);
    const expected = (2 * right) / (taken + wanted);
    if (expected > best) {
      best = expected;
      threshold = verdicts[index] as number;
    }
  }
  return threshold;
}
