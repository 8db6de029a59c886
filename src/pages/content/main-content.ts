// Leaves of a page what a reader came for. An ordered list of steps over one tree; each says in the trace what it took.
// Never leaves nothing when the page has text.

import { closest, elementsOf, type PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { type Block, cutBlocks } from "./blocks.ts";
import { bestThreshold, judgeBlocks, type Weights } from "./choose.ts";
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
/** Verdict below which completing a list does not take an item in. */
const CLEARLY_NOT = 0.08;

/** Cuts the body down to its main content, in place. */
export function keepMainContent(
  document: PageDocument,
  { url, weights, trace }: { url: string; weights: Weights; trace: Trace },
): void {
  const blocks = cutBlocks(document.body);
  if (blocks.length === 0) return;
  const page: Judged = { document, blocks, verdicts: judgeBlocks(document, blocks, { url, weights }), kept: new Set() };
  for (const step of STEPS) step(page);
  prune(page, trace);
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

function completeCode(page: Judged): void {
  completeWithin(page, (element) => element.tag === "pre", 0);
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
function prune({ document, blocks, kept }: Judged, trace: Trace): void {
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

/** For each element, which share of its text was kept. */
function shareOfKept(blocks: readonly Block[], kept: ReadonlySet<Block>): (element: PageElement) => number | undefined {
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
    return sums === undefined ? undefined : sums.kept / sums.all;
  };
}

/** A picture belongs to the content when the nearest text around it does. */
function belongs(media: PageElement, share: (element: PageElement) => number | undefined): boolean {
  for (let element = media.parentNode; element !== null; element = element.parentNode) {
    if (element.tag === "nav" || element.tag === "footer") return false;
    const around = share(element);
    if (around !== undefined) return around >= 0.6;
  }
  return false;
}

function isMedia(element: PageElement): boolean {
  return element.tag === "img" || element.tag === "video" || element.tag === "audio" || element.tag === "math";
}

/** Holds white space and nothing else. */
function isBlank(element: PageElement): boolean {
  const { textContent } = element;
  return textContent !== "" && textContent.trim() === "" && element.children.length === 0;
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
