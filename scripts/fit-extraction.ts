// Fits the weights of main-content extraction and writes them into the program:
//   bun scripts/fit-extraction.ts DIR [--out FILE]
// DIR holds sets of labelled pages: DIR/SET/{ground-truth.json,split.json,html/ID.html.gz}. A truth has the page's main
// text (`text`), or pieces that must and must not be in it (`with`, `without`). Pages without scripts of ours: only
// weights come out, no text of the pages.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { decodeHtml } from "../src/pages/charset.ts";
import { type Block, cutBlocks } from "../src/pages/content/blocks.ts";
import { evaluate, sigmoid } from "../src/pages/content/boost.ts";
import { contextRows } from "../src/pages/content/context.ts";
import { fillFromState } from "../src/pages/content/embedded.ts";
import { readFeatures } from "../src/pages/content/features.ts";
import { tidy } from "../src/pages/content/tidy.ts";
import { createTrace } from "../src/pages/content/trace.ts";
import { parsePage } from "../src/pages/dom/parse.ts";
import { needsScript } from "../src/pages/needs-script.ts";
import { type FitOptions, fit, type Samples } from "./fit/boost-fit.ts";
import { type Label, labelByPieces, labelByText, type Truth } from "./fit/label.ts";

interface Page {
  readonly set: string;
  readonly blocks: readonly Block[];
  readonly rows: readonly Float32Array[];
  readonly labels: readonly Label[];
  readonly fold: number;
}

/** The second look is fitted on first looks of pages that the first one had not seen. */
const FOLDS = 5;
const OPTIONS: FitOptions = {
  trees: 150,
  leaves: 24,
  rate: 0.05,
  leafWeightMin: 0.8,
  l2: 1,
  featureShare: 0.2,
  rowShare: 0.7,
};
/** Sets of few pages weigh more. */
const SET_WEIGHT: Readonly<Record<string, number>> = { aeb: 3 };
/** The address pages are judged at; their own is read from the page. */
const ADDRESS = "http://127.0.0.1/page";

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
const held = new Map<Page, number[]>();
for (let fold = 0; fold < FOLDS; fold++) {
  const ensemble = fit(
    samples(
      pages.filter((page) => page.fold !== fold),
      (page) => page.rows,
    ),
    OPTIONS,
  );
  for (const page of pages)
    if (page.fold === fold)
      held.set(
        page,
        page.rows.map((row) => sigmoid(evaluate(ensemble, row))),
      );
}
const first = fit(
  samples(pages, (page) => page.rows),
  OPTIONS,
);
const second = fit(
  samples(pages, (page) => contextRows(page.blocks, page.rows, held.get(page) ?? [])),
  OPTIONS,
);
const packed = gzipSync(JSON.stringify({ first, second }), { level: 9 }).toString("base64");
writeFileSync(
  out,
  `// Written by scripts/fit-extraction.ts: decision trees fitted to labelled pages, as gzipped JSON in base64.\n\n/** Packed weights. */\n// biome-ignore format: one long string\nexport const PACKED_WEIGHTS =\n  "${packed}";\n`,
);
console.error(`wrote ${out}: ${packed.length} characters`);

function readPages(root: string): Page[] {
  const found: Page[] = [];
  for (const set of readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(root, set.name);
    const truths = JSON.parse(readFileSync(join(folder, "ground-truth.json"), "utf8")) as Record<string, Truth>;
    const ids = (JSON.parse(readFileSync(join(folder, "split.json"), "utf8")) as { dev: string[] }).dev;
    for (const id of ids) {
      const bytes = gunzipSync(readFileSync(join(folder, "html", `${id}.html.gz`)));
      const document = parsePage(decodeHtml(bytes, null));
      if (needsScript(document) !== undefined) fillFromState(document);
      tidy(document, ADDRESS, createTrace(false));
      const blocks = cutBlocks(document.body);
      const truth = truths[id] as Truth;
      const labels = set.name === "trafilatura" ? labelByPieces(blocks, truth) : labelByText(blocks, truth.text);
      found.push({
        set: set.name,
        blocks,
        rows: readFeatures(document, blocks, ADDRESS),
        labels,
        fold: found.length % FOLDS,
      });
    }
  }
  return found;
}

function samples(from: readonly Page[], rowsOf: (page: Page) => readonly Float32Array[]): Samples {
  const rows: Float32Array[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  for (const page of from) {
    const own = rowsOf(page);
    page.labels.forEach((label, i) => {
      if (label.weight === 0) return;
      rows.push(own[i] as Float32Array);
      targets.push(label.target);
      weights.push(label.weight * (SET_WEIGHT[page.set] ?? 1));
    });
  }
  return { rows, targets, weights };
}
