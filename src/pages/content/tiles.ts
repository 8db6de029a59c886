// Keeps the tiles of a shop's product list whole: name, description and price. The introduction alone would be of little use.

import { closest, type PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { AMOUNT } from "./expected-parts.ts";
import { isCollectionPage, isInFrame, type JudgedPage, sumChars } from "./judged.ts";
import { isNamedAside } from "./set-aside.ts";

/** Fewer similar parts do not make a list of products. */
const TILES_MIN = 4;
/** The share of the tiles that must have a price. */
const PRICED_SHARE = 0.75;
/** Longer parts are entries in a list of articles. */
const TILE_CHARS_MAX = 400;
/** If the mean verdict on the tiles is lower, the fitted model is sure that they are secondary. */
const VERDICT_MIN = 0.2;
/** The same on a page that is surely a list of products, for the text that is kept of them. */
const SURE_VERDICT_MIN = 0.1;
/** The fitted model is sure that a part of a tile with a lower verdict is none of its text, such as a call for reviews. */
const PART_VERDICT_MIN = 0.03;

/** Keeps the tiles of a list of products whole. */
export function keepTiles(page: JudgedPage): void {
  const { document, blocks, verdicts, kept } = page;
  if (!isCollectionPage(page)) return;
  const verdictOn = ({ index }: Block) => verdicts[index] as number;
  for (const tiles of tileGroups(document, blocks)) {
    const inside = [...tiles.values()].flat();
    const isAlike = saidByAll(tiles, inside);
    const own = inside.filter(
      (block) => block.element.tag !== "button" && !isAlike(block) && verdictOn(block) >= PART_VERDICT_MIN,
    );
    const mean = inside.reduce((sum, block) => sum + verdictOn(block), 0) / inside.length;
    // By length, so that the names of products say more than the short labels of buttons.
    const expected = own.reduce((sum, block) => sum + verdictOn(block) * block.text.length, 0);
    const isSure = page.kind() === "collection" && expected >= sumChars(own) * SURE_VERDICT_MIN;
    if (mean >= VERDICT_MIN || isSure) for (const block of own) kept.add(block);
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
