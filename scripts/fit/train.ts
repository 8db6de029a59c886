// Fits the two looks of the extractor. The second one learns from first looks at pages that the first had not seen.

import { type Ensemble, evaluate, sigmoid } from "../../src/pages/content/boost.ts";
import type { Weights } from "../../src/pages/content/choose.ts";
import { contextRows } from "../../src/pages/content/context.ts";
import { type FitOptions, fit, type Samples, seeded } from "./boost-fit.ts";
import type { LabelledPage } from "./labelled-pages.ts";

/** Small trees, each looking at a tenth of the traits: on pages that were not seen they err less than large ones. */
const FIRST: FitOptions = {
  trees: 300,
  leaves: 12,
  rate: 0.05,
  leafWeightMin: 0.8,
  l2: 1,
  featureShare: 0.1,
  rowShare: 0.7,
};
/** Verdicts on neighbours say much; fewer trees are enough to weigh them. */
const SECOND: FitOptions = { ...FIRST, trees: 200 };
const FOLDS = 5;
/** Sets of few pages weigh more. */
const SET_WEIGHT: Readonly<Record<string, number>> = { aeb: 3 };

/** Deals sites, not pages, into folds, so that no page is judged by what was learned from its sibling. */
export function foldsOf(pages: readonly LabelledPage[], seed: number): Map<LabelledPage, number> {
  const order = new Map<string, number>();
  const random = shuffleKey(seed);
  for (const set of ["aeb", "trafilatura", "wcxb"]) {
    const sites = [...new Set(pages.filter((page) => page.set === set).map((page) => page.site))]
      .filter((site) => !order.has(site))
      .sort((a, b) => random(a) - random(b));
    for (const [at, site] of sites.entries()) order.set(site, at % FOLDS);
  }
  return new Map(pages.map((page) => [page, order.get(page.site) ?? 0]));
}

function shuffleKey(seed: number): (text: string) => number {
  return (text) => Number(Bun.hash.xxHash32(text, seed));
}

/** Fits on all pages. */
export function train(pages: readonly LabelledPage[], seed = 1): Weights {
  const folds = foldsOf(pages, seed);
  const held = new Map<LabelledPage, number[]>();
  for (let fold = 0; fold < FOLDS; fold++) {
    const ensemble = fitFirst(pages.filter((page) => folds.get(page) !== fold));
    for (const page of pages) if (folds.get(page) === fold) held.set(page, verdictsOf(ensemble, page));
  }
  return { first: fitFirst(pages), second: fitSecond(pages, held) };
}

/** For each fold, weights fitted without the pages of that fold. First looks are shared between folds. */
export function trainFolds(pages: readonly LabelledPage[], folds: ReadonlyMap<LabelledPage, number>): Weights[] {
  const heldWithout = Array.from({ length: FOLDS }, () => new Map<LabelledPage, number[]>());
  for (let a = 0; a < FOLDS; a++)
    for (let b = a + 1; b < FOLDS; b++) {
      const ensemble = fitFirst(pages.filter((page) => folds.get(page) !== a && folds.get(page) !== b));
      for (const page of pages) {
        // Seen by neither: held out by its own fold, for the weights that leave out the other.
        if (folds.get(page) === a) heldWithout[b]?.set(page, verdictsOf(ensemble, page));
        if (folds.get(page) === b) heldWithout[a]?.set(page, verdictsOf(ensemble, page));
      }
    }
  return heldWithout.map((held, out) => {
    const own = pages.filter((page) => folds.get(page) !== out);
    return { first: fitFirst(own), second: fitSecond(own, held) };
  });
}

function verdictsOf(ensemble: Ensemble, page: LabelledPage): number[] {
  return page.rows.map((row) => sigmoid(evaluate(ensemble, row)));
}

function fitFirst(pages: readonly LabelledPage[]): Ensemble {
  return fit(
    samples(pages, (page) => page.rows),
    FIRST,
  );
}

function fitSecond(pages: readonly LabelledPage[], held: ReadonlyMap<LabelledPage, number[]>): Ensemble {
  return fit(
    samples(pages, (page) => contextRows(page.blocks, page.rows, held.get(page) ?? [])),
    SECOND,
  );
}

/** Rows of less weight are thinned out: a few of them stand for all. */
const LIGHT = 0.004;

function samples(from: readonly LabelledPage[], rowsOf: (page: LabelledPage) => readonly Float32Array[]): Samples {
  const rows: Float32Array[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  const random = seeded(11);
  for (const page of from) {
    const own = rowsOf(page);
    page.labels.forEach((label, i) => {
      if (label.weight === 0) return;
      if (label.weight < LIGHT && random() > label.weight / LIGHT) return;
      rows.push(own[i] as Float32Array);
      targets.push(label.target);
      weights.push(Math.max(LIGHT, label.weight) * (SET_WEIGHT[page.set] ?? 1));
    });
  }
  return { rows, targets, weights };
}
