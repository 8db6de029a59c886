// Measures what each step of the choice of main content brings, and what the kind of a page does:
//   bun scripts/ablate-extraction.ts DIR [--folds FILE] [--every N]
// DIR is the same as for cross-validate.ts, whose FILE has weights fitted without the site of each page. Every page is judged
// once and chosen again without each step, or every Nth page. Prints, for each set and kind of page, the F1 of the words of the kept blocks, and
// by how much it falls without the step.

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { cutBlocks } from "../src/pages/content/blocks.ts";
import { judgeBlocks, type Weights } from "../src/pages/content/choose.ts";
import { chooseMain, STEP_NAMES } from "../src/pages/content/main-content.ts";
import { loadWeights } from "../src/pages/content/weights.ts";
import { type Folds, weightsFrom } from "./fit/folds.ts";
import { keptF1 } from "./fit/kept-words.ts";
import type { Truth } from "./fit/label.ts";
import { readHtml } from "./fit/labelled-pages.ts";
import { ADDRESS, readPage } from "./fit/read-page.ts";
import { readSets } from "./fit/scoring.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/ablate-extraction.ts DIR [--folds FILE] [--every N]");
  process.exit(2);
}
const root = resolve(directory);
const foldsAt = process.argv.indexOf("--folds");
const folds = foldsAt > 0 ? readFolds(process.argv[foldsAt + 1] ?? "") : undefined;
const everyAt = process.argv.indexOf("--every");
const every = everyAt > 0 ? Number(process.argv[everyAt + 1]) : 1;
/** All steps; without what the kind of the page decides; without each step but the first. */
const KINDS = "kinds";
const VARIANTS = [undefined, KINDS, ...STEP_NAMES.slice(1)];
/** For each set or kind: the sums of F1 of all variants, in order, and the number of pages. */
const sums = new Map<string, { readonly f1: number[]; pages: number }>();

for (const set of readSets(root))
  for (const id of set.ids.filter((_, at) => at % every === 0)) {
    const truth = set.truths[id] as Truth;
    const scores = scoresOf(set.name, id, truth);
    for (const name of truth.type === undefined ? [set.name] : [set.name, truth.type]) {
      const sum = sums.get(name) ?? { f1: VARIANTS.map(() => 0), pages: 0 };
      sums.set(name, sum);
      sum.pages++;
      scores.forEach((score, at) => {
        sum.f1[at] = (sum.f1[at] as number) + score;
      });
    }
  }
const names = [...sums.keys()];
console.log(["".padEnd(16), ...names.map((name) => name.padStart(14))].join(""));
VARIANTS.forEach((variant, at) => {
  const cells = names.map((name) => {
    const { f1, pages } = sums.get(name) as { f1: number[]; pages: number };
    const value = (f1[at] as number) / pages;
    return variant === undefined ? value.toFixed(4) : signed((f1[0] as number) / pages - value);
  });
  console.log([(variant ?? "all steps").padEnd(16), ...cells.map((cell) => cell.padStart(14))].join(""));
});

function readFolds(file: string): Folds | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Folds) : undefined;
}

/** The score of a page with all steps and without each of them. */
function scoresOf(set: string, id: string, truth: Truth): number[] {
  const document = readPage(readHtml(root, set, id));
  const blocks = cutBlocks(document.body);
  const weights: Weights = folds === undefined ? loadWeights() : weightsFrom(folds, set, id);
  const { verdicts, kind, isSureArticle } = judgeBlocks(document, blocks, { url: ADDRESS, weights });
  return VARIANTS.map((without) => {
    const kept = chooseMain(document, blocks, verdicts, {
      ...(without === KINDS ? {} : { kind, isSureArticle }),
      ...(without === undefined ? {} : { without }),
    });
    return keptF1([...kept].map(({ text }) => text).join("\n"), truth);
  });
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(4)}`;
}
