// Drops text that pages repeat for print or for small screens. Only a second container is dropped, and only if all of its text is
// also in the first one, word for word. Text that is merely similar is kept, and so are neighbours of the same kind.

import { closest, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { type JudgedPage, sumChars } from "./judged.ts";

/** Shorter texts are often repeated on purpose. */
const COPY_CHARS_MIN = 100;
/** A container that repeats more than this share of all kept text is a copy, whatever its name. */
const COPY_SHARE_MIN = 0.25;
/** How many occurrences of a text are examined. */
const PLACES_MAX = 8;
const RUN_BLOCKS_MAX = 2000;
const LONG_RUN_MIN = 50;
/** Class names of parts made for one kind of screen or for print, and of previews of text that stands elsewhere on the page. */
const MEDIUM =
  /(?:^|[^a-z])(?:print|printable|mobile|phone|tablet|desktop|amp|small|large|hidden-(?:xs|sm|md|lg)|visible-(?:xs|sm|md|lg)|(?:xs|sm|md|lg|xl|max-\w+):hidden|d-(?:none|(?:sm|md|lg|xl)-none)|line-clamp|preview|(?:sm|md|lg|xl):(?:block|flex|grid|inline))(?![a-z])|(?:Print|Mobile|Desktop)(?![a-z])/;

/** Drops the second of two containers with the same text. */
export function dropCopies({ blocks, kept }: JudgedPage): void {
  const order = blocks.filter((block) => kept.has(block));
  const places = new Map<string, number[]>();
  order.forEach((block, at) => {
    const list = places.get(block.text);
    if (list === undefined) places.set(block.text, [at]);
    else if (list.length < PLACES_MAX) list.push(at);
  });
  dropRuns(order, places, kept);
  dropPieces(order, places, kept);
}

/** Drops runs of blocks that have the same text as an earlier run in another container. */
function dropRuns(order: readonly Block[], places: ReadonlyMap<string, readonly number[]>, kept: Set<Block>): void {
  const total = sumChars(order);
  for (let at = 0; at < order.length; at++) {
    let longest = 0;
    for (const before of places.get((order[at] as Block).text) ?? []) {
      if (before >= at) break;
      const length = runLength(order, before, at);
      longest = Math.max(longest, length);
      const [first, second] = [order.slice(before, before + length), order.slice(at, at + length)];
      if (sumChars(second) < COPY_CHARS_MIN || !isTwin({ first, second, order, at, total })) continue;
      for (const block of second) kept.delete(block);
      break;
    }
    // A long repetition is skipped after one examination, whether or not it is a copy.
    if (longest > LONG_RUN_MIN || !kept.has(order[at] as Block)) at += Math.max(0, longest - 1);
  }
}

/** The number of consecutive blocks that are equal when compared from both positions. */
function runLength(order: readonly Block[], before: number, at: number): number {
  let length = 1;
  while (
    length < RUN_BLOCKS_MAX &&
    before + length < at &&
    at + length < order.length &&
    order[before + length]?.text === order[at + length]?.text
  )
    length++;
  return length;
}

/** Drops single blocks whose text equals several consecutive blocks of another container. */
function dropPieces(order: readonly Block[], places: ReadonlyMap<string, readonly number[]>, kept: Set<Block>): void {
  const starts = new Map<string, number[]>();
  for (const [text, list] of places) {
    const key = text.slice(0, COPY_CHARS_MIN / 4);
    starts.set(key, [...(starts.get(key) ?? []), ...list].slice(0, PLACES_MAX));
  }
  const total = sumChars(order);
  order.forEach((piece, at) => {
    if (piece.text.length < COPY_CHARS_MIN) return;
    for (const start of starts.get(piece.text.slice(0, COPY_CHARS_MIN / 4)) ?? []) {
      const first = partsOf(piece, order, start);
      if (first.length < 2 || !first.every((part) => kept.has(part))) continue;
      const isMuch = piece.text.length >= total * COPY_SHARE_MIN;
      if (!isMuch && !isTwin({ first, second: [piece], order, at, total })) continue;
      kept.delete(piece);
      break;
    }
  });
}

/** The blocks from `start` on whose joined texts equal the block's text; empty if there are none. */
function partsOf(piece: Block, order: readonly Block[], start: number): Block[] {
  const parts: Block[] = [];
  let said = 0;
  for (let at = start; said < piece.text.length; at++) {
    const block = order[at];
    if (block === undefined || block === piece || !piece.text.startsWith(block.text, said)) return [];
    parts.push(block);
    said += block.text.length;
    if (piece.text[said] === " ") said++;
  }
  return parts;
}

interface Repeat {
  readonly first: readonly Block[];
  readonly second: readonly Block[];
  /** All kept blocks. */
  readonly order: readonly Block[];
  readonly at: number;
  /** Number of characters of all kept blocks. */
  readonly total: number;
}

/**
 * Whether the second run is all the text of its container that is not in the first run, and the container is not a sibling of the
 * same kind.
 */
function isTwin({ first, second, order, at, total }: Repeat): boolean {
  const firstHolder = commonElement(first);
  const secondHolder = commonElement(second);
  const around = [order[at - 1], order[at + second.length]];
  if (around.some((block) => block !== undefined && isIn(block, secondHolder))) return false;
  const above = new Set(pathOf(firstHolder));
  // If one container contains the other, there is no second container.
  if (above.has(secondHolder) || isIn(first[0] as Block, secondHolder)) return false;
  const below = pathOf(secondHolder).filter((element) => !above.has(element));
  const shared = below[below.length - 1]?.parentNode ?? null;
  const path = pathOf(firstHolder);
  const beside = path.slice(0, Math.max(0, shared === null ? 0 : path.indexOf(shared)));
  const [branch, other] = [below[below.length - 1], beside[beside.length - 1]];
  if (branch === undefined || (branch.tag === other?.tag && branch.className === other.className)) return false;
  // Text directly beside the container, and small repetitions, are only a copy if a class name says so.
  if (other !== undefined && sumChars(second) >= total * COPY_SHARE_MIN) return true;
  return [...below, ...beside].some(({ className, id }) => MEDIUM.test(`${className} ${id}`));
}

function isIn({ element }: Block, container: PageElement): boolean {
  return element === container || closest(element, (above) => above === container) !== undefined;
}

/** The smallest element that contains all of these consecutive blocks. */
function commonElement(blocks: readonly Block[]): PageElement {
  const start = (blocks[0] as Block).element;
  const path = new Set(pathOf((blocks[blocks.length - 1] as Block).element));
  return path.has(start) ? start : (closest(start, (element) => path.has(element)) ?? start);
}

/** The element and its ancestors, from the inside out. */
function pathOf(element: PageElement): PageElement[] {
  const path: PageElement[] = [];
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) path.push(at);
  return path;
}
