// Drops what a post of a thread quotes from another post of the same page: the words stand there already. Who is quoted stays, and
// a quotation of one sentence, which says what is answered.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isNamedQuote, saysWho } from "./companions.ts";
import { isThreadPage, type JudgedPage } from "./judged.ts";

/** Quotations with fewer words say what is answered. */
const WORDS_MIN = 12;
const RUN_WORDS = 4;
/** The share of the runs of words of a quotation that must stand in other posts. */
const SAID_SHARE = 0.9;

/** Drops such quotations. */
export function dropQuotedPosts(page: JudgedPage): void {
  const { kept } = page;
  if (!isThreadPage(page)) return;
  const quotes = new Map<PageElement, Block[]>();
  const posts: Block[] = [];
  const known = new Map<PageElement, PageElement | null>();
  for (const block of kept) {
    const quote = outermostQuote(block.element, known);
    if (quote === null) posts.push(block);
    else if (!saysWho(block)) {
      const own = quotes.get(quote);
      if (own === undefined) quotes.set(quote, [block]);
      else own.push(block);
    }
  }
  if (quotes.size === 0) return;
  const said = new Set(posts.flatMap(({ text }) => runsOf(wordsOf(text))));
  for (const own of quotes.values()) {
    const words = own.map(({ text }) => wordsOf(text));
    if (words.reduce((sum, { length }) => sum + length, 0) < WORDS_MIN) continue;
    const runs = words.flatMap(runsOf);
    if (runs.filter((run) => said.has(run)).length >= runs.length * SAID_SHARE)
      for (const block of own) kept.delete(block);
  }
}

/** The outermost quotation around an element. */
function outermostQuote(element: PageElement, known: Map<PageElement, PageElement | null>): PageElement | null {
  const path: PageElement[] = [];
  let found: PageElement | null = null;
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) {
    const answer = known.get(at);
    if (answer !== undefined) {
      found = answer;
      break;
    }
    path.push(at);
  }
  for (const at of path.reverse()) {
    if (found === null && (at.tag === "blockquote" || isNamedQuote(at.className))) found = at;
    known.set(at, found);
  }
  return found;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function runsOf(words: readonly string[]): string[] {
  if (words.length < RUN_WORDS) return [];
  return Array.from({ length: words.length - RUN_WORDS + 1 }, (_, at) => words.slice(at, at + RUN_WORDS).join(" "));
}
