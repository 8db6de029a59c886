// Traits of a whole page: its type, title, description and address, and how its text is built. The same block means something
// else on an article, on a shop page and in a forum thread.

import { elementsOf, type PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { spacedTags } from "./spaced-tags.ts";

/** Features of the whole page, and features that compare a block with the page. */
export interface PageTraits {
  readonly shared: readonly number[];
  /**
   * The number of signs that the page is an article, minus the signs that it is a thread. Decides whether comments are main
   * content.
   */
  readonly articleness: number;
  /** Whether the page is about one product; decides whether reviews are main content. */
  readonly isProduct: boolean;
  readonly forBlock: (block: Block) => number[];
}

const SCHEMA_TYPES: readonly RegExp[] = [
  /"@type"\s*:\s*(?:\[\s*)?"(?:News|Blog|Tech|Scholarly|Report)?(?:Article|Posting|BlogPosting|NewsArticle)"/i,
  /"@type"\s*:\s*(?:\[\s*)?"(?:Product|ProductGroup|Offer)"/i,
  /"@type"\s*:\s*(?:\[\s*)?"(?:DiscussionForumPosting|QAPage|Question)"/i,
  /"@type"\s*:\s*(?:\[\s*)?"(?:ItemList|CollectionPage|OfferCatalog|SearchResultsPage)"/i,
  /"@type"\s*:\s*(?:\[\s*)?"(?:LocalBusiness|Service|Organization|FAQPage)"/i,
];
const URL_KINDS: readonly RegExp[] = [
  /\/(?:product|products|p|dp|item|shop|store)\//i,
  /\/(?:collections?|category|categories|c|catalog|department|browse|tag|tags|search|listing|news|blog)\/?(?:[^/]*\/?)$/i,
  /forum|thread|topic|viewtopic|discuss|community|\/t\/|\/questions?\//i,
  /docs?\b|documentation|manual|guide|reference|api|wiki|learn|tutorial|help|support/i,
  /\/(?:19|20)\d\d\/|\/(?:article|articles|blog|news|story|post|posts)\/./i,
  /\/(?:services?|about|solutions?|pricing|contact|features)\b/i,
];

const PRODUCT_PATH = /\/(?:products?|p|dp|gp|item|itm)\/./i;
/** Structured data is searched up to this many characters. */
const STRINGS_CHARS_MAX = 200_000;

/** Reads the traits of a page. */
export function readPageTraits(document: PageDocument, blocks: readonly Block[], url: string): PageTraits {
  const meta = (name: string) => metaContent(document, name);
  const title = words(`${document.title} ${meta("og:title")}`);
  const description = words(`${meta("description")} ${meta("og:description")}`);
  const structured = document.structured.join("\n");
  const own = ownAddress(document, url);
  const path = URL.canParse(own) ? new URL(own).pathname : "/";
  const ogType = meta("og:type").toLowerCase();
  const firstH1 = blocks.find((block) => block.element.tag === "h1")?.index ?? -1;
  const heads = blocks.map((block) => firstWords(block.text));
  const overlapOf = (block: Block, set: ReadonlySet<string>) => overlap(heads[block.index] ?? [], set);
  const titled = blocks.findIndex((block) => block.text.length > 12 && overlapOf(block, title) > 0.8);
  const articleBody = structuredBody(document.structured);
  const strings = structuredStrings(document.structured);
  const described = blocks.findIndex((block) => block.text.length > 40 && overlapOf(block, description) > 0.75);
  const articles = articleOrder(blocks);
  let headings = 0;
  /** The number of headlines up to each block. */
  const headingsTo = blocks.map((block) => (block.element.tag === "h1" ? ++headings : headings));
  const anchor = firstH1 >= 0 ? firstH1 : titled;
  const prose = blocks.filter((block) => block.text.length > 80 && block.linkChars < block.text.length * 0.4);
  const chars = sum(blocks.map((block) => block.text.length));
  const proseChars = sum(prose.map((block) => block.text.length));
  const lastProse = prose[prose.length - 1]?.index ?? -1;
  const firstProse = prose[0]?.index ?? -1;
  const says = (pattern: RegExp | undefined, text: string) => (pattern?.test(text) === true ? 1 : 0);
  return {
    articleness:
      1 +
      (ogType.startsWith("article") ? 1 : 0) +
      says(SCHEMA_TYPES[0], structured) +
      says(URL_KINDS[4], own) -
      2 * says(SCHEMA_TYPES[2], structured) -
      2 * says(URL_KINDS[2], own),
    isProduct: ogType.includes("product") || PRODUCT_PATH.test(path),
    shared: [
      Math.log1p(chars),
      sum(blocks.map((block) => block.linkChars)) / Math.max(1, chars),
      Math.log1p(blocks.length),
      Math.log1p(prose.length),
      proseChars / Math.max(1, chars),
      Math.log1p(Math.max(0, ...prose.map((block) => block.text.length))),
      blocks.filter((block) => /^h[1-6]$/.test(block.element.tag)).length / Math.max(1, blocks.length),
      blocks.filter((block) => /[$€£¥]\s?\d/.test(block.text)).length / Math.max(1, blocks.length),
      ogType.startsWith("article")
        ? 1
        : ogType.includes("product")
          ? 2
          : ogType === "website"
            ? 3
            : ogType === ""
              ? 0
              : 4,
      Math.min(articles.count, 20),
      Math.min(headings, 10),
      articleBody === "" ? 0 : 1,
      path.split("/").filter((part) => part !== "").length,
      ...SCHEMA_TYPES.map((pattern) => (pattern.test(structured) ? 1 : 0)),
      ...URL_KINDS.map((pattern) => (pattern.test(own) ? 1 : 0)),
    ],
    forBlock: (block) => [
      articles.orderOf(block),
      headingsTo[block.index] ?? 0,
      articleBody === "" ? -1 : articleBody.includes(compactHead(block.text).slice(0, 60)) ? 1 : 0,
      overlapOf(block, title),
      overlapOf(block, description),
      strings === "" ? -1 : block.text.length > 5 && strings.includes(compactHead(block.text).slice(0, 40)) ? 1 : 0,
      described < 0 ? 0 : Math.max(-100, Math.min(100, block.index - described)),
      anchor < 0 ? 0 : Math.max(-100, Math.min(100, block.index - anchor)),
      lastProse < 0 ? 0 : Math.max(-100, Math.min(100, block.index - lastProse)),
      firstProse < 0 ? 0 : Math.max(-100, Math.min(100, block.index - firstProse)),
    ],
  };
}

/** The content of the <meta> element with this name; "" if there is none. */
export function metaContent(document: PageDocument, name: string): string {
  return (
    document.head.find((element) => (element.attributes["property"] ?? element.attributes["name"]) === name)
      ?.attributes["content"] ?? ""
  );
}

/** Whether the page's metadata say that it is a thread of a forum. */
export function isThread(document: PageDocument): boolean {
  const own = ownAddress(document, "");
  return (
    document.structured.some((source) => SCHEMA_TYPES[2]?.test(source) === true) || URL_KINDS[2]?.test(own) === true
  );
}

/** Whether the page's metadata say that it is a list of products. */
export function isCollection(document: PageDocument): boolean {
  const own = ownAddress(document, "");
  if (URL.canParse(own) && PRODUCT_PATH.test(new URL(own).pathname)) return false;
  return (
    document.structured.some((source) => SCHEMA_TYPES[3]?.test(source) === true) || URL_KINDS[1]?.test(own) === true
  );
}

const CART =
  /add to (?:cart|bag|basket)|buy (?:it )?now|in den warenkorb|ajouter au panier|añadir al carrito|aggiungi al carrello/i;

/** Whether the page is about one product, by its type, its data, its address, or a button to buy it. */
export function saysProduct(document: PageDocument, blocks: readonly Block[]): boolean {
  if (metaContent(document, "og:type").toLowerCase().includes("product")) return true;
  if (document.structured.some((source) => SCHEMA_TYPES[1]?.test(source) === true)) return true;
  const own = ownAddress(document, "");
  if (URL.canParse(own) && PRODUCT_PATH.test(new URL(own).pathname)) return true;
  if (blocks.some(({ text }) => text.length < 60 && CART.test(text))) return true;
  return elementsOf(document.body).some(({ attributes }) =>
    /schema\.org\/Product$/i.test(attributes["itemtype"] ?? ""),
  );
}

/** The article's text from the structured data, in the form of `compact`; "" if there is none. */
function structuredBody(structured: readonly string[]): string {
  let text = "";
  for (const source of structured)
    for (const match of source.matchAll(/"(?:articleBody|reviewBody|text)"\s*:\s*"((?:[^"\\]|\\.)*)"/g))
      text += ` ${unescaped(match[1] ?? "")}`;
  return compact(text);
}

/** All texts of the structured data, in the form of `compact`; "" if there are none. */
function structuredStrings(structured: readonly string[]): string {
  let text = "";
  for (const source of structured)
    for (const match of source.matchAll(/:\s*"((?:[^"\\]|\\.){6,})"/g)) {
      if (text.length > STRINGS_CHARS_MAX) return compact(text);
      if (!/^https?:/.test(match[1] ?? "")) text += ` ${unescaped(match[1] ?? "")}`;
    }
  return compact(text);
}

function unescaped(text: string): string {
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\[nrt]/g, " ");
  return spacedTags(plain);
}

/** Reduces a text to its letters and digits, since quotes and spaces are written in many ways. */
function compact(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The start of a text in the form of `compact`. */
function compactHead(text: string): string {
  return compact(text.length > 240 ? text.slice(0, 240) : text);
}

/** The number of <article> elements, and in which of them a block is: endless pages append the next article to the first. */
function articleOrder(blocks: readonly Block[]): { count: number; orderOf: (block: Block) => number } {
  const order = new Map<PageElement, number>();
  const known = new Map<PageElement, PageElement | undefined>();
  const outermost = (element: PageElement): PageElement | undefined => {
    if (known.has(element)) return known.get(element);
    const above = element.parentNode === null ? undefined : outermost(element.parentNode);
    const found = above ?? (element.tag === "article" ? element : undefined);
    known.set(element, found);
    return found;
  };
  for (const { element } of blocks) {
    const article = outermost(element);
    if (article !== undefined && !order.has(article)) order.set(article, order.size + 1);
  }
  return {
    count: order.size,
    orderOf: ({ element }) => {
      const article = outermost(element);
      return article === undefined ? 0 : Math.min(20, order.get(article) ?? 0);
    },
  };
}

/** The page's address. The one that the page states comes first, since copies and previews have other addresses. */
export function ownAddress(document: PageDocument, url: string): string {
  for (const element of document.head) {
    const address =
      element.attributes["rel"] === "canonical"
        ? element.attributes["href"]
        : element.attributes["property"] === "og:url"
          ? element.attributes["content"]
          : undefined;
    if (address !== undefined && URL.canParse(address)) return address;
  }
  return url;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function firstWords(text: string): readonly string[] {
  return (text.length > 200 ? text.slice(0, 200) : text).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The share of the words that are in the set. */
function overlap(words: readonly string[], set: ReadonlySet<string>): number {
  if (set.size === 0 || words.length === 0) return 0;
  let held = 0;
  for (const word of words) if (set.has(word)) held++;
  return held / words.length;
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
