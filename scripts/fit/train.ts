// Fits the weights of words and the two stages of the extractor. Each stage is trained on results of the one before for
// pages that it has not seen.

import { type Ensemble, evaluateAll, sigmoid } from "../../src/pages/content/boost.ts";
import type { Weights } from "../../src/pages/content/choose.ts";
import { readNeighbourhood } from "../../src/pages/content/context.ts";
import { type WordWeights, wordOdds, wordRows } from "../../src/pages/content/word-signs.ts";
import { binRows, type FitOptions, fit, type Samples, seeded } from "./boost-fit.ts";
import type { LabelledPage } from "./labelled-pages.ts";
import { fitWords, type PageSigns, readSigns, type SignSample } from "./words-fit.ts";

/** Small trees that each use a tenth of the features: on unseen pages they have smaller errors than large trees. */
const TREES: FitOptions = {
  trees: 300,
  leaves: 12,
  rate: 0.05,
  leafWeightMin: 0.8,
  l2: 1,
  featureShare: 0.1,
  rowShare: 0.7,
};
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

/** What each stage says of every page when it was fitted without its site, and what was fitted for each fold. */
export interface FirstLooks {
  readonly folds: ReadonlyMap<LabelledPage, number>;
  readonly signs: PageSigns;
  /** The opinions on every page by words. */
  readonly odds: ReadonlyMap<LabelledPage, ReturnType<typeof wordOdds>>;
  readonly words: readonly WordWeights[];
  readonly ensembles: readonly Ensemble[];
  readonly held: ReadonlyMap<LabelledPage, readonly number[]>;
}

/** Fits the words and the first stage for each fold. */
export function lookFirst(pages: readonly LabelledPage[], seed = 1): FirstLooks {
  const folds = foldsOf(pages, seed);
  const signs = readSigns(pages);
  const samples = sampleBlocks(pages);
  const words = Array.from({ length: FOLDS }, (_, fold) =>
    fitWords(
      samples.filter(({ page }) => folds.get(page) !== fold),
      signs,
    ),
  );
  const odds = new Map(
    pages.map((page) => [page, wordOdds(readNeighbourhood(page.blocks), words[folds.get(page) ?? 0] as WordWeights)]),
  );
  const sample = samplesOf(samples, (page) => page.rows);
  const held = new Map<LabelledPage, number[]>();
  const ensembles = Array.from({ length: FOLDS }, (_, fold) => {
    const ensemble = fit(
      sample((page) => folds.get(page) !== fold),
      TREES,
    );
    for (const page of pages)
      if (folds.get(page) === fold) held.set(page, Array.from(evaluateAll(ensemble, page.rows), sigmoid));
    return ensemble;
  });
  return { folds, signs, odds, words, ensembles, held };
}

/** Fits the weights on all pages, for the program. */
export function train(pages: readonly LabelledPage[], looks: FirstLooks = lookFirst(pages)): Weights {
  const isAny = () => true;
  const samples = sampleBlocks(pages);
  return {
    words: fitWords(samples, looks.signs),
    first: fit(samplesOf(samples, (page) => page.rows)(isAny), TREES),
    second: fit(secondSamples(samples, looks)(isAny), TREES),
  };
}

/** For each fold, weights fitted without its pages. */
export function trainFolds(pages: readonly LabelledPage[], looks: FirstLooks): Weights[] {
  const sample = secondSamples(sampleBlocks(pages), looks);
  return looks.ensembles.map((first, fold) => ({
    words: looks.words[fold] as WordWeights,
    first,
    second: fit(
      sample((page) => looks.folds.get(page) !== fold),
      TREES,
    ),
  }));
}

/** Rows with a smaller weight are sampled, and the sampled rows stand for all of them. */
const LIGHT = 0.004;

type Sample = (isIn: (page: LabelledPage) => boolean) => Samples;

function secondSamples(samples: readonly SignSample[], { odds, held }: FirstLooks): Sample {
  return samplesOf(samples, (page) =>
    wordRows(readNeighbourhood(page.blocks), page.rows, { odds: odds.get(page) ?? [], first: held.get(page) ?? [] }),
  );
}

/** The blocks of which the label is known. */
function sampleBlocks(pages: readonly LabelledPage[]): SignSample[] {
  const random = seeded(11);
  return pages.flatMap((page) =>
    page.labels.flatMap(({ target, weight }, index) => {
      if (weight === 0 || (weight < LIGHT && random() > weight / LIGHT)) return [];
      return [{ page, index, target, weight: Math.max(LIGHT, weight) * (SET_WEIGHT[page.set] ?? 1) }];
    }),
  );
}

/** The rows of the samples, assigned to bins once; the result selects those of some pages. */
function samplesOf(samples: readonly SignSample[], rowsOf: (page: LabelledPage) => readonly Float32Array[]): Sample {
  const known = new Map<LabelledPage, readonly Float32Array[]>();
  const rows = samples.map(({ page, index }) => {
    const own = known.get(page) ?? rowsOf(page);
    known.set(page, own);
    return own[index] as Float32Array;
  });
  const all = {
    binned: binRows(rows),
    targets: Float64Array.from(samples, ({ target }) => target),
    weights: Float64Array.from(samples, ({ weight }) => weight),
  };
  return (isIn) => ({
    ...all,
    rows: Int32Array.from(rows.keys()).filter((at) => isIn((samples[at] as SignSample).page)),
  });
}
