// The features of the second pass: a block's first verdict, and the verdicts on its neighbours and on the elements around it.
// Main text comes in runs, so each block is judged again in its context.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

/** Number of neighbours on each side whose verdict is used. */
const REACH = 4;
/** Number of levels of containers whose verdicts are used. */
const LEVELS = 4;

/** The first pass's rows, each extended by the verdicts in its neighbourhood. */
export function contextRows(
  blocks: readonly Block[],
  rows: readonly Float32Array[],
  verdicts: readonly number[],
): Float32Array[] {
  const sums = new Map<PageElement, { chars: number; kept: number; blocks: number; keptBlocks: number }>();
  let total = 0;
  let totalKept = 0;
  for (const block of blocks) {
    const verdict = verdicts[block.index] as number;
    total += block.text.length;
    totalKept += block.text.length * verdict;
    for (let element: PageElement | null = block.element; element !== null; element = element.parentNode) {
      let sum = sums.get(element);
      if (sum === undefined) {
        sum = { chars: 0, kept: 0, blocks: 0, keptBlocks: 0 };
        sums.set(element, sum);
      }
      sum.chars += block.text.length;
      sum.kept += block.text.length * verdict;
      sum.blocks++;
      sum.keptBlocks += verdict;
    }
  }
  const shapes = new Map<string, { count: number; sum: number }>();
  const shapeOfEach = blocks.map((block) => {
    const key = shapeOf(block);
    const entry = shapes.get(key) ?? { count: 0, sum: 0 };
    entry.count++;
    entry.sum += verdicts[block.index] as number;
    shapes.set(key, entry);
    return entry;
  });
  const strong = verdicts
    .map((verdict, i) => (verdict > 0.6 && (blocks[i] as Block).text.length > 60 ? i : -1))
    .filter((i) => i >= 0);
  const firstStrong = strong[0] ?? -1;
  const lastStrong = strong[strong.length - 1] ?? -1;
  const sections = sectionVerdicts(blocks, verdicts);
  let before = 0;
  return blocks.map((block, i) => {
    const extra: number[] = [verdicts[i] as number];
    for (let offset = -REACH; offset <= REACH; offset++) if (offset !== 0) extra.push(verdicts[i + offset] ?? -1);
    extra.push(windowMean(blocks, verdicts, i, 10));
    let chars = -1;
    let element: PageElement | null = block.element;
    for (let level = 0; level < LEVELS; level++) {
      while (element !== null && (sums.get(element)?.chars ?? 0) <= chars) element = element.parentNode;
      const sum = element === null ? undefined : sums.get(element);
      if (sum === undefined) extra.push(-1, -1, -1);
      else {
        extra.push(sum.kept / sum.chars, sum.keptBlocks / sum.blocks, sum.kept / Math.max(1, totalKept));
        chars = sum.chars;
      }
    }
    const shape = shapeOfEach[i] as { count: number; sum: number };
    extra.push(shape.sum / shape.count, shape.count);
    extra.push(totalKept / Math.max(1, total), Math.log1p(totalKept));
    extra.push(firstStrong < 0 ? 0 : clamp(i - firstStrong), lastStrong < 0 ? 0 : clamp(i - lastStrong));
    extra.push(before / Math.max(1, totalKept), ...(sections[i] as number[]));
    before += block.text.length * (verdicts[i] as number);
    const own = rows[i] as Float32Array;
    const row = new Float32Array(own.length + extra.length);
    row.set(own);
    row.set(extra, own.length);
    return row;
  });
}

/** For each block, the verdict on the heading above it and on all text under that heading. */
function sectionVerdicts(blocks: readonly Block[], verdicts: readonly number[]): number[][] {
  const found: number[][] = [];
  let start = 0;
  const close = (end: number) => {
    let chars = 0;
    let kept = 0;
    for (let i = start; i < end; i++) {
      const length = (blocks[i] as Block).text.length;
      chars += length;
      kept += length * (verdicts[i] as number);
    }
    const heading = start > 0 || isHeading(blocks[0]) ? (verdicts[start] as number) : -1;
    for (let i = start; i < end; i++) found.push([heading, kept / Math.max(1, chars), Math.log1p(chars)]);
    start = end;
  };
  blocks.forEach((block, i) => {
    if (i > 0 && isHeading(block)) close(i);
  });
  close(blocks.length);
  return found;
}

function isHeading(block: Block | undefined): boolean {
  return block !== undefined && /^h[1-6]$/.test(block.element.tag);
}

function windowMean(blocks: readonly Block[], verdicts: readonly number[], at: number, reach: number): number {
  let chars = 0;
  let kept = 0;
  for (let i = Math.max(0, at - reach); i <= Math.min(blocks.length - 1, at + reach); i++) {
    const length = (blocks[i] as Block).text.length;
    chars += length;
    kept += length * (verdicts[i] as number);
  }
  return kept / Math.max(1, chars);
}

function shapeOf(block: Block): string {
  const { element } = block;
  const parent = element.parentNode;
  return `${element.tag}.${element.className}<${parent?.tag}.${parent?.className}`;
}

function clamp(value: number): number {
  return Math.max(-100, Math.min(100, value));
}
