// Drops what the entries of a list all say, such as "Quick view" or "Rate this book": it tells nothing of any entry. What is no label
// of a link or button stays once, since it may be true of the whole list.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isPressed } from "./companions.ts";
import { AMOUNT } from "./expected-parts.ts";
import { headingLevel, isCollectionPage, type JudgedPage } from "./judged.ts";

/** Fewer similar entries may say the same by chance. */
const ENTRIES_MIN = 6;
/** The share of the entries that must say it: a few may be sold out, but a fact that some lack tells them apart. */
const LABELLED_SHARE = 0.75;
const SAID_SHARE = 0.95;
const LABEL_CHARS_MAX = 60;
/** The share of the same labels that must stand in one list. */
const ROW_SHARE = 0.9;

/** Drops such labels on pages that list products or other pages. */
export function dropEntryLabels(page: JudgedPage): void {
  const { kept } = page;
  if (!isCollectionPage(page) && page.kind() !== "listing") return;
  const labels = new Map<string, Block[]>();
  for (const block of kept) {
    if (block.text.length > LABEL_CHARS_MAX || headingLevel(block) > 0 || isOfValue(block)) continue;
    const own = labels.get(block.text);
    if (own === undefined) labels.set(block.text, [block]);
    else own.push(block);
  }
  const entries = countEntries(kept);
  for (const own of labels.values()) {
    if (own.length < ENTRIES_MIN) continue;
    const row = rowOf(own);
    if (row === undefined) continue;
    const all = entries.get(row) ?? 0;
    const isLabel = own.every(isPressed);
    if (own.length < all * (isLabel ? LABELLED_SHARE : SAID_SHARE)) continue;
    for (const block of isLabel ? own : own.slice(1)) kept.delete(block);
  }
}

/** Whether a text is a value, or the name of one. */
function isOfValue({ element, text }: Block): boolean {
  return VALUE_TAGS.has(element.tag) || text.endsWith(":") || AMOUNT.test(text);
}

const VALUE_TAGS = new Set(["td", "th", "dt", "dd"]);

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
