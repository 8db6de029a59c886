// Reads the code of a listing, whatever highlighter built it: lines as elements or as table rows, line numbers beside or within
// them. The result is one <pre> with the code alone, so that neither the choice of main content nor the conversion sees lines.

import { elementsOf, PageElement, PageText } from "../dom/node.ts";
import { languageAround } from "./language.ts";
import { raiseInCode } from "./raised.ts";

/** Class names of line numbers. A number has no letters, so a name alone never removes code. */
const NUMBER =
  /(?:^|[\s_-])(?:gutter|lineno|linenos|linenumbers?|line-?num(?:ber)?s?(?:-rows)?|lines-num|lnt?|lntd|nums?|blob-num|linenodiv|hljs-ln-n)(?:[\s_-]|$)/i;
const NUMBERS_ONLY = /^[\s\d\u00a0.:|]*$/;
/** What stands in a listing and is neither code nor a number. */
const TOOL = /(?:^|\s)(?:gutter|lineno|line-?numbers?(?:-rows)?|linenos|copy|toolbar)(?:\s|$)/i;
/** Class names of the cells of a table that is a listing. */
const LISTING_CELL =
  /(?:^|[\s_-])(?:gutter|lineno\w*|linenumbers?|line-?num(?:ber)?s?|lines-(?:num|code)|lntd|blob-(?:num|code)|rouge-(?:gutter|code)|hljs-ln-(?:numbers|code)|crayon-(?:nums|code))(?:[\s_-]|$)/i;
const LISTING_CELLS_MAX = 20_000;
/** Elements of highlighters that hold a listing as a table, with controls around it. */
const LISTING_FRAME = /(?:^|\s)(?:syntaxhighlighter|crayon-syntax|lineno-container)(?:\s|$)/;
const FRAME_LEVELS = 4;
const LINE_TAGS = new Set(["div", "p", "li", "tr", "pre"]);

/** Rewrites a listing in place, if the element is one that has more than its code. */
export function plainListing(element: PageElement): void {
  if (element.tag === "table" && isListingTable(element)) rewriteTable(element);
  else if (element.tag === "pre") rewritePre(element);
}

/** Whether a table is a code listing with line numbers. */
function isListingTable(table: PageElement): boolean {
  const cells = table.getElementsByTagName("td");
  return (
    cells.some(({ className }) => className !== "" && LISTING_CELL.test(className)) && cells.length <= LISTING_CELLS_MAX
  );
}

function rewriteTable(table: PageElement): void {
  const lines: string[] = [];
  let language = "";
  for (const cell of table.getElementsByTagName("td")) {
    if (isNumberCell(cell)) continue;
    if (language === "") language = languageAround(cell);
    dropNumbers(cell);
    lines.push(linesOfListing(cell).replace(/\n$/, ""));
  }
  const frame = frameOf(table);
  const named = elementsOf(frame)
    .find(({ className }) => className === "crayon-language")
    ?.textContent.trim()
    .toLowerCase();
  if (language === "") language = named ?? languageAround(table);
  const pre = new PageElement("pre", {
    class: table.className,
    ...(language === "" ? {} : { "data-language": language }),
  });
  pre.appendChild(new PageText(lines.join("\n")));
  frame.parentNode?.insertBefore(pre, frame);
  frame.remove();
}

/** Whether a cell holds line numbers: by its name, or as it has no letters and code stands beside it. */
function isNumberCell(cell: PageElement): boolean {
  if (/code/i.test(cell.className) || !LISTING_CELL.test(cell.className)) return false;
  return (
    cell.parentNode?.lastElementChild !== cell && (!/lntd/.test(cell.className) || NUMBERS_ONLY.test(cell.textContent))
  );
}

/** The element that holds only the table and controls, or the table. */
function frameOf(table: PageElement): PageElement {
  let at = table.parentNode;
  for (let level = 0; at !== null && level < FRAME_LEVELS; level++, at = at.parentNode)
    if (LISTING_FRAME.test(at.className)) return at.getElementsByTagName("table").length === 1 ? at : table;
  return table;
}

/** Elements that part a listing into blocks, so that each line would be judged as a paragraph. */
const PARTING = /^(?:div|p|ol|ul|li|table|pre)$/;

function rewritePre(pre: PageElement): void {
  if (pre.children.length === 0) return;
  dropNumbers(pre);
  const inner = elementsOf(pre);
  if (!inner.some(({ tag }) => PARTING.test(tag))) return;
  const language = languageAround(pre);
  for (const element of inner) if (element.tag === "sup" || element.tag === "sub") raiseInCode(element);
  const code = new PageText(linesOfListing(pre));
  while (pre.firstChild !== null) pre.firstChild.remove();
  // Nobody need look at what the listings within were.
  for (const element of inner) element.remove();
  pre.appendChild(code);
  if (language !== "") pre.attributes["data-language"] = language;
}

/** Removes line numbers, and the controls of a highlighter. */
function dropNumbers(listing: PageElement): void {
  for (const element of elementsOf(listing))
    if (element.tag === "button" || TOOL.test(element.className) || isNumber(element)) element.remove();
}

function isNumber({ className, attributes, textContent }: PageElement): boolean {
  const isMarked =
    (className !== "" && NUMBER.test(className)) ||
    attributes["data-line-number"] !== undefined ||
    /user-select\s*:\s*none/i.test(attributes["style"] ?? "");
  return isMarked && NUMBERS_ONLY.test(textContent);
}

/** The text of a code listing, with its line breaks. An element that holds one line ends it, even if the line is empty. */
export function linesOfListing(element: PageElement): string {
  const text = writeLines(element, "");
  return text.replace(/\u00a0/g, " ").replace(/\r\n?/g, "\n");
}

function writeLines(element: PageElement, before: string): string {
  let text = before;
  const holdsLines = element.children.some(({ tag }) => LINE_TAGS.has(tag));
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node instanceof PageText) {
      // The line breaks between the elements of lines are those of the markup.
      if (!holdsLines || node.data.trim() !== "") text += node.data;
      continue;
    }
    const inner = node as PageElement;
    if (inner.tag === "br") text += "\n";
    else if (LINE_TAGS.has(inner.tag)) text = writeLine(inner, text);
    else if (/^t[dh]$/.test(inner.tag) && text !== "" && !text.endsWith("\n")) text = writeLines(inner, `${text}\t`);
    else text = writeLines(inner, text);
  }
  return text;
}

/** Writes an element that is a line of its own, or holds lines. */
function writeLine(line: PageElement, before: string): string {
  const start = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  const text = writeLines(line, start);
  // Elements within elements end a line together.
  return text.endsWith("\n") && text.length > start.length ? text : `${text}\n`;
}
