// Drops what a post of a thread quotes from another post of the same page: the words stand there already. Who is quoted stays, and
// a quotation of one sentence, which says what is answered. So does a paragraph of a quotation with even one word of its own: it may
// have been corrected, or be the answer.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isNamedQuote, saysWho } from "./companions.ts";
import { isThreadPage, type JudgedPage, sumChars } from "./judged.ts";

/** Quotations with fewer words say what is answered. */
const WORDS_MIN = 12;
/** How much of a word a character is in scripts without spaces. */
const CHARACTER = 0.5;
const RUN_WORDS = 4;
const NAME_WORDS_MAX = 8;
/** The share of the runs of words of a quotation that must stand in other posts. */
const SAID_SHARE = 0.9;
/** The names of posts, and how many with the same names and how much of the kept text make a page a thread that nothing else says is one. */
const POST = /(?:^|[\s_-]|[a-z](?=[A-Z]))(?:[Pp]ost|[Cc]omment|[Rr]eply|[Mm]essage|[Aa]nswer)(?=[\s_-]|$)/;
const POSTS_MIN = 4;
const POSTS_SHARE = 0.6;

/** Drops such quotations. */
export function dropQuotedPosts(page: JudgedPage): void {
  const { kept } = page;
  const isThread = isThreadPage(page);
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
  const long = [...quotes.values()].map((own) => ({ own, ...wordsOf(own) })).filter(({ words }) => isLong(words));
  if (long.length === 0 || !(isThread || arePosts(posts))) return;
  const wanted = new Set(long.flatMap(({ words }) => [...runsOf(words)]));
  const said = new Set<string>();
  for (const run of runsOf(wordsOf(posts).words)) if (wanted.has(run)) said.add(run);
  for (const { own, words, ends, firsts } of long) {
    const runs = [...runsOf(words)].map((run) => said.has(run));
    const whole = runs.filter((_, at) => !isParted(at, ends));
    if (whole.filter((isSaid) => isSaid).length < whole.length * SAID_SHARE) continue;
    const foreign = new Set<number>();
    let block = 0;
    for (const word of foreignWords(runs, words.length, ends)) {
      while ((firsts[block + 1] ?? words.length) <= word) block++;
      foreign.add(block);
    }
    // The paragraph before words of its own is what they answer.
    own.forEach((part, at) => {
      if (!foreign.has(at) && !foreign.has(at + 1)) kept.delete(part);
    });
  }
}

/** Whether most of the text stands in several elements with the same names, which say that they are posts. */
function arePosts(blocks: readonly Block[]): boolean {
  const posts = new Map<string, { readonly elements: Set<PageElement>; chars: number }>();
  const known = new Map<PageElement, PageElement | null>();
  for (const { element, text } of blocks) {
    const post = innermostPost(element, known);
    if (post === null) continue;
    const group = posts.get(post.className) ?? { elements: new Set(), chars: 0 };
    posts.set(post.className, group);
    group.elements.add(post);
    group.chars += text.length;
  }
  const least = sumChars(blocks) * POSTS_SHARE;
  return [...posts.values()].some(({ elements, chars }) => elements.size >= POSTS_MIN && chars >= least);
}

function innermostPost(element: PageElement, known: Map<PageElement, PageElement | null>): PageElement | null {
  const path: PageElement[] = [];
  let found: PageElement | null = null;
  for (let at: PageElement | null = element; at !== null && found === null; at = at.parentNode) {
    const answer = known.get(at);
    if (answer === null) break;
    path.push(at);
    found = answer ?? (at.className !== "" && POST.test(at.className) ? at : null);
  }
  for (const at of path) known.set(at, found);
  return found;
}

/** The words that no run that is said holds, and those within a sentence where words were left out. */
function foreignWords(runs: readonly boolean[], count: number, ends: ReadonlySet<number>): readonly number[] {
  // The first words may be the name of who is quoted.
  const first = runs.indexOf(true);
  const start = first >= 0 && first <= NAME_WORDS_MAX ? first : 0;
  const foreign: number[] = [];
  let covered = start;
  for (let at = start; at < count; at++) {
    if (runs[at] === true) covered = at + RUN_WORDS;
    if (at >= covered || (runs[at] === false && !isParted(at, ends))) foreign.push(at);
  }
  return foreign;
}

/** Whether a sentence or a paragraph ends within a run. */
function isParted(at: number, ends: ReadonlySet<number>): boolean {
  return ends.has(at + 1) || ends.has(at + 2) || ends.has(at + 3);
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

const SPACELESS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const WORD = `[${SPACELESS}]|(?:(?![${SPACELESS}])[\\p{L}\\p{M}\\p{N}])+`;
const END = /^[.!?…。！？]$/;
const WORDS = new RegExp(`${WORD}|[.!?…。！？]`, "gu");
/** What forums show for a picture in a quotation. */
const ATTACHED = /view attachment \d+/gi;
/** In code every sign counts. */
const SIGNS = new RegExp(`${WORD}|\\S`, "gu");
const ONE_CHARACTER = new RegExp(`^[${SPACELESS}]$`, "u");

/** The words of all these blocks as one text, before which of them a sentence or a paragraph ends, and the first word of each block. */
function wordsOf(blocks: readonly Block[]): { words: string[]; ends: ReadonlySet<number>; firsts: readonly number[] } {
  const words: string[] = [];
  const ends = new Set<number>();
  const firsts: number[] = [];
  for (const { element, text } of blocks) {
    firsts.push(words.length);
    const isCode = element.tag === "pre";
    for (const [word] of text
      .replace(ATTACHED, "")
      .toLowerCase()
      .matchAll(isCode ? SIGNS : WORDS))
      if (!isCode && END.test(word)) ends.add(words.length);
      else words.push(word);
    ends.add(words.length);
  }
  return { words, ends, firsts };
}

function isLong(words: readonly string[]): boolean {
  return words.reduce((sum, word) => sum + (ONE_CHARACTER.test(word) ? CHARACTER : 1), 0) >= WORDS_MIN;
}

function* runsOf(words: readonly string[]): Iterable<string> {
  for (let at = 0; at + RUN_WORDS <= words.length; at++) yield words.slice(at, at + RUN_WORDS).join(" ");
}
