// What can be seen of a text block without understanding it: its own text, the elements around it, its neighbours, its
// place in the page and what the page says it is. One number per trait, in a fixed order; the weights were fitted to
// exactly this list, so a change here needs a new fit.

import type { PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { type ContainerStats, measureContainers } from "./containers.ts";
import { readPageTraits } from "./page-traits.ts";

/** Words in class, id and role of an element that tell what it is for; the order is part of the fit. */
const WORD_GROUPS: readonly RegExp[] = [
  /\b(?:nav|navi|navbar|navigation|menu|menubar|submenu|megamenu|topbar|toolbar)\b/,
  /\b(?:footer|foot|colophon|bottom|copyright|legal)\b/,
  /\b(?:header|head|masthead|banner|hero|jumbotron|top)\b/,
  /\b(?:sidebar|side|aside|rail|widget|widgets|secondary|complementary|column)\b/,
  /\b(?:comment|comments|disqus|respond|reply|replies|discussion)\b/,
  /\b(?:related|recommended|recommendation|recommendations|recirc|similar|more|popular|trending|upsell|crosssell|also|suggested|teaser|promo|promoted)\b/,
  /\b(?:share|sharing|social|follow|facebook|twitter|sharedaddy|addthis)\b/,
  /\b(?:ad|ads|advert|advertisement|sponsor|sponsored|dfp|adsense|banner)\b/,
  /\b(?:cookie|cookies|consent|gdpr|modal|popup|overlay|dialog|lightbox|drawer|offcanvas|tooltip|alert|notice)\b/,
  /\b(?:author|byline|bio|contributor|writer|avatar|profile|user|username|signature)\b/,
  /\b(?:meta|date|time|published|timestamp|tags|tag|category|categories|label|badge|stats|count)\b/,
  /\b(?:breadcrumb|breadcrumbs|crumb|crumbs|pagination|pager|paging|toc|skip|anchor)\b/,
  /\b(?:article|post|entry|story|blog|news|articlebody|page)\b/,
  /\b(?:content|body|main|text|copy|richtext|rte|prose|markdown|wysiwyg|description|desc|details|cms)\b/,
  /\b(?:product|products|pdp|price|prices|cart|sku|shop|buy|swatch|variant|option|options|quantity)\b/,
  /\b(?:review|reviews|rating|ratings|stars|testimonial|testimonials|faq|faqs|accordion|question|answer)\b/,
  /\b(?:card|cards|grid|tile|tiles|item|items|list|listing|results|result|collection|carousel|slider|slide|swiper)\b/,
  /\b(?:message|messages|thread|topic|posts|postbody|forum|bbcode|reactions|cooked)\b/,
  /\b(?:newsletter|subscribe|subscription|signup|login|signin|register|form|search|filter|filters|sort|facet|facets|refine|email)\b/,
  /\b(?:title|headline|heading|subtitle|summary|lead|lede|intro|excerpt|standfirst|dek|caption|credit)\b/,
  /\b(?:hidden|hide|sr|visually|screen|reader|print|noprint|mobile|desktop)\b/,
];
const ARTICLE_BODY = /articlebody|reviewbody|description|text/;

/** Phrases of boilerplate, by kind. English first; the other languages cover the most common wordings. */
const PHRASES: readonly RegExp[] = [
  /©|\(c\) ?(?:19|20)\d\d|copyright|all rights reserved|alle rechte|tous droits|privacy policy|terms of (?:use|service)|impressum|datenschutz/i,
  /cookie|consent|gdpr|opt[- ]out/i,
  /subscribe|newsletter|sign ?up|abonnier|inscri|suscr|email address|your (?:e-?)?mail/i,
  /\bshare\b|tweet|facebook|twitter|whatsapp|pinterest|linkedin|instagram|follow us|teilen|partager/i,
  /read more|continue reading|learn more|see (?:all|more)|view (?:all|more)|show more|load more|mehr lesen|weiterlesen|lire la suite|leer más|find out more|shop now/i,
  /\breply\b|comment|kommentar|log ?in|sign ?in|register|anmelden|antworten/i,
  /related|you (?:may|might) also|recommended|more from|also like|popular|trending|most read|latest|ähnliche|verwandte|lesen sie|auch interess|previous|next (?:post|article)/i,
  /add to (?:cart|bag|basket|wish)|in stock|out of stock|checkout|free shipping|quantity|sold out|quick view|choose option|in den warenkorb/i,
  /^by\b|posted (?:by|on|in)|written by|published|updated|^von\b|veröffentlicht|last modified|min(?:ute)?s? read|photo(?:graph)?(?: by|:)|image:|credit/i,
  /advertis|sponsored|anzeige|werbung|publicité/i,
  /skip to|back to top|toggle|close|menu|search|loading|nach oben|javascript/i,
  /filter|sort by|show(?:ing)? \d|results|per page|items?\b|products\b|page \d/i,
  /\btags?\b|categor|filed under|schlagw|kategorie|topics?:/i,
];
const DATE =
  /\b(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\b\d{1,2}[./]\d{1,2}[./](?:19|20)?\d\d\b|\b(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.? \d{1,2}|\b\d{1,2}\.? (?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)|\bago\b|\bvor \d+/i;
const PRICE = /[$€£¥₹]\s?\d|\d\s?[€£]|\b(?:usd|eur|gbp)\b/i;

const TAGS = [
  ["p"],
  ["h1"],
  ["h2"],
  ["h3", "h4", "h5", "h6"],
  ["li"],
  ["td", "th", "caption"],
  ["dt", "dd"],
  ["div", "section", "article", "main", "body"],
  ["pre"],
  ["blockquote"],
  ["figcaption", "figure"],
  ["button", "label", "legend", "option"],
  ["summary", "details"],
];
const AROUND = [
  ["article"],
  ["main"],
  ["section"],
  ["aside"],
  ["nav"],
  ["header"],
  ["footer"],
  ["form"],
  ["table"],
  ["ul", "ol"],
  ["dl"],
  ["blockquote"],
  ["figure"],
  ["details"],
  ["noscript"],
  ["dialog"],
];
const ROLE_TAGS: Readonly<Record<string, string>> = {
  navigation: "nav",
  menu: "nav",
  menubar: "nav",
  banner: "header",
  contentinfo: "footer",
  complementary: "aside",
  main: "main",
  article: "article",
  dialog: "dialog",
  alertdialog: "dialog",
  search: "form",
};

/** What is known about one element without looking below it. */
interface ElementTraits {
  readonly groups: number;
  readonly kind: string;
  readonly isHidden: boolean;
  readonly isBodyProp: boolean;
}

/** Traits of every block of a page, one row each. */
export function readFeatures(document: PageDocument, blocks: readonly Block[], url: string): Float32Array[] {
  const page = readPageTraits(document, blocks, url);
  const containers = measureContainers(document.body, blocks);
  const traits = new Map<PageElement, ElementTraits>();
  const own = blocks.map((block) => ownTraits(block));
  const repeats = countRepeats(blocks);
  return blocks.map((block, index) => {
    const row: number[] = [];
    const at = (offset: number) => own[index + offset];
    pushOwn(row, own[index] as Own);
    for (const offset of [-2, -1, 1, 2]) pushNeighbour(row, at(offset), blocks[index + offset], block);
    pushAround(row, block, traits);
    pushPlace(row, block, { blocks, containers, repeats });
    row.push(...page.forBlock(block), ...page.shared);
    return Float32Array.from(row);
  });
}

interface Own {
  readonly chars: number;
  readonly words: number;
  readonly linkDensity: number;
  readonly tag: number;
  readonly values: readonly number[];
}

function ownTraits(block: Block): Own {
  const { text } = block;
  const chars = text.length;
  const words = text.split(" ").length;
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const head = text.length > 400 ? text.slice(0, 400) : text;
  const tag = TAGS.findIndex((tags) => tags.includes(block.element.tag));
  const linkDensity = block.linkChars / chars;
  const values = [
    Math.log1p(chars),
    Math.log1p(words),
    chars / words,
    linkDensity,
    Math.min(block.linkCount, 20),
    block.boldChars / chars,
    block.controlChars / chars,
    Math.log1p(count(/[.!?。！？…](?=\s|$|["'”’)])/g)),
    Math.log1p(count(/[,;:，、]/g)),
    /[.!?。！？…"”]$/.test(text) ? 1 : 0,
    text.endsWith(":") ? 1 : 0,
    text.endsWith("?") ? 1 : 0,
    /^\p{Lu}/u.test(text) ? 1 : 0,
    count(/\d/g) / chars,
    count(/\p{Lu}/gu) / chars,
    /[|»›→·•]/.test(head) ? 1 : 0,
    DATE.test(head) ? 1 : 0,
    PRICE.test(head) ? 1 : 0,
    ...PHRASES.map((phrase) => (phrase.test(head) ? 1 : 0)),
    tag,
    ...TAGS.map((_, index) => (index === tag ? 1 : 0)),
  ];
  return { chars, words, linkDensity, tag, values };
}

function pushOwn(row: number[], own: Own): void {
  for (const value of own.values) row.push(value);
}

function pushNeighbour(row: number[], own: Own | undefined, other: Block | undefined, block: Block): void {
  if (own === undefined || other === undefined) {
    row.push(-1, -1, -1, -1, -1);
    return;
  }
  const sibling = other.element.parentNode === block.element.parentNode ? 1 : 0;
  row.push(
    Math.log1p(own.chars),
    own.linkDensity,
    own.tag,
    sibling,
    other.element.className === block.element.className ? 1 : 0,
  );
}

function pushAround(row: number[], block: Block, cache: Map<PageElement, ElementTraits>): void {
  const groups = new Array<number>(WORD_GROUPS.length).fill(0);
  const around = new Array<number>(AROUND.length).fill(0);
  let depth = 0;
  let isHidden = 0;
  let isBodyProp = 0;
  for (let element: PageElement | null = block.element; element !== null; element = element.parentNode) {
    let traits = cache.get(element);
    if (traits === undefined) {
      traits = elementTraits(element);
      cache.set(element, traits);
    }
    depth++;
    if (traits.isHidden) isHidden = 1;
    if (traits.isBodyProp) isBodyProp = 1;
    if (traits.groups !== 0)
      for (let group = 0; group < groups.length; group++)
        // The nearest counts: how many levels up.
        if (groups[group] === 0 && (traits.groups & (1 << group)) !== 0) groups[group] = 1 / depth;
    const kind = AROUND.findIndex((tags) => tags.includes((traits as ElementTraits).kind));
    if (kind >= 0 && around[kind] === 0) around[kind] = 1 / depth;
  }
  row.push(depth, isHidden, isBodyProp, ...groups, ...around);
}

function elementTraits(element: PageElement): ElementTraits {
  const role = element.attributes["role"] ?? "";
  const words =
    `${element.className} ${element.id} ${role} ${element.attributes["data-testid"] ?? ""} ${element.attributes["aria-label"] ?? ""}`
      .slice(0, 300)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .replace(/[^a-z]+/g, " ");
  let groups = 0;
  if (words.trim() !== "")
    for (let group = 0; group < WORD_GROUPS.length; group++)
      if ((WORD_GROUPS[group] as RegExp).test(words)) groups |= 1 << group;
  const style = element.attributes["style"] ?? "";
  return {
    groups,
    kind: ROLE_TAGS[role] ?? element.tag,
    isHidden:
      element.hasAttribute("hidden") ||
      element.attributes["aria-hidden"] === "true" ||
      /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style),
    isBodyProp: ARTICLE_BODY.test((element.attributes["itemprop"] ?? "").toLowerCase()),
  };
}

interface Place {
  readonly blocks: readonly Block[];
  readonly containers: ContainerStats;
  readonly repeats: Repeats;
}

function pushPlace(row: number[], block: Block, { blocks, containers, repeats }: Place): void {
  row.push(block.index / blocks.length, Math.min(block.index, 200), Math.min(blocks.length - block.index, 200));
  row.push(...containers.forBlock(block));
  row.push(
    Math.log1p(repeats.shapes.get(shapeOf(block)) ?? 0),
    Math.min(repeats.texts.get(block.text) ?? 0, 5),
    repeats.firstOf.get(block.text) === block.index ? 1 : 0,
  );
}

interface Repeats {
  readonly shapes: ReadonlyMap<string, number>;
  readonly texts: ReadonlyMap<string, number>;
  readonly firstOf: ReadonlyMap<string, number>;
}

function countRepeats(blocks: readonly Block[]): Repeats {
  const shapes = new Map<string, number>();
  const texts = new Map<string, number>();
  const firstOf = new Map<string, number>();
  for (const block of blocks) {
    const shape = shapeOf(block);
    shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
    texts.set(block.text, (texts.get(block.text) ?? 0) + 1);
    if (!firstOf.has(block.text)) firstOf.set(block.text, block.index);
  }
  return { shapes, texts, firstOf };
}

/** Blocks of one kind in a list or grid share their shape. */
function shapeOf(block: Block): string {
  const { element } = block;
  const parent = element.parentNode;
  const above = parent?.parentNode;
  return `${element.tag}.${element.className}<${parent?.tag}.${parent?.className}<${above?.tag}.${above?.className}`;
}
