// Scores main-content extraction on every development set and prints one table:
//   bun scripts/score-extraction.ts DIR [--no-words]
// DIR is the same as for cross-validate.ts. The weights of the program are used, which were fitted on these pages, so the
// figures are good for comparing two versions of the program with the same weights; cross-validate.ts scores unseen sites.
// A row for each set says F1, precision, recall, and how many kept blocks came out with other words (as check-fidelity.ts
// does; not with --no-words). Sets with kinds of pages have a row for each kind. The last rows are generated articles:
// how many of them have the block that was put into them whole, by its place, and which block comes out least.

import { resolve } from "node:path";
import { loadWeights } from "../src/pages/content/weights.ts";
import { extractPage } from "../src/pages/convert/extract.ts";
import { articlePage, BLOCKS, PLACES } from "../test/pages/article-pages.ts";
import { checkFidelity } from "./fit/fidelity.ts";
import { readHtml } from "./fit/labelled-pages.ts";
import { type LabelledSet, loadScorer, readSets, scoreSet } from "./fit/scoring.ts";

/** How many articles each block is put into, at each place. */
const ARTICLES = 40;
const HEAD = ["set", "pages", "F1", "precision", "recall", "notes"];

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/score-extraction.ts DIR [--no-words]");
  process.exit(2);
}
const root = resolve(directory);
const checksWords = !process.argv.includes("--no-words");
const scorer = await loadScorer(root);
const rows = [HEAD, ...readSets(root).flatMap(rowsOfSet), ...rowsOfArticles()];
const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
for (const row of rows)
  console.log(
    row
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join("  ")
      .trimEnd(),
  );

function rowsOfSet(set: LabelledSet): string[][] {
  const weights = loadWeights();
  const {
    f1,
    precision,
    recall,
    byType = {},
  } = scoreSet(root, set, { ids: set.ids, scorer, weightsOf: () => weights });
  const words = checksWords ? `${changedBlocks(set)} kept blocks with other words` : "";
  return [
    [set.name, String(set.ids.length), shown(f1), shown(precision), shown(recall), words],
    ...Object.entries(byType).map(([kind, score]) => [`  ${kind}`, countOf(set, kind), shown(score)]),
  ];
}

/** How many kept blocks of a set do not come out word for word. */
function changedBlocks({ name, ids }: LabelledSet): number {
  return ids.reduce((sum, id) => sum + checkFidelity(readHtml(root, name, id)).missing.length, 0);
}

function countOf({ truths, ids }: LabelledSet, kind: string): string {
  return String(ids.filter((id) => truths[id]?.type === kind).length);
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
    const note = worst.share < 1 ? `least: ${worst.name} ${shown(worst.share)}` : "";
    return [`articles, ${place.name}`, String(BLOCKS.length * ARTICLES), "", "", shown(mean), note];
  });
}

function mainOf(html: string): string {
  const options = { url: "https://quay.example/a", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(html, options).markdown ?? "";
}

function shown(share: number): string {
  return share.toFixed(4);
}
