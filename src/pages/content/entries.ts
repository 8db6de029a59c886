// Keeps the titles of the entries of a page that lists other pages. Its introduction alone would be of little use.

import { closest, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { headingLevel, type JudgedPage } from "./judged.ts";
import { isNamedAside } from "./set-aside.ts";

/** Fewer similar parts may be links to other stories. */
const ENTRIES_MIN = 6;
/** Longer parts are articles themselves. */
const ENTRY_CHARS_MAX = 1000;
/** If the mean verdict on the titles is lower, the fitted model is sure that they are secondary. */
const VERDICT_MIN = 0.12;

/** A part of the page: its length, its first heading, and whether it has a link. */
interface Part {
  chars: number;
  title: Block | undefined;
  hasLink: boolean;
}

/** Similar parts of one element: the length of all, and their titles. */
interface Entries {
  chars: number;
  readonly titles: Block[];
}

/** Keeps the titles of the longest list of entries, unless the page is surely of a kind that is no list. */
export function keepEntries({ document, blocks, verdicts, kept, kind }: JudgedPage): void {
  const known = kind();
  if (known !== undefined && known !== "listing") return;
  const parts = new Map<PageElement, Part>();
  for (const block of blocks) {
    if (isBeside(block)) continue;
    for (let at: PageElement | null = block.element; at !== null && at !== document.body; at = at.parentNode) {
      const part = parts.get(at) ?? { chars: 0, title: undefined, hasLink: false };
      parts.set(at, part);
      part.chars += block.text.length;
      part.hasLink ||= block.linkCount > 0;
      if (headingLevel(block) > 0) part.title ??= block;
    }
  }
  const titles = longestList(parts)?.titles ?? [];
  const sum = titles.reduce((total, { index }) => total + (verdicts[index] as number), 0);
  if (sum >= titles.length * VERDICT_MIN) for (const title of titles) kept.add(title);
}

/** The list of entries with the most text. */
function longestList(parts: ReadonlyMap<PageElement, Part>): Entries | undefined {
  const rows = new Map<PageElement, Map<string, Entries>>();
  for (const [{ parentNode, tag }, { chars, title, hasLink }] of parts) {
    if (parentNode === null || title === undefined || !hasLink || chars > ENTRY_CHARS_MAX) continue;
    const row = rows.get(parentNode) ?? new Map<string, Entries>();
    rows.set(parentNode, row);
    const entries = row.get(tag) ?? { chars: 0, titles: [] };
    row.set(tag, entries);
    entries.chars += chars;
    entries.titles.push(title);
  }
  let longest: Entries | undefined;
  for (const [row, kinds] of rows)
    for (const entries of kinds.values()) {
      if (entries.titles.length < ENTRIES_MIN || entries.chars <= (longest?.chars ?? 0)) continue;
      if (!isNamedAside(row) && closest(row, isNamedAside) === undefined) longest = entries;
    }
  return longest;
}

/** Whether a block stands beside the content. Entries have headers of their own. */
function isBeside({ element }: Block): boolean {
  const frame = closest(element, ({ tag }) => FRAMES.has(tag));
  if (frame === undefined || frame.tag === "nav" || frame.tag === "aside") return frame !== undefined;
  return closest(frame, ({ tag }) => tag === "article" || tag === "li") === undefined;
}

const FRAMES = new Set(["nav", "aside", "header", "footer"]);
