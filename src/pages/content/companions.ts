// Keeps short text together with the text to which it belongs: the title of a note, the name of a tab, the source of a quotation,
// the figure above its label, the author of a post.

import { closest, type PageElement } from "../dom/node.ts";
import { isNoteTitle, tabPanels } from "../dom/parts.ts";
import type { Block } from "./blocks.ts";
import { repeatsOnlyTitle } from "./expected-parts.ts";
import { headingLevel, isThreadPage, type JudgedPage, shareOfKept } from "./judged.ts";
import { DATE } from "./phrases.ts";

/** A longer title is text of its own: some disclosure elements hold their content in the summary. */
const TITLE_CHARS_MAX = 120;

/** Keeps the titles of notes and disclosures that are kept, and drops the titles of those that are not. */
export function keepTitles({ document, blocks, kept }: JudgedPage): void {
  const isTitle = (element: PageElement) =>
    isNoteTitle(element) || (element.tag === "summary" && element.parentNode?.tag === "details");
  const tabs = tabPanels(document.body);
  const parts = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    // The tab can be a link within the item that is the block.
    const within = block.nodes[0]?.parentNode ?? block.element;
    const title = upward(within, (element) => isTitle(element) || tabs.has(element));
    if (title === undefined || block.text.length > TITLE_CHARS_MAX) continue;
    // A line of several tabs is the name of none.
    if (block.nodes.some((node) => closest(node, (element) => element === title) === undefined)) continue;
    const own = parts.get(title);
    if (own === undefined) parts.set(title, [block]);
    else own.push(block);
  }
  if (parts.size === 0) return;
  const titles = new Set([...parts.values()].flat());
  const share = shareOfKept(
    blocks.filter((block) => !titles.has(block)),
    kept,
  );
  for (const [title, own] of parts) {
    const named = tabs.get(title) ?? title.parentNode;
    const text = named === null ? undefined : share(named);
    if (text === undefined) continue;
    for (const block of own)
      if (text.kept > 0) kept.add(block);
      else kept.delete(block);
  }
}

const ATTRIBUTION =
  /(?:^|[\s_-])(?:cite|citation|attribution|byline|bbCodeBlock-title|quote-?(?:title|header|author|source|by)|(?:testimonial|blockquote|quote|review)[_-]*(?:author|name|source|cite|meta))(?:[\s_-]|$)/i;
const QUOTE_CLASS = /(?:^|[\s_-])(?:testimonials?|pull-?quote|quote|bbCodeBlock--quote)(?:[\s_-]|$)/i;
/** The same at the end of a name in which large letters begin all words. In others it is what a script does, as in "js-selectToQuote". */
const QUOTE_WORD = /(?:^|\s)[A-Z][A-Za-z]*Quote(?=\s|$)/;
const ATTRIBUTION_TAGS = new Set(["cite", "figcaption"]);
const ATTRIBUTION_CHARS_MAX = 160;
const DASHED = /^[—–―]\s*\p{L}/u;

/** Keeps the source of a quotation that is kept. */
export function keepAttributions({ blocks, kept }: JudgedPage): void {
  for (const block of blocks) {
    if (kept.has(block) || block.text.length > ATTRIBUTION_CHARS_MAX) continue;
    const quote = upward(block.element, isQuotation);
    const near = [blocks[block.index - 1], blocks[block.index + 1]].filter((one) => one !== undefined);
    const isOf = near.some((one) => kept.has(one) && isQuoted(one) && isBeside(one, block, quote));
    if (isOf && saysWho(block)) kept.add(block);
  }
}

/** The element that holds a quotation and its source: by tag, or by class name where the page uses only divisions. */
function isQuotation({ tag, className }: PageElement): boolean {
  return tag === "blockquote" || (tag === "figure" && !/gallery/.test(className)) || isNamedQuote(className);
}

export function isNamedQuote(className: string): boolean {
  return (
    className !== "" && (QUOTE_CLASS.test(className) || QUOTE_WORD.test(className)) && !ATTRIBUTION.test(className)
  );
}

function isQuoted({ element }: Block): boolean {
  return (
    upward(element, ({ tag, className }) => tag === "blockquote" || tag === "q" || isNamedQuote(className)) !==
    undefined
  );
}

/** Whether a source is in the same frame as the quotation or, if there is no frame, after it under the same parent. */
function isBeside(said: Block, who: Block, frame: PageElement | undefined): boolean {
  if (frame !== undefined) return upward(said.element, (element) => element === frame) !== undefined;
  const quote = upward(said.element, isQuotation);
  return (
    who.index > said.index && quote?.parentNode != null && upward(who.element, (at) => at === quote.parentNode) != null
  );
}

export function saysWho({ element, text, nodes }: Block): boolean {
  const names = (at: PageElement) =>
    ATTRIBUTION_TAGS.has(at.tag) || (at.className !== "" && ATTRIBUTION.test(at.className)) || isFooterOfQuote(at);
  if (DASHED.test(text) || upward(element, (at) => !isQuotation(at) && names(at)) !== undefined) return true;
  return nodes.every((node) => closest(node, ({ tag }) => tag === "cite") !== undefined);
}

function isFooterOfQuote({ tag, parentNode }: PageElement): boolean {
  return tag === "footer" && parentNode !== null && isQuotation(parentNode);
}

/** A count, a percentage or an amount that stands alone. */
const FIGURE = /^[~≈<>+−-]?\s?[$€£¥]?\s?\d[\d.,\u00a0 ]*(?:[%×x]|[kKmMbB]\b|million|billion|bn)?\s?\+?$/;
/** An amount with cents, or the cents alone: these are prices. */
const PRICE = /[.,]\d\d$|^0/;
const LABEL_CHARS_MAX = 60;
const LABEL_REPEATS_MIN = 4;
/** If more than this share of the text around figures is kept, the figures are kept too. */
const AROUND_FIGURES_SHARE = 0.6;

/**
 * Keeps figures together with their labels, since neither is useful alone. Both are kept if one of them is, or if they stand amid
 * kept text.
 */
export function keepFigures({ blocks, kept }: JudgedPage): void {
  const pairs = figurePairs(blocks);
  if (pairs.length === 0) return;
  const all = new Set(pairs.flatMap(({ parts }) => parts));
  const share = shareOfKept(
    blocks.filter((block) => !all.has(block)),
    kept,
  );
  for (const { parts, frame } of pairs) {
    let around: PageElement | null = frame;
    while (around !== null && share(around) === undefined) around = around.parentNode;
    const isAmid = around !== null && (share(around)?.kept ?? 0) >= AROUND_FIGURES_SHARE;
    if (isAmid || parts.some((part) => kept.has(part))) for (const part of parts) kept.add(part);
  }
}

interface FigurePair {
  readonly frame: PageElement;
  readonly parts: readonly Block[];
}

/** Pairs of blocks that fill one element, a figure and its label, where sibling elements have the same structure. */
function figurePairs(blocks: readonly Block[]): FigurePair[] {
  const counts = new Map<PageElement, number>();
  for (const { element } of blocks)
    for (let at: PageElement | null = element; at !== null; at = at.parentNode)
      counts.set(at, (counts.get(at) ?? 0) + 1);
  const pairs: FigurePair[] = [];
  for (const block of blocks) {
    const next = blocks[block.index + 1];
    if (next === undefined || isFigure(block) === isFigure(next)) continue;
    const label = isFigure(block) ? next : block;
    if (label.text.length > LABEL_CHARS_MAX || !/\p{L}/u.test(label.text) || label.controlChars > 0) continue;
    const frame = upward(block.element, (element) => (counts.get(element) ?? 0) > 1);
    if (frame === undefined || counts.get(frame) !== 2 || /^(?:tr|dl|nav|table|tbody)$/.test(frame.tag)) continue;
    if (upward(next.element, (element) => element === frame) !== undefined) pairs.push({ frame, parts: [block, next] });
  }
  const rows = new Map<PageElement | null, number>();
  for (const { frame } of pairs) rows.set(frame.parentNode, (rows.get(frame.parentNode) ?? 0) + 1);
  // A row of figures contains nothing but such pairs.
  const alike = new Set<PageElement | null>();
  for (const [row, count] of rows)
    if (count > 1 && row?.children.filter((child) => counts.has(child)).length === count) alike.add(row);
  const labels = new Map<string, number>();
  for (const { parts } of pairs) for (const { text } of parts) labels.set(text, (labels.get(text) ?? 0) + 1);
  // A label that repeats many times is a button, such as "Compare".
  return pairs.filter(
    ({ frame, parts }) =>
      alike.has(frame.parentNode) &&
      parts.every((part) => isFigure(part) || (labels.get(part.text) ?? 0) < LABEL_REPEATS_MIN),
  );
}

function isFigure({ text }: Block): boolean {
  return FIGURE.test(text) && !PRICE.test(text);
}

const AUTHOR =
  /(?:^|[\s_-])(?:author|username|user-?name|message-name|post-?author|poster|creator|bigusername|display-?name|nickname)(?:[\s_-]|$)/i;
const AUTHOR_CHARS_MAX = 80;
/** How many levels above the name are searched for a class that marks an author. */
const AUTHOR_LEVELS = 3;
/** Fewer posts do not make a thread. */
const POSTS_MIN = 2;

/** Keeps the name of the author of a post whose text is kept. */
export function keepAuthors(page: JudgedPage): void {
  const { blocks, kept } = page;
  const named = blocks.filter(isAuthor);
  if (named.length < POSTS_MIN) return;
  const posts = postsOf(named);
  const bodies = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    if (!kept.has(block)) continue;
    const post = upward(block.element, (element) => posts.has(element));
    if (post === undefined) continue;
    const own = bodies.get(post);
    if (own === undefined) bodies.set(post, [block]);
    else own.push(block);
  }
  const isForum = isThreadPage(page);
  const dates = datesOf(blocks, posts);
  for (const [post, own] of bodies) {
    // A part with a headline is a teaser for another page.
    if (!isForum && own.some((block) => headingLevel(block) > 0)) continue;
    const author = posts.get(post) as Block;
    const name = author.text.slice(0, AUTHOR_CHARS_MAX);
    if (!own.some(({ text }) => text.length <= AUTHOR_CHARS_MAX * 2 && text.includes(name))) kept.add(author);
    const date = dates.get(post);
    if (date !== undefined) kept.add(date);
  }
}

const POST_DATE_CHARS_MAX = 120;

/** Each post with the first short text in it that dates it: without it nobody can tell how old an answer is. */
function datesOf(blocks: readonly Block[], posts: ReadonlyMap<PageElement, Block>): ReadonlyMap<PageElement, Block> {
  const dates = new Map<PageElement, Block>();
  for (const block of blocks) {
    if (block.text.length > POST_DATE_CHARS_MAX || !isDate(block)) continue;
    const post = upward(block.element, (element) => posts.has(element));
    if (post !== undefined && !dates.has(post)) dates.set(post, block);
  }
  return dates;
}

function isDate({ element, nodes, text }: Block): boolean {
  if (nodes.some((node) => closest(node, ({ tag }) => tag === "time") !== undefined)) return true;
  return DATE.test(text) && /(?:^|[\s_-])(?:author|date|time|posted|timestamp)/i.test(element.className);
}

/**
 * Each post with the first author's name in it. A post is the smallest element that has a similar sibling with an author's name.
 */
function postsOf(named: readonly Block[]): ReadonlyMap<PageElement, Block> {
  const holding = new Map<PageElement, Block>();
  for (const block of named)
    for (let at: PageElement | null = block.element; at !== null; at = at.parentNode)
      if (!holding.has(at)) holding.set(at, block);
  const groups = new Map<PageElement, Map<string, number>>();
  for (const { parentNode, tag } of holding.keys()) {
    if (parentNode === null) continue;
    const tags = groups.get(parentNode) ?? new Map<string, number>();
    groups.set(parentNode, tags.set(tag, (tags.get(tag) ?? 0) + 1));
  }
  const posts = new Map<PageElement, Block>();
  for (const block of named) {
    const post = upward(
      block.element,
      ({ parentNode, tag }) => parentNode !== null && (groups.get(parentNode)?.get(tag) ?? 0) >= POSTS_MIN,
    );
    if (post !== undefined && !posts.has(post)) posts.set(post, block);
  }
  return posts;
}

/** Whether a block is a short text in an element whose class names an author. */
function isAuthor({ element, text, nodes }: Block): boolean {
  if (text.length > AUTHOR_CHARS_MAX || !/[\p{L}\p{N}]/u.test(text)) return false;
  let at: PageElement | null = nodes[0]?.parentNode ?? element;
  const within = at === element ? AUTHOR_LEVELS : AUTHOR_LEVELS + 1;
  for (let level = 0; at !== null && level < within; level++, at = at.parentNode) {
    const { attributes, className } = at;
    if (attributes["itemprop"] === "author" || attributes["rel"] === "author") return true;
    if (className !== "" && AUTHOR.test(className)) return true;
  }
  return false;
}

/** Text of the controls under a post or beside a listing. */
const BUTTON_TEXT =
  /^(?:reply(?: to this)?|quote|multi-?quote|report(?: post)?|like|share|permalink|back to top|go to top|top|copy(?: code)?|copied!?|edit this page)$/i;
/** Text of controls, which is not content. */
const FORUM_TEXT =
  /^(?:reply with quote|click to (?:expand|shrink)(?:\.\.\.|…)?|code: select all|original post|\d+ likes?)$/i;
const BUTTON_CHARS_MAX = 30;
/** A text of which more than this share is in links and controls is a control itself. */
const PRESSED_SHARE = 0.9;

/** A button that occurs so often stands beside each entry of a list. */
const BUTTON_REPEATS_MIN = 6;

/** A button that repeats the title beside it, such as "Save this event: Harbour day", adds at most this many characters. */
const AROUND_TITLE_CHARS_MAX = 30;
const TITLE_CHARS_MIN = 15;
const TITLE_REACH = 8;

/** Drops the labels of buttons: of known ones, and of those beside each entry of a list, such as "Compare". */
export function dropButtons({ blocks, kept }: JudgedPage): void {
  const buttons = new Map<string, number>();
  for (const block of kept) if (isButton(block)) buttons.set(block.text, (buttons.get(block.text) ?? 0) + 1);
  for (const block of kept) {
    const { text } = block;
    if (repeatsTitle(block, blocks, kept)) kept.delete(block);
    if (text.length > BUTTON_CHARS_MAX || kept.size === 1) continue;
    const isRepeated = isButton(block) && (buttons.get(text) ?? 0) >= BUTTON_REPEATS_MIN;
    if (isRepeated || FORUM_TEXT.test(text) || (isPressed(block) && BUTTON_TEXT.test(text))) kept.delete(block);
  }
}

function repeatsTitle(block: Block, blocks: readonly Block[], kept: ReadonlySet<Block>): boolean {
  if (block.element.tag !== "button" || block.text.length > TITLE_CHARS_MAX + AROUND_TITLE_CHARS_MAX) return false;
  return blocks.slice(Math.max(0, block.index - TITLE_REACH), block.index + TITLE_REACH).some((title) => {
    if (title.element.tag === "button" || title.text.length < TITLE_CHARS_MIN || !kept.has(title)) return false;
    const around = block.text.length - title.text.length;
    if (around <= 0 || around > AROUND_TITLE_CHARS_MAX || !block.text.includes(title.text)) return false;
    // A price or a date beside the title stands nowhere else.
    return !/\p{N}/u.test(block.text.replace(title.text, ""));
  });
}

/** Whether a block is the label of a button that is no fact, as a figure would be. */
function isButton({ element, text }: Block): boolean {
  return element.tag === "button" && text.length <= BUTTON_CHARS_MAX && !/\d/.test(text);
}

/** Names of signatures. A "post-signature" tells who wrote a post and when. */
const SIGNATURE = /(?:^|[\s_-])(?<!\bpost-)(?:sig|signatures?|memberSignature|usersig|sigtext)(?:[\s_-]|$)/i;

/** Drops the signatures under the posts of a thread. */
export function dropSignatures({ kept, ...page }: JudgedPage): void {
  if (!isThreadPage(page)) return;
  const isSignature = ({ className }: PageElement) => className !== "" && SIGNATURE.test(className);
  for (const block of kept) if (upward(block.element, isSignature) !== undefined) kept.delete(block);
}

/** The beginning of the title that a forum gives to a reply. */
const REPLY = /^(?:(?:re|aw|sv|vs|odp|rif)\s?[:：]\s?(?=\S)){1,9}/i;
const REPLY_TITLE_CHARS_MAX = 200;

/** Drops the titles of replies that only repeat the title of the thread. */
export function dropReplyTitles({ document, kept, ...page }: JudgedPage): void {
  if (!isThreadPage({ document, ...page })) return;
  for (const block of kept) {
    const { text } = block;
    if (text.length > REPLY_TITLE_CHARS_MAX || !REPLY.test(text)) continue;
    if (repeatsOnlyTitle(document, text.replace(REPLY, ""))) kept.delete(block);
  }
}

/** Whether a text is the label of a link or of a control. */
export function isPressed(block: Block): boolean {
  return block.linkChars + block.controlChars >= block.text.length * PRESSED_SHARE || isRoleButton(block);
}

function isRoleButton({ nodes }: Block): boolean {
  return nodes.every((node) => closest(node, ({ attributes }) => attributes["role"] === "button") !== undefined);
}

/** The element itself if it matches, otherwise its nearest matching ancestor. */
function upward(element: PageElement, isMeant: (element: PageElement) => boolean): PageElement | undefined {
  return isMeant(element) ? element : closest(element, isMeant);
}
