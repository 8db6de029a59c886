// Reads labelled pages for the fit: their blocks, the features of the blocks, and which of them people marked as main
// text.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Block, cutBlocks } from "../../src/pages/content/blocks.ts";
import { captionsOf, headlineOf, pricesBeside, referencedNotes } from "../../src/pages/content/expected-parts.ts";
import { readFeatures } from "../../src/pages/content/features.ts";
import { decodeHtml } from "../../src/pages/convert/charset.ts";
import type { PageDocument } from "../../src/pages/dom/parse.ts";
import { type Label, labelByPieces, labelByText, type Truth, tokensOf } from "./label.ts";
import { ADDRESS, readPage } from "./read-page.ts";

/** One page. */
export interface LabelledPage {
  readonly set: string;
  readonly id: string;
  /** Pages of the same site have the same value; they must be in the same fold. */
  readonly site: string;
  readonly document: PageDocument;
  readonly blocks: readonly Block[];
  readonly rows: readonly Float32Array[];
  readonly beside: ReadonlySet<Block>;
  readonly labels: readonly Label[];
}

/** The HTML of a page. */
export function readHtml(root: string, set: string, id: string): string {
  return decodeHtml(gunzipSync(readFileSync(join(root, set, "html", `${id}.html.gz`))), null);
}

/** Reads DIR/SET/{ground-truth.json,split.json,html/ID.html.gz} of every set. */
export function readPages(root: string): LabelledPage[] {
  const found: LabelledPage[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory())) {
    const set = entry.name;
    const truths = JSON.parse(readFileSync(join(root, set, "ground-truth.json"), "utf8")) as Record<string, Truth>;
    const ids = (JSON.parse(readFileSync(join(root, set, "split.json"), "utf8")) as { dev: string[] }).dev;
    for (const id of ids) {
      const document = readPage(readHtml(root, set, id));
      const blocks = cutBlocks(document.body);
      const truth = truths[id] as Truth;
      // An empty reference does not mean that the page has no text, so nothing is known about it.
      if (set !== "trafilatura" && tokensOf(truth.text).length === 0) continue;
      const labels = set === "trafilatura" ? labelByPieces(blocks, truth) : labelByText(blocks, truth.text);
      forgiveExpected(document, blocks, labels);
      const { rows, beside } = readFeatures(document, blocks, ADDRESS);
      found.push({
        set,
        id,
        site: siteOf(truth.url ?? "") || id,
        document,
        blocks,
        rows,
        beside,
        labels,
      });
    }
  }
  return found;
}

/** References omit headlines, prices, captions and notes, which readers want. Such blocks get no weight. */
function forgiveExpected(document: PageDocument, blocks: readonly Block[], labels: readonly Label[]): void {
  const isMain = (block: Block) => (labels[block.index]?.target ?? 0) >= 0.5;
  const expected = [
    ...headlineOf(document, blocks),
    ...pricesBeside(document, blocks),
    ...captionsOf(blocks).keys(),
    ...referencedNotes(document.body, blocks, isMain),
  ];
  for (const block of expected) {
    const label = labels[block.index];
    if (label !== undefined && !isMain(block)) label.weight = 0;
  }
}

/** Approximately the registrable part of a host name. */
export function siteOf(address: string): string {
  const trimmed = address.trim().replace(/^https?:\/\/web\.archive\.org\/web\/[^/]*\//, "");
  if (!URL.canParse(trimmed)) return "";
  const parts = new URL(trimmed).hostname.split(".");
  const isShort = (parts[parts.length - 2]?.length ?? 0) <= 3 && parts.length > 2;
  return parts.slice(isShort ? -3 : -2).join(".");
}
