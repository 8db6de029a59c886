// Traits of a page that tell its kind: how many elements and blocks it has of which sort, and the words of its address, title,
// description, data and class names. The trees of the kinds were fitted to exactly these figures.

import { elementsOf } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { kindByAddress, kindBySigns, type PageKind } from "./kind-signs.ts";
import { metaContent, ownAddress } from "./page-traits.ts";

/** What is counted and read of a page. */
export interface KindTraits {
  readonly figures: readonly number[];
  /** Words, each after a letter that says where it was found. */
  readonly words: ReadonlySet<string>;
  readonly byAddress: PageKind | undefined;
  readonly bySigns: PageKind | undefined;
}

const COUNTED =
  "a p div span h1 h2 h3 h4 li ul ol table tr td dl dt pre code img button input form section article main aside nav header footer figure iframe blockquote time label select details summary video strong em svg".split(
    " ",
  );
const COUNTED_AT: ReadonlyMap<string, number> = new Map(COUNTED.map((tag, at) => [tag, at]));
/** Elements whose share of all elements counts, too. */
const SHARED_AT = ["a", "p", "li", "img", "pre", "button", "article", "h2", "h3", "tr"].map((tag) =>
  COUNTED.indexOf(tag),
);
/** On longer pages, the first elements say enough. */
const ELEMENTS_MAX = 10_000;
const NAMES_MAX = 1000;
const NAME_CHARS_MAX = 300;
const QUANTILES = [0.1, 0.5, 0.75, 0.9, 0.97];
/** Blocks from this length on are prose, unless they are links. */
const PROSE_CHARS_MIN = 80;
/** The types of a page's own data are at its start. */
const STRUCTURED_CHARS_MAX = 100_000;
const DATA_TYPE = /"@type"\s*:\s*(?:\[\s*)?"([A-Za-z]+)"/g;
const TITLE_WORDS_MAX = 30;
const DESCRIPTION_WORDS_MAX = 40;
/** Addresses have no more parts than this that count. */
const DEPTH_MAX = 4;

/** Reads the traits of a page that has at least one block. `shared` are the features of the whole page. */
export function readKindTraits(
  document: PageDocument,
  blocks: readonly Block[],
  { url, shared }: { url: string; shared: readonly number[] },
): KindTraits {
  const own = ownAddress(document, url);
  const counts = new Array<number>(COUNTED.length).fill(0);
  const names = new Set<string>();
  const elements = elementsOf(document.body);
  const looked = Math.min(elements.length, ELEMENTS_MAX);
  for (let i = 0; i < looked; i++) {
    const { tag, className } = elements[i] as (typeof elements)[number];
    const at = COUNTED_AT.get(tag);
    if (at !== undefined) counts[at] = (counts[at] as number) + 1;
    if (className !== "" && names.size < NAMES_MAX) names.add(className);
  }
  const all = Math.max(1, looked);
  return {
    figures: [
      ...counts.map((count) => Math.log1p(count)),
      ...SHARED_AT.map((at) => (counts[at] as number) / all),
      Math.log1p(looked),
      ...blockFigures(blocks),
      ...shared,
    ],
    words: wordsOf(document, own, names),
    byAddress: kindByAddress(own),
    bySigns: kindBySigns(document),
  };
}

/** Lengths of the blocks, and how much they are alike. */
function blockFigures(blocks: readonly Block[]): number[] {
  const lengths = Float64Array.from(blocks, ({ text }) => text.length).sort();
  const at = (share: number) => lengths[Math.floor((lengths.length - 1) * share)] ?? 0;
  const shapes = new Map<string, number>();
  let chars = 0;
  let links = 0;
  let proseChars = 0;
  let prose = 0;
  for (const { element, text, linkChars } of blocks) {
    chars += text.length;
    links += linkChars;
    if (text.length > PROSE_CHARS_MIN && linkChars < text.length * 0.4) {
      proseChars += text.length;
      prose++;
    }
    const shape = `${element.tag}.${element.className}<${element.parentNode?.tag}.${element.parentNode?.className}`;
    shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  }
  const most = Math.max(0, ...shapes.values());
  return [
    Math.log1p(blocks.length),
    Math.log1p(chars),
    Math.log1p(proseChars),
    Math.log1p(prose),
    links / Math.max(1, chars),
    ...QUANTILES.map((share) => Math.log1p(at(share))),
    Math.log1p(most),
    most / Math.max(1, blocks.length),
    shapes.size / Math.max(1, blocks.length),
  ];
}

function wordsOf(document: PageDocument, own: string, names: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set<string>();
  const add = (sign: string, found: readonly string[] | null, most = Number.POSITIVE_INFINITY) => {
    if (found !== null) for (let i = 0; i < Math.min(found.length, most); i++) words.add(`${sign}:${found[i]}`);
  };
  if (URL.canParse(own)) {
    const { hostname, pathname } = new URL(own);
    const parts = pathname.split("/").filter((part) => part !== "");
    const last = parts[parts.length - 1] ?? "";
    add("u", pathname.toLowerCase().match(/[a-z]{2,}/g));
    add("h", hostname.match(/[a-z]{3,}/g));
    words.add(`depth:${Math.min(DEPTH_MAX, parts.length)}`);
    if (/\d/.test(last)) words.add("last:digit");
    if (last.split("-").length > 4) words.add("last:long");
  }
  const description = metaContent(document, "description") || metaContent(document, "og:description");
  add("t", document.title.toLowerCase().match(/\w{3,}/g), TITLE_WORDS_MAX);
  add("d", description.toLowerCase().match(/\w{3,}/g), DESCRIPTION_WORDS_MAX);
  add(
    "g",
    metaContent(document, "generator")
      .toLowerCase()
      .match(/[a-z]{3,}/g),
  );
  words.add(`og:${metaContent(document, "og:type").toLowerCase()}`);
  let read = 0;
  for (const source of document.structured) {
    for (const [, type] of source.slice(0, STRUCTURED_CHARS_MAX - read).matchAll(DATA_TYPE)) words.add(`s:${type}`);
    read = Math.min(STRUCTURED_CHARS_MAX, read + source.length);
  }
  const { class: rootClass = "" } = document.rootAttributes;
  add("b", nameWords(startOf(rootClass)));
  // Names are made of the same few parts.
  const known = new Set<string>();
  for (const name of names)
    for (const part of startOf(name).split(" ")) {
      if (known.has(part)) continue;
      known.add(part);
      add("c", nameWords(part));
    }
  return words;
}

function startOf(name: string): string {
  return name.length > NAME_CHARS_MAX ? name.slice(0, NAME_CHARS_MAX) : name;
}

/** The words of a class name, where each begins with a capital or after another sign. */
function nameWords(name: string): readonly string[] | null {
  const words = name.match(/[A-Za-z][a-z]+/g);
  return words === null ? null : words.map((word) => word.toLowerCase());
}
