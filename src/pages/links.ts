// The links of a page: absolute web addresses, in order, each once.

import { baseOf } from "./content/tidy.ts";
import type { PageElement } from "./dom/node.ts";
import type { PageDocument } from "./dom/parse.ts";

/** Far more than any real page has. */
const LINKS_MAX = 10_000;

/** Links below `root`; fragments on the page itself are left out. */
export function readLinks(document: PageDocument, root: PageElement, url: string): string[] {
  const base = baseOf(document, url);
  const self = withoutHash(url);
  const found = new Set<string>();
  for (const tag of ["a", "area"])
    for (const link of root.getElementsByTagName(tag)) {
      const href = link.attributes["href"]?.trim();
      if (href === undefined || href === "" || href.startsWith("#") || !URL.canParse(href, base)) continue;
      const target = new URL(href, base);
      if (target.protocol !== "http:" && target.protocol !== "https:") continue;
      if (target.hash !== "" && withoutHash(target.href) === self) continue;
      if (found.size < LINKS_MAX) found.add(target.href);
    }
  return [...found];
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/, "");
}
