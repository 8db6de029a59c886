// Drops the links and buttons that each entry of a list has, such as "Quick view" or "Add to cart": they tell nothing of any entry.
// What is said of an entry stays, even if it is true of all, such as "In stock" or who wrote it.

import { closest, type PageElement, type PageText } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isPressed } from "./companions.ts";
import { headingLevel, isCollectionPage, type JudgedPage } from "./judged.ts";

/** Fewer similar entries may say the same by chance. */
const ENTRIES_MIN = 6;
/** The share of the entries that must say it: a few may be sold out. */
const LABELLED_SHARE = 0.75;
const LABEL_CHARS_MAX = 60;
const CONTROLS_MIN = 3;
/** If the targets of the same links are fewer than this share of them, the links do not belong to single entries. */
const PLACES_SHARE = 0.5;
/** The share of the same labels that must stand in one list. */
const ROW_SHARE = 0.9;

/** Drops such labels on pages that list products or other pages. */
export function dropEntryLabels(page: JudgedPage): void {
  const { kept } = page;
  if (!isCollectionPage(page) && page.kind() !== "listing") return;
  const stars = new Set<PageElement | null>();
  for (const block of kept) if (isRowOfControls(block)) stars.add(block.element.parentNode);
  const labels = new Map<string, Block[]>();
  for (const block of kept) {
    if (block.text.length > LABEL_CHARS_MAX || headingLevel(block) > 0) continue;
    if (!isPressed(block) && !stars.has(block.element.parentNode)) continue;
    const own = labels.get(block.text);
    if (own === undefined) labels.set(block.text, [block]);
    else own.push(block);
  }
  const entries = countEntries(kept);
  const isMore = moreThan();
  for (const own of labels.values()) {
    if (own.length < ENTRIES_MIN || own.some((block) => isFact(block, isMore)) || isOnePlace(own)) continue;
    const row = rowOf(own);
    if (row !== undefined && own.length >= (entries.get(row) ?? 0) * LABELLED_SHARE)
      for (const block of own) kept.delete(block);
  }
}

/** Whether a block is a row of links that lead nowhere, such as the stars to rate an entry by. The words beside it belong to it. */
function isRowOfControls(block: Block): boolean {
  if (block.linkCount < CONTROLS_MIN || !isPressed(block)) return false;
  return block.nodes.every((node) => /#$/.test(closest(node, ({ tag }) => tag === "a")?.attributes["href"] ?? ""));
}

/** Whether a text is a figure, a state, a value or its name, or one of several in a link, as where a whole entry is one link. */
function isFact({ element, text, nodes, linkCount }: Block, isMore: ReturnType<typeof moreThan>): boolean {
  const [first] = nodes;
  if (first === undefined || element.tag === "label" || /[:：]$/.test(text)) return true;
  if (linkCount < 2 && /\p{N}/u.test(text)) return true;
  const around = (isMeant: (at: PageElement) => boolean) => closest(first, isMeant);
  if (around(({ attributes }) => attributes["disabled"] !== undefined || attributes["aria-disabled"] === "true"))
    return true;
  const link = around(({ tag }) => tag === "a");
  if (link !== undefined && linkCount === 1 && isMore(link, text)) return true;
  const cell = around(isCell);
  return cell !== undefined && !isMore(cell, text);
}

/** A cell with nothing else is a value: in a table that lays out a page, cells hold whole entries. */
function isCell({ tag, attributes }: PageElement): boolean {
  return CELL_TAGS.has(tag) || /^(?:grid)?cell$/.test(attributes["role"] ?? "");
}

const CELL_TAGS = new Set(["td", "th", "dt", "dd", "pre"]);

/** Creates the function that tells whether an element says more than a text. A whole list may stand in one element. */
function moreThan(): (element: PageElement, text: string) => boolean {
  const lengths = new Map<PageElement, number>();
  return (element, text) => {
    let length = lengths.get(element);
    if (length === undefined) {
      length = element.textContent.replace(/\s+/g, " ").trim().length;
      lengths.set(element, length);
    }
    return length > text.length;
  };
}

/** Whether links lead to one other page, such as that of an author, of a category or of a brand. */
function isOnePlace(own: readonly Block[]): boolean {
  const places = new Set<string>();
  for (const { nodes } of own) {
    const href = closest(nodes[0] as PageText, ({ tag }) => tag === "a")?.attributes["href"] ?? "";
    if (href === "" || href.includes("#") || /^javascript:/i.test(href)) return false;
    places.add(href);
  }
  return places.size <= own.length * PLACES_SHARE;
}

/** The element that most of these blocks have in common. */
function rowOf(own: readonly Block[]): PageElement | undefined {
  const counts = new Map<PageElement, number>();
  for (const { element } of own)
    for (let at = element.parentNode; at !== null; at = at.parentNode) {
      const count = (counts.get(at) ?? 0) + 1;
      counts.set(at, count);
      if (count >= own.length * ROW_SHARE) return at;
    }
  return undefined;
}

/** For each element, how many of its children have kept text. */
function countEntries(kept: ReadonlySet<Block>): ReadonlyMap<PageElement, number> {
  const counts = new Map<PageElement, number>();
  const seen = new Set<PageElement>();
  for (const { element } of kept)
    for (let at = element; at.parentNode !== null && !seen.has(at); at = at.parentNode) {
      seen.add(at);
      counts.set(at.parentNode, (counts.get(at.parentNode) ?? 0) + 1);
    }
  return counts;
}
