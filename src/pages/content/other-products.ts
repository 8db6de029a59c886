// Drops the tiles of other products on a page about one product, such as "Similar items": on short pages they are most of the text.

import { isRecord } from "../../base/json-object.ts";
import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { describedSubject } from "./described.ts";
import { AMOUNT, headlineOf, pricesBeside } from "./expected-parts.ts";
import { headingLevel, type JudgedPage } from "./judged.ts";

/** Fewer similar parts may be the forms in which the product is sold. */
const TILES_MIN = 4;
/** The share of the tiles that must have a price. */
const PRICED_SHARE = 0.75;
/** Longer parts say more than the name of another product. */
const TILE_CHARS_MAX = 400;
/** The name of another product; the forms of the same one have shorter names. */
const NAME_CHARS_MIN = 15;

/** A part of the page with few blocks. */
interface Tile {
  readonly blocks: Block[];
  chars: number;
}

/** Drops such tiles, and the headings above them. */
export function dropOtherProducts(page: JudgedPage): void {
  const { document, blocks, kept } = page;
  const headline = new Set<PageElement>();
  for (const { element } of headlineOf(document, blocks))
    for (let at: PageElement | null = element; at !== null; at = at.parentNode) headline.add(at);
  const tiles = groupsOf(document.body, blocks, headline).flat();
  if (tiles.length === 0 || !isOfOneProduct(page)) return;
  const dropped = new Set(tiles.flatMap((tile) => tile.blocks));
  if ([...kept].every((block) => dropped.has(block))) return;
  for (const block of dropped) kept.delete(block);
  dropHeadings(blocks, kept, dropped);
}

/** Whether a page is surely about one product: its data tell of one only, or its headline has a price and its kind allows it. */
function isOfOneProduct({ document, blocks, kind }: JudgedPage): boolean {
  const subject = describedSubject(document);
  // Shops describe a whole category as a product, too, but offer no such thing.
  if (subject !== undefined && /Product/.test(String(subject["@type"])) && hasOffer(subject["offers"])) return true;
  return !/^(?:collection|listing)$/.test(kind() ?? "") && pricesBeside(document, blocks).length > 0;
}

function hasOffer(offers: unknown): boolean {
  if (Array.isArray(offers)) return offers.some(hasOffer);
  return isRecord(offers) && offers["@type"] === "Offer";
}

/** Drops a heading above dropped tiles. */
function dropHeadings(blocks: readonly Block[], kept: Set<Block>, dropped: ReadonlySet<Block>): void {
  let isBeforeDropped = false;
  for (let index = blocks.length - 1; index >= 0; index--) {
    const block = blocks[index] as Block;
    if (dropped.has(block)) isBeforeDropped = true;
    else if (kept.has(block)) {
      if (isBeforeDropped && headingLevel(block) > 1) kept.delete(block);
      else isBeforeDropped = false;
    }
  }
}

/** The rows of similar parts that each name another product, mostly with a price. */
function groupsOf(body: PageElement, blocks: readonly Block[], headline: ReadonlySet<PageElement>): Tile[][] {
  const tiles = new Map<PageElement, Tile>();
  for (const block of blocks)
    for (let at: PageElement | null = block.element; at !== null && !headline.has(at); at = at.parentNode) {
      const tile = tiles.get(at);
      // What is too long already says nothing of the elements around it that is not known.
      if (tile !== undefined && tile.chars > TILE_CHARS_MAX) continue;
      if (tile === undefined) tiles.set(at, { blocks: [block], chars: block.text.length });
      else {
        tile.blocks.push(block);
        tile.chars += block.text.length;
      }
    }
  const rows = new Map<PageElement, Map<string, Tile[]>>();
  const linked = elementsAround(body.getElementsByTagName("a").filter(({ attributes }) => "href" in attributes));
  // The cards of plans and of forms to choose from have links and prices, too, but seldom a picture each.
  const pictured = elementsAround(body.getElementsByTagName("img"));
  for (const [element, tile] of tiles) {
    if (element.parentNode === null || !linked.has(element) || !pictured.has(element)) continue;
    if (!isTile(element, tile)) continue;
    const row = rows.get(element.parentNode) ?? new Map<string, Tile[]>();
    rows.set(element.parentNode, row);
    const own = row.get(element.tag);
    if (own === undefined) row.set(element.tag, [tile]);
    else own.push(tile);
  }
  return [...rows.values()]
    .flatMap((row) => [...row.values()])
    .filter((group) => group.length >= TILES_MIN && group.filter(hasPrice).length >= group.length * PRICED_SHARE);
}

function isTile(element: PageElement, { blocks, chars }: Tile): boolean {
  if (blocks.length < 2 || chars > TILE_CHARS_MAX || /^(?:tr|td|th|tbody|dt|dd)$/.test(element.tag)) return false;
  return blocks.some(({ text }) => text.length >= NAME_CHARS_MIN && !AMOUNT.test(text));
}

/** The elements around certain ones, and these. */
function elementsAround(inner: readonly PageElement[]): ReadonlySet<PageElement> {
  const around = new Set<PageElement>();
  for (const element of inner)
    for (let at: PageElement | null = element; at !== null && !around.has(at); at = at.parentNode) around.add(at);
  return around;
}

function hasPrice({ blocks }: Tile): boolean {
  return blocks.some(({ text }) => AMOUNT.test(text));
}
