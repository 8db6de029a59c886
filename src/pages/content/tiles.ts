// Keeps the tiles of a shop's product list whole: name, description and price. The introduction alone would be of little use.

import { closest, type PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { AMOUNT } from "./expected-parts.ts";
import { isCollectionPage, isInFrame, type JudgedPage } from "./judged.ts";
import { isNamedAside } from "./set-aside.ts";

/** Fewer similar parts do not make a list of products. */
const TILES_MIN = 4;
/** The share of the tiles that must have a price. */
const PRICED_SHARE = 0.75;
/** Longer parts are entries in a list of articles. */
const TILE_CHARS_MAX = 400;
/** If the mean verdict on the tiles is lower, the fitted model is sure that they are secondary. */
const VERDICT_MIN = 0.2;

/** Keeps the tiles of a list of products whole. */
export function keepTiles(page: JudgedPage): void {
  const { document, blocks, verdicts, kept } = page;
  if (!isCollectionPage(page)) return;
  for (const tiles of tileGroups(document, blocks)) {
    const inside = [...tiles.values()].flat();
    const mean = inside.reduce((sum, block) => sum + (verdicts[block.index] as number), 0) / inside.length;
    if (mean < VERDICT_MIN) continue;
    const isAlike = saidByAll(tiles, inside);
    for (const block of inside) if (block.element.tag !== "button" && !isAlike(block)) kept.add(block);
  }
}

/** Tells which text all tiles have in common, such as "Quick view". */
function saidByAll(
  tiles: ReadonlyMap<PageElement, readonly Block[]>,
  inside: readonly Block[],
): (block: Block) => boolean {
  const counts = new Map<string, number>();
  for (const { text } of inside) counts.set(text, (counts.get(text) ?? 0) + 1);
  return ({ text }) => !AMOUNT.test(text) && (counts.get(text) ?? 0) >= tiles.size * PRICED_SHARE;
}

/** Groups of similar parts that have a link and mostly a price, each with its blocks. */
function tileGroups(document: PageDocument, blocks: readonly Block[]): Map<PageElement, Block[]>[] {
  const parts = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    if (isInFrame(block)) continue;
    for (let at: PageElement | null = block.element; at !== null && at !== document.body; at = at.parentNode) {
      const own = parts.get(at);
      if (own === undefined) parts.set(at, [block]);
      else own.push(block);
    }
  }
  const rows = new Map<PageElement, Map<string, Map<PageElement, Block[]>>>();
  for (const [element, own] of parts) {
    if (element.parentNode === null || own.length < 2 || !isTile(own)) continue;
    const row = rows.get(element.parentNode) ?? new Map<string, Map<PageElement, Block[]>>();
    rows.set(element.parentNode, row);
    const key = `${element.tag}.${element.className}`;
    row.set(key, (row.get(key) ?? new Map<PageElement, Block[]>()).set(element, own));
  }
  const groups: Map<PageElement, Block[]>[] = [];
  for (const [row, kinds] of rows)
    for (const tiles of kinds.values()) {
      const priced = [...tiles.values()].filter((own) => own.some(({ text }) => AMOUNT.test(text))).length;
      const isAside = isNamedAside(row) || closest(row, isNamedAside) !== undefined;
      if (tiles.size >= TILES_MIN && priced >= tiles.size * PRICED_SHARE && !isAside) groups.push(tiles);
    }
  return groups;
}

function isTile(own: readonly Block[]): boolean {
  return (
    own.some(({ linkCount }) => linkCount > 0) && own.reduce((sum, { text }) => sum + text.length, 0) <= TILE_CHARS_MAX
  );
}
