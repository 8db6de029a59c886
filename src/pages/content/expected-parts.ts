// Keeps the parts that a reader expects of a page, whatever the fitted model decides: the headline, the price beside a product's
// headline, the captions of images amid kept text, and the notes to which kept text refers.

import { lazily } from "../../base/lazily.ts";
import { percentDecoded } from "../../base/percent.ts";
import { closest, elementsOf, PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { BLOCK_TAGS, type Block } from "./blocks.ts";
import { headingLevel, isInFrame, isInSiteFooter, type JudgedPage, shareOfKept } from "./judged.ts";
import { metaContent, saysProduct } from "./page-traits.ts";
import { isCredit, isPointer } from "./signs.ts";
import { isChoices } from "./spoken.ts";

/** Longer headings are paragraphs that are marked up as headings. */
const HEADLINE_CHARS_MAX = 300;
/** The share of a headline's words that the page's title must contain. */
const TITLE_SHARE = 0.7;

/** Keeps the headline of the page. */
export function keepHeadline({ document, blocks, kept }: JudgedPage): void {
  if (kept.size === 0) return;
  const headline = headlineOf(document, blocks);
  for (const block of headline.length > 0 ? headline : lowerHeadline(document, blocks)) kept.add(block);
}

/** On a page without an h1, as of some forums: the first h2 that says just what the title does, before the name of the site. */
function lowerHeadline(document: PageDocument, blocks: readonly Block[]): readonly Block[] {
  if (blocks.some((block) => isH1(block.element) || closest(block.element, isH1) !== undefined)) return [];
  const titles = [document.title, ...titleParts(document.title), metaContent(document, "og:title")];
  const wanted = new Set(titles.map((title) => wordsOf(title).join(" ")).filter((title) => title !== ""));
  const found = blocks.find(
    (block) => headingLevel(block) === 2 && wanted.has(wordsOf(block.text).join(" ")) && !isInFrame(block),
  );
  return found === undefined || isSiteName(document, found.element, [found]) ? [] : [found];
}

/** The parts of a title, without the last one, which names the site. */
function titleParts(title: string): readonly string[] {
  return title.split(TITLE_PARTING).slice(0, -1);
}

const TITLE_PARTING = /\s+[|–—·»-]\s+/;

/** The blocks of the page's h1: the one that the title names, else the only one. None when it is ambiguous. */
export function headlineOf(document: PageDocument, blocks: readonly Block[]): readonly Block[] {
  const found = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    const heading = isH1(block.element) ? block.element : closest(block.element, isH1);
    if (heading === undefined) continue;
    const list = found.get(heading);
    if (list === undefined) found.set(heading, [block]);
    else list.push(block);
  }
  const site = wordsOf(metaContent(document, "og:site_name"));
  const candidates = [...found].filter(
    ([heading, own]) => isHeadline(heading, own, site) && !isSiteName(document, heading, own),
  );
  const titled = candidates.filter(([, own]) => isTitled(document, own.map(({ text }) => text).join(" ")));
  const [only] = titled.length > 0 ? titled : candidates.length === 1 ? candidates : [];
  return only?.[1] ?? [];
}

/** Whether the page's title names the text. */
export function isTitled(document: PageDocument, text: string): boolean {
  const words = wordsOf(text);
  return [document.title, metaContent(document, "og:title")]
    .map(wordsOf)
    .some((title) => title.length > 0 && names(title, words));
}

/** Whether a text has words, and all of them stand in the page's title. The last one may be cut off. */
export function repeatsOnlyTitle(document: PageDocument, text: string): boolean {
  const words = wordsOf(text);
  const cut = /(?:…|\.\.\.)$/.test(text) ? words.pop() : undefined;
  if (words.length === 0) return false;
  return [document.title, metaContent(document, "og:title")].map(wordsOf).some((title) => {
    const said = new Set(title);
    return words.every((word) => said.has(word)) && (cut === undefined || title.some((word) => word.startsWith(cut)));
  });
}

/** Whether a text begins with a name of several words. */
export function beginsWithWordsOf(text: string, name: string): boolean {
  const words = wordsOf(name);
  const own = wordsOf(text);
  return words.length > 1 && words.every((word, at) => own[at] === word);
}

/** Whether the heading is the name of the site: linked to the home page, or the last part of a longer title. */
function isSiteName({ title }: PageDocument, heading: PageElement, own: readonly Block[]): boolean {
  const link = heading.getElementsByTagName("a")[0] ?? closest(heading, ({ tag }) => tag === "a");
  const href = link?.attributes["href"] ?? "";
  if (URL.canParse(href) && /^\/(?:index\.\w+|home)?$/.test(new URL(href).pathname) && new URL(href).hash === "")
    return true;
  const parts = title.split(TITLE_PARTING).map(wordsOf);
  const text = wordsOf(own.map((block) => block.text).join(" ")).join(" ");
  const [first, last] = [parts[0]?.join(" ") ?? "", parts[parts.length - 1]?.join(" ")];
  return parts.length > 1 && text === last && first.length > text.length;
}

/** Whether the heading is neither the site's name nor in a part beside the content. */
function isHeadline(heading: PageElement, own: readonly Block[], site: readonly string[]): boolean {
  const text = own.map((block) => block.text).join(" ");
  const words = wordsOf(text);
  if (words.length === 0 || text.length > HEADLINE_CHARS_MAX) return false;
  if (site.length > 0 && words.join(" ") === site.join(" ")) return false;
  if (/(?:^|[\s_-])(?:site|blog)-?(?:title|name)|(?:^|\s)logo(?:\s|$)/i.test(heading.className)) return false;
  return (
    closest(heading, ({ tag }) => tag === "nav" || tag === "footer" || tag === "aside" || tag === "dialog") ===
    undefined
  );
}

/** Whether a title names the heading: it contains nearly all of its words, or is itself a part of the heading. */
function names(title: readonly string[], words: readonly string[]): boolean {
  const said = new Set(title);
  const shared = words.filter((word) => said.has(word)).length;
  if (shared >= words.length * TITLE_SHARE) return true;
  const own = new Set(words);
  return title.every((word) => own.has(word));
}

function isH1({ tag }: PageElement): boolean {
  return tag === "h1";
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** An amount of money. It accepts more spellings than `PRICE`, which only tells kinds of pages apart. */
export const AMOUNT =
  /(?:[$€£¥￥₹₽₩￦₺₴฿]|\b(?:usd|eur|gbp|chf|cad|aud|pln|sek|nok|dkk|rs\.?|r\$|kr\.?))\s?\d|\d(?:[\d.,' ]*\d)?(?:,-|,–)?\s?(?:[$€£¥￥₹₽₩￦₺₴฿]|円(?!\p{Script=Han})|(?:usd|eur|gbp|chf|cad|aud|pln|sek|nok|dkk|zł|kr|kč|ft|lei|руб|元|원)(?![\p{L}]))/iu;
const PRICE_NAME = /(?:^|[^a-z])(?:price|prices|pricing|amount|preis|prix|precio|prezzo)(?![a-z])|Price(?![a-z])/;
/** A longer text with an amount contains more than the price. */
const PRICE_CHARS_MAX = 160;
/** How many blocks around the headline are examined, and after how many headings the search ends. */
const PRICE_REACH = 40;
const PRICE_REACH_BEFORE = 4;
/** The maximum number of parts of one price, such as the old and the new price. */
const PRICE_PARTS_MAX = 8;
const PRICE_LEVELS = 5;
/** From this many similar parts on, the parts form a list of other products. */
const TILES_MIN = 3;

/** Keeps the price beside a product's headline. */
export function keepPrice({ document, blocks, kept }: JudgedPage): void {
  if (kept.size === 0) return;
  for (const block of [...pricesBeside(document, blocks), ...choicesBeside(document, blocks)]) kept.add(block);
}

const CHOICES_MAX = 6;

/** The blocks of the price beside the headline of a product page. */
export function pricesBeside(document: PageDocument, blocks: readonly Block[]): readonly Block[] {
  const headline = headlineOf(document, blocks);
  const [first] = headline;
  const last = headline[headline.length - 1];
  if (first === undefined || last === undefined) return [];
  const after = blocks.slice(last.index + 1, last.index + 1 + PRICE_REACH);
  const end = after.findIndex((block) => headingLevel(block) > 0 && !isNamedPrice(block));
  const before = blocks.slice(Math.max(0, first.index - PRICE_REACH_BEFORE), first.index);
  const found =
    (end < 0 ? after : after.slice(0, end)).find(isPriceBlock) ??
    before.find((block) => isPriceBlock(block) && isNamedPrice(block));
  if (found === undefined || isInTile(found, first) || !saysProduct(document, blocks)) return [];
  const box = boxOf(found, first);
  if (box === undefined) return [found];
  const parts = blocks.filter(({ element }) => element === box || closest(element, (at) => at === box) !== undefined);
  const isPart = ({ element, text }: Block) =>
    element.tag !== "button" && (AMOUNT.test(text) || text.length < PRICE_CHARS_MAX / 4);
  return parts.length <= PRICE_PARTS_MAX ? parts.filter(isPart) : [found];
}

/** The blocks of what can be chosen of the product of a page, with their labels. */
function choicesBeside(document: PageDocument, blocks: readonly Block[]): readonly Block[] {
  // The blocks of one element, of which there may be thousands, get one answer.
  const answers = new Map<PageElement, boolean>();
  const found = blocks.filter(({ element }) => {
    const known = answers.get(element);
    if (known !== undefined) return known;
    const answer = isChoices(element) || hasChoices(element);
    answers.set(element, answer);
    return answer;
  });
  // Listings offer the choices of every product.
  if (found.length === 0 || found.length > CHOICES_MAX || headlineOf(document, blocks).length === 0) return [];
  return found.flatMap((block) => {
    const label = blocks[block.index - 1];
    return label?.element.tag === "label" ? [label, block] : [block];
  });
}

/** Whether a child is one, without a list of the children for every block. */
function hasChoices({ firstChild }: PageElement): boolean {
  for (let child = firstChild; child !== null; child = child.nextSibling)
    if (child instanceof PageElement && isChoices(child)) return true;
  return false;
}

/** Whether the block is in one of several similar parts that each have a price and do not contain the headline. */
function isInTile({ element }: Block, headline: Block): boolean {
  const above = new Set<PageElement>();
  for (let at: PageElement | null = headline.element; at !== null; at = at.parentNode) above.add(at);
  for (let at = element; at.parentNode !== null && !above.has(at); at = at.parentNode) {
    const { tag, className } = at;
    const alike = at.parentNode.children.filter((other) => other.tag === tag && other.className === className);
    if (alike.length >= TILES_MIN && alike.filter((other) => AMOUNT.test(other.textContent)).length >= TILES_MIN)
      return true;
  }
  return false;
}

function isPriceBlock(block: Block): boolean {
  return block.text.length <= PRICE_CHARS_MAX && AMOUNT.test(block.text);
}

/** Whether an element around the block is named as a price. */
export function isNamedPrice({ element }: Block): boolean {
  return isPrice(element) || closest(element, isPrice) !== undefined;
}

/** The outermost element around a block whose name says that it is a price and that does not contain the headline. */
function boxOf({ element }: Block, headline: Block): PageElement | undefined {
  let box: PageElement | undefined;
  let at: PageElement | null = element;
  for (let level = 0; at !== null && level < PRICE_LEVELS; level++, at = at.parentNode) {
    const around = at;
    if (closest(headline.element, (above) => above === around) !== undefined) break;
    if (isPrice(at)) box = at;
  }
  return box;
}

function isPrice({ attributes, className, id }: PageElement): boolean {
  return (
    PRICE_NAME.test(`${className} ${id}`) || attributes["itemprop"] === "price" || attributes["itemprop"] === "offers"
  );
}

const CAPTION_CLASS = /(?:^|[\s_-])(?:caption|captions|wp-caption-text|gallery-caption)(?:$|[\s_-])/i;
const CAPTION_CHARS_MAX = 800;
/** If more than this share of the text around an image is kept, its caption is kept too. */
const AROUND_PICTURE_SHARE = 0.6;

/** Keeps the captions of images amid kept text. The image is then kept with its caption. */
export function keepCaptions({ blocks, kept }: JudgedPage): void {
  const captions = captionsOf(blocks);
  if (captions.size === 0) return;
  const share = shareOfKept(
    blocks.filter((block) => !captions.has(block)),
    kept,
  );
  for (const [caption, figure] of captions) {
    let around = figure.parentNode;
    while (around !== null && share(around) === undefined) around = around.parentNode;
    if (around !== null && (share(around)?.kept ?? 0) >= AROUND_PICTURE_SHARE) kept.add(caption);
  }
}

/** The captions of images, each with the element that holds the image and the caption. */
export function captionsOf(blocks: readonly Block[]): ReadonlyMap<Block, PageElement> {
  const found = new Map<Block, PageElement>();
  const figures = new Map<PageElement, boolean>();
  for (const block of blocks) {
    // Few blocks stand in a caption, so that is asked first.
    const figure = block.text.length > CAPTION_CHARS_MAX ? undefined : figureOf(block.element);
    if (figure === undefined || isCredit(block.text) || isPointer(block)) continue;
    const known = figures.get(figure) ?? isFigure(figure);
    figures.set(figure, known);
    if (known) found.set(block, figure);
  }
  return found;
}

/** Whether an element holds an image and hardly more text than a caption. */
function isFigure(element: PageElement): boolean {
  return elementsOf(element).some(isPicture) && element.textContent.trim().length <= CAPTION_CHARS_MAX * 2;
}

function figureOf(element: PageElement): PageElement | undefined {
  const caption = isCaption(element) ? element : closest(element, isCaption);
  if (caption === undefined) return undefined;
  return caption.tag === "figcaption"
    ? (closest(caption, ({ tag }) => tag === "figure") ?? undefined)
    : (caption.parentNode ?? undefined);
}

function isCaption({ tag, className }: PageElement): boolean {
  return (
    tag === "figcaption" || (className !== "" && CAPTION_CLASS.test(className) && /^(?:p|div|span|small|em)$/.test(tag))
  );
}

function isPicture({ tag }: PageElement): boolean {
  return tag === "img" || tag === "video" || tag === "audio" || tag === "picture" || tag === "iframe";
}

/** The visible text of a reference to a note: a figure, a letter or a symbol. */
const MARK = /^[[(]?(?:\d{1,3}|[a-z]{1,2}|[ivx]{1,6}|[*†‡§¶]{1,4}|note \d{1,3})[\])]?$/i;
const NOTE_NAME = /(?:^|[^a-z])_?(?:fn|ftn|edn|note|cite|foot|endnote|bib|ref|doc-noteref)/i;
const NOTE_CHARS_MAX = 4000;

/** Keeps the notes to which kept text refers, and the heading above them. */
export function keepNotes({ document, blocks, kept }: JudgedPage): void {
  const referenced = referencedNotes(document.body, blocks, (block) => kept.has(block));
  // The notes in the footer of a site are its small print, unless they lead back to the text or say that they are its notes.
  const isNoteOfText = lazily(() => notesOfText(document.body));
  const notes = new Set([...referenced].filter((block) => !isInSiteFooter(block) || isNoteOfText()(block)));
  for (const block of notes) kept.add(block);
  for (const block of notes) {
    const above = blocks[block.index - 1];
    if (above !== undefined && !notes.has(above) && headingLevel(above) > 1) kept.add(above);
  }
}

/** Tells which blocks are surely notes of the text: by role, by a link back to the mark that refers to them, or in its section. */
function notesOfText(body: PageElement): (block: Block) => boolean {
  const marks = new Set<string>();
  const sections = new Set<PageElement>();
  for (const link of body.getElementsByTagName("a").filter(isMark)) {
    for (const at of [link, link.parentNode, ...elementsOf(link)]) if (at !== null && at.id !== "") marks.add(at.id);
    const section = closest(link, ({ tag }) => tag === "section");
    if (section !== undefined) sections.add(section);
  }
  const targetOf = (link: PageElement) => percentDecoded((link.attributes["href"] ?? "").replace(/^[^#]*#?/s, ""));
  const back = new Set(body.getElementsByTagName("a").filter((link) => marks.has(targetOf(link))));
  const isNotes = (at: PageElement) =>
    sections.has(at) || /^doc-(?:endnotes?|footnote)$/.test(at.attributes["role"] ?? "");
  return ({ element, nodes }) =>
    isNotes(element) ||
    closest(element, isNotes) !== undefined ||
    nodes.some((node) => closest(node, (at) => back.has(at)) !== undefined);
}

/** The blocks of the notes to which certain blocks refer. */
export function referencedNotes(
  body: PageElement,
  blocks: readonly Block[],
  isSource: (block: Block) => boolean,
): ReadonlySet<Block> {
  const targets = markTargets(body, blocks, isSource);
  const notes = new Set<Block>();
  if (targets.size === 0) return notes;
  const holders = new Map<PageElement, boolean>();
  for (const element of elementsOf(body)) {
    const id = element.id === "" ? element.attributes["name"] : element.id;
    if (id === undefined || !targets.has(id)) continue;
    // If a reference points to an anchor at the start of a note, the block around the anchor is the note.
    const holder = isBlockLevel(element) ? element : closest(element, isBlockLevel);
    if (holder !== undefined && holder !== body && !holders.has(holder))
      holders.set(holder, holder.textContent.length <= NOTE_CHARS_MAX);
  }
  const isNote = (element: PageElement) => holders.get(element) === true;
  for (const block of blocks)
    if (isNote(block.element) || closest(block.element, isNote) !== undefined) notes.add(block);
  return notes;
}

/** The ids to which the note references in the text point. */
function markTargets(
  body: PageElement,
  blocks: readonly Block[],
  isSource: (block: Block) => boolean,
): ReadonlySet<string> {
  const targets = new Set<string>();
  const links = body.getElementsByTagName("a").filter(isMark);
  if (links.length === 0) return targets;
  const sources = new Set<PageElement>();
  for (const block of blocks)
    if (isSource(block)) for (const { parentNode } of block.nodes) if (parentNode !== null) sources.add(parentNode);
  for (const link of links)
    if (sources.has(link) || elementsOf(link).some((inner) => sources.has(inner)))
      targets.add(percentDecoded((link.attributes["href"] ?? "").replace(/^.*#/s, "")));
  return targets;
}

function isMark(link: PageElement): boolean {
  const href = link.attributes["href"];
  if (href === undefined || !/#./.test(href) || !MARK.test(link.textContent.trim())) return false;
  return (
    NOTE_NAME.test(`${href.replace(/^.*#/s, "")} ${link.className} ${link.attributes["role"] ?? ""}`) ||
    link.getElementsByTagName("sup").length > 0 ||
    closest(link, ({ tag }) => tag === "sup") !== undefined
  );
}

function isBlockLevel({ tag }: PageElement): boolean {
  return BLOCK_TAGS.has(tag);
}
