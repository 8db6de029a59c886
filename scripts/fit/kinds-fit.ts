// Fits the trees that tell the kind of a page: for each kind, trees of it against all others.

import { PAGE_KINDS, type PageKind } from "../../src/pages/content/kind-signs.ts";
import type { KindTraits } from "../../src/pages/content/kind-traits.ts";
import { type KindTable, kindRow, kindShares } from "../../src/pages/content/kinds.ts";
import { binRows, type FitOptions, fit } from "./boost-fit.ts";

/** A page of a known kind. */
export interface KindPage {
  readonly set: string;
  readonly id: string;
  readonly site: string;
  readonly kind: PageKind;
  readonly traits: KindTraits;
}

const OPTIONS: FitOptions = {
  trees: 120,
  leaves: 6,
  rate: 0.07,
  leafWeightMin: 3,
  l2: 1,
  featureShare: 0.2,
  rowShare: 0.7,
};
const WORDS_MAX = 300;
/** Words of fewer sites say nothing about other sites. */
const SITES_MIN = 5;
/** Sets without kinds have articles only. */
const UNNAMED_WEIGHT = 0.3;

/** Fits the trees on these pages. */
export function fitKinds(pages: readonly KindPage[]): KindTable {
  const vocabulary = chooseWords(pages);
  const binned = binRows(pages.map(({ traits }) => kindRow(traits, vocabulary)));
  const rows = Int32Array.from(pages.keys());
  const weights = Float64Array.from(pages, weightOf);
  const ensembles = PAGE_KINDS.map((kind) =>
    fit({ binned, rows, targets: Float64Array.from(pages, (page) => (page.kind === kind ? 1 : 0)), weights }, OPTIONS),
  );
  return { vocabulary, ensembles };
}

/** The kinds that the trees say for pages of known kinds: the share that is right, by kind. */
export function rightShares(
  pages: readonly KindPage[],
  sharesOf: (page: KindPage) => readonly number[],
): ReadonlyMap<PageKind, { readonly pages: number; readonly right: number }> {
  const found = new Map<PageKind, { pages: number; right: number }>();
  for (const page of pages) {
    const count = found.get(page.kind) ?? { pages: 0, right: 0 };
    found.set(page.kind, count);
    const shares = sharesOf(page);
    count.pages++;
    if (PAGE_KINDS[shares.indexOf(Math.max(...shares))] === page.kind) count.right++;
  }
  return found;
}

/** For each page, the probabilities by trees that have not seen its site. */
export function heldShares(
  pages: readonly KindPage[],
  foldOf: (page: KindPage) => number,
  tables: readonly KindTable[],
): ReadonlyMap<KindPage, readonly number[]> {
  return new Map(pages.map((page) => [page, kindShares(page.traits, tables[foldOf(page)] as KindTable)]));
}

function weightOf({ set }: KindPage): number {
  return set === "wcxb" ? 1 : UNNAMED_WEIGHT;
}

/** The words that tell one kind from the others best, by the squared difference from what chance would give. */
function chooseWords(pages: readonly KindPage[]): string[] {
  const counts = new Map<string, { readonly byKind: Float64Array; readonly sites: Set<string> }>();
  const sizes = new Float64Array(PAGE_KINDS.length);
  for (const page of pages) {
    const kind = PAGE_KINDS.indexOf(page.kind);
    const weight = weightOf(page);
    sizes[kind] = (sizes[kind] as number) + weight;
    for (const word of page.traits.words) {
      const count = counts.get(word) ?? { byKind: new Float64Array(PAGE_KINDS.length), sites: new Set<string>() };
      counts.set(word, count);
      count.byKind[kind] = (count.byKind[kind] as number) + weight;
      if (count.sites.size < SITES_MIN) count.sites.add(page.site);
    }
  }
  return [...counts]
    .filter(([, { sites }]) => sites.size >= SITES_MIN)
    .map(([word, { byKind }]) => ({ word, worth: worthOf(byKind, sizes) }))
    .sort((a, b) => b.worth - a.worth || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_MAX)
    .map(({ word }) => word)
    .sort();
}

function worthOf(byKind: Float64Array, sizes: Float64Array): number {
  const share = sum(byKind) / sum(sizes);
  let most = 0;
  sizes.forEach((size, kind) => {
    const expected = size * share;
    const surplus = (byKind[kind] as number) - expected;
    const worth = surplus ** 2 / expected + surplus ** 2 / Math.max(1e-9, size - expected);
    most = Math.max(most, worth / Math.sqrt(Math.max(1, size)));
  });
  return most;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
