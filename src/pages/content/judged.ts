// A page with its judged blocks, and functions that the selection steps share.

import { closest, type PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import type { PageKind } from "./kind-signs.ts";
import { isCollection, isThread } from "./page-traits.ts";

/** A page with its judged blocks. */
export interface JudgedPage {
  readonly document: PageDocument;
  readonly blocks: readonly Block[];
  /** The probability that each block is main content. */
  readonly verdicts: readonly number[];
  /** The same without the discount for text that the page marks as secondary. */
  readonly unadjusted: readonly number[];
  readonly kept: Set<Block>;
  /** The kind of the page, if it is certain. */
  readonly kind: () => PageKind | undefined;
  /** Whether the page is surely an article. */
  readonly isSureArticle: () => boolean;
}

/** Whether the page is a thread of a forum, by its metadata or by its kind. */
export function isThreadPage({ document, kind }: Pick<JudgedPage, "document" | "kind">): boolean {
  return isThread(document) || kind() === "forum";
}

/** Whether the page is a list of products, by its metadata or by its kind. */
export function isCollectionPage({ document, kind }: Pick<JudgedPage, "document" | "kind">): boolean {
  return isCollection(document) || kind() === "collection";
}

/** The level of a heading, from 1 to 6; 0 for other blocks. */
export function headingLevel(block: Block): number {
  return /^h[1-6]$/.test(block.element.tag) ? Number(block.element.tag[1]) : 0;
}

/** The number of characters of all these blocks. */
export function sumChars(blocks: Iterable<Block>): number {
  let chars = 0;
  for (const block of blocks) chars += block.text.length;
  return chars;
}

/** Whether the block is in a part that frames the page, such as the navigation or the footer. */
export function isInFrame({ element }: Pick<Block, "element">): boolean {
  return isFrame(element) || closest(element, isFrame) !== undefined;
}

/** Whether the block is in the navigation of the site, as opposed to one within the content. */
export function isInNavigation({ element }: Block): boolean {
  const navigation = isNavigation(element) ? element : closest(element, isNavigation);
  return navigation !== undefined && closest(navigation, isContent) === undefined;
}

/** Whether the block is in the footer of the site, as opposed to one of an article. */
export function isInSiteFooter({ element }: Block): boolean {
  const footer = isFooter(element) ? element : closest(element, isFooter);
  return footer !== undefined && closest(footer, isContent) === undefined;
}

function isFooter({ tag, attributes }: PageElement): boolean {
  return tag === "footer" || attributes["role"] === "contentinfo";
}

function isContent({ tag, attributes }: PageElement): boolean {
  return tag === "main" || tag === "article" || attributes["role"] === "main" || attributes["role"] === "article";
}

function isNavigation({ tag, attributes }: PageElement): boolean {
  return tag === "nav" || attributes["role"] === "navigation";
}

function isFrame(element: PageElement): boolean {
  return isNavigation(element) || element.tag === "footer" || element.tag === "header" || element.tag === "aside";
}

/** For each element, the length of its text and the share that was kept. */
export function shareOfKept(
  blocks: Iterable<Block>,
  kept: ReadonlySet<Block>,
): (element: PageElement) => { readonly chars: number; readonly kept: number } | undefined {
  const chars = new Map<PageElement, { all: number; kept: number }>();
  for (const block of blocks)
    for (let element: PageElement | null = block.element; element !== null; element = element.parentNode) {
      const sums = chars.get(element) ?? { all: 0, kept: 0 };
      sums.all += block.text.length;
      if (kept.has(block)) sums.kept += block.text.length;
      chars.set(element, sums);
    }
  return (element) => {
    const sums = chars.get(element);
    return sums === undefined ? undefined : { chars: sums.all, kept: sums.kept / sums.all };
  };
}
