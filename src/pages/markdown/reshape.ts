// Rewrites parts for which HTML has no element, or which pages build without it, to elements that the conversion rules know.

import { closest, elementsOf, PageElement, type PageNode, PageText, walk } from "../dom/node.ts";
import { isNoteTitle, isStruck, isTable, tabPanels } from "../dom/parts.ts";

/** Rewrites a tree in place. */
export function reshape(root: PageElement): void {
  for (const element of elementsOf(root)) {
    if (element.parentNode === null) continue;
    if (isTable(element)) asTable(element);
    else if ((element.tag === "ul" || element.tag === "ol") && isList(element.parentNode)) intoItem(element);
    else if (isNoteTitle(element)) boldTitle(element);
    else if (element.tag === "rt") bracketReading(element);
    else if (element.tag === "a") openCard(element);
    else if (STRUCK_TAGS.has(element.tag) && isStruck(element)) strikeOnce(element);
    else if (element.tag === "blockquote" && FORUM_POST.test(element.className)) renamed(element, "div");
  }
  for (const [tab, panel] of tabPanels(root)) nameAbove(panel, tab);
}

/**
 * Moves a link around a heading and other parts, as around a card, into the heading: a link in Markdown is part of one line, which
 * would join the heading and its text.
 */
function openCard(link: PageElement): void {
  const headings = elementsOf(link).filter(({ tag }) => /^h[1-6]$/.test(tag));
  const [heading] = headings;
  if (heading === undefined || headings.length > 1 || heading.textContent.trim() === "") return;
  const inner = new PageElement("a", link.attributes);
  while (heading.firstChild !== null) inner.appendChild(heading.firstChild);
  heading.appendChild(inner);
  link.unwrap();
}

/** Puts the pronunciation of a word in brackets after it. Without markup it would become part of the word. */
function bracketReading(reading: PageElement): void {
  const isBracket = (node: PageNode | null) => node instanceof PageElement && node.tag === "rp";
  if (isBracket(reading.previousSibling) || reading.textContent.trim() === "") return;
  reading.insertBefore(new PageText("("), reading.firstChild);
  reading.appendChild(new PageText(")"));
}

const STRUCK_TAGS = new Set(["span", "font", "del", "s", "strike"]);

/** Marks text as struck out, once: the marks of struck text within struck text would be read as a fence. */
function strikeOnce(element: PageElement): void {
  if (closest(element, isStruck) !== undefined) element.unwrap();
  else if (element.tag === "span" || element.tag === "font") renamed(element, "del");
}

/** Class name of forum posts that are marked up as quotations although they quote nobody. */
const FORUM_POST = /(?:^|\s)postcontent(?:\s|$)/;

/** Puts the name of each tab above its panel. If all names were before the first panel, they would belong to none. */
function nameAbove(panel: PageElement, tab: PageElement): void {
  const name = tab.textContent.replace(/\s+/g, " ").trim();
  const first = [...walk(panel)].find((node) => node instanceof PageText && node.data.trim() !== "");
  if (name === "" || first === undefined || tab.parentNode === null) return;
  tab.remove();
  if (isNamedBy(first, name, panel)) return;
  const bold = new PageElement("strong");
  for (const link of tab.getElementsByTagName("a")) link.unwrap();
  while (tab.firstChild !== null) bold.appendChild(tab.firstChild);
  const line = new PageElement("p");
  line.appendChild(bold);
  panel.insertBefore(line, panel.firstChild);
}

/** Whether the first line of a panel is its name already. The first word of a listing is not. */
function isNamedBy(first: PageNode, name: string, panel: PageElement): boolean {
  if (first.textContent.trim() !== name) return false;
  let line = first.parentNode;
  while (line !== null && line !== panel && WITHIN_LINE.test(line.tag)) line = line.parentNode;
  const isListing = line !== null && closest(first, ({ tag }) => tag === "pre") !== undefined;
  return !isListing && line?.textContent.trim() === name;
}

const WITHIN_LINE = /^(?:a|b|code|em|font|i|label|mark|small|span|strong|u)$/;

function isList({ tag }: PageElement): boolean {
  return tag === "ul" || tag === "ol";
}

/** Moves a list that is directly inside another list into the item before it. */
function intoItem(list: PageElement): void {
  let before: PageNode | null = list.previousSibling;
  while (before instanceof PageText && before.data.trim() === "") before = before.previousSibling;
  if (before instanceof PageElement && before.tag === "li") {
    before.appendChild(list);
    return;
  }
  list.unwrap();
}

const ROLES: Readonly<Record<string, string>> = {
  row: "tr",
  cell: "td",
  gridcell: "td",
  columnheader: "th",
  rowheader: "th",
};
const ROLE_TAGS: ReadonlyMap<string, string> = new Map(Object.entries(ROLES));

/** Turns div elements with the roles of a table into a table. */
function asTable(frame: PageElement): void {
  if (frame.tag === "table" || frame.getElementsByTagName("table").length > 0) return;
  const inner = elementsOf(frame);
  if (!inner.some(({ attributes }) => attributes["role"] === "row")) return;
  const table = new PageElement("table");
  frame.parentNode?.insertBefore(table, frame);
  for (const element of inner) {
    const tag = ROLE_TAGS.get(element.attributes["role"] ?? "");
    if (tag !== undefined && element.tag !== tag) renamed(element, tag);
    else if (element.attributes["role"] === "rowgroup") renamed(element, "tbody");
  }
  while (frame.firstChild !== null) table.appendChild(frame.firstChild);
  frame.remove();
}

function renamed(element: PageElement, tag: string): void {
  const { class: name, role: _, ...rest } = element.attributes;
  const copy = new PageElement(tag, rest);
  if (name !== undefined) copy.attributes["class"] = name;
  while (element.firstChild !== null) copy.appendChild(element.firstChild);
  element.parentNode?.insertBefore(copy, element);
  element.remove();
}

function boldTitle(title: PageElement): void {
  const text = title.textContent.trim();
  if (text === "" || ["b", "strong"].some((tag) => title.getElementsByTagName(tag).length > 0)) return;
  if (/^(?:h[1-6]|summary|b|strong)$/.test(title.tag)) return;
  const bold = new PageElement("strong");
  while (title.firstChild !== null) bold.appendChild(title.firstChild);
  title.appendChild(bold);
}
