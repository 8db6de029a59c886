// Scores main-content extraction on sites that it has not seen:
//   bun scripts/cross-validate.ts DIR [--seeds N] [--folds FILE]
// DIR is the same as for fit-extraction.ts, with a scorer DIR/score.ts beside the sets that exports `score`,
// `stripMarkdown` and `withoutTitle`. Every page with a reference is scored with weights that were fitted without its
// site. With --folds, the fitted weights of the first seed are saved in FILE, or loaded if it exists, so that later
// steps can be tried without fitting again. Prints the scores of each seed, their mean and their standard deviation.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Folds, foldsFrom, weightsFrom } from "./fit/folds.ts";
import { readPages } from "./fit/labelled-pages.ts";
import { loadScorer, readSets, scoreSet } from "./fit/scoring.ts";
import { lookFirst } from "./fit/train.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/cross-validate.ts DIR [--seeds N] [--folds FILE]");
  process.exit(2);
}
const root = resolve(directory);
const seedsAt = process.argv.indexOf("--seeds");
const seeds = seedsAt > 0 ? Number(process.argv[seedsAt + 1]) : 1;
const foldsAt = process.argv.indexOf("--folds");
const foldsFile = foldsAt > 0 ? process.argv[foldsAt + 1] : undefined;
const scorer = await loadScorer(root);
const pages = readPages(root);
const found = new Map<string, number[]>();
for (let seed = 1; seed <= seeds; seed++) {
  const scores = judge(seed);
  console.log(`seed ${seed}: ${[...scores].map(([name, value]) => `${name} ${value.toFixed(4)}`).join(" · ")}`);
  for (const [name, value] of scores) found.set(name, [...(found.get(name) ?? []), value]);
}
for (const [name, values] of found) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const spread = Math.sqrt(squares / Math.max(1, values.length - 1));
  console.log(`${name.padEnd(24)} ${mean.toFixed(4)} ± ${spread.toFixed(4)}`);
}

/** The scores for one assignment of sites to folds. */
function judge(seed: number): Map<string, number> {
  const folds = foldsFor(seed);
  const scores = new Map<string, number>();
  for (const set of readSets(root)) {
    const { name } = set;
    const own = pages.filter((page) => page.set === name);
    const weightsOf = (id: string) => weightsFrom(folds, name, id);
    const ids = own.map(({ id }) => id);
    const { f1, precision, recall, byType = {} } = scoreSet(root, set, { ids, scorer, weightsOf });
    scores.set(name, f1).set(`${name} precision`, precision).set(`${name} recall`, recall);
    for (const [type, value] of Object.entries(byType)) scores.set(`${name} ${type}`, value);
  }
  return scores;
}

function foldsFor(seed: number): Folds {
  if (seed === 1 && foldsFile !== undefined && existsSync(foldsFile))
    return JSON.parse(readFileSync(foldsFile, "utf8")) as Folds;
  const folds = foldsFrom(pages, lookFirst(pages, seed));
  if (seed === 1 && foldsFile !== undefined) writeFileSync(foldsFile, JSON.stringify(folds));
  return folds;
}
