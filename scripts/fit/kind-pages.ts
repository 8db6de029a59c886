// Reads labelled pages for the fit of the kinds: what tells their kinds, without the features of their blocks.

import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { PAGE_KINDS } from "../../src/pages/content/kind-signs.ts";
import { readKindTraits } from "../../src/pages/content/kind-traits.ts";
import { readPageTraits } from "../../src/pages/content/page-traits.ts";
import type { KindPage } from "./kinds-fit.ts";
import { tokensOf } from "./label.ts";
import { readHtml, siteOf } from "./labelled-pages.ts";
import { ADDRESS, readPage } from "./read-page.ts";
import { readSets } from "./scoring.ts";

/** Reads the pages of every set that have a reference. Pages of sets without kinds are articles. */
export function readKindPages(root: string): KindPage[] {
  const found: KindPage[] = [];
  for (const { name, truths, ids } of readSets(root))
    for (const id of ids) {
      const truth = truths[id];
      if (truth === undefined || (truth.with === undefined && tokensOf(truth.text).length === 0)) continue;
      const document = readPage(readHtml(root, name, id));
      const blocks = cutBlocks(document.body);
      if (blocks.length === 0) continue;
      const { shared } = readPageTraits(document, blocks, ADDRESS);
      found.push({
        set: name,
        id,
        site: siteOf(truth.url ?? "") || id,
        kind: PAGE_KINDS.find((kind) => kind === truth.type) ?? "article",
        traits: readKindTraits(document, blocks, { url: ADDRESS, shared }),
      });
    }
  return found;
}
