// Leaves of a page what a reader came for. An ordered list of steps over one tree; each says in the trace what it took.
// Never leaves nothing when the page has text.

import { closest, elementsOf, type PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { type Block, cutBlocks } from "./blocks.ts";
import { bestThreshold, judgeBlocks, type Weights } from "./choose.ts";
import { setAside } from "./set-aside.ts";
import type { Trace } from "./trace.ts";

/** A page with its blocks judged. */
interface Judged {
  readonly document: PageDocument;
  readonly blocks: readonly Block[];
  readonly verdicts: readonly number[];
  readonly kept: Set<Block>;
}

type Step = (page: Judged) => void;

/** The order matters: completing wants a first choice, dropping lone headings wants the completed one. */
const STEPS: readonly Step[] = [
  chooseBlocks,
  completeTables,
  completeCode,
  completeLists,
  dropCopies,
  keepInnerHeadings,
  dropLoneHeadings,
  fallBack,
  keepHeadline,
  keepSmall,
];

/** A choice shorter than this is doubtful when the page has much more text. */
const DOUBTFUL_CHARS = 120;
/** Pages up to this much text are kept as they are, without their frame. */
const SMALL_CHARS = 500;
/** Pages up to this much text keep their headline. */
const SHORT_CHARS = 3000;
/** Share of a table's text that must be chosen for the rest of it to be kept too. */
const TABLE_SHARE = 0.5;
const LIST_SHARE = 0.75;
/** Share of kept text around a listing from which it is taken for a part of it. */
const AROUND_CODE_SHARE = 0.6;
/** Shorter texts repeat for good reasons. */
const COPY_CHARS_MIN = 100;
/** From here on a text is a copy even when its neighbours are not. */
const COPY_ALONE_CHARS_MIN = 250;
const COPY_WORDS = 5;
const COPY_SHARE = 0.9;
/** Verdict from which a heading right above kept text is taken with it. */
const INNER_HEADING_MIN = 0.15;
/** Verdict below which completing a list does not take an item in. */
const CLEARLY_NOT = 0.08;

/** Cuts the body down to its main content, in place. */
export function keepMainContent(
  document: PageDocument,
  { url, weights, trace }: { url: string; weights: Weights; trace: Trace },
): void {
  const blocks = cutBlocks(document.body);
  if (blocks.length === 0) return;
  const verdicts = judgeBlocks(document, blocks, { url, weights });
  prune({ document, blocks, verdicts, kept: chooseMain(document, blocks, verdicts) }, trace);
}

/** The blocks to keep, given each block's probability to be main content. */
export function chooseMain(
  document: PageDocument,
  blocks: readonly Block[],
  verdicts: readonly number[],
): ReadonlySet<Block> {
  const page: Judged = { document, blocks, verdicts: setAside(blocks, verdicts), kept: new Set() };
  for (const step of STEPS) step(page);
  return page.kept;
}

function chooseBlocks({ blocks, verdicts, kept }: Judged): void {
  const threshold = bestThreshold(blocks, verdicts);
  for (const block of blocks) if ((verdicts[block.index] as number) >= threshold) kept.add(block);
}

/** A table with holes is worse than none: mostly chosen, it is kept whole. */
function completeTables(page: Judged): void {
  completeWithin(
    page,
    (element) => element.tag === "table" && element.getElementsByTagName("table").length === 0,
    TABLE_SHARE,
  );
}

/** Listings are kept whole, and those amid kept text are kept with it: prose that speaks of missing code says little. */
function completeCode(page: Judged): void {
  const isListing = (element: PageElement) => element.tag === "pre";
  completeWithin(page, isListing, 0);
  const { blocks, kept } = page;
  const missing = blocks.filter((block) => !kept.has(block) && isListing(block.element));
  if (missing.length === 0) return;
  const share = shareOfKept(blocks, kept);
  for (const block of missing) {
    const around = closest(block.element, (element) => (share(element)?.chars ?? 0) > block.text.length * 2);
    if (around !== undefined && (share(around)?.kept ?? 0) > AROUND_CODE_SHARE) kept.add(block);
  }
}

function completeLists(page: Judged): void {
  completeWithin(page, (element) => element.tag === "ol" || element.tag === "dl" || element.tag === "ul", LIST_SHARE);
}

function completeWithin(
  { blocks, verdicts, kept }: Judged,
  isWhole: (element: PageElement) => boolean,
  share: number,
): void {
  const members = new Map<PageElement, Block[]>();
  const answers = new Map<PageElement, boolean>();
  // Asked for every block of a table, answered once.
  const remembered = (element: PageElement) => {
    const known = answers.get(element);
    if (known !== undefined) return known;
    const answer = isWhole(element);
    answers.set(element, answer);
    return answer;
  };
  for (const block of blocks) {
    const whole = remembered(block.element) ? block.element : closest(block.element, remembered);
    if (whole === undefined) continue;
    const list = members.get(whole) ?? [];
    members.set(whole, list);
    list.push(block);
  }
  for (const list of members.values()) {
    const chars = sumChars(list);
    const chosen = sumChars(list.filter((block) => kept.has(block)));
    if (chosen > 0 && chosen / chars > share)
      for (const block of list) if ((verdicts[block.index] as number) > CLEARLY_NOT) kept.add(block);
  }
}

/**
 * What is said twice is kept once: pages carry their text again for machines, for print or for small screens. A long
 * piece that others say in parts goes first; of equals the later one goes.
 */
function dropCopies({ blocks, kept }: Judged): void {
  const counts = new Map<string, number>();
  const keys = new Map<Block, string[]>();
  for (const block of blocks)
    if (kept.has(block) && block.text.length >= COPY_CHARS_MIN && block.element.tag !== "pre") {
      const own = shinglesOf(block.text);
      keys.set(block, own);
      for (const key of own) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const order = blocks.filter((block) => kept.has(block));
  const texts = new Map<string, number>();
  for (const block of order) texts.set(block.text, (texts.get(block.text) ?? 0) + 1);
  const repeats = (block: Block | undefined) => block !== undefined && (texts.get(block.text) ?? 0) > 1;
  const besideCopy = new Set(order.filter((_, at) => repeats(order[at - 1]) || repeats(order[at + 1])));
  const longFirst = [...keys.keys()].sort((a, b) => b.text.length - a.text.length || b.index - a.index);
  for (const block of longFirst) {
    // One sentence between others may well be needed twice: the same parameter of two calls, say.
    if (block.text.length < COPY_ALONE_CHARS_MIN && !besideCopy.has(block) && !isQuote(block)) continue;
    const own = keys.get(block) as string[];
    const inner = new Map<string, number>();
    for (const key of own) inner.set(key, (inner.get(key) ?? 0) + 1);
    const isSaid = (key: string) => (counts.get(key) as number) > (inner.get(key) as number);
    if (!isCopy(own.map(isSaid))) continue;
    kept.delete(block);
    for (const key of own) counts.set(key, (counts.get(key) as number) - 1);
  }
}

/** Whether nearly all was said before. Where two parts meet, runs of words are new that are no new words. */
function isCopy(said: readonly boolean[]): boolean {
  let fresh = 0;
  let run = 0;
  for (const isSaid of [...said, true]) {
    if (!isSaid) run++;
    else {
      if (run >= COPY_WORDS) fresh += run;
      run = 0;
    }
  }
  return fresh <= said.length * (1 - COPY_SHARE) && said.includes(true);
}

/** Quotes repeat what they answer. */
function isQuote({ element }: Block): boolean {
  const isQuoting = ({ tag }: PageElement) => tag === "blockquote" || tag === "q";
  return isQuoting(element) || closest(element, isQuoting) !== undefined;
}

function shinglesOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < COPY_WORDS) return [text];
  return words.slice(0, words.length - COPY_WORDS + 1).map((_, i) => words.slice(i, i + COPY_WORDS).join(" "));
}

/** A heading amid kept text, with kept text right under it, is a part of it. */
function keepInnerHeadings({ blocks, verdicts, kept }: Judged): void {
  const first = blocks.find((block) => kept.has(block))?.index ?? blocks.length;
  for (const block of blocks) {
    const next = blocks[block.index + 1];
    if (headingLevel(block) < 2 || block.index < first || next === undefined || !kept.has(next)) continue;
    if ((verdicts[block.index] as number) > INNER_HEADING_MIN) kept.add(block);
  }
}

/** A heading that lost everything under it says nothing ("Related stories"). */
function dropLoneHeadings({ blocks, verdicts, kept }: Judged): void {
  const chosen = blocks.filter((block) => kept.has(block));
  chosen.forEach((block, at) => {
    const level = headingLevel(block);
    if (level < 2) return;
    const next = chosen[at + 1];
    const isLone = next === undefined || (headingLevel(next) > 0 && headingLevel(next) < level);
    if (isLone && (verdicts[block.index] as number) < 0.6) kept.delete(block);
  });
}

/** When next to nothing was chosen: what is left without the frame of the page, or all of it. */
function fallBack({ blocks, kept }: Judged): void {
  const chosen = sumChars([...kept]);
  if (chosen >= DOUBTFUL_CHARS || chosen >= sumChars(blocks) * 0.5) return;
  if (chosen > 0 && sumChars(blocks) < DOUBTFUL_CHARS * 4) return;
  if (chosen > 0) return;
  const inner = blocks.filter((block) => closest(block.element, isFrame) === undefined && !isFrame(block.element));
  for (const block of inner.length > 0 ? inner : blocks) kept.add(block);
}

/** A page of a few sentences has no clutter but its frame, and a heading may be half of what it says. */
function keepSmall({ blocks, kept }: Judged): void {
  if (sumChars(blocks) > SMALL_CHARS) return;
  for (const block of blocks)
    if (!isFrame(block.element) && closest(block.element, isFrame) === undefined) kept.add(block);
}

/** The one h1 above what was chosen is the page's headline; the shorter the page, the more of what it says is there. */
function keepHeadline({ blocks, kept }: Judged): void {
  if (sumChars(blocks) > SHORT_CHARS) return;
  const headlines = blocks.filter((block) => headingLevel(block) === 1);
  const [headline] = headlines;
  const first = blocks.find((block) => kept.has(block));
  if (headline === undefined || headlines.length > 1 || first === undefined || headline.index > first.index) return;
  if (!isFrame(headline.element) && closest(headline.element, isFrame) === undefined) kept.add(headline);
}

function isFrame(element: PageElement): boolean {
  return element.tag === "nav" || element.tag === "footer" || element.tag === "header" || element.tag === "aside";
}

/** Takes out every text that was not kept, then every element that holds neither kept text nor a picture that belongs to it. */
function prune({ document, blocks, kept }: Omit<Judged, "kept"> & { kept: ReadonlySet<Block> }, trace: Trace): void {
  const keptNodes = new Set<PageText>();
  for (const block of kept) for (const node of block.nodes) keptNodes.add(node);
  const share = shareOfKept(blocks, kept);
  const holding = new Set<PageElement>();
  const hold = (from: PageElement | null) => {
    for (let element = from; element !== null && !holding.has(element); element = element.parentNode)
      holding.add(element);
  };
  for (const node of keptNodes) hold(node.parentNode);
  for (const element of elementsOf(document.body))
    if (isMedia(element) && belongs(element, share)) {
      holding.add(element);
      hold(element.parentNode);
    }
  for (const node of [...walk(document.body)]) {
    if (node.parentNode === null) continue;
    if (node instanceof PageText) {
      if (node.data.trim() !== "" && !keptNodes.has(node)) node.remove();
    } else if (!holding.has(node as PageElement) && !isSpacer(node as PageElement)) {
      const element = node as PageElement;
      // Coloured code sets its blanks in elements of their own.
      if (isBlank(element)) element.unwrap();
      else trace.remove(element, "main-content");
    }
  }
}

/** For each element, how much text it has and which share of it was kept. */
function shareOfKept(
  blocks: readonly Block[],
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

/** A picture belongs to the content when the nearest text around it does. */
function belongs(media: PageElement, share: ReturnType<typeof shareOfKept>): boolean {
  for (let element = media.parentNode; element !== null; element = element.parentNode) {
    if (element.tag === "nav" || element.tag === "footer") return false;
    const around = share(element);
    if (around !== undefined) return around.kept >= 0.6;
  }
  return false;
}

function isMedia(element: PageElement): boolean {
  return element.tag === "img" || element.tag === "video" || element.tag === "audio" || element.tag === "math";
}

/** Holds white space and nothing else. */
function isBlank(element: PageElement): boolean {
  let length = 0;
  for (let child = element.firstChild; child !== null; child = child.nextSibling) {
    if (!(child instanceof PageText) || child.data.trim() !== "") return false;
    length += child.data.length;
  }
  return length > 0;
}

/** Elements that mean something while empty. */
function isSpacer(element: PageElement): boolean {
  return (
    element.tag === "br" ||
    element.tag === "hr" ||
    element.tag === "wbr" ||
    element.tag === "td" ||
    element.tag === "th" ||
    element.tag === "input"
  );
}

function headingLevel(block: Block): number {
  return /^h[1-6]$/.test(block.element.tag) ? Number(block.element.tag[1]) : 0;
}

function sumChars(blocks: readonly Block[]): number {
  let chars = 0;
  for (const block of blocks) chars += block.text.length;
  return chars;
}
