// Tells the kind of a page by its address, or by its data and the program that made it. Most pages have no such sign.

import type { PageDocument } from "../dom/parse.ts";
import { metaContent } from "./page-traits.ts";

/** The kinds of pages. The order is that of the fitted trees. */
export const PAGE_KINDS = ["article", "documentation", "service", "forum", "collection", "listing", "product"] as const;
/** The kind of a page. */
export type PageKind = (typeof PAGE_KINDS)[number];

/** Parts of addresses that only pages of one kind have. Other addresses say nothing. */
const ADDRESSES: readonly (readonly [PageKind, RegExp])[] = [
  [
    "forum",
    /^(?:forums?|community|discuss|boards?|answers)\.|\/(?:forums?|threads?|topics?|viewtopic|showthread|questions)(?:[/.]|$)|\/t\/[^/]+\/\d/i,
  ],
  [
    "documentation",
    /^(?:docs?|developers?|manual|wiki)\.|\.readthedocs\.|\/(?:docs?|documentation|reference|manual|wiki)\//i,
  ],
  ["product", /\/(?:products?|p|dp|gp|item|itm)\/./i],
  ["collection", /\/(?:collections?|product-category|shop|category|c)(?:\/|$)/i],
  ["listing", /\/(?:tags?|topics?|authors?|archives?|news|blog|articles|jobs|events|directory)\/?$/i],
  ["service", /\/(?:services?|solutions?|pricing|features|platform)(?:\/|$)/i],
];
const TYPES: readonly (readonly [PageKind, RegExp])[] = [
  ["forum", /"@type"\s*:\s*(?:\[\s*)?"(?:DiscussionForumPosting|QAPage)"/],
  ["product", /"@type"\s*:\s*(?:\[\s*)?"(?:Product|ProductGroup)"/],
  ["collection", /"@type"\s*:\s*(?:\[\s*)?"(?:ItemList|CollectionPage|OfferCatalog)"/],
];
const GENERATORS: readonly (readonly [PageKind, RegExp])[] = [
  ["forum", /discourse|phpbb|vbulletin|xenforo|flarum|vanilla|simple machines/i],
  [
    "documentation",
    /docusaurus|mkdocs|sphinx|vitepress|vuepress|gitbook|starlight|mediawiki|doxygen|rustdoc|hugo-book/i,
  ],
];

/** The kind by the address alone. */
export function kindByAddress(address: string): PageKind | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname } = new URL(address);
  const own = `${hostname}${pathname}`;
  return ADDRESSES.find(([, pattern]) => pattern.test(own))?.[0];
}

/** The kind by the page's data and the program that made it. */
export function kindBySigns(document: PageDocument): PageKind | undefined {
  const generator = metaContent(document, "generator");
  const byGenerator = GENERATORS.find(([, pattern]) => pattern.test(generator))?.[0];
  if (byGenerator !== undefined) return byGenerator;
  if (metaContent(document, "og:type").toLowerCase().includes("product")) return "product";
  return TYPES.find(([, pattern]) => document.structured.some((source) => pattern.test(source)))?.[0];
}
