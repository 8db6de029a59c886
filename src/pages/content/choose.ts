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
import { certainKind, isSurelyArticle, type KindTable, kindShares } from "./kinds.ts";
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
  /** Whether the page is surely an article. */
  readonly isSureArticle: () => boolean;
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
  const shares = lazily(() =>
    kinds === undefined ? [] : kindShares(readKindTraits(document, blocks, { url, shared }), kinds),
  );
  return { verdicts, kind: lazily(() => certainKind(shares())), isSureArticle: () => isSurelyArticle(shares()) };
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
  const order = bestFirst(blocks, verdicts);
  let wanted = 0;
  for (const block of blocks) wanted += sizeOf(block) * (verdicts[block.index] as number);
  if (kind === "article") wanted *= WANTED_OF_ARTICLE;
  let taken = 0;
  let right = 0;
  let best = -1;
  let threshold = 0.5;
  for (const index of order) {
    const length = sizeOf(blocks[index] as Block);
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

/** How many cases of what a page's text may be are looked at. */
const CASES = 50;
/** A reader misses a text more than one is disturbed by what is beside it, so that at least this share of the other choice is kept. */
const SHARE_OF_OTHER = 1 / 8;

/**
 * The same for an article, of which doubtful blocks are all content or none: a hundred comments that are each doubtful are not half of
 * what is wanted. In each case, the text is what has at least a certain verdict, and the threshold has the best mean F1 of all cases.
 * It only ever leaves out more than the other one: of single doubtful blocks, such as teasers, the other one lets in less.
 */
export function thresholdOfArticle(blocks: readonly Block[], verdicts: readonly number[]): number {
  const order = bestFirst(blocks, verdicts);
  const wanted = wantedByCase(
    order.map((index) => ({ size: sizeOf(blocks[index] as Block), verdict: verdicts[index] as number })),
  );
  let taken = 0;
  let best = -1;
  let threshold = 0.5;
  for (const index of order) {
    taken += sizeOf(blocks[index] as Block);
    let expected = 0;
    for (const size of wanted) expected += Math.min(taken, size) / (taken + size);
    if (expected <= best) continue;
    best = expected;
    threshold = verdicts[index] as number;
  }
  const other = bestThreshold(blocks, verdicts, "article");
  const sizeFrom = (least: number) =>
    blocks.reduce((sum, block) => sum + ((verdicts[block.index] as number) < least ? 0 : sizeOf(block)), 0);
  return sizeFrom(threshold) < sizeFrom(other) * SHARE_OF_OTHER ? other : Math.max(threshold, other);
}

/** The size of the text in each case, from the most demanding one on. The blocks are in the order of their verdicts. */
function wantedByCase(parts: readonly { readonly size: number; readonly verdict: number }[]): number[] {
  let at = 0;
  let sum = 0;
  return Array.from({ length: CASES }, (_, i) => {
    const least = 1 - (i + 0.5) / CASES;
    for (let part = parts[at]; part !== undefined && part.verdict > least; part = parts[++at]) sum += part.size;
    return sum;
  });
}

function bestFirst(blocks: readonly Block[], verdicts: readonly number[]): number[] {
  return blocks.map((block) => block.index).sort((a, b) => (verdicts[b] as number) - (verdicts[a] as number));
}

function sizeOf({ text }: Block): number {
  return text.length + 2;
}
