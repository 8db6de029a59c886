// The links of a page, each with its text, the part of the page that contains it, and the heading or menu entry above it. They
// are read from the page as it was sent, which still contains its menus.

import { baseOf, LINK_CHARS_MAX } from "../content/tidy.ts";
import { PageElement, type PageNode } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { plainTextOf } from "../words/plain-text.ts";

/** A part of a page. */
export type Place = "header" | "sidebar" | "content" | "footer";

/** A link of a page. */
export interface NavigationLink {
  readonly url: string;
  /** The text of the link; empty for an image without alternative text. */
  readonly label: string;
  readonly place: Place;
  /** The heading or menu entry above the link; empty if there is none. */
  readonly group: string;
}

/** Maximum number of links; the menus of real sites have a few hundred. */
const LINKS_MAX = 2000;
const LABEL_CHARS_MAX = 120;

const FOOTER = /(?:^|[\s_-])(?:footer|colophon|bottom-?links)(?:$|[\s_-])/i;
const SIDEBAR = /(?:^|[\s_-])(?:sidebar|sidenav|toc|side-?menu|left-?nav)(?:$|[\s_-])/i;
const HEADER = /(?:^|[\s_-])(?:header|masthead|nav|navbar|navigation|menu|menubar|topbar)(?:$|[\s_-])/i;
const HEADER_ROLES = new Set(["navigation", "banner", "menu", "menubar"]);

/** An open element, with the state that applies to everything inside it. */
interface Open {
  readonly element: PageElement;
  readonly place: Place;
  group: string;
  /** The text of a menu entry before the first list in it, once it was read. */
  entry: string | undefined;
}

/** Reads the links of a page. Each address is returned once, at its first occurrence. */
export function readNavigation(document: PageDocument, url: string): NavigationLink[] {
  const base = baseOf(document, url);
  const found = new Map<string, NavigationLink>();
  const ancestors: Open[] = [{ element: document.body, place: "content", group: "", entry: undefined }];
  const top = () => ancestors[ancestors.length - 1] as Open;
  let node: PageNode | null = document.body.firstChild;
  while (node !== null && found.size < LINKS_MAX) {
    const isOpened = node instanceof PageElement && node.firstChild !== null && node.tag !== "a";
    if (node instanceof PageElement) {
      const at = top();
      if (node.tag === "a") addLink(found, node, { base, at });
      else if (isHeading(node)) at.group = wordsOf(node);
      if (isOpened) ancestors.push(begin(node, ancestors));
    }
    if (isOpened) node = (node as PageElement).firstChild;
    else {
      while (node !== null && node.nextSibling === null && ancestors.length > 1)
        node = ancestors.pop()?.element ?? null;
      node = node?.nextSibling ?? null;
    }
  }
  return [...found.values()];
}

function begin(element: PageElement, open: readonly Open[]): Open {
  const above = open[open.length - 1] as Open;
  const isList = element.tag === "ul" || element.tag === "ol" || element.tag === "menu";
  // A list inside a menu entry belongs to that entry.
  const entry = isList ? entryAbove(open, element) : "";
  const place = placeOf(element, above.place);
  return { element, place, group: place === above.place ? entry || above.group : entry, entry: undefined };
}

/** The text of the nearest open menu entry before the list; empty if the list is not inside one. */
function entryAbove(open: readonly Open[], list: PageElement): string {
  const item = open.findLast(({ element }) => element.tag === "li" || element.tag === "details");
  if (item === undefined) return "";
  item.entry ??= plainTextOf(item.element, { charsMax: LABEL_CHARS_MAX, until: list });
  return item.entry;
}

function addLink(
  found: Map<string, NavigationLink>,
  link: PageElement,
  { base, at }: { base: string; at: Open },
): void {
  const label = wordsOf(link);
  const href = link.attributes["href"]?.trim() ?? "";
  if (href === "" || href.startsWith("#") || !URL.canParse(href, base)) return;
  const target = new URL(href, base);
  if (target.protocol !== "http:" && target.protocol !== "https:") return;
  target.hash = "";
  if (target.href.length > LINK_CHARS_MAX) return;
  const known = found.get(target.href);
  // A logo often links to the home page without text; a later link with text to the same address is more useful.
  if (known === undefined) found.set(target.href, { url: target.href, label, place: at.place, group: at.group });
  else if (known.label === "" && label !== "") found.set(target.href, { ...known, label });
}

function isHeading({ tag, attributes }: PageElement): boolean {
  return /^h[1-6]$/.test(tag) || tag === "summary" || tag === "dt" || attributes["role"] === "heading";
}

function placeOf(element: PageElement, above: Place): Place {
  const { tag, attributes } = element;
  const role = attributes["role"] ?? "";
  const names = `${element.className.slice(0, 200)} ${element.id.slice(0, 100)}`;
  if (above === "footer" || tag === "footer" || role === "contentinfo" || FOOTER.test(names)) return "footer";
  if (above === "sidebar" || tag === "aside" || role === "complementary" || SIDEBAR.test(names)) return "sidebar";
  if (tag === "main" || tag === "article") return "content";
  if (above === "header" || tag === "nav" || tag === "header" || HEADER_ROLES.has(role)) return "header";
  return HEADER.test(names) && tag !== "body" ? "header" : above;
}

/** What a link or heading says: its text, or otherwise the name that it has for those who cannot see it. */
function wordsOf(element: PageElement): string {
  const words = plainTextOf(element, { charsMax: LABEL_CHARS_MAX });
  if (words !== "") return words;
  const { attributes } = element;
  const picture = element.getElementsByTagName("img")[0]?.attributes["alt"];
  const named = clean(attributes["aria-label"] ?? attributes["title"] ?? picture ?? "");
  return named === "" ? plainTextOf(element, { charsMax: LABEL_CHARS_MAX, withSpoken: true }) : named;
}

function clean(text: string): string {
  return text
    .slice(0, 4 * LABEL_CHARS_MAX)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, LABEL_CHARS_MAX);
}
