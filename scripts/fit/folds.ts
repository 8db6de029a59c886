// Weights that were fitted without the site of a page, saved so that later steps can be measured without fitting again.

import type { Weights } from "../../src/pages/content/choose.ts";
import type { LabelledPage } from "./labelled-pages.ts";
import { type FirstLooks, trainFolds } from "./train.ts";

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

/** The weights for the folds of the first stage. */
export function foldsFrom(pages: readonly LabelledPage[], looks: FirstLooks): Folds {
  return {
    fold: Object.fromEntries(pages.map((page) => [foldKey(page), looks.folds.get(page) ?? 0])),
    weights: trainFolds(pages, looks),
  };
}
