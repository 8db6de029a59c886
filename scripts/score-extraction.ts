// Judges main-content extraction on every development set at once, in one table:
//   bun scripts/score-extraction.ts DIR [--folds FILE] [--save FILE] [--base FILE] [--no-words]
// DIR is the same as for cross-validate.ts, whose FILE of --folds has weights fitted without the site of each page. "fitted" are
// the scores with the program's weights, which were fitted on these pages; "unseen" those with the weights of the folds. --save
// writes the scores of all pages, and --base compares with such a file of an earlier version, page by page: the mean change and
// its 90 % interval. The script fails if a set falls for certain or by more than .002, if a reader would notice a fault that was not
// there (kept blocks with other words, blocks of generated articles that are missing), or if a set has more repeated paragraphs or
// invented numbers than before, so that a change that helps one kind of page at the cost of another does not land unnoticed.
// Below the scores: kept blocks with other words (as check-fidelity.ts; not with --no-words), numbers that stand nowhere on
// their page, paragraphs that come twice, generated articles whose block came out whole, and how well the quality is predicted.

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Weights } from "../src/pages/content/choose.ts";
import { loadWeights } from "../src/pages/content/weights.ts";
import { extractPage } from "../src/pages/convert/extract.ts";
import { articlePage, BLOCKS, PLACES } from "../test/pages/article-pages.ts";
import { checkFidelity } from "./fit/fidelity.ts";
import { type Folds, weightsFrom } from "./fit/folds.ts";
import {
  calibrationOf,
  changeOf,
  inventedNumbers,
  isBlocked,
  type PageScores,
  type Predicted,
  repeatedParagraphs,
  risenFaults,
} from "./fit/judgement.ts";
import { readHtml } from "./fit/labelled-pages.ts";
import { readPage } from "./fit/read-page.ts";
import { type LabelledSet, loadScorer, mainPart, readSets } from "./fit/scoring.ts";

/** How many articles each block is put into, at each place. */
const ARTICLES = 40;
const HEAD = ["set", "pages", "fitted", "unseen", "change", "90 % interval", ""];

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/score-extraction.ts DIR [--folds FILE] [--save FILE] [--base FILE] [--no-words]");
  process.exit(2);
}
const root = resolve(directory);
const argumentOf = (flag: string) => {
  const at = process.argv.indexOf(flag);
  return at > 0 ? process.argv[at + 1] : undefined;
};
const scorer = await loadScorer(root);
const folds = readJson<Folds>(argumentOf("--folds"));
const base = readJson<PageScores>(argumentOf("--base"));
const blocked: string[] = [];
const sets = readSets(root);
const fitted: Record<string, number> = {};
const unseen: Record<string, number> = {};
const predictions: Predicted[] = [];
const faults = new Map<string, { invented: number; repeated: number }>();
for (const set of sets) scorePages(set);
const save = argumentOf("--save");
if (save !== undefined) writeFileSync(save, JSON.stringify({ ...judged(), ...countedFaults() }));

print([HEAD, ...sets.flatMap(rowsOfSet)]);
console.log("");
for (const set of sets) console.log(faultsOf(set));
console.log("");
print(rowsOfArticles());
console.log("");
printCalibration();
if (blocked.length > 0) {
  console.error(`falls: ${blocked.join(", ")}`);
  process.exit(1);
}

function readJson<T>(file: string | undefined): T | undefined {
  return file === undefined ? undefined : (JSON.parse(readFileSync(file, "utf8")) as T);
}

/** The scores that versions are compared by: those of unseen pages, if there are any. */
function judged(): PageScores {
  return folds === undefined ? fitted : unseen;
}

/** The faults of each set, in the form of the scores. */
function countedFaults(): PageScores {
  return Object.fromEntries(
    [...faults].flatMap(([set, { invented, repeated }]) => [
      [`invented in ${set}`, invented],
      [`repeated in ${set}`, repeated],
    ]),
  );
}

function scorePages(set: LabelledSet): void {
  const weights = loadWeights();
  const sum = { invented: 0, repeated: 0 };
  for (const id of set.ids) {
    const html = readHtml(root, set.name, id);
    const key = `${set.name}/${id}`;
    const own = scoreOf(set, { id, html, weights });
    fitted[key] = own.score;
    const fair = folds === undefined ? own : scoreOf(set, { id, html, weights: weightsFrom(folds, set.name, id) });
    unseen[key] = fair.score;
    if (fair.quality !== undefined) predictions.push({ predicted: fair.quality, true: fair.score });
    sum.invented += inventedNumbers(own.text, `${readPage(html).body.textContent} ${html}`).length;
    sum.repeated += repeatedParagraphs(own.text);
  }
  faults.set(set.name, sum);
}

function scoreOf({ name, truths }: LabelledSet, page: { id: string; html: string; weights: Weights }) {
  const { id, html, weights } = page;
  const truth = truths[id];
  if (truth === undefined) throw new Error(`${name}/${id} has no ground truth`);
  const { text, quality } = mainPart(html, { weights, truth, scorer });
  const { f1 } = scorer.score(name, truths, [id], { [id]: text });
  // A page of which nothing is right has no F1 in some of the measures.
  return { text, quality, score: Number.isFinite(f1) ? f1 : 0 };
}

function rowsOfSet(set: LabelledSet): string[][] {
  const kinds = [...new Set(set.ids.flatMap((id) => set.truths[id]?.type ?? []))].sort();
  const rowFor = (name: string, ids: readonly string[]) => {
    const keys = ids.map((id) => `${set.name}/${id}`);
    const change = base === undefined ? undefined : changeOf(keys, judged(), base);
    const falls = change !== undefined && isBlocked(change);
    if (falls && name === set.name) blocked.push(name);
    const told =
      change === undefined ? ["", ""] : [signed(change.mean), `${signed(change.low)} to ${signed(change.high)}`];
    const fair = folds === undefined ? "" : shown(meanOf(keys, unseen));
    return [name, String(ids.length), shown(meanOf(keys, fitted)), fair, ...told, falls ? "falls" : ""];
  };
  return [
    rowFor(set.name, set.ids),
    ...kinds.map((kind) =>
      rowFor(
        `  ${kind}`,
        set.ids.filter((id) => set.truths[id]?.type === kind),
      ),
    ),
  ];
}

/** What a reader would notice beside the score. */
function faultsOf(set: LabelledSet): string {
  const { invented, repeated } = faults.get(set.name) ?? { invented: 0, repeated: 0 };
  blocked.push(...risenFaults(set.name, { invented, repeated }, base));
  const altered = process.argv.includes("--no-words")
    ? undefined
    : set.ids.reduce((sum, id) => sum + checkFidelity(readHtml(root, set.name, id)).missing.length, 0);
  if (altered !== undefined && altered > 0) blocked.push(`words of ${set.name}`);
  const changed = altered === undefined ? "" : `, ${altered} kept blocks with other words`;
  return `${set.name}: ${invented} numbers that stand nowhere on their page, ${repeated} paragraphs that come twice${changed}`;
}

/** For each place, the share of generated articles whose block came out whole, and the worst block. */
function rowsOfArticles(): string[][] {
  return PLACES.map((place) => {
    const shares = BLOCKS.map(({ name, html, texts }) => {
      const whole = Array.from({ length: ARTICLES }, (_, seed) => mainOf(articlePage(seed, html, place)));
      return { name, share: whole.filter((page) => texts.every((text) => page.includes(text))).length / ARTICLES };
    });
    const worst = shares.reduce((least, one) => (one.share < least.share ? one : least));
    const mean = shares.reduce((sum, { share }) => sum + share, 0) / shares.length;
    if (worst.share < 1) blocked.push(`articles, ${place.name}`);
    const note = worst.share < 1 ? `least: ${worst.name} ${shown(worst.share)}` : "";
    return [`articles, ${place.name}`, String(BLOCKS.length * ARTICLES), shown(mean), note];
  });
}

/** Ten groups of pages by their predicted quality. */
function printCalibration(): void {
  const { correlation, error, groups } = calibrationOf(predictions);
  console.log(`predicted quality: correlation ${shown(correlation)}, mean error ${shown(error)}`);
  for (const { predicted, true: truth } of groups)
    console.log(`  predicted ${shown(predicted)}  true ${shown(truth)}  ${"#".repeat(Math.round(truth * 50))}`);
}

function mainOf(html: string): string {
  const options = { url: "https://quay.example/a", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(html, options).markdown ?? "";
}

function print(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

function meanOf(keys: readonly string[], scores: PageScores): number {
  return keys.reduce((sum, key) => sum + (scores[key] ?? 0), 0) / Math.max(1, keys.length);
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(4)}`;
}

function shown(share: number): string {
  return share.toFixed(4);
}
