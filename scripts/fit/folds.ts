// Weights that were fitted without the site of a page, saved so that later steps can be measured without fitting again.

import type { Weights } from "../../src/pages/content/choose.ts";

/** The weights for one assignment of sites to folds. */
export interface Folds {
  /** The fold of each page, by its set and id. */
  readonly fold: Readonly<Record<string, number>>;
  readonly weights: readonly Weights[];
}

/** The name of a page in an assignment. */
export function foldKey({ set, id }: { readonly set: string; readonly id: string }): string {
  return `${set}/${id}`;
}

/** The weights that have not seen the site of a page. */
export function weightsFrom({ fold, weights }: Folds, set: string, id: string): Weights {
  return weights[fold[foldKey({ set, id })] ?? 0] as Weights;
}
