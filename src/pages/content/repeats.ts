// Drops what a page shows twice in its small parts: the clones of slides, the second title of a tile, and the version of a line for
// another screen. Refrains, rows and answers that repeat a text are kept.

import { closest, elementsOf, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { SHOWN_AGAIN } from "./hidden-names.ts";
import { headingLevel, type JudgedPage, shareOfKept } from "./judged.ts";

/** Shorter parts are often repeated on purpose. */
const CLONE_CHARS_MIN = 30;
const CLONE_NAME =
  /(?:^|[\s_-])(?:swiper|slick|slide|slides|slider|carousel|splide|glide|owl|cloned|duplicate)(?:[\s_-]|$)/i;
const NOT_CLONED = /^(?:tr|td|th|tbody|thead|dt|dd|p|blockquote|pre|h[1-6])$/;

const TITLE_CHARS_MIN = 8;
/** How many kept blocks, and how much text, may stand between the two titles of a tile. */
const TITLE_REACH = 6;
const TITLE_BETWEEN_CHARS_MAX = 120;

/** Class names of parts that are shown on screens of some widths only. */
const SCREENS =
  /(?:^|\s)(?:d-none|d-(?:sm|md|lg|xl|xxl)-none|hidden-(?:xs|sm|md|lg)(?:-(?:up|down))?|visible-(?:xs|sm|md|lg)[\w-]*|(?:sm|md|lg|xl):hidden|[\w-]*(?:mobile|desktop|tablet)(?:[_-](?:only|content|view|visible|hidden))?)(?:\s|$)/i;
const SCREENS_LEVELS = 2;
/** Names that may as well mean a tab or a step that a script shows: only a part of which so much stands elsewhere is a copy. */
const HIDDEN = /(?:^|\s)(?:hidden|hide)(?:\s|$)/;
const HIDDEN_SHARE_MIN = 0.8;
/** A part further up may hold other lines; it is for another screen only if so much of its text stands elsewhere. */
const SCREENS_FAR_LEVELS = 6;
const SCREENS_SHARE_MIN = 0.5;
const SCREENS_CHARS_MIN = 20;

/** Drops such repetitions. */
export function dropRepeats({ blocks, kept }: JudgedPage): void {
  const order = blocks.filter((block) => kept.has(block));
  dropClones(order, kept);
  dropSecondTitles(order, kept);
  dropOtherScreens(order, kept, blocks);
}

/** The text of an element as a number and its length: two siblings with the same have the same text. */
interface Sum {
  hash: number;
  chars: number;
}

/** Drops siblings that have the same text as an earlier one, if they are slides or tiles. */
function dropClones(order: readonly Block[], kept: Set<Block>): void {
  const sums = new Map<PageElement, Sum>();
  for (const { element, text } of order) {
    const hash = Number(Bun.hash.xxHash32(text));
    for (let at: PageElement | null = element; at !== null; at = at.parentNode) {
      const sum = sums.get(at);
      if (sum === undefined) sums.set(at, { hash, chars: text.length });
      else {
        sum.hash = (Math.imul(sum.hash, 31) + hash) | 0;
        sum.chars += text.length;
      }
    }
  }
  const clones = new Set<PageElement>();
  const known = new Map<PageElement, Map<string, Original>>();
  for (const [element, { hash, chars }] of sums) {
    const { parentNode, tag } = element;
    if (parentNode === null || chars < CLONE_CHARS_MIN || NOT_CLONED.test(tag)) continue;
    const key = `${tag} ${hash} ${chars}`;
    const siblings = known.get(parentNode);
    const original = siblings?.get(key);
    if (siblings === undefined) known.set(parentNode, new Map([[key, { element }]]));
    else if (original === undefined) siblings.set(key, { element });
    else if (isTileOrSlide(element) && leadsWhere(original, element)) clones.add(element);
  }
  if (clones.size === 0) return;
  for (const block of order)
    if (clones.has(block.element) || closest(block.element, (at) => clones.has(at)) !== undefined) kept.delete(block);
}

/** The first one of siblings with the same text, and where its links lead once this was asked for. */
interface Original {
  readonly element: PageElement;
  links?: string;
}

/** Whether the links of a sibling lead where those of the first one do. Entries of lists may have the same text by chance. */
function leadsWhere(original: Original, element: PageElement): boolean {
  original.links ??= linksOf(original.element);
  return original.links === linksOf(element);
}

function linksOf(element: PageElement): string {
  return element
    .getElementsByTagName("a")
    .map(({ attributes }) => attributes["href"] ?? "")
    .join(" ");
}

function isTileOrSlide(element: PageElement): boolean {
  if (CLONE_NAME.test(element.className)) return true;
  return elementsOf(element).some(({ tag }) => tag === "img" || tag === "a");
}

/** Drops a title that stands a second time in the same tile. */
function dropSecondTitles(order: readonly Block[], kept: Set<Block>): void {
  order.forEach((block, at) => {
    if (headingLevel(block) === 0 || block.text.length < TITLE_CHARS_MIN || !kept.has(block)) return;
    let between = 0;
    for (let back = at - 1; back >= Math.max(0, at - TITLE_REACH) && between <= TITLE_BETWEEN_CHARS_MAX; back--) {
      const before = order[back] as Block;
      const isSame = before.text === block.text;
      const isTitle = headingLevel(before) > 0 || before.linkChars >= before.text.length * 0.9;
      if (isSame && kept.has(before) && isTitle && areInOneTile(before.element, block.element)) kept.delete(block);
      if (isSame || headingLevel(before) > 0) return;
      between += before.text.length;
    }
  });
}

/** Whether two elements stand in different parts of one tile, and not in two tiles of the same kind. */
function areInOneTile(first: PageElement, second: PageElement): boolean {
  const branches = new Map<PageElement, PageElement>();
  for (let at = first; at.parentNode !== null; at = at.parentNode) branches.set(at.parentNode, at);
  for (let at = second; at.parentNode !== null; at = at.parentNode) {
    const other = branches.get(at.parentNode);
    if (other !== undefined) return other.tag !== at.tag || other.className !== at.className;
  }
  return false;
}

/**
 * Drops a line that stands elsewhere too, if its names say that it is for screens of another width. The lines of similar entries may
 * be the same, too, but then they have the same names.
 */
function dropOtherScreens(order: readonly Block[], kept: Set<Block>, blocks: readonly Block[]): void {
  const places = new Map<string, Block[]>();
  for (const block of order) {
    if (block.text.length < SCREENS_CHARS_MIN || !kept.has(block)) continue;
    const list = places.get(block.text);
    if (list === undefined) places.set(block.text, [block]);
    else list.push(block);
  }
  const known = new Map<PageElement, boolean>();
  const repeated = [...places.values()].filter((list) => list.length > 1);
  if (repeated.length === 0) return;
  const share = shareOfKept(order, new Set(repeated.flat()));
  const repeatedShare = (element: PageElement) => share(element)?.kept ?? 0;
  const steps = otherSteps(blocks);
  for (const list of repeated) {
    const names = list.map((block) => screensOf(block, { known, steps, repeatedShare }));
    const shown = names.includes(undefined) ? undefined : names[0];
    list.forEach((block, at) => {
      if (names[at] !== shown) kept.delete(block);
    });
  }
}

/** The numbered lists with an item that stands nowhere else, such as the steps on another device: without a step these mislead. */
function otherSteps(blocks: readonly Block[]): ReadonlySet<PageElement> {
  const counts = new Map<string, number>();
  for (const { text } of blocks) counts.set(text, (counts.get(text) ?? 0) + 1);
  const lists = new Set<PageElement>();
  for (const { element, text } of blocks) {
    const list = counts.get(text) === 1 ? closest(element, ({ tag }) => tag === "ol") : undefined;
    if (list !== undefined) lists.add(list);
  }
  return lists;
}

/** What is known of the elements around lines. */
interface Surroundings {
  readonly known: Map<PageElement, boolean>;
  readonly steps: ReadonlySet<PageElement>;
  /** How much of an element's text stands elsewhere too. */
  readonly repeatedShare: (element: PageElement) => number;
}

/** The names that say for which screens a line is. Many lines stand in the same elements, so the names of each are read once. */
function screensOf({ element }: Block, { known, steps, repeatedShare }: Surroundings): string | undefined {
  let at: PageElement | null = element;
  let isOfOther = isInTable(element);
  for (let level = 0; at !== null && level <= SCREENS_FAR_LEVELS; level++, at = at.parentNode) {
    // Tables and lists further up may have other rows and items, in which a line would be missed.
    isOfOther ||= steps.has(at);
    if (level > SCREENS_LEVELS && (isOfOther || repeatedShare(at) < SCREENS_SHARE_MIN)) return undefined;
    let isNamed = known.get(at);
    if (isNamed === undefined) {
      isNamed = at.className !== "" && (SCREENS.test(at.className) || isCopy(at, repeatedShare));
      known.set(at, isNamed);
    }
    if (isNamed) return at.className;
  }
  return undefined;
}

/** Whether an element is hidden on all screens, and a copy of what stands elsewhere. */
function isCopy(element: PageElement, repeatedShare: (element: PageElement) => number): boolean {
  const { className } = element;
  return HIDDEN.test(className) && !SHOWN_AGAIN.test(className) && repeatedShare(element) >= HIDDEN_SHARE_MIN;
}

function isInTable(element: PageElement): boolean {
  return isCell(element) || closest(element, isCell) !== undefined;
}

function isCell({ tag }: PageElement): boolean {
  return tag === "td" || tag === "th";
}
