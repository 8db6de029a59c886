// Reduces a page to its main content. An ordered list of steps over one tree; each records in the trace what it removed. If
// the page has text, something is always kept.

import { closest, elementsOf, type PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { isPlayerFrame, isTable } from "../dom/parts.ts";
import { type Block, cutBlocks } from "./blocks.ts";
import { bestThreshold, judgeBlocks, type Weights } from "./choose.ts";
import { dropButtons, keepAttributions, keepAuthors, keepFigures, keepTitles } from "./companions.ts";
import { dropCopies } from "./copies.ts";
import { keepCaptions, keepHeadline, keepNotes, keepPrice } from "./expected-parts.ts";
import { levelGroups } from "./groups.ts";
import { headingLevel, isInFrame, type JudgedPage, shareOfKept, sumChars } from "./judged.ts";
import { dropNextArticle } from "./next-article.ts";
import { setAside } from "./set-aside.ts";
import { keepTiles } from "./tiles.ts";
import type { Trace } from "./trace.ts";

/** One step of choosing, and what it goes by. */
interface Step {
  readonly name: string;
  readonly because: string;
  readonly run: (page: JudgedPage) => void;
}

/** The order matters: completing needs a first choice, and dropping lone headings needs the completed one. */
const STEPS: readonly Step[] = [
  { name: "choice", because: "how likely it is main content, on this page", run: chooseBlocks },
  { name: "tables", because: "most of its table is kept", run: completeTables },
  { name: "code", because: "a listing amid kept text", run: completeCode },
  { name: "lists", because: "most of its list is kept", run: completeLists },
  { name: "terms", because: "a term and what it means go together", run: completeTerms },
  { name: "inner-headings", because: "a heading right above kept text", run: keepInnerHeadings },
  { name: "lone-headings", because: "a heading with no kept text under it", run: dropLoneHeadings },
  { name: "fallback", because: "nothing else on the page was chosen", run: fallBack },
  { name: "tiles", because: "the products of a collection", run: keepTiles },
  { name: "headline", because: "the headline of the page", run: keepHeadline },
  { name: "price", because: "the price beside a product's headline", run: keepPrice },
  { name: "titles", because: "the title of a kept note, or of what a reader opens", run: keepTitles },
  { name: "attributions", because: "who said what is quoted", run: keepAttributions },
  { name: "figures", because: "a figure and what it counts go together", run: keepFigures },
  { name: "captions", because: "the caption of a picture amid kept text", run: keepCaptions },
  { name: "notes", because: "a note that kept text points to", run: keepNotes },
  { name: "authors", because: "who wrote a kept post", run: keepAuthors },
  { name: "small-page", because: "the page has only a few sentences", run: keepSmall },
  { name: "buttons", because: "the words on a button", run: dropButtons },
  { name: "next-article", because: "another article begins here or before", run: dropNextArticle },
  { name: "copies", because: "another container says the same word for word", run: dropCopies },
];

/** A choice shorter than this is doubtful if the page has much more text. */
const DOUBTFUL_CHARS = 120;
/** Pages with up to this much text are kept whole, without their frame. */
const SMALL_CHARS = 500;
/** Share of a table's text that must be chosen for the whole table to be kept. */
const TABLE_SHARE = 0.5;
/** The same for tables of short cells, which are kept whole or not at all, and the longest average length of their cells. */
const GRID_SHARE = 0.25;
const GRID_CELL_CHARS = 60;
const LIST_SHARE = 0.75;
/** Share of kept text around a listing above which the listing belongs to it. */
const AROUND_CODE_SHARE = 0.6;
/** Verdict above which a heading directly above kept text is kept too. */
const INNER_HEADING_MIN = 0.15;
/** Verdict below which completing a list does not include an item. */
const CLEARLY_NOT = 0.08;

/** Cuts the body down to its main content, in place. */
export function keepMainContent(
  document: PageDocument,
  { url, weights, trace }: { url: string; weights: Weights; trace: Trace },
): void {
  const blocks = cutBlocks(document.body);
  if (blocks.length === 0) return;
  const verdicts = judgeBlocks(document, blocks, { url, weights });
  prune({ document, blocks, verdicts, kept: chooseMain(document, blocks, verdicts, trace) }, trace);
}

/** The blocks to keep, given each block's probability to be main content. */
export function chooseMain(
  document: PageDocument,
  blocks: readonly Block[],
  verdicts: readonly number[],
  trace?: Trace,
): ReadonlySet<Block> {
  const page: JudgedPage = {
    document,
    blocks,
    verdicts: setAside(blocks, levelGroups(blocks, verdicts)),
    kept: new Set(),
  };
  if (trace?.isKept !== true) for (const { run } of STEPS) run(page);
  else traceSteps(page, trace);
  return page.kept;
}

/** Runs the steps and records for each block which of them decided last. */
function traceSteps({ blocks, ...page }: JudgedPage, trace: Trace): void {
  const last = new Map<Block, Step>();
  for (const step of STEPS) {
    const before = new Set(page.kept);
    step.run({ blocks, ...page });
    for (const block of blocks) if (before.has(block) !== page.kept.has(block)) last.set(block, step);
  }
  for (const block of blocks) {
    const { name, because } = last.get(block) ?? (STEPS[0] as Step);
    const verdict = Number((page.verdicts[block.index] as number).toFixed(3));
    trace.judge({ kept: page.kept.has(block), step: name, because, verdict }, block.element, block.text);
  }
}

function chooseBlocks({ blocks, verdicts, kept }: JudgedPage): void {
  const threshold = bestThreshold(blocks, verdicts);
  for (const block of blocks) if ((verdicts[block.index] as number) >= threshold) kept.add(block);
}

/** A table with holes is worse than none: if most of it is chosen, it is kept whole. */
function completeTables(page: JudgedPage): void {
  completeWithin(
    page,
    (element) => isTable(element) && element.getElementsByTagName("table").length === 0,
    TABLE_SHARE,
  );
  keepGridsWhole(page);
}

/** A figure without its row or column is misleading: a table of short cells is kept whole or not at all. */
function keepGridsWhole({ blocks, kept }: JudgedPage): void {
  const grids = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    const table = closest(block.element, isTable);
    if (table === undefined) continue;
    const list = grids.get(table);
    if (list === undefined) grids.set(table, [block]);
    else list.push(block);
  }
  for (const [table, cells] of grids) {
    const chosen = sumChars(cells.filter((cell) => kept.has(cell)));
    const chars = sumChars(cells);
    if (chosen === 0 || cells.every((cell) => kept.has(cell)) || !isGrid(table, cells, chars)) continue;
    for (const cell of cells)
      if (chosen > chars * GRID_SHARE) kept.add(cell);
      else kept.delete(cell);
  }
}

/** Rows and columns of short cells, not a table that lays out a page. */
function isGrid(table: PageElement, cells: readonly Block[], chars: number): boolean {
  const rows = elementsOf(table).filter(({ tag, attributes }) => tag === "tr" || attributes["role"] === "row").length;
  if (rows < 2 || cells.length < rows * 1.5 || chars > cells.length * GRID_CELL_CHARS) return false;
  return (
    table.getElementsByTagName("table").length === 0 &&
    cells.every(({ element, nodes }) => isCell(element) || closest(nodes[0] as PageText, isCell) !== undefined)
  );
}

function isCell({ tag, attributes }: PageElement): boolean {
  return tag === "td" || tag === "th" || /^(?:(?:grid)?cell|(?:column|row)header)$/.test(attributes["role"] ?? "");
}

/** Listings are kept whole, and those amid kept text are kept with it: prose about missing code is of little use. */
function completeCode(page: JudgedPage): void {
  const isListing = (element: PageElement) => element.tag === "pre";
  completeWithin(page, isListing, 0);
  const { blocks, kept } = page;
  const missing = blocks.filter((block) => !kept.has(block) && isListing(block.element));
  if (missing.length === 0) return;
  // The text around listings, without the controls to show or copy them.
  const share = shareOfKept(
    blocks.filter((block) => !isListing(block.element) && !isControl(block)),
    kept,
  );
  for (const block of missing) {
    const around = closest(block.element, (element) => (share(element)?.chars ?? 0) > block.text.length * 2);
    if (around !== undefined && (share(around)?.kept ?? 0) > AROUND_CODE_SHARE) kept.add(block);
  }
}

function isControl({ element, text, controlChars }: Block): boolean {
  return controlChars === text.length || element.attributes["role"] === "tab";
}

function completeLists(page: JudgedPage): void {
  completeWithin(page, (element) => element.tag === "ol" || element.tag === "dl" || element.tag === "ul", LIST_SHARE);
}

/** A definition without its term says nothing, and neither does a term alone. */
function completeTerms({ blocks, kept }: JudgedPage): void {
  const isPart = ({ tag }: PageElement) => tag === "dt" || tag === "dd";
  let terms: Block[] = [];
  let isMeant = false;
  for (const block of blocks) {
    const part = isPart(block.element) ? block.element : closest(block.element, isPart);
    if (part?.tag === "dt") {
      if (isMeant) terms = [];
      isMeant = false;
      terms.push(block);
    } else if (part === undefined) terms = [];
    else {
      isMeant = true;
      if (kept.has(block)) for (const term of terms) kept.add(term);
      else if (terms.some((term) => kept.has(term))) kept.add(block);
    }
  }
}

function completeWithin(
  { blocks, verdicts, kept }: JudgedPage,
  isWhole: (element: PageElement) => boolean,
  share: number,
): void {
  const members = new Map<PageElement, Block[]>();
  const answers = new Map<PageElement, boolean>();
  // Asked for every block of a table, computed once.
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

/** A heading amid kept text, with kept text directly under it, belongs to it. */
function keepInnerHeadings({ blocks, verdicts, kept }: JudgedPage): void {
  const first = blocks.find((block) => kept.has(block))?.index ?? blocks.length;
  for (const block of blocks) {
    const next = blocks[block.index + 1];
    if (headingLevel(block) < 2 || block.index < first || next === undefined || !kept.has(next)) continue;
    if ((verdicts[block.index] as number) > INNER_HEADING_MIN) kept.add(block);
  }
}

/** A heading that lost everything under it says nothing ("Related stories"). */
function dropLoneHeadings({ blocks, verdicts, kept }: JudgedPage): void {
  const chosen = blocks.filter((block) => kept.has(block));
  chosen.forEach((block, at) => {
    const level = headingLevel(block);
    if (level < 2) return;
    const next = chosen[at + 1];
    const isLone = next === undefined || (headingLevel(next) > 0 && headingLevel(next) < level);
    if (isLone && (verdicts[block.index] as number) < 0.6) kept.delete(block);
  });
}

/** When hardly anything was chosen: the page without its frame, or all of it. */
function fallBack({ blocks, kept }: JudgedPage): void {
  const chosen = sumChars([...kept]);
  if (chosen >= DOUBTFUL_CHARS || chosen >= sumChars(blocks) * 0.5) return;
  if (chosen > 0 && sumChars(blocks) < DOUBTFUL_CHARS * 4) return;
  if (chosen > 0) return;
  const inner = blocks.filter((block) => !isInFrame(block));
  for (const block of inner.length > 0 ? inner : blocks) kept.add(block);
}

/** A page of a few sentences has no clutter but its frame, and a heading may be half of its message. */
function keepSmall({ blocks, kept }: JudgedPage): void {
  if (blocks.reduce((sum, { text }) => sum + lengthOf(text), 0) > SMALL_CHARS) return;
  for (const block of blocks) if (!isInFrame(block)) kept.add(block);
}

/** Characters, those of scripts without letters as many as a word of such a meaning has. */
function lengthOf(text: string): number {
  return (
    text.length +
    2 * (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0)
  );
}

/** Removes every text that was not kept, then every element that holds neither kept text nor an image that belongs to it. */
function prune(
  { document, blocks, kept }: Omit<JudgedPage, "kept"> & { kept: ReadonlySet<Block> },
  trace: Trace,
): void {
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
      // Syntax highlighters put spaces into separate elements.
      if (isBlank(element)) element.unwrap();
      else trace.remove(element, "main-content");
    }
  }
}

/** An image belongs to the content if the nearest text around it does. */
function belongs(media: PageElement, share: ReturnType<typeof shareOfKept>): boolean {
  if (isAvatar(media) || (media.parentNode !== null && isAvatar(media.parentNode))) return false;
  for (let element = media.parentNode; element !== null; element = element.parentNode) {
    if (element.tag === "nav" || element.tag === "footer") return false;
    const around = share(element);
    if (around !== undefined) return around.kept >= 0.6;
  }
  return false;
}

/** The image of a person beside what they wrote. */
function isAvatar({ className }: PageElement): boolean {
  return className !== "" && /(?:^|[\s_-])(?:gr)?avatar(?:[\s_-]|$)/i.test(className);
}

function isMedia(element: PageElement): boolean {
  return /^(?:img|video|audio|math)$/.test(element.tag) || isPlayerFrame(element);
}

/** Within a line; around white space or a line break they keep words apart and do nothing else. */
const INLINE = new Set(
  "a b code strong i em u s del ins small big font span mark cite q sub sup label abbr time var kbd samp tt".split(" "),
);
/** More than this around a blank is no blank. */
const BLANK_NODES_MAX = 50;

/** Holds white space or line breaks, in elements within a line, and nothing else. */
function isBlank(element: PageElement): boolean {
  if (element.firstChild === null || !INLINE.has(element.tag)) return false;
  let parts = false;
  let nodes = 0;
  for (const node of walk(element)) {
    if (++nodes > BLANK_NODES_MAX) return false;
    if (node instanceof PageText) {
      if (node.data.trim() !== "") return false;
      parts ||= node.data !== "";
    } else if ((node as PageElement).tag === "br") parts = true;
    else if (!INLINE.has((node as PageElement).tag) && (node as PageElement).tag !== "wbr") return false;
  }
  return parts;
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
