// The features of the second pass: a block's first verdict, and the verdicts on its neighbours and on the elements around it.
// Main text comes in runs, so each block is judged again in its context.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

/** Number of neighbours on each side whose verdict is used. */
const REACH = 4;
/** Number of blocks on each side whose verdicts are averaged. */
const WINDOW = 10;
/** Number of levels of containers whose verdicts are used. */
const LEVELS = 4;
/** Number of features that the verdicts give a block. */
const WIDTH = 2 * REACH + 3 * LEVELS + 12;

/** Where the blocks of a page stand, read once for all verdicts on them. */
export interface Neighbourhood {
  readonly blocks: readonly Block[];
  /** The elements of the blocks and those around them, by number. */
  readonly nodes: readonly PageElement[];
  /** The number of each block's element, and the number of the element around each element; -1 for none. */
  readonly elements: Int32Array;
  readonly parents: Int32Array;
  /** The length of the text, and the number of blocks, in each element. */
  readonly chars: Float64Array;
  readonly counts: Float64Array;
  /** For each block, the elements around it that each have more text than the one before; -1 for none. */
  readonly levels: Int32Array;
  /** The number of each block's shape, and how many blocks have that shape. */
  readonly shapes: Int32Array;
  readonly shapeCounts: Float64Array;
  /** The length of all text. */
  readonly total: number;
}

/** Reads where the blocks stand. */
export function readNeighbourhood(blocks: readonly Block[]): Neighbourhood {
  const { nodes, elements, parents } = numberElements(blocks);
  const chars = new Float64Array(parents.length);
  const counts = new Float64Array(parents.length);
  const shapes = new Int32Array(blocks.length);
  const shapeNumbers = new Map<string, number>();
  const shapeCounts = new Float64Array(blocks.length);
  let total = 0;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Block;
    const { length } = block.text;
    total += length;
    for (let at = elements[i] as number; at >= 0; at = parents[at] as number) {
      chars[at] = (chars[at] as number) + length;
      counts[at] = (counts[at] as number) + 1;
    }
    const key = shapeOf(block);
    const shape = shapeNumbers.get(key) ?? shapeNumbers.size;
    shapeNumbers.set(key, shape);
    shapes[i] = shape;
    shapeCounts[shape] = (shapeCounts[shape] as number) + 1;
  }
  const levels = new Int32Array(blocks.length * LEVELS).fill(-1);
  for (let i = 0; i < blocks.length; i++) {
    let known = -1;
    let at = elements[i] as number;
    for (let level = 0; level < LEVELS; level++) {
      while (at >= 0 && (chars[at] as number) <= known) at = parents[at] as number;
      if (at < 0) break;
      levels[i * LEVELS + level] = at;
      known = chars[at] as number;
    }
  }
  return { blocks, nodes, elements, parents, chars, counts, levels, shapes, shapeCounts, total };
}

function numberElements(blocks: readonly Block[]): Pick<Neighbourhood, "nodes" | "elements" | "parents"> {
  const nodes: PageElement[] = [];
  const numbers = new Map<PageElement, number>();
  const parents: number[] = [];
  const elements = Int32Array.from(blocks, ({ element: own }) => {
    let below = -1;
    for (let element: PageElement | null = own; element !== null; element = element.parentNode) {
      const known = numbers.get(element);
      const number = known ?? parents.push(-1) - 1;
      if (below >= 0) parents[below] = number;
      if (known !== undefined) break;
      numbers.set(element, number);
      nodes.push(element);
      below = number;
    }
    return numbers.get(own) as number;
  });
  return { nodes, elements, parents: Int32Array.from(parents) };
}

/** The rows, each extended by some numbers of its own and by what each list of verdicts says of its neighbourhood. */
export function contextRows(
  neighbourhood: Neighbourhood,
  rows: readonly Float32Array[],
  {
    own,
    verdicts,
  }: { readonly own: readonly (readonly number[])[]; readonly verdicts: readonly (readonly number[])[] },
): Float32Array[] {
  const start = (rows[0]?.length ?? 0) + (own[0]?.length ?? 0);
  const wide = rows.map((row, i) => {
    const wider = new Float32Array(start + WIDTH * verdicts.length);
    wider.set(row);
    wider.set(own[i] as readonly number[], row.length);
    return wider;
  });
  verdicts.forEach((list, at) => {
    writeContext(neighbourhood, wide, { verdicts: list, start: start + WIDTH * at });
  });
  return wide;
}

/** Writes into each row, from a place on, the verdicts in its neighbourhood. */
function writeContext(
  neighbourhood: Neighbourhood,
  rows: readonly Float32Array[],
  { verdicts, start }: { readonly verdicts: readonly number[]; readonly start: number },
): void {
  const { blocks, chars, counts, levels, shapes, shapeCounts, total } = neighbourhood;
  const { kept, keptBlocks, shapeSums, totalKept } = sumVerdicts(neighbourhood, verdicts);
  const isStrong = (block: Block, i: number) => (verdicts[i] as number) > 0.6 && block.text.length > 60;
  const firstStrong = blocks.findIndex(isStrong);
  const lastStrong = blocks.findLastIndex(isStrong);
  const sections = sectionVerdicts(blocks, verdicts);
  const keptChars = Math.max(1, totalKept);
  const shareKept = totalKept / Math.max(1, total);
  const logKept = Math.log1p(totalKept);
  let before = 0;
  blocks.forEach((block, i) => {
    const row = rows[i] as Float32Array;
    let to = start;
    const verdict = verdicts[i] as number;
    row[to++] = verdict;
    for (let offset = -REACH; offset <= REACH; offset++) if (offset !== 0) row[to++] = verdicts[i + offset] ?? -1;
    row[to++] = windowMean(blocks, verdicts, i);
    for (let level = i * LEVELS; level < (i + 1) * LEVELS; level++) {
      const at = levels[level] as number;
      row[to++] = at < 0 ? -1 : (kept[at] as number) / (chars[at] as number);
      row[to++] = at < 0 ? -1 : (keptBlocks[at] as number) / (counts[at] as number);
      row[to++] = at < 0 ? -1 : (kept[at] as number) / keptChars;
    }
    const shape = shapes[i] as number;
    row[to++] = (shapeSums[shape] as number) / (shapeCounts[shape] as number);
    row[to++] = shapeCounts[shape] as number;
    row[to++] = shareKept;
    row[to++] = logKept;
    row[to++] = firstStrong < 0 ? 0 : clamp(i - firstStrong);
    row[to++] = lastStrong < 0 ? 0 : clamp(i - lastStrong);
    row[to++] = before / keptChars;
    row.set(sections[i] as readonly number[], to);
    before += block.text.length * verdict;
  });
}

/** What the verdicts keep of each element, of each shape and of all text. */
function sumVerdicts({ blocks, elements, parents, shapes }: Neighbourhood, verdicts: readonly number[]) {
  const kept = new Float64Array(parents.length);
  const keptBlocks = new Float64Array(parents.length);
  const shapeSums = new Float64Array(blocks.length);
  let totalKept = 0;
  for (let i = 0; i < blocks.length; i++) {
    const verdict = verdicts[i] as number;
    const length = (blocks[i] as Block).text.length * verdict;
    totalKept += length;
    for (let at = elements[i] as number; at >= 0; at = parents[at] as number) {
      kept[at] = (kept[at] as number) + length;
      keptBlocks[at] = (keptBlocks[at] as number) + verdict;
    }
    const shape = shapes[i] as number;
    shapeSums[shape] = (shapeSums[shape] as number) + verdict;
  }
  return { kept, keptBlocks, shapeSums, totalKept };
}

/** For each block, the verdict on the heading above it and on all text under that heading. */
function sectionVerdicts(blocks: readonly Block[], verdicts: readonly number[]): (readonly number[])[] {
  const found: (readonly number[])[] = [];
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
    const section = [heading, kept / Math.max(1, chars), Math.log1p(chars)];
    for (let i = start; i < end; i++) found.push(section);
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

function windowMean(blocks: readonly Block[], verdicts: readonly number[], at: number): number {
  let chars = 0;
  let kept = 0;
  for (let i = Math.max(0, at - WINDOW); i <= Math.min(blocks.length - 1, at + WINDOW); i++) {
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
