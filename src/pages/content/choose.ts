// Chooses which blocks of a page are its main content: two passes of fitted decision trees judge the blocks, the second one also by
// the words of names and texts, then the set with the best expected F1 is taken. The choice depends on the page's structure and
// text, never on its site.

import { lazily } from "../../base/lazily.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { type Ensemble, evaluateAll, sigmoid } from "./boost.ts";
import { readNeighbourhood } from "./context.ts";
import { readFeatures } from "./features.ts";
import type { PageKind } from "./kind-signs.ts";
import { readKindTraits } from "./kind-traits.ts";
import { certainKind, type KindTable, kindShares } from "./kinds.ts";
import { type WordWeights, wordOdds, wordRows } from "./word-signs.ts";

/** The weights of words, the two fitted ensembles, and the trees that tell the kind of a page. */
export interface Weights {
  readonly words: WordWeights;
  readonly first: Ensemble;
  readonly second: Ensemble;
  /** Absent while other weights are fitted or measured alone. */
  readonly kinds?: KindTable | undefined;
}

/** What the fitted trees say of a page. */
export interface PageJudgement {
  /** The probability that each block is main content. */
  readonly verdicts: readonly number[];
  /** The kind of the page, if it is certain. It is found out when it is asked for. */
  readonly kind: () => PageKind | undefined;
}

/** How much more the second pass counts than the first one. */
const SECOND_SHARE = 3;

/** Judges the blocks of a page. */
export function judgeBlocks(
  document: PageDocument,
  blocks: readonly Block[],
  { url, weights }: { url: string; weights: Weights },
): PageJudgement {
  const { rows, beside, shared } = readFeatures(document, blocks, url);
  const { kinds } = weights;
  const byFirst = evaluateAll(weights.first, rows);
  const neighbourhood = readNeighbourhood(blocks);
  const second = wordRows(neighbourhood, rows, {
    odds: wordOdds(neighbourhood, weights.words),
    first: Array.from(byFirst, sigmoid),
  });
  const bySecond = evaluateAll(weights.second, second);
  // The second pass has more features, but its verdict on a block follows those on its neighbours, and it knows words of sites. On
  // pages outside the training data, a mean of the log odds of both passes has the smallest error.
  const verdicts = blocks.map((block, index) =>
    beside.has(block)
      ? 0
      : sigmoid((SECOND_SHARE * (bySecond[index] as number) + (byFirst[index] as number)) / (SECOND_SHARE + 1)),
  );
  const kind = lazily(() =>
    kinds === undefined ? undefined : certainKind(kindShares(readKindTraits(document, blocks, { url, shared }), kinds)),
  );
  return { verdicts, kind };
}

/**
 * How much of the text that the verdicts promise is wanted on an article: what is doubtful there is mostly beside it. Measured on pages
 * whose sites the verdicts had not seen.
 */
const WANTED_OF_ARTICLE = 0.85;

/**
 * The threshold that maximises the expected F1, weighted by the length of the blocks. A page with uncertain verdicts gets a lower
 * threshold, so that it is not left empty.
 */
export function bestThreshold(
  blocks: readonly Block[],
  verdicts: readonly number[],
  kind: PageKind | undefined,
): number {
  const size = (block: Block) => block.text.length + 2;
  const order = blocks.map((block) => block.index).sort((a, b) => (verdicts[b] as number) - (verdicts[a] as number));
  let wanted = 0;
  for (const block of blocks) wanted += size(block) * (verdicts[block.index] as number);
  if (kind === "article") wanted *= WANTED_OF_ARTICLE;
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
