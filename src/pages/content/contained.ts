// Keeps what stands amid the main content or ends it. The fitted model judges each short block alone and is unsure of callouts,
// lists of links and short ends; inside the container of the kept text, only a sign of its own sets a block aside.

import { closest, type PageElement } from "../dom/node.ts";
import { isTable } from "../dom/parts.ts";
import type { Block } from "./blocks.ts";
import { headingLevel, isThreadPage, type JudgedPage, shareOfKept, sumChars } from "./judged.ts";
import { isNamedAside, isRights } from "./set-aside.ts";
import { isSignHeading, isSignText } from "./signs.ts";

/** The smallest element with at least this share of the kept text is the container of the main content. */
const CONTAINER_SHARE = 0.8;
/**
 * The text flows in an element if at least this share of the kept text in it stands in its own paragraphs, and at least this share
 * of its text is kept. Elsewhere, as among tiles, a neighbour says little.
 */
const FLOW_SHARE = 0.5;
const FLOW_KEPT_SHARE = 0.8;
/** Shorter blocks do not make a flow of text. */
const FLOW_CHARS_MIN = 60;
/** The fitted model is sure that a part with a lower verdict is no content. */
const VERDICT_MIN = 0.25;
/** The same for lists, tables and callouts, of which it has seen more outside of articles than in them. */
const WHOLE_VERDICT_MIN = 0.08;
/** The same for a part that is one link, but not a list. */
const LINK_VERDICT_MIN = 0.35;
const LINK_SHARE = 0.9;

/** Keeps the parts of the main content's container that have no sign of being something else. */
export function keepContained(page: JudgedPage): void {
  const { blocks, kept, unadjusted } = page;
  const container = isThreadPage(page) ? undefined : containerOf(page);
  if (container === undefined) return;
  const inside = blocks.filter((block) => isWithin(block, container));
  const after = inside.slice(inside.findIndex((block) => kept.has(block)));
  const signed = signedBlocks(inside, container);
  const isFlow = flowsOf(inside, kept);
  for (const { element, parts } of partsOf(after, container, kept)) {
    const around = element === container ? container : flowAround(element, container);
    if (parts.some((block) => signed.has(block)) || !isFlow(around)) continue;
    const chars = sumChars(parts);
    const verdict =
      parts.reduce((sum, { index, text }) => sum + (unadjusted[index] as number) * text.length, 0) / chars;
    const links = parts.reduce((sum, { linkChars }) => sum + linkChars, 0) / chars;
    const before = blocks[(parts[0] as Block).index - 1];
    const isLedTo = isWhole(element) && before !== undefined && !signed.has(before) && isLeadIn(before, kept);
    if (isLedTo || verdict >= leastVerdict(element, links)) for (const block of parts) kept.add(block);
  }
}

const FORMATTING = new Set(["p", "b", "strong", "i", "em", "u", "font", "span"]);

/** The element in whose flow a part stands. Formatting that was never closed holds the paragraphs after it, as does its own one. */
function flowAround(element: PageElement, container: PageElement): PageElement {
  let around = element.parentNode ?? container;
  while (around !== container && FORMATTING.has(around.tag) && around.parentNode !== null) around = around.parentNode;
  return around;
}

/** Whether a kept sentence announces what follows: without it the sentence says nothing. */
function isLeadIn(before: Block, kept: ReadonlySet<Block>): boolean {
  return kept.has(before) && headingLevel(before) === 0 && /[:：]$/.test(before.text.trimEnd());
}

function leastVerdict(element: PageElement, links: number): number {
  if (isWhole(element) || element.tag === "aside" || element.attributes["role"] === "note") return WHOLE_VERDICT_MIN;
  return links > LINK_SHARE ? LINK_VERDICT_MIN : VERDICT_MIN;
}

/** The smallest element that holds most of the kept text, or the article around it. */
function containerOf({ document, kept }: JudgedPage): PageElement | undefined {
  const chars = new Map<PageElement, number>();
  for (const { element, text } of kept)
    for (let at: PageElement | null = element; at !== null; at = at.parentNode)
      chars.set(at, (chars.get(at) ?? 0) + text.length);
  const needed = sumChars(kept) * CONTAINER_SHARE;
  if (needed === 0) return undefined;
  let container = document.body;
  for (let at: PageElement | undefined = container; at !== undefined; ) {
    container = at;
    at = at.children.find((child) => (chars.get(child) ?? 0) >= needed);
  }
  // An article with one long paragraph is the container of its short ones too.
  const { parentNode } = container;
  return container.tag === "p" && parentNode !== null && isArticle(parentNode) ? parentNode : container;
}

function isArticle({ tag, attributes }: PageElement): boolean {
  return tag === "article" || tag === "main" || attributes["role"] === "article" || attributes["role"] === "main";
}

/** Tells in which elements the main text flows: mostly kept, and mostly in paragraphs of their own. */
function flowsOf(inside: readonly Block[], kept: ReadonlySet<Block>): (element: PageElement) => boolean {
  const share = shareOfKept(inside, kept);
  const own = new Map<PageElement, number>();
  const add = (element: PageElement | null, { text }: Block) => {
    if (element !== null) own.set(element, (own.get(element) ?? 0) + text.length);
  };
  for (const block of inside) {
    if (!kept.has(block) || block.text.length < FLOW_CHARS_MIN) continue;
    add(block.element, block);
    add(block.element.parentNode, block);
    if (block.element.tag === "li") add(block.element.parentNode?.parentNode ?? null, block);
  }
  return (element) => {
    const sums = share(element);
    if (sums === undefined || sums.kept < FLOW_KEPT_SHARE) return false;
    return (own.get(element) ?? 0) >= sums.chars * sums.kept * FLOW_SHARE;
  };
}

interface Part {
  readonly element: PageElement;
  readonly parts: Block[];
}

/** The largest elements of the container in which nothing is kept, and lists and tables of which some is kept. */
function partsOf(inside: readonly Block[], container: PageElement, kept: ReadonlySet<Block>): readonly Part[] {
  const holding = new Set<PageElement>();
  for (const block of inside)
    if (kept.has(block))
      for (let at: PageElement | null = block.element; at !== null && !holding.has(at); at = at.parentNode)
        holding.add(at);
  const parts = new Map<PageElement | Block, Part>();
  for (const block of inside) {
    if (kept.has(block)) continue;
    let element = block.element;
    let key: PageElement | Block = block;
    for (let at: PageElement | null = element; at !== null && at !== container; at = at.parentNode)
      if (!holding.has(at) || isWhole(at)) {
        element = at;
        key = at;
      }
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { element, parts: [block] });
    else part.parts.push(block);
  }
  return [...parts.values()];
}

/** Whether an element stands or falls whole, as half of it says something else. */
function isWhole(element: PageElement): boolean {
  return /^(?:ul|ol|dl)$/.test(element.tag) || isTable(element);
}

const SIGN_NAMES = [
  "share shares sharing sharer social socials follow addthis sharedaddy",
  "related recommended recommendations recirc more-from read-more readmore read-next next-up up-next also-like trending popular most-read latest similar",
  "comment comments respond reply replies disqus discussion",
  "byline author authors bio author-box dateline posted-on entry-meta post-meta article-meta meta metadata credit credits",
  "caption captions imagecaption imagedescription photo-credit embed embeds teaser teasers print button buttons footnote foot-note foot_note",
  "tag tags tagged taglist post-tags categories category topics keywords cat-links",
  "newsletter subscribe subscription signup sign-up optin login paywall promo promotion banner advert advertisement ads ad adsbygoogle sponsor sponsored cta donate",
  "nav navigation navbar menu pagination pager pagenav breadcrumb breadcrumbs prev-next post-navigation nav-links toc table-of-contents",
  "sidebar widget widgets rail footer copyright disclaimer legal cookie cookies consent modal popup popover tooltip toolbar rating ratings vote votes",
].flatMap((line) => line.split(" "));
const SIGN_NAME = new RegExp(`(?:^|[\\s_-])(?:${SIGN_NAMES.join("|")})(?:[\\s_-]|$)`, "i");
const NAME_CHARS_MAX = 300;
const SIGN_TAGS = new Set(["nav", "footer", "header", "form", "dialog", "button", "label", "figure"]);
const SIGN_ROLES =
  /^(?:navigation|contentinfo|banner|complementary|search|dialog|alertdialog|menu|menubar|toolbar|form)$/;

/** Whether an element marks its text as something else than content. A callout in the content is none. */
function isSigned(element: PageElement): boolean {
  const { tag, attributes, className, id } = element;
  if (SIGN_TAGS.has(tag) || SIGN_ROLES.test(attributes["role"] ?? "")) return true;
  if (tag !== "aside" && isNamedAside(element)) return true;
  // The name of a custom element says what other pages say with a class.
  const name = `${tag.includes("-") ? tag : ""} ${className} ${id}`.slice(0, NAME_CHARS_MAX);
  return name.length > 2 && SIGN_NAME.test(name.replace(/([a-z])([A-Z])/g, "$1-$2"));
}

/** The blocks with a sign: their own words, the name of an element around them, or the heading above them. */
function signedBlocks(inside: readonly Block[], container: PageElement): ReadonlySet<Block> {
  const known = new Map<PageElement, boolean>();
  const signed = new Set<Block>();
  let heading: { readonly level: number } | undefined;
  for (const block of inside) {
    const level = headingLevel(block);
    if (level > 0 && heading !== undefined && level <= heading.level) heading = undefined;
    if (level > 0 && isSignHeading(block.text)) heading ??= { level };
    const isControl = block.controlChars > block.text.length * 0.5;
    const isText = isSignText(block.text) || isRights(block.text);
    if (heading !== undefined || isControl || isText || isNamed(block.element, container, known)) signed.add(block);
  }
  return signed;
}

function isNamed(element: PageElement, container: PageElement, known: Map<PageElement, boolean>): boolean {
  if (element === container) return false;
  const found = known.get(element);
  if (found !== undefined) return found;
  const answer = isSigned(element) || (element.parentNode !== null && isNamed(element.parentNode, container, known));
  known.set(element, answer);
  return answer;
}

function isWithin({ element }: Block, container: PageElement): boolean {
  return element === container || closest(element, (above) => above === container) !== undefined;
}
