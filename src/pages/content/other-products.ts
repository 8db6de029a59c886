// Drops the tiles of other products on a page about one product, such as "Similar items": on short pages they are most of the text.

import { isRecord } from "../../base/json-object.ts";
import type { PageElement } from "../dom/node.ts";
import type { Entity } from "../structured/entity.ts";
import type { Block } from "./blocks.ts";
import { describedSubject } from "./described.ts";
import { AMOUNT, beginsWithWordsOf, headlineOf, isNamedPrice, pricesBeside } from "./expected-parts.ts";
import { headingLevel, type JudgedPage } from "./judged.ts";
import { isCollection } from "./page-traits.ts";

/** Fewer similar parts may be the forms in which the product is sold. */
const TILES_MIN = 4;
/** The share of the tiles that must have a price. */
const PRICED_SHARE = 0.75;
/** Longer parts say more than the name of another product. */
const TILE_CHARS_MAX = 400;
/** The name of another product; the forms of the same one have shorter names. */
const NAME_CHARS_MIN = 15;

/** What is said above the parts of a product, such as those of a set, or above the forms to choose from. */
const OWN =
  /\b(?:contains?|includes?|included|including|consists? of|inside|what(?:[’']| i)s in|in the (?:box|set|kit|bundle|pack)|(?:set|kit|box|bundle|pack) contents?|(?:choose|select|pick) (?:your|an?|the)|available (?:in|as)|versions|sizes?|colou?rs?|flavou?rs?|variants?|incluye|incluid[oa]s?|inclus[eoi]?s?|inclui|contiene|contient|comprende|conteúdo|tallas?|tailles?|coloris|couleurs?|colores?|cores|colori|taglie|bevat|inhoud|inbegrepen|kleuren|maten|zawiera|zawartość|kolory|rozmiary)(?!\p{L})|enthält|enthalten|lieferumfang|inhalt|besteht aus|bestandteile|variante|ausführung|größe|farbe|contenu|contenido|contenuto|composé|内容|同梱|含まれ|サイズ|カラー|色違い|バリエーション|包含|套装|颜色|尺寸|구성|색상|사이즈|محتويات|تحتوي|يشمل|اللون|الألوان|المقاس/iu;
/** How many blocks before a row of tiles are read for it, and how long they may be. */
const LABEL_REACH = 3;
const LABEL_CHARS_MAX = 60;
/** The path of a page. That of a program does not count: its addresses differ in their queries alone from product to product. */
const PAGE_PATH = /^(?:https?:\/\/[^/]+)?\/.*(?<!\/|\.\w{2,4})$/s;

/** A part of the page with few blocks. */
interface Tile {
  readonly element: PageElement;
  readonly blocks: Block[];
  chars: number;
}

/** Drops such tiles, and the headings above them. */
export function dropOtherProducts(page: JudgedPage): void {
  const { document, blocks, kept } = page;
  const headline = headlineOf(document, blocks);
  const around = new Set<PageElement>();
  for (const { element } of headline)
    for (let at: PageElement | null = element; at !== null; at = at.parentNode) around.add(at);
  const groups = groupsOf(document.body, blocks, around);
  if (groups.length === 0 || !isOfOneProduct(page, new Set(groups.flat().flatMap((tile) => tile.blocks)))) return;
  const name = headline.map(({ text }) => text).join(" ");
  const others = groups.filter((group) => !isOfTheProduct(group, name, blocks));
  const dropped = new Set(others.flat().flatMap((tile) => tile.blocks));
  if ([...kept].every((block) => dropped.has(block))) return;
  for (const block of dropped) kept.delete(block);
  dropHeadings(blocks, kept, dropped);
}

/** Whether a page is surely about one product: its data tell of one only, or its headline has a price and its kind allows it. */
function isOfOneProduct({ document, blocks, kind }: JudgedPage, tiled: ReadonlySet<Block>): boolean {
  const subject = describedSubject(document);
  // Shops describe a whole category as a product, too, but offer no such thing.
  if (subject !== undefined && /Product/.test(String(subject["@type"])) && isOffered(subject)) return true;
  if (/^(?:collection|listing|article)$/.test(kind() ?? "") || isCollection(document)) return false;
  // Above a category, too, stands an amount such as "Free shipping from €50", or the price of the first tile.
  const isOwn = (block: Block) => !tiled.has(block) && (kind() === "product" || isNamedPrice(block));
  return pricesBeside(document, blocks).some(isOwn);
}

/** Whether the tiles are parts or forms of the product: by what is said above them, by their names, or by where they lead. */
function isOfTheProduct(group: readonly Tile[], name: string, blocks: readonly Block[]): boolean {
  const first = group[0]?.blocks[0]?.index ?? 0;
  for (let at = first - 1; at >= Math.max(0, first - LABEL_REACH); at--) {
    const label = blocks[at] as Block;
    if (label.text.length <= LABEL_CHARS_MAX && OWN.test(label.text)) return true;
    if (headingLevel(label) > 0) break;
  }
  const named = group.filter((tile) => tile.blocks.some(({ text }) => beginsWithWordsOf(text, name)));
  if (named.length >= group.length / 2) return true;
  const paths = new Set(group.map(({ element }) => pathOf(element)));
  const [path = ""] = paths;
  return paths.size === 1 && PAGE_PATH.test(path);
}

/** Where a tile leads, without the query. */
function pathOf(tile: PageElement): string {
  const link = tile.tag === "a" ? tile : tile.getElementsByTagName("a").find(({ attributes }) => "href" in attributes);
  const href = link?.attributes["href"] ?? "";
  return href.replace(/[?#].*$/s, "");
}

/** Whether a product, or one of the forms in which it is sold, is offered. */
function isOffered(product: Entity): boolean {
  if (hasOffer(product["offers"])) return true;
  const forms = product["hasVariant"];
  return (Array.isArray(forms) ? forms : [forms]).some((form) => isRecord(form) && hasOffer(form["offers"]));
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
      if (tile === undefined) tiles.set(at, { element: at, blocks: [block], chars: block.text.length });
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
