// Drops what leads away from a page: its place in the site and, on the page of a product or a service, the teasers of other pages.

import type { Block } from "./blocks.ts";
import { headingLevel, type JudgedPage, sumChars } from "./judged.ts";
import { isPointer } from "./signs.ts";
import { dropNamed } from "./windows.ts";

const CRUMBS = /(?:^|[\s_-])(?:breadcrumbs?|bread-crumbs?|crumbs)(?:[\s_-]|$)/i;
const CRUMBS_SHARE_MAX = 0.2;
const RELATED =
  /(?:^|[\s_-])(?:related|recommended|recommendations?|recently-viewed|upsells?|cross-?sells?|also-like|also-bought|you-may|similar)(?:[\s_-]|$)/i;
const RELATED_SHARE_MAX = 0.5;
const TEASERS_SHARE_MAX = 0.4;
const LINK_SHARE = 0.9;
/** Headings above teasers, beside those that `isPointer` knows in other languages. */
const OTHERS =
  /^(?:related|recommended for you|you (?:may|might) (?:also )?(?:like|enjoy|be interested)|more (?:from|stories|articles|news)|most (?:read|popular (?:articles|posts|stories|news|pages|topics|products))|trending|similar|also (?:on|in|read)|others? also|customers (?:also|who (?:also )?(?:bought|viewed|liked|read))|frequently bought|recently viewed|people also (?:bought|viewed|like|liked|read|search))\b/i;

/** Drops such parts. */
export function dropOtherPages({ blocks, kept, kind }: JudgedPage): void {
  dropNamed(kept, CRUMBS, CRUMBS_SHARE_MAX);
  const known = kind();
  if (known !== "product" && known !== "service") return;
  if (known === "product") dropNamed(kept, RELATED, RELATED_SHARE_MAX);
  const teasers = teaserSections(blocks).flatMap((section) => section.filter((block) => kept.has(block)));
  if (sumChars(teasers) > sumChars(kept) * TEASERS_SHARE_MAX) return;
  for (const block of teasers) kept.delete(block);
}

/** The sections under such headings with a text that is one link, as the title of a teaser is. */
function teaserSections(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const sections: Block[][] = [];
  let level = 0;
  for (const block of blocks) {
    const own = headingLevel(block);
    if (own > 0 && (level === 0 || own <= level)) {
      level = own > 1 && isOfOthers(block) ? own : 0;
      if (level > 0) sections.push([]);
    }
    if (level > 0) sections.at(-1)?.push(block);
  }
  return sections.filter((section) => section.some(isLink));
}

function isLink({ text, linkChars }: Block): boolean {
  return linkChars >= text.length * LINK_SHARE;
}

function isOfOthers(heading: Block): boolean {
  return OTHERS.test(heading.text) || isPointer({ ...heading, linkChars: heading.text.length });
}
