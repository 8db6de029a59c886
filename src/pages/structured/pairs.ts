// Reads names with values as pages show them to readers: tables of two columns, definition lists, and lists whose entries begin
// with a name in bold.

import { closest, elementsOf, PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { isBlank, plainTextOf } from "../words/plain-text.ts";
import { boundedText, type Room } from "./entity.ts";

/** A name with its value. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

const PAIRS_MAX = 500;
/** Longer texts are sentences, not names. */
const NAME_CHARS_MAX = 80;
const ROWS_MAX = 1000;

/** The pairs of a page, in order. A name may occur several times. */
export function readPairs(document: PageDocument, room: Room): NamedValue[] {
  const pairs: NamedValue[] = [];
  const aside: { readonly pair: NamedValue; readonly isInside: boolean }[] = [];
  for (const element of elementsOf(document.body)) {
    if (pairs.length + aside.length >= PAIRS_MAX || room.chars <= 0) break;
    const found = pairsOf(element);
    if (found.length === 0) continue;
    const around = closest(element, isAside);
    for (const { name: label, value: text } of found) {
      if (pairs.length + aside.length >= PAIRS_MAX || room.chars <= 0) break;
      const name = withoutColon(label);
      if (name === "" || name.length > NAME_CHARS_MAX || text === "") continue;
      const pair = { name: boundedText(name, room), value: boundedText(text, room) };
      if (around === undefined) pairs.push(pair);
      else aside.push({ pair, isInside: closest(around, isContent) !== undefined });
    }
  }
  return [...pairs, ...besides(pairs, aside)];
}

function withoutColon(label: string): string {
  const text = label.trimEnd();
  return /[:：]$/.test(text) ? text.slice(0, -1).trimEnd() : label;
}

/**
 * The pairs of sidebars that do not compete with those of the content. A sidebar outside of the content is about something else,
 * unless the page has no other pairs.
 */
function besides(
  pairs: readonly NamedValue[],
  aside: readonly { readonly pair: NamedValue; readonly isInside: boolean }[],
): NamedValue[] {
  const names = new Set(pairs.map(({ name }) => name.toLowerCase()));
  return aside
    .filter(({ pair, isInside }) => pairs.length === 0 || (isInside && !names.has(pair.name.toLowerCase())))
    .map(({ pair }) => pair);
}

function isAside({ tag, attributes }: PageElement): boolean {
  return tag === "aside" || tag === "nav" || tag === "footer" || attributes["role"] === "complementary";
}

function isContent({ tag, attributes }: PageElement): boolean {
  return tag === "main" || tag === "article" || attributes["role"] === "main";
}

function pairsOf(element: PageElement): NamedValue[] {
  if (element.tag === "table") return tablePairs(element);
  if (element.tag === "dl") return termPairs(element);
  return element.tag === "li" ? boldPair(element) : [];
}

/** The rows with a name and a value. If a table also has other rows, only those count whose name is a header cell. */
function tablePairs(table: PageElement): NamedValue[] {
  const rows = rowsOf(table).slice(0, ROWS_MAX);
  const isPlain = rows.every((cells) => cells.length === 2);
  return rows.flatMap(([name, value, ...more]) => {
    if (name === undefined || value === undefined || more.length > 0) return [];
    if (value.tag === "th" || !(isPlain || name.tag === "th") || holdsTable(name) || holdsTable(value)) return [];
    return [{ name: plainTextOf(name), value: plainTextOf(value) }];
  });
}

function rowsOf(table: PageElement): PageElement[][] {
  const sections = table.children.flatMap((child) =>
    /^t(?:head|body|foot)$/.test(child.tag) ? child.children : child,
  );
  return sections
    .filter(({ tag }) => tag === "tr")
    .map((row) => row.children.filter(({ tag }) => tag === "td" || tag === "th"))
    .filter((cells) => cells.length > 0);
}

function holdsTable(cell: PageElement): boolean {
  return cell.getElementsByTagName("table").length > 0;
}

/** The pairs of a definition list: each value with the terms before it. */
function termPairs(list: PageElement): NamedValue[] {
  const parts = list.children.flatMap((child) => (child.tag === "div" ? child.children : child));
  const pairs: NamedValue[] = [];
  let terms: string[] = [];
  let isOpen = false;
  for (const part of parts) {
    if (part.tag === "dt") {
      if (!isOpen) terms = [];
      terms.push(plainTextOf(part));
      isOpen = true;
    } else if (part.tag === "dd") {
      const value = plainTextOf(part);
      for (const name of terms) pairs.push({ name, value });
      isOpen = false;
    }
  }
  return pairs;
}

/** A pair of the form `<b>Name:</b> value`. */
function boldPair(entry: PageElement): NamedValue[] {
  const first = entry.childNodes.find((node) => node instanceof PageElement || !isBlank(node));
  if (!(first instanceof PageElement) || (first.tag !== "b" && first.tag !== "strong")) return [];
  const [name, whole] = [plainTextOf(first), plainTextOf(entry)];
  const rest = whole.slice(name.length).trim();
  if (!whole.startsWith(name) || !(name.endsWith(":") || rest.startsWith(":"))) return [];
  return [{ name, value: rest.replace(/^:\s*/, "") }];
}
