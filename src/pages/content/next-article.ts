// Endless pages append the next article to the first one. The next article begins with its own headline, and everything from
// there on is dropped.

import { closest, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { headlineOf, isTitled } from "./expected-parts.ts";
import { headingLevel, isThreadPage, type JudgedPage, sumChars } from "./judged.ts";
import { DATE } from "./phrases.ts";

/** With less kept text under its headline, the first part is not an article. */
const ARTICLE_CHARS_MIN = 400;
/** With less kept text under its headline, the second part is a teaser and not an article. */
const NEXT_CHARS_MIN = 200;
/** How many blocks after a headline are searched for a date and an author. */
const BYLINE_REACH = 5;
const BYLINE_CHARS_MAX = 160;
const BYLINE = /^(?:by|von|par|por|di|door)\s+\p{Lu}|^(?:posted|published|updated|written)\b/iu;

/** Drops the next article and everything after it. */
export function dropNextArticle(page: JudgedPage): void {
  const { document, blocks, kept } = page;
  const headline = headlineOf(document, blocks);
  const first = headline[0];
  if (first === undefined || isThreadPage(page)) return;
  const above = pathOf(first.element);
  for (const block of blocks.slice(first.index + headline.length)) {
    if (headingLevel(block) !== 1 && !isArticleHeading(block)) continue;
    if (block.text === first.text || isTitled(document, block.text) || block.linkChars > 0) continue;
    const start = startOf(block, above, blocks);
    if (start === undefined) continue;
    const before = blocks.slice(first.index, start).filter((one) => kept.has(one));
    const rest = blocks.slice(start).filter((one) => kept.has(one));
    if (sumChars(before) < ARTICLE_CHARS_MIN || sumChars(rest) < NEXT_CHARS_MIN) continue;
    for (const one of rest) kept.delete(one);
    return;
  }
}

/** Whether the block is the first heading of an <article>. */
function isArticleHeading(block: Block): boolean {
  return headingLevel(block) === 2 && closest(block.element, ({ tag }) => tag === "article") !== undefined;
}

/** The start of the article that a headline begins: its container, if that has the same structure as the first article's. */
function startOf(headline: Block, above: readonly PageElement[], blocks: readonly Block[]): number | undefined {
  const path = pathOf(headline.element);
  const at = path.findIndex((element) => above.includes(element));
  const own = path[at - 1];
  const other = above[above.indexOf(path[at] as PageElement) - 1];
  if (own === undefined || other === undefined) return undefined;
  // Headings within one article can also have dates, for example in a history. A new article has the same structure as the one
  // before it.
  if (own === headline.element || own.tag !== other.tag || own.className !== other.className) return undefined;
  // Some sites wrap each heading alone.
  const beside = [blocks[headline.index - 1], blocks[headline.index + 1]];
  if (!beside.some((one) => one !== undefined && isIn(one, own))) return undefined;
  const isFirstRank = headingLevel(headline) === 1;
  if (own.tag !== "article" && !isFirstRank) return undefined;
  const signed = blocks
    .slice(Math.max(0, headline.index - 2), headline.index + 1 + BYLINE_REACH)
    .some(({ text }) => text.length < BYLINE_CHARS_MAX && (DATE.test(text) || BYLINE.test(text)));
  if (!signed && !(own.tag === "article" && isFirstRank)) return undefined;
  let start = headline.index;
  while (start > 0 && isIn(blocks[start - 1] as Block, own)) start--;
  return start;
}

function isIn({ element }: Block, container: PageElement): boolean {
  return element === container || closest(element, (above) => above === container) !== undefined;
}

function pathOf(element: PageElement): PageElement[] {
  const path: PageElement[] = [];
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) path.push(at);
  return path;
}
