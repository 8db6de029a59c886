// Labelled pages as the fit sees them: blocks, their traits, and which of them people marked as main text.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Block, cutBlocks } from "../../src/pages/content/blocks.ts";
import { fillFromState } from "../../src/pages/content/embedded.ts";
import { captionsOf, headlineOf, pricesBeside, referencedNotes } from "../../src/pages/content/expected-parts.ts";
import { readFeatures } from "../../src/pages/content/features.ts";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { decodeHtml } from "../../src/pages/convert/charset.ts";
import { needsScript } from "../../src/pages/convert/needs-script.ts";
import { type PageDocument, parsePage } from "../../src/pages/dom/parse.ts";
import { type Label, labelByPieces, labelByText, type Truth, tokensOf } from "./label.ts";

/** One page. */
export interface LabelledPage {
  readonly set: string;
  readonly id: string;
  /** Pages of one site share it; they must not straddle folds. */
  readonly site: string;
  readonly document: PageDocument;
  readonly blocks: readonly Block[];
  readonly rows: readonly Float32Array[];
  readonly beside: ReadonlySet<Block>;
  readonly labels: readonly Label[];
}

/** The address pages are judged at; their own is read from the page. */
export const ADDRESS = "http://127.0.0.1/page";

/** The page as text. */
export function readHtml(root: string, set: string, id: string): string {
  return decodeHtml(gunzipSync(readFileSync(join(root, set, "html", `${id}.html.gz`))), null);
}

/** DIR/SET/{ground-truth.json,split.json,html/ID.html.gz} for every set. */
export function readPages(root: string): LabelledPage[] {
  const found: LabelledPage[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory())) {
    const set = entry.name;
    const truths = JSON.parse(readFileSync(join(root, set, "ground-truth.json"), "utf8")) as Record<string, Truth>;
    const ids = (JSON.parse(readFileSync(join(root, set, "split.json"), "utf8")) as { dev: string[] }).dev;
    for (const id of ids) {
      const document = parsePage(readHtml(root, set, id));
      if (needsScript(document) !== undefined) fillFromState(document);
      tidy(document, ADDRESS, createTrace(false));
      const blocks = cutBlocks(document.body);
      const truth = truths[id] as Truth;
      // What people left empty is no page without text: nothing is known about it.
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

/** References leave out headlines, prices, captions and notes, which readers want: nothing is learned from that. */
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

/** The registrable part of a host name, near enough. */
function siteOf(address: string): string {
  const trimmed = address.trim().replace(/^https?:\/\/web\.archive\.org\/web\/[^/]*\//, "");
  if (!URL.canParse(trimmed)) return "";
  const parts = new URL(trimmed).hostname.split(".");
  const isShort = (parts[parts.length - 2]?.length ?? 0) <= 3 && parts.length > 2;
  return parts.slice(isShort ? -3 : -2).join(".");
}
