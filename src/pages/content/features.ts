// Features of a text block: its own text, the elements around it, its neighbours, its place in the page, and the page's metadata. Each
// is one number, in a fixed order. The weights were fitted to exactly this list, so a change here requires a new fit.

import { entryOf } from "../../base/json-object.ts";
import type { PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { besideHeadline } from "./beside.ts";
import type { Block } from "./blocks.ts";
import { type ContainerStats, measureContainers, proseOf } from "./containers.ts";
import { FeatureRow } from "./feature-row.ts";
import { allNamesOf, nameGroups, nameGroupsWithoutStates, WORD_GROUPS } from "./name-groups.ts";
import { readPageTraits } from "./page-traits.ts";
import { type KnownWords, LOOKED_FOR, wordFigures } from "./phrases.ts";
import { readStructure } from "./structure.ts";

/** Indexes of groups whose text is main content on some pages, but secondary on pages that have other prose. */
const CONTESTED: readonly number[] = [4, 5, 9, 15, 16, 17];
const COMMENTS = 4;
const REVIEWS = 15;
const PARTS = (1 << COMMENTS) | (1 << REVIEWS);
/** Comments or reviews are secondary only if the page has at least this much other prose, and at least this share of theirs. */
const OTHER_PROSE_MIN = 600;
const OTHER_SHARE_MIN = 0.2;
/** If a page has more signs of an article than this, its comments are secondary. */
const ARTICLE_SIGNS_MIN = 2;
/** Text written for programs: addresses, timestamps and bare numbers. */
const MACHINE_TEXT = /^(?:https?:\/\/\S+|\d{4}-\d\d-\d\dT\S+|[\d\s.,:;%+/-]+|[\w-]*\d[\w-]*_[\w-]*)$/;
const ARTICLE_BODY = /articlebody|reviewbody|description|text/;

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
const AROUND_AT: ReadonlyMap<string, number> = new Map(AROUND.flatMap((tags, at) => tags.map((tag) => [tag, at])));
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
  /** Its index in AROUND; -1 for other elements. */
  readonly around: number;
  readonly isHidden: boolean;
  readonly isBodyProp: boolean;
}

/** What is known of the elements of a page. Many elements have the same names, so these are read once. */
interface KnownElements {
  readonly traits: Map<PageElement, ElementTraits>;
  readonly groups: Map<string, number>;
}

/** The features of all blocks of a page. */
export interface Seen {
  /** The features of each block, one row per block. */
  readonly rows: Float32Array[];
  /** Blocks that are secondary on this page: comments on an article, reviews of a product. */
  readonly beside: ReadonlySet<Block>;
  readonly shared: readonly number[];
}

/** Computes the features of every block of a page. */
export function readFeatures(document: PageDocument, blocks: readonly Block[], url: string): Seen {
  const page = readPageTraits(document, blocks, url);
  const containers = measureContainers(document.body, blocks);
  const known: KnownElements = { traits: new Map(), groups: new Map() };
  const words: KnownWords = new Map();
  const own = blocks.map((block) => ownTraits(block, words));
  const repeats = countRepeats(blocks);
  const contested = measureContested(blocks, known);
  const structure = readStructure(document.body, blocks, containers);
  const isArticle = page.articleness >= ARTICLE_SIGNS_MIN;
  const beside = besideHeadline(
    { document, blocks },
    blocks.filter((it) => (isArticle && contested.isComment(it)) || (page.isProduct && contested.isReview(it))),
    (element) => (traitsOf(element, known).groups & PARTS) !== 0 && (nameGroupsWithoutStates(element) & PARTS) !== 0,
  );
  const row = new FeatureRow();
  const rows = blocks.map((block, index) => {
    row.pushAll((own[index] as Own).values);
    for (const offset of [-2, -1, 1, 2]) pushNeighbour(row, own[index + offset], blocks[index + offset], block);
    pushAround(row, block, known);
    pushPlace(row, block, { blocks, containers, repeats });
    row.pushAll(contested.forBlock(block));
    row.push(contested.isComment(block) ? page.articleness : 0);
    row.push(contested.isReview(block) ? (page.isProduct ? 2 : 1) : 0);
    for (const figures of structure(block)) row.pushAll(figures);
    row.pushAll(page.forBlock(block));
    row.pushAll(page.shared);
    return row.finish();
  });
  return { rows, beside, shared: page.shared };
}

interface Own {
  readonly chars: number;
  readonly words: number;
  readonly linkDensity: number;
  readonly tag: number;
  readonly values: readonly number[];
}

function ownTraits(block: Block, known: KnownWords): Own {
  const { text } = block;
  const chars = text.length;
  const signs = countSigns(text);
  const words = signs.spaces + 1;
  const { shares, hints } = wordFigures(text, known);
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
    Math.log1p(signs.ends),
    Math.log1p(signs.pauses),
    /[.!?。！？…"”]$/.test(text) ? 1 : 0,
    text.endsWith(":") ? 1 : 0,
    text.endsWith("?") ? 1 : 0,
    /^\p{Lu}/u.test(text) ? 1 : 0,
    signs.digits / chars,
    signs.capitals / chars,
    /[|»›→·•]/.test(head) ? 1 : 0,
    MACHINE_TEXT.test(head) ? 1 : 0,
    ...LOOKED_FOR.map((pattern, at) => ((hints & (1 << at)) !== 0 && pattern.test(head) ? 1 : 0)),
    ...shares,
    tag,
    ...TAGS.map((_, index) => (index === tag ? 1 : 0)),
  ];
  return { chars, words, linkDensity, tag, values };
}

const ENDS = ".!?。！？…";
const PAUSES = ",;:，、";
/** Characters that may follow the end of a sentence. */
const AFTER_END = " \"'”’)";

/** Counts ends of sentences, pauses, digits, capitals and spaces in one pass. */
function countSigns(text: string): Record<"ends" | "pauses" | "digits" | "capitals" | "spaces", number> {
  const signs = { ends: 0, pauses: 0, digits: 0, capitals: 0, spaces: 0 };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Lower-case letters and spaces are by far the most common characters, so they are skipped first.
    if (code >= 97 && code <= 122) continue;
    if (code === 32) signs.spaces++;
    else if (code >= 65 && code <= 90) signs.capitals++;
    else if (code >= 48 && code <= 57) signs.digits++;
    else {
      const sign = text[i] as string;
      if (ENDS.includes(sign)) {
        if (i + 1 === text.length || AFTER_END.includes(text[i + 1] as string)) signs.ends++;
      } else if (PAUSES.includes(sign)) signs.pauses++;
      else if (code > 127 && /\p{Lu}/u.test(String.fromCodePoint(text.codePointAt(i) ?? 0))) signs.capitals++;
    }
  }
  return signs;
}

const NO_NEIGHBOUR: readonly number[] = [-1, -1, -1, -1, -1];

function pushNeighbour(row: FeatureRow, own: Own | undefined, other: Block | undefined, block: Block): void {
  if (own === undefined || other === undefined) {
    row.pushAll(NO_NEIGHBOUR);
    return;
  }
  row.push(Math.log1p(own.chars));
  row.push(own.linkDensity);
  row.push(own.tag);
  row.push(other.element.parentNode === block.element.parentNode ? 1 : 0);
  row.push(other.element.className === block.element.className ? 1 : 0);
}

function pushAround(row: FeatureRow, block: Block, known: KnownElements): void {
  const groups = new Array<number>(WORD_GROUPS.length).fill(0);
  const around = new Array<number>(AROUND.length).fill(0);
  let seen = 0;
  let depth = 0;
  let isHidden = 0;
  let isBodyProp = 0;
  for (let element: PageElement | null = block.element; element !== null; element = element.parentNode) {
    const traits = traitsOf(element, known);
    depth++;
    if (traits.isHidden) isHidden = 1;
    if (traits.isBodyProp) isBodyProp = 1;
    // Only the nearest element of each group counts, by the inverse of its distance.
    for (let fresh = traits.groups & ~seen; fresh !== 0; fresh &= fresh - 1)
      groups[31 - Math.clz32(fresh & -fresh)] = 1 / depth;
    seen |= traits.groups;
    if (traits.around >= 0 && around[traits.around] === 0) around[traits.around] = 1 / depth;
  }
  row.push(depth);
  row.push(isHidden);
  row.push(isBodyProp);
  row.pushAll(groups);
  row.pushAll(around);
}

interface Contested {
  readonly forBlock: (block: Block) => number[];
  /** Whether a block is part of readers' comments on a page that has other prose. */
  readonly isComment: (block: Block) => boolean;
  /** Whether a block is part of customer reviews on a page that has other prose. */
  readonly isReview: (block: Block) => boolean;
}

/** For each contested group: the amount of prose outside of the group, for blocks inside it; -1 for other blocks. */
function measureContested(blocks: readonly Block[], elements: KnownElements): Contested {
  const masks = new Map<PageElement, number>();
  const maskOf = (element: PageElement): number => {
    const known = masks.get(element);
    if (known !== undefined) return known;
    const mask = traitsOf(element, elements).groups | (element.parentNode === null ? 0 : maskOf(element.parentNode));
    masks.set(element, mask);
    return mask;
  };
  const outside = CONTESTED.map(() => 0);
  let whole = 0;
  for (const block of blocks) {
    const prose = proseOf(block);
    if (prose === 0) continue;
    const mask = maskOf(block.element);
    whole += prose;
    CONTESTED.forEach((group, i) => {
      if ((mask & (1 << group)) === 0) outside[i] = (outside[i] as number) + prose;
    });
  }
  // Whether there is enough other prose for the group to be secondary.
  const hasOther = outside.map((prose) => prose >= OTHER_PROSE_MIN && prose >= (whole - prose) * OTHER_SHARE_MIN);
  const isBeside = ({ element }: Block, at: number) =>
    hasOther[at] === true && (maskOf(element) & (1 << (CONTESTED[at] as number))) !== 0;
  return {
    forBlock: ({ element }) => {
      const mask = maskOf(element);
      return CONTESTED.map((group, i) => ((mask & (1 << group)) === 0 ? -1 : Math.log1p(outside[i] as number)));
    },
    isComment: (block) => isBeside(block, CONTESTED.indexOf(COMMENTS)),
    isReview: (block) => isBeside(block, CONTESTED.indexOf(REVIEWS)),
  };
}

function traitsOf(element: PageElement, known: KnownElements): ElementTraits {
  let traits = known.traits.get(element);
  if (traits === undefined) {
    traits = elementTraits(element, known.groups);
    known.traits.set(element, traits);
  }
  return traits;
}

function elementTraits(element: PageElement, knownGroups: Map<string, number>): ElementTraits {
  const { attributes } = element;
  const role = attributes["role"] ?? "";
  const names = allNamesOf(element, element.className);
  let groups = knownGroups.get(names);
  if (groups === undefined) {
    groups = nameGroups(names);
    knownGroups.set(names, groups);
  }
  const style = attributes["style"] ?? "";
  return {
    groups,
    around: AROUND_AT.get(entryOf(ROLE_TAGS, role) ?? element.tag) ?? -1,
    isHidden:
      element.hasAttribute("hidden") ||
      attributes["aria-hidden"] === "true" ||
      (style !== "" && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)),
    isBodyProp: ARTICLE_BODY.test((attributes["itemprop"] ?? "").toLowerCase()),
  };
}

interface Place {
  readonly blocks: readonly Block[];
  readonly containers: ContainerStats;
  readonly repeats: Repeats;
}

function pushPlace(row: FeatureRow, block: Block, { blocks, containers, repeats }: Place): void {
  row.push(block.index / blocks.length);
  row.push(Math.min(block.index, 200));
  row.push(Math.min(blocks.length - block.index, 200));
  row.pushAll(containers.forBlock(block));
  row.push(Math.log1p(repeats.shapes.get(repeats.shapeOf[block.index] as string) ?? 0));
  row.push(Math.min(repeats.texts.get(block.text) ?? 0, 5));
  row.push(repeats.firstOf.get(block.text) === block.index ? 1 : 0);
}

interface Repeats {
  /** The shape of each block. */
  readonly shapeOf: readonly string[];
  readonly shapes: ReadonlyMap<string, number>;
  readonly texts: ReadonlyMap<string, number>;
  readonly firstOf: ReadonlyMap<string, number>;
}

function countRepeats(blocks: readonly Block[]): Repeats {
  const shapeOf = blocks.map(shapeOfBlock);
  const shapes = new Map<string, number>();
  const texts = new Map<string, number>();
  const firstOf = new Map<string, number>();
  for (const shape of shapeOf) shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  for (const block of blocks) {
    texts.set(block.text, (texts.get(block.text) ?? 0) + 1);
    if (!firstOf.has(block.text)) firstOf.set(block.text, block.index);
  }
  return { shapeOf, shapes, texts, firstOf };
}

/** The structure of a block's element. Blocks of one kind in a list or grid have the same. */
function shapeOfBlock({ element }: Block): string {
  const parent = element.parentNode;
  const above = parent?.parentNode;
  return `${element.tag}.${element.className}<${parent?.tag}.${parent?.className}<${above?.tag}.${above?.className}`;
}
