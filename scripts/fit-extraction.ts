// Fits the weights of main-content extraction and writes them into the program:
//   bun scripts/fit-extraction.ts DIR [--out FILE] [--folds FILE]
// DIR contains sets of labelled pages: DIR/SET/{ground-truth.json,split.json,html/ID.html.gz}. The ground truth of a
// page is its main text (`text`), or pieces that must and must not be in it (`with`, `without`). The output consists of
// weights only, of trees and of hashes of words that several sites have; it contains no text of the pages. The same pages give
// the same output. With --folds, the weights that were fitted without the site of each page, which the fit needs anyway, are
// saved for the scripts that score pages held back: cross-validate.ts, score-extraction.ts and ablate-extraction.ts.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { foldsFrom } from "./fit/folds.ts";
import { readPages } from "./fit/labelled-pages.ts";
import { lookFirst, train } from "./fit/train.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/fit-extraction.ts DIR [--out FILE] [--folds FILE]");
  process.exit(2);
}
const argumentOf = (flag: string) => {
  const at = process.argv.indexOf(flag);
  return at > 0 ? process.argv[at + 1] : undefined;
};
const out = argumentOf("--out") ?? join(import.meta.dir, "../src/pages/content/weights-packed.ts");
const foldsFile = argumentOf("--folds");

const pages = readPages(directory);
console.error(`${pages.length} pages`);
const looks = lookFirst(pages);
const packed = gzipSync(JSON.stringify(train(pages, looks)), { level: 9 }).toString("base64");
writeFileSync(
  out,
  `// Written by scripts/fit-extraction.ts: decision trees and weights of words fitted to labelled pages, as gzipped JSON in base64.\n\n/** Packed weights. */\n// biome-ignore format: one long string\nexport const PACKED_WEIGHTS =\n  "${packed}";\n`,
);
console.error(`wrote ${out}: ${packed.length} characters`);
if (foldsFile !== undefined) writeFileSync(foldsFile, JSON.stringify(foldsFrom(pages, looks)));
