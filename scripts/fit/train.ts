// Fits the two stages of the extractor. The second stage is trained on the first stage's results for pages that it has
// not seen.

import { type Ensemble, evaluateAll, sigmoid } from "../../src/pages/content/boost.ts";
import type { Weights } from "../../src/pages/content/choose.ts";
import { contextRows, readNeighbourhood } from "../../src/pages/content/context.ts";
import { binRows, type FitOptions, fit, type Samples, seeded } from "./boost-fit.ts";
import type { LabelledPage } from "./labelled-pages.ts";

/** Small trees that each use a tenth of the features: on unseen pages they have smaller errors than large trees. */
const FIRST: FitOptions = {
  trees: 300,
  leaves: 12,
  rate: 0.05,
  leafWeightMin: 0.8,
  l2: 1,
  featureShare: 0.1,
  rowShare: 0.7,
};
/** The results of neighbouring blocks are strong features, so fewer trees are enough. */
const SECOND: FitOptions = { ...FIRST, trees: 200 };
const FOLDS = 5;
/** Sets with few pages have a higher weight. */
const SET_WEIGHT: Readonly<Record<string, number>> = { aeb: 3 };

/** Assigns sites (not pages) to folds, so that no page is scored with weights learned from another page of its site. */
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

/** The first stage's results for every page, by trees that have not seen its site; and the trees of each fold. */
export interface FirstLooks {
  readonly folds: ReadonlyMap<LabelledPage, number>;
  readonly ensembles: readonly Ensemble[];
  readonly held: ReadonlyMap<LabelledPage, readonly number[]>;
}

/** Fits the first stage for each fold. */
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

/** Fits the weights on all pages, for the program. */
export function train(pages: readonly LabelledPage[], looks: FirstLooks = lookFirst(pages)): Weights {
  const isAny = () => true;
  return {
    first: fit(samplesOf(pages, (page) => page.rows)(isAny), FIRST),
    second: fit(secondSamples(pages, looks)(isAny), SECOND),
  };
}

/**
 * For each fold, weights fitted without its pages. The second stage is trained on results of the first stage for pages
 * that it has not seen.
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

/** Rows with a smaller weight are sampled, and the sampled rows stand for all of them. */
const LIGHT = 0.004;

type Sample = (isIn: (page: LabelledPage) => boolean) => Samples;

function secondSamples(pages: readonly LabelledPage[], { held }: FirstLooks): Sample {
  return samplesOf(pages, (page) => contextRows(readNeighbourhood(page.blocks), page.rows, held.get(page) ?? []));
}

/** The labelled rows of all pages, assigned to bins once; the result selects those of some pages. */
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
