// Tells the kind of a page in three stages: rules for its address, signs in its data and markup, then fitted trees over counts of
// its elements and over its words. Where a rule or a sign agrees with the trees, the kind is certain.

import { type Ensemble, evaluateAll, sigmoid } from "./boost.ts";
import { PAGE_KINDS, type PageKind } from "./kind-signs.ts";
import type { KindTraits } from "./kind-traits.ts";

/** The fitted trees, and the words of which they know whether a page has them. */
export interface KindTable {
  readonly vocabulary: readonly string[];
  /** For each kind, the log odds that a page is of it. */
  readonly ensembles: readonly Ensemble[];
}

/** From this probability on, a kind is certain enough for rules of its own. */
const CERTAIN = 0.6;

/** The kind of a page, if it is certain. */
export function certainKind(shares: readonly number[]): PageKind | undefined {
  const most = Math.max(...shares);
  return most < CERTAIN ? undefined : PAGE_KINDS[shares.indexOf(most)];
}

/** The same for the choice of an article's text: a list of articles is often taken for one. */
const SURE_OF_ARTICLE = 0.9;

/** Whether a page is surely an article. */
export function isSurelyArticle(shares: readonly number[]): boolean {
  return (shares[PAGE_KINDS.indexOf("article")] ?? 0) >= SURE_OF_ARTICLE;
}

/** The probability of a kind of which an address and the trees are sure, or a sign and the trees. */
const BY_ADDRESS = 0.98;
const BY_SIGN = 0.95;

/** For each kind, the probability that a page is of it. */
export function kindShares(traits: KindTraits, table: KindTable): readonly number[] {
  const shares = treeShares(traits, table);
  const likely = shares.indexOf(Math.max(...shares));
  const kind = PAGE_KINDS[likely];
  if (kind === undefined || kind === "article") return shares;
  if (traits.byAddress === kind) return raisedTo(BY_ADDRESS, shares, likely);
  return traits.bySigns === kind ? raisedTo(BY_SIGN, shares, likely) : shares;
}

/** The probabilities by the trees alone. */
function treeShares(traits: KindTraits, { vocabulary, ensembles }: KindTable): readonly number[] {
  const row = [kindRow(traits, vocabulary)];
  const odds = ensembles.map((ensemble) => sigmoid(evaluateAll(ensemble, row)[0] ?? 0));
  const sum = odds.reduce((total, one) => total + one, 0);
  return odds.map((one) => one / sum);
}

/** The features of the trees. */
export function kindRow(
  { figures, words }: Pick<KindTraits, "figures" | "words">,
  vocabulary: readonly string[],
): Float32Array {
  const row = new Float32Array(figures.length + vocabulary.length);
  row.set(figures);
  vocabulary.forEach((word, at) => {
    if (words.has(word)) row[figures.length + at] = 1;
  });
  return row;
}

function raisedTo(least: number, shares: readonly number[], at: number): readonly number[] {
  const share = shares[at] as number;
  if (share >= least) return shares;
  return shares.map((other, i) => (i === at ? least : (other * (1 - least)) / (1 - share)));
}
