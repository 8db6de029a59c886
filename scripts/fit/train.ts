// Fits the two looks of the extractor. The second one learns from first looks at pages that the first had not seen.

import { type Ensemble, evaluateAll, sigmoid } from "../../src/pages/content/boost.ts";
import type { Weights } from "../../src/pages/content/choose.ts";
import { contextRows } from "../../src/pages/content/context.ts";
import { binRows, type FitOptions, fit, type Samples, seeded } from "./boost-fit.ts";
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

/** First looks at every page by trees that had not seen its site, and the trees of each fold. */
export interface FirstLooks {
  readonly folds: ReadonlyMap<LabelledPage, number>;
  readonly ensembles: readonly Ensemble[];
  readonly held: ReadonlyMap<LabelledPage, readonly number[]>;
}

/** Takes the first look fold by fold. */
export function lookFirst(pages: readonly LabelledPage[], seed = 1): FirstLooks {
  const folds = foldsOf(pages, seed);
  const sample = samplesOf(pages, (page) => page.rows);
  const held = new Map<LabelledPage, number[]>();
  const ensembles = Array.from({ length: FOLDS }, (_, fold) => {
    const ensemble = fit(
      sample((page) => folds.get(page) !== fold),
      FIRST,
    );
    for (const page of pages)
      if (folds.get(page) === fold) held.set(page, Array.from(evaluateAll(ensemble, page.rows), sigmoid));
    return ensemble;
  });
  return { folds, ensembles, held };
}

/** Fits on all pages: what goes into the program. */
export function train(pages: readonly LabelledPage[], looks: FirstLooks = lookFirst(pages)): Weights {
  const isAny = () => true;
  return {
    first: fit(samplesOf(pages, (page) => page.rows)(isAny), FIRST),
    second: fit(secondSamples(pages, looks)(isAny), SECOND),
  };
}

/**
 * For each fold, weights fitted without the pages of that fold. The second look learns from first looks of which none had
 * seen the page it is about.
 */
export function trainFolds(pages: readonly LabelledPage[], looks: FirstLooks): Weights[] {
  const sample = secondSamples(pages, looks);
  return looks.ensembles.map((first, fold) => ({
    first,
    second: fit(
      sample((page) => looks.folds.get(page) !== fold),
      SECOND,
    ),
  }));
}

/** Rows of less weight are thinned out: a few of them stand for all. */
const LIGHT = 0.004;

type Sample = (isIn: (page: LabelledPage) => boolean) => Samples;

function secondSamples(pages: readonly LabelledPage[], { held }: FirstLooks): Sample {
  return samplesOf(pages, (page) => contextRows(page.blocks, page.rows, held.get(page) ?? []));
}

/** Labelled rows of all pages, sorted into bins once; gives those of some of the pages. */
function samplesOf(pages: readonly LabelledPage[], rowsOf: (page: LabelledPage) => readonly Float32Array[]): Sample {
  const rows: Float32Array[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  const from: LabelledPage[] = [];
  const random = seeded(11);
  for (const page of pages) {
    const own = rowsOf(page);
    page.labels.forEach((label, i) => {
      if (label.weight === 0) return;
      if (label.weight < LIGHT && random() > label.weight / LIGHT) return;
      rows.push(own[i] as Float32Array);
      targets.push(label.target);
      weights.push(Math.max(LIGHT, label.weight) * (SET_WEIGHT[page.set] ?? 1));
      from.push(page);
    });
  }
  const all = {
    binned: binRows(rows),
    targets: Float64Array.from(targets),
    weights: Float64Array.from(weights),
  };
  return (isIn) => ({ ...all, rows: Int32Array.from(rows.keys()).filter((at) => isIn(from[at] as LabelledPage)) });
}
