// Keeps the lists of facts that look like one that is kept: after the dimensions of a product its materials, and what it is used for.

import { closest, elementsOf, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isInFrame, type JudgedPage, sumChars } from "./judged.ts";
import { isNamedAside } from "./set-aside.ts";

/** A list with fewer blocks is no example for others. */
const EXAMPLE_BLOCKS_MIN = 3;
const EXAMPLE_SHARE = 0.5;
/** The fitted model is sure that a list with a lower mean verdict is no content. */
const VERDICT_MIN = 0.1;
/** Lists with more of their text in links are navigation. */
const LINK_SHARE_MAX = 0.3;

const ROWS_MIN = 2;
/** How many cells a row of facts must have on average. */
const CELLS_MIN = 1.5;

/** Keeps such lists. */
export function keepFactLists({ blocks, unadjusted, kept }: JudgedPage): void {
  const lists = listsOf(blocks);
  const examples = new Set<string>();
  for (const [list, own] of lists) {
    const chosen = sumChars(own.filter((block) => kept.has(block)));
    if (own.length >= EXAMPLE_BLOCKS_MIN && chosen >= sumChars(own) * EXAMPLE_SHARE) examples.add(lookOf(list));
  }
  for (const [list, own] of lists) {
    if (!examples.has(lookOf(list)) || isInFrame({ element: list })) continue;
    const chars = sumChars(own);
    const links = own.reduce((sum, { linkChars }) => sum + linkChars, 0);
    const expected = own.reduce((sum, { index, text }) => sum + (unadjusted[index] as number) * text.length, 0);
    if (links > chars * LINK_SHARE_MAX || expected < chars * VERDICT_MIN) continue;
    if (isNamedAside(list) || closest(list, isNamedAside) !== undefined) continue;
    if (list.tag === "dl" || isGrid(list)) for (const block of own) kept.add(block);
  }
}

/** Whether a table has rows of several cells, as opposed to one that lays out a part of the page. */
function isGrid(table: PageElement): boolean {
  let rows = 0;
  let cells = 0;
  for (const { tag } of elementsOf(table))
    if (tag === "tr") rows++;
    else if (tag === "td" || tag === "th") cells++;
    else if (tag === "table") return false;
  return rows >= ROWS_MIN && cells >= rows * CELLS_MIN;
}

function lookOf({ tag, className }: PageElement): string {
  return `${tag} ${className}`;
}

/** The blocks of each list of facts that has a class name. */
function listsOf(blocks: readonly Block[]): ReadonlyMap<PageElement, Block[]> {
  const lists = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    const list = isFacts(block.element) ? block.element : closest(block.element, isFacts);
    if (list === undefined) continue;
    const own = lists.get(list);
    if (own === undefined) lists.set(list, [block]);
    else own.push(block);
  }
  return lists;
}

function isFacts({ tag, className }: PageElement): boolean {
  return (tag === "dl" || tag === "table") && className !== "";
}
