// Reduces a page to its main content. An ordered list of steps works on one tree; each records in the trace what it removed. If
// the page has text, some of it is always kept.

import { closest, elementsOf, type PageElement, type PageText } from "../dom/node.ts";
import type { Omissions } from "../dom/omissions.ts";
import type { PageDocument } from "../dom/parse.ts";
import { isTable } from "../dom/parts.ts";
import { keepOpeners } from "./accordions.ts";
import { type Block, cutBlocks } from "./blocks.ts";
import { bestThreshold, judgeBlocks, type PageJudgement, thresholdOfArticle, type Weights } from "./choose.ts";
import {
  dropButtons,
  dropReplyTitles,
  dropSignatures,
  keepAttributions,
  keepAuthors,
  keepFigures,
  keepTitles,
} from "./companions.ts";
import { predictQuality } from "./confidence.ts";
import { keepContained } from "./contained.ts";
import { dropCopies } from "./copies.ts";
import { addDescription } from "./described.ts";
import { keepEntries } from "./entries.ts";
import { dropEntryLabels } from "./entry-labels.ts";
import { keepCaptions, keepHeadline, keepNotes, keepPrice } from "./expected-parts.ts";
import { keepFactLists } from "./fact-lists.ts";
import { isRowOfFacts } from "./facts.ts";
import { levelGroups } from "./groups.ts";
import { hiddenByName } from "./hidden-names.ts";
import { headingLevel, isInFrame, isInNavigation, type JudgedPage, shareOfKept, sumChars } from "./judged.ts";
import type { PageKind } from "./kind-signs.ts";
import { type Doubt, describeBlocks, labelVerdicts } from "./labels.ts";
import { keepLegends } from "./legends.ts";
import { dropNextArticle } from "./next-article.ts";
import { dropOtherPages } from "./other-pages.ts";
import { dropOtherProducts } from "./other-products.ts";
import { dropAuthorFigures, keepPosts } from "./posts.ts";
import { prune } from "./prune.ts";
import { dropQuotedPosts } from "./quoted-posts.ts";
import { dropRepeats } from "./repeats.ts";
import { setAside } from "./set-aside.ts";
import { keepTiles } from "./tiles.ts";
import type { Trace } from "./trace.ts";
import { dropWindows } from "./windows.ts";

/** One step of the choice, with its reason for the trace. */
interface Step {
  readonly name: string;
  readonly because: string;
  readonly run: (page: JudgedPage) => void;
}

/** The order matters: the steps that complete parts need a first choice, and dropping lone headings needs completed parts. */
const STEPS: readonly Step[] = [
  { name: "choice", because: "its probability to be main content", run: chooseBlocks },
  { name: "tables", because: "most of its table is kept", run: completeTables },
  { name: "legends", because: "it says what the signs in a kept table mean", run: keepLegends },
  { name: "code", because: "a code listing amid kept text", run: completeCode },
  { name: "lists", because: "most of its list is kept", run: completeLists },
  { name: "fact-lists", because: "it looks like a list of facts that is kept", run: keepFactLists },
  { name: "terms", because: "a term and its definition belong together", run: completeTerms },
  { name: "inner-headings", because: "a heading right above kept text", run: keepInnerHeadings },
  { name: "lone-headings", because: "a heading with no kept text under it", run: dropLoneHeadings },
  { name: "fallback", because: "nothing else on the page was chosen", run: fallBack },
  { name: "tiles", because: "a product in a list of products", run: keepTiles },
  { name: "entries", because: "the title of an entry of the list", run: keepEntries },
  { name: "headline", because: "the headline of the page", run: keepHeadline },
  { name: "price", because: "the price beside a product's headline", run: keepPrice },
  { name: "titles", because: "the title of a kept note or of a panel that a reader can open", run: keepTitles },
  { name: "openers", because: "it opens a kept part", run: keepOpeners },
  { name: "attributions", because: "the source of a kept quotation", run: keepAttributions },
  { name: "figures", because: "a figure and its label belong together", run: keepFigures },
  { name: "captions", because: "the caption of a picture amid kept text", run: keepCaptions },
  { name: "notes", because: "a note to which kept text refers", run: keepNotes },
  { name: "posts", because: "a post stands or falls whole", run: keepPosts },
  { name: "authors", because: "the author of a kept post", run: keepAuthors },
  {
    name: "contained",
    because: "it stands in the content and has no sign of being something else",
    run: keepContained,
  },
  { name: "small-page", because: "the page has only a few sentences", run: keepSmall },
  { name: "windows", because: "it stands in a window that opens over the page", run: dropWindows },
  { name: "other-pages", because: "it leads to other pages", run: dropOtherPages },
  { name: "buttons", because: "the label of a button", run: dropButtons },
  { name: "other-products", because: "a tile of another product", run: dropOtherProducts },
  { name: "entry-labels", because: "each entry of the list says the same", run: dropEntryLabels },
  { name: "author-figures", because: "a figure of the author of a post", run: dropAuthorFigures },
  { name: "signatures", because: "the signature under a post", run: dropSignatures },
  { name: "reply-titles", because: "it repeats the title of the thread", run: dropReplyTitles },
  { name: "next-article", because: "another article begins here or before", run: dropNextArticle },
  { name: "quoted-posts", because: "it stands in another post of the thread", run: dropQuotedPosts },
  { name: "copies", because: "another container has the same text", run: dropCopies },
  {
    name: "repeats",
    because: "a slide, a title of a tile or a line for another screen that stands there twice",
    run: dropRepeats,
  },
];

/** A choice with less text than this is doubtful if the page has much more. */
const DOUBTFUL_CHARS = 120;
/** A page with at most this much text is kept whole, except for the parts that frame it. */
const SMALL_CHARS = 500;
/** If at least this share of a table's text is chosen, the whole table is kept. */
const TABLE_SHARE = 0.5;
/** The same for tables of short cells, which are kept whole or not at all. */
const GRID_SHARE = 0.25;
const GRID_CELL_CHARS = 60;
const LIST_SHARE = 0.75;
/** The same for the definitions of a list, of which one that is left out is missed. */
const DEFINITIONS_SHARE = 0.5;
/** If at least this share of the text around a listing is kept, the listing is kept too. */
const AROUND_CODE_SHARE = 0.6;
/** A heading directly above kept text needs at least this verdict to be kept. */
const INNER_HEADING_MIN = 0.15;
/** When a list is completed, items with a lower verdict are left out. */
const CLEARLY_NOT = 0.08;

/** How the main content of a page is chosen. */
export interface MainContentOptions {
  readonly url: string;
  readonly weights: Weights;
  readonly trace: Trace;
  readonly omissions?: Omissions | undefined;
  /** Whether a doubtful choice is told with the page's blocks. */
  readonly doubt?: Doubt | undefined;
  /** The numbers of the blocks that were labelled as main content. If present, they replace the verdicts of the trees. */
  readonly labelled?: readonly number[] | undefined;
}

/** The outcome of a choice. */
export interface MainContent {
  /** The F1 that is predicted for the choice; absent if the page has no text, or if its blocks were labelled. */
  readonly quality?: number;
  /** The blocks of the page in numbered lines, if the choice is doubtful and this was asked for. */
  readonly lines?: readonly string[];
}

/** Reduces the body to its main content, in place. */
export function keepMainContent(
  document: PageDocument,
  { url, weights, trace, omissions, doubt, labelled }: MainContentOptions,
): MainContent {
  const rest: PageText[] = [];
  const blocks = cutBlocks(document.body, rest);
  if (blocks.length === 0) return {};
  const { verdicts, kind, isSureArticle }: PageJudgement =
    labelled === undefined
      ? judgeBlocks(document, blocks, { url, weights })
      : { verdicts: labelVerdicts(blocks, labelled), kind: () => undefined, isSureArticle: () => false };
  const kept = chooseMain(document, blocks, verdicts, { trace, kind, isSureArticle });
  const quality = labelled === undefined ? predictQuality(blocks, verdicts, kept) : undefined;
  const lines =
    doubt !== undefined && quality !== undefined && quality < doubt.below ? describeBlocks(blocks) : undefined;
  // Nothing is known about text beyond the limit, and most of a page that long is content.
  const unjudged = rest.filter(({ parentNode }) => parentNode !== null && !isInFrame({ element: parentNode }));
  if (unjudged.length > 0) omissions?.add("unjudged");
  prune({ document, blocks, kept, unjudged }, trace);
  addDescription(document, blocks, kept);
  return { ...(quality === undefined ? {} : { quality }), ...(lines === undefined ? {} : { lines }) };
}

/** Options of the choice. */
export interface ChoiceOptions {
  readonly trace?: Trace;
  /** The kind of the page, if it is certain. */
  readonly kind?: (() => PageKind | undefined) | undefined;
  /** Whether the page is surely an article. */
  readonly isSureArticle?: () => boolean;
  /** A step that is not run, to measure what it brings. */
  readonly without?: string;
}

/** The names of the steps, in order. */
export const STEP_NAMES: readonly string[] = STEPS.map(({ name }) => name);

/** The blocks to keep, given the probability of each to be main content. */
export function chooseMain(
  document: PageDocument,
  blocks: readonly Block[],
  verdicts: readonly number[],
  { trace, without, kind = () => undefined, isSureArticle = () => false }: ChoiceOptions = {},
): ReadonlySet<Block> {
  const levelled = levelGroups(blocks, verdicts);
  // The navigation of a site is never content, whatever the fitted model says of a short page.
  const hidden = hiddenByName(blocks, levelled);
  const unadjusted = blocks.map((block) =>
    isInNavigation(block) || hidden.has(block) ? 0 : (levelled[block.index] as number),
  );
  const page: JudgedPage = {
    document,
    blocks,
    verdicts: setAside(blocks, unadjusted),
    unadjusted,
    kept: new Set(),
    kind,
    isSureArticle,
  };
  if (trace?.isKept !== true) runSteps(page, without);
  else traceSteps(page, trace);
  return page.kept;
}

function runSteps(page: JudgedPage, without: string | undefined): void {
  for (const { name, run } of STEPS) if (name !== without) run(page);
}

/** Runs the steps and records for each block which step decided last. */
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

function chooseBlocks({ blocks, verdicts, kept, kind, isSureArticle }: JudgedPage): void {
  const threshold = isSureArticle() ? thresholdOfArticle(blocks, verdicts) : bestThreshold(blocks, verdicts, kind());
  for (const block of blocks) if ((verdicts[block.index] as number) >= threshold) kept.add(block);
}

/** A table with gaps is worse than none, so a table of which most is chosen is kept whole. */
function completeTables(page: JudgedPage): void {
  completeWithin(
    page,
    (element) => isTable(element) && element.getElementsByTagName("table").length === 0,
    TABLE_SHARE,
  );
  keepGridsWhole(page);
}

/** A figure without its row or column is misleading, so a table of short cells is kept whole or not at all. */
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

/** Whether a table consists of rows and columns of short cells, as opposed to a table that lays out a page. */
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

/** Keeps listings whole, and keeps those amid kept text: prose about a missing listing is of little use. */
function completeCode(page: JudgedPage): void {
  const isListing = (element: PageElement) => element.tag === "pre";
  completeWithin(page, isListing, 0);
  const { blocks, kept } = page;
  const missing = blocks.filter((block) => !kept.has(block) && isListing(block.element));
  if (missing.length === 0) return;
  // The text around listings, without the controls that show or copy them.
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
  completeWithin(page, ({ tag }) => tag === "dl", DEFINITIONS_SHARE);
  const isList = (element: PageElement) =>
    element.tag === "ol" || element.tag === "dl" || element.tag === "ul" || isRowOfFacts(element);
  completeWithin(page, isList, LIST_SHARE);
}

/** Keeps terms and definitions together, as neither is useful without the other. */
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
  // The result is remembered, since it is needed for every block of a table.
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

/** Keeps headings amid kept text that have kept text directly under them. */
function keepInnerHeadings({ blocks, verdicts, kept }: JudgedPage): void {
  const first = blocks.find((block) => kept.has(block))?.index ?? blocks.length;
  for (const block of blocks) {
    const next = blocks[block.index + 1];
    if (headingLevel(block) < 2 || block.index < first || next === undefined || !kept.has(next)) continue;
    if ((verdicts[block.index] as number) > INNER_HEADING_MIN) kept.add(block);
  }
}

/** Drops headings under which nothing was kept, such as "Related stories". */
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

/** If hardly anything was chosen, keeps the page without the parts that frame it, or else all of it. */
function fallBack({ blocks, kept }: JudgedPage): void {
  const chosen = sumChars([...kept]);
  if (chosen >= DOUBTFUL_CHARS || chosen >= sumChars(blocks) * 0.5) return;
  if (chosen > 0 && sumChars(blocks) < DOUBTFUL_CHARS * 4) return;
  if (chosen > 0) return;
  const inner = blocks.filter((block) => !isInFrame(block));
  for (const block of inner.length > 0 ? inner : blocks) kept.add(block);
}

/** A page of a few sentences has no clutter except for its frame, and a heading may be half of its message. */
function keepSmall({ blocks, kept }: JudgedPage): void {
  if (blocks.reduce((sum, { text }) => sum + lengthOf(text), 0) > SMALL_CHARS) return;
  for (const block of blocks) if (!isInFrame(block)) kept.add(block);
}

/** The length of a text, in which a character of a script without letters counts as much as the letters of an average word. */
function lengthOf(text: string): number {
  return (
    text.length +
    2 * (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0)
  );
}
