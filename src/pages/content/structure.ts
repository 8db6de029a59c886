// A block's place in the structure of its page: the heading above it, the repetition around it, its branch of the page, its
// distance from the prose, and the images beside it. Sites choose names freely but build lists, cards, captions and threads in
// similar ways.

import { elementsOf, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { type BlockTotals, type ContainerStats, proseOf } from "./containers.ts";
import { PHRASES } from "./phrases.ts";

/** Fewer similar siblings do not make a list. */
const ALIKE_MIN = 3;
/** How many levels above a heading are searched for its section. */
const SCOPE_LEVELS_MAX = 8;

/** Siblings that have the same tag and class. */
interface Alike {
  count: number;
  chars: number;
  linkChars: number;
  blocks: number;
}

/** Features of a block's place in the page. */
export function readStructure(
  body: PageElement,
  blocks: readonly Block[],
  containers: ContainerStats,
): (block: Block) => readonly (readonly number[])[] {
  const alike = repetitionOf(containers.totals);
  const pictures = countPictures(body);
  const branch = branchesOf(containers, pictures);
  const prose = proseCentre(blocks);
  const headings = headingsOver(blocks);
  return (block) => [
    ...alike(block.element),
    pictureFigures(block, containers.totals, pictures),
    branch(block),
    prose(block),
    headings[block.index] as number[],
  ];
}

/** The repetitions around an element: the nearest list and the outermost one. */
function repetitionOf(totals: ReadonlyMap<PageElement, BlockTotals>): (element: PageElement) => number[][] {
  const groups = new Map<PageElement, Map<string, Alike>>();
  const groupOf = new Map<PageElement, Alike>();
  for (const [element, sums] of totals) {
    const parent = element.parentNode;
    if (parent === null) continue;
    const siblings = groups.get(parent) ?? new Map<string, Alike>();
    groups.set(parent, siblings);
    const key = `${element.tag}.${element.className}`;
    const group = siblings.get(key) ?? { count: 0, chars: 0, linkChars: 0, blocks: 0 };
    siblings.set(key, group);
    groupOf.set(element, group);
    group.count++;
    group.chars += sums.chars;
    group.linkChars += sums.linkChars;
    group.blocks += sums.blocks;
  }
  const none = [0, 0, 0, 0, 0];
  const known = new Map<PageElement, { near: number[]; outer: number[] }>();
  const look = (element: PageElement): { near: number[]; outer: number[] } => {
    const found = known.get(element);
    if (found !== undefined) return found;
    const parent = element.parentNode;
    const above = parent === null ? { near: none, outer: none } : look(parent);
    const group = groupOf.get(element);
    let answer = above;
    if (group !== undefined && group.count >= ALIKE_MIN) {
      const chars = Math.max(1, group.chars);
      const own = [
        Math.log1p(group.count),
        Math.log1p(chars / group.count),
        group.linkChars / chars,
        group.blocks / group.count,
        (totals.get(element)?.chars ?? 0) / chars,
      ];
      answer = { near: own, outer: above.outer[0] === 0 && group.blocks > group.count ? own : above.outer };
    }
    known.set(element, answer);
    return answer;
  };
  return (element) => {
    const { near, outer } = look(element);
    return [near, outer];
  };
}

function countPictures(body: PageElement): ReadonlyMap<PageElement, number> {
  const counts = new Map<PageElement, number>();
  for (const element of elementsOf(body))
    if (element.tag === "img" || element.tag === "video" || element.tag === "iframe")
      for (let at: PageElement | null = element; at !== null; at = at.parentNode)
        counts.set(at, (counts.get(at) ?? 0) + 1);
  return counts;
}

/** Images in the largest element that holds no other text, and in its parent. They show captions and cards. */
function pictureFigures(
  block: Block,
  totals: ReadonlyMap<PageElement, BlockTotals>,
  pictures: ReadonlyMap<PageElement, number>,
): number[] {
  let alone = block.element;
  let levels = 0;
  while (alone.parentNode !== null && totals.get(alone.parentNode)?.blocks === 1) {
    alone = alone.parentNode;
    levels++;
  }
  const around = alone.parentNode;
  const isAlone = totals.get(alone)?.blocks === 1;
  return [
    isAlone ? Math.min(5, pictures.get(alone) ?? 0) : -1,
    Math.min(10, levels),
    around === null ? 0 : Math.min(10, pictures.get(around) ?? 0),
    around === null ? 0 : (totals.get(around)?.blocks ?? 0) / Math.max(1, pictures.get(around) ?? 0.5),
  ];
}

/** The branch of the page that holds a block: a child of the main container, or of the smallest element that holds both. */
function branchesOf(
  { totals, above }: ContainerStats,
  pictures: ReadonlyMap<PageElement, number>,
): (block: Block) => number[] {
  return (block) => {
    let branch = block.element;
    let levels = 0;
    while (branch.parentNode !== null && !above.has(branch) && !above.has(branch.parentNode)) {
      branch = branch.parentNode;
      levels++;
    }
    const sums = totals.get(branch);
    const chars = Math.max(1, sums?.chars ?? 0);
    return [
      levels,
      Math.log1p(chars),
      (sums?.linkChars ?? 0) / chars,
      (sums?.prose ?? 0) / chars,
      Math.log1p(sums?.blocks ?? 0),
      Math.min(20, pictures.get(branch) ?? 0),
      branch.parentNode === null ? -1 : Math.min(10, above.get(branch.parentNode) ?? -1),
    ];
  };
}

/** How near a block is to most of the prose, by structure, parent, depth and shared ancestors. */
function proseCentre(blocks: readonly Block[]): (block: Block) => number[] {
  const shapes = new Map<string, number>();
  const parents = new Map<PageElement, number>();
  const shapeOf = blocks.map(shapeOfBlock);
  blocks.forEach((block, index) => {
    const prose = proseOf(block);
    if (prose === 0) return;
    const own = shapeOf[index] as string;
    shapes.set(own, (shapes.get(own) ?? 0) + prose);
    const parent = block.element.parentNode;
    if (parent !== null) parents.set(parent, (parents.get(parent) ?? 0) + prose);
  });
  const total = [...shapes.values()].reduce((sum, value) => sum + value, 0);
  const shape = largest(shapes);
  const parent = largest(parents);
  const path = new Map<PageElement, number>();
  let depth = 0;
  for (let at: PageElement | null = parent ?? null; at !== null; at = at.parentNode) path.set(at, depth++);
  return (block) => {
    let own = 0;
    for (let at: PageElement | null = block.element; at !== null; at = at.parentNode) own++;
    let up = 0;
    let at: PageElement | null = block.element;
    while (at !== null && !path.has(at)) {
      at = at.parentNode;
      up++;
    }
    const ownShape = shapeOf[block.index] as string;
    return [
      ownShape === shape ? 1 : 0,
      (shapes.get(ownShape) ?? 0) / Math.max(1, total),
      parent !== undefined && block.element.parentNode === parent ? 1 : 0,
      own - depth - 1,
      up,
      at === null ? 0 : (path.get(at) ?? 0),
    ];
  };
}

function shapeOfBlock({ element }: Block): string {
  return `${element.tag}.${element.className}<${element.parentNode?.tag}.${element.parentNode?.className}`;
}

function largest<K>(sums: ReadonlyMap<K, number>): K | undefined {
  let best: K | undefined;
  let most = 0;
  for (const [key, value] of sums)
    if (value > most) {
      best = key;
      most = value;
    }
  return best;
}

/** The heading above each block: its level, its distance, its subject, and whether the block is in its section. */
function headingsOver(blocks: readonly Block[]): number[][] {
  let heading: Block | undefined;
  let path: ReadonlyMap<PageElement, number> = new Map();
  let flags: number[] = PHRASES.map(() => 0);
  return blocks.map((block) => {
    const figures = [
      heading === undefined ? 0 : Number(heading.element.tag[1]),
      heading === undefined ? -1 : Math.min(60, block.index - heading.index),
      heading === undefined ? -1 : levelsToShared(path, block.element),
      heading === undefined ? -1 : Math.log1p(heading.text.length),
      ...flags,
    ];
    if (/^h[1-6]$/.test(block.element.tag)) {
      heading = block;
      path = levelsAbove(block.element);
      flags = PHRASES.map((phrase) => (phrase.test(block.text) ? 1 : 0));
    }
    return figures;
  });
}

function levelsAbove(heading: PageElement): ReadonlyMap<PageElement, number> {
  const levels = new Map<PageElement, number>();
  for (let at = heading.parentNode; at !== null; at = at.parentNode) levels.set(at, levels.size);
  return levels;
}

/** The number of levels from a heading up to the element that also holds the other one. */
function levelsToShared(levels: ReadonlyMap<PageElement, number>, element: PageElement): number {
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) {
    const level = levels.get(at);
    if (level !== undefined) return Math.min(level, SCOPE_LEVELS_MAX);
  }
  return SCOPE_LEVELS_MAX;
}
