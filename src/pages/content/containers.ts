// Measures how text is distributed over the elements of a page, and which element probably holds the main text.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

/** Totals over all blocks below an element. */
export interface BlockTotals {
  chars: number;
  linkChars: number;
  blocks: number;
  /** Characters in blocks that read like prose. */
  prose: number;
  /** Weighted prose that the blocks below this element contribute to it. */
  score: number;
}

/** Statistics of the elements around a block. */
export interface ContainerStats {
  /** Totals of every element that holds text. */
  readonly totals: ReadonlyMap<PageElement, BlockTotals>;
  /** The element that probably holds the main text. */
  readonly top: PageElement;
  /** The top element and its ancestors, each with its distance from the top element. */
  readonly above: ReadonlyMap<PageElement, number>;
  readonly forBlock: (block: Block) => number[];
}

/** A block shorter than this does not vote for its container. */
const PROSE_CHARS_MIN = 60;
/**
 * A container above the best one is taken instead if its score is at least this share of the best, since a text is often divided
 * into sections.
 */
const PARENT_SHARE = 0.75;

/** Measures all elements that hold blocks. */
export function measureContainers(body: PageElement, blocks: readonly Block[]): ContainerStats {
  const totals = new Map<PageElement, BlockTotals>();
  const totalsOf = (element: PageElement): BlockTotals => {
    let found = totals.get(element);
    if (found === undefined) {
      found = { chars: 0, linkChars: 0, blocks: 0, prose: 0, score: 0 };
      totals.set(element, found);
    }
    return found;
  };
  for (const block of blocks) {
    const prose = proseOf(block);
    let share = 1;
    for (let element: PageElement | null = block.element; element !== null; element = element.parentNode) {
      const sums = totalsOf(element);
      sums.chars += block.text.length;
      sums.linkChars += block.linkChars;
      sums.blocks++;
      sums.prose += prose;
      // A block's prose counts fully for the parent of its element, and less for each ancestor above.
      if (element !== block.element || share < 1) sums.score += prose * share;
      share = element === block.element ? 1 : share * 0.55;
    }
  }
  const top = bestContainer(totals, body);
  const above = ancestorsOf(top);
  const whole = totals.get(body) ?? totalsOf(body);
  return {
    totals,
    top,
    above,
    forBlock: (block) => {
      const levels = levelsOf(block.element, totals);
      let distance = 0;
      let element: PageElement | null = block.element;
      while (element !== null && element !== top && !above.has(element)) {
        distance++;
        element = element.parentNode;
      }
      const common = element === null ? 0 : (above.get(element) ?? 0);
      return [
        ...levels,
        element === top ? 1 : 0,
        Math.min(distance, 12),
        common,
        (totals.get(top)?.chars ?? 0) / Math.max(1, whole.chars),
      ];
    },
  };
}

/** The number of characters of a block that read like prose. */
export function proseOf(block: Block): number {
  const { text } = block;
  if (text.length < PROSE_CHARS_MIN) return 0;
  const isSentence = /[.!?。！？,，]/.test(text);
  return (text.length - block.linkChars) * (1 - block.linkChars / text.length) * (isSentence ? 1 : 0.3);
}

function bestContainer(totals: ReadonlyMap<PageElement, BlockTotals>, body: PageElement): PageElement {
  let best = body;
  let bestScore = 0;
  for (const [element, sums] of totals) {
    const score = sums.score * (1 - sums.linkChars / Math.max(1, sums.chars));
    if (score > bestScore) {
      best = element;
      bestScore = score;
    }
  }
  for (let parent = best.parentNode; parent !== null; parent = parent.parentNode) {
    const sums = totals.get(parent);
    if (sums === undefined || sums.score < bestScore * PARENT_SHARE) break;
    best = parent;
  }
  return best;
}

/** The top element and its ancestors, each with its distance. */
function ancestorsOf(top: PageElement): Map<PageElement, number> {
  const above = new Map<PageElement, number>([[top, 0]]);
  let distance = 0;
  for (let element = top.parentNode; element !== null; element = element.parentNode) above.set(element, ++distance);
  return above;
}

/** The figures (size, links, blocks, prose) of an element and of the ancestors above it. */
function levelsOf(start: PageElement, totals: ReadonlyMap<PageElement, BlockTotals>): number[] {
  const figures: number[] = [];
  let element: PageElement | null = start;
  let chars = 0;
  // Ancestors that hold no more text than the level below are skipped, as they add no information.
  for (let level = 0; level < 4; level++) {
    while (element !== null && level > 0 && (totals.get(element)?.chars ?? 0) <= chars) element = element.parentNode;
    const sums = element === null ? undefined : totals.get(element);
    if (sums === undefined) {
      figures.push(-1, -1, -1, -1);
      continue;
    }
    figures.push(
      Math.log1p(sums.chars),
      sums.linkChars / Math.max(1, sums.chars),
      Math.log1p(sums.blocks),
      sums.prose / Math.max(1, sums.chars),
    );
    chars = sums.chars;
  }
  return figures;
}
