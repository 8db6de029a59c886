// Fits the weights of main-content extraction and writes them into the program:
//   bun scripts/fit-extraction.ts DIR [--out FILE]
// DIR contains sets of labelled pages: DIR/SET/{ground-truth.json,split.json,html/ID.html.gz}. The ground truth of a
// page is its main text (`text`), or pieces that must and must not be in it (`with`, `without`). The output consists of
// weights only, of trees and of hashes of words that several sites have; it contains no text of the pages. scripts/cross-validate.ts measures the result on unseen sites.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readPages } from "./fit/labelled-pages.ts";
import { train } from "./fit/train.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: bun scripts/fit-extraction.ts DIR [--out FILE]");
  process.exit(2);
}
const outAt = process.argv.indexOf("--out");
const out =
  outAt > 0 ? (process.argv[outAt + 1] ?? "") : join(import.meta.dir, "../src/pages/content/weights-packed.ts");

const pages = readPages(directory);
console.error(`${pages.length} pages`);
const packed = gzipSync(JSON.stringify(train(pages)), { level: 9 }).toString("base64");
writeFileSync(
  out,
  `// Written by scripts/fit-extraction.ts: decision trees and weights of words fitted to labelled pages, as gzipped JSON in base64.\n\n/** Packed weights. */\n// biome-ignore format: one long string\nexport const PACKED_WEIGHTS =\n  "${packed}";\n`,
);
console.error(`wrote ${out}: ${packed.length} characters`);
