// The links of a page: absolute web addresses, in order, each once.

import { baseOf, LINK_CHARS_MAX } from "../content/tidy.ts";
import { closest, type PageElement } from "../dom/node.ts";
import type { Omissions } from "../dom/omissions.ts";
import type { PageDocument } from "../dom/parse.ts";

/** Maximum number of links, far more than any real page has. */
const LINKS_MAX = 10_000;

/**
 * The links of a page, including the parts of a frameset, without links to positions on the page itself. With `withoutFrame`,
 * links in navigation, header, footer and sidebars are left out.
 */
export function readLinks(
  document: PageDocument,
  url: string,
  { withoutFrame, omissions }: { withoutFrame: boolean; omissions?: Omissions | undefined },
): string[] {
  const base = baseOf(document, url);
  const self = withoutHash(url);
  const found = new Set<string>();
  for (const tag of ["a", "area", "frame"])
    for (const link of document.body.getElementsByTagName(tag)) {
      const href = link.attributes[tag === "frame" ? "src" : "href"]?.trim();
      if (href === undefined || href === "" || href.startsWith("#") || !URL.canParse(href, base)) continue;
      const target = new URL(href, base);
      if (target.protocol !== "http:" && target.protocol !== "https:") continue;
      if (target.href.length > LINK_CHARS_MAX) continue;
      if (withoutFrame && closest(link, isFrame) !== undefined) continue;
      if (target.hash !== "" && withoutHash(target.href) === self) continue;
      found.add(target.href);
    }
  omissions?.add("links", Math.max(0, found.size - LINKS_MAX));
  return [...found].slice(0, LINKS_MAX);
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/, "");
}

const FRAME_TAGS = new Set(["nav", "footer", "aside", "header"]);
const FRAME_ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "menu", "menubar"]);

/** Whether an element frames the content. The header of an article is not such a part. */
function isFrame(element: PageElement): boolean {
  if (FRAME_ROLES.has(element.attributes["role"] ?? "")) return true;
  if (!FRAME_TAGS.has(element.tag)) return false;
  return element.tag !== "header" || closest(element, ({ tag }) => tag === "article" || tag === "main") === undefined;
}
