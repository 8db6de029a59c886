// Rewrites parts that have a Markdown syntax of their own before the conversion: formulas, footnotes, code listings with line
// numbers, captions and definition lists become elements that the conversion rules know.

import { closest, elementsOf, PageElement, type PageNode, PageText, walk } from "../dom/node.ts";
import { readRawTex, rewriteFormula } from "./formulas.ts";
import { mendSeams } from "./inline-joins.ts";
import { languageAround } from "./language.ts";
import { rewriteNotes } from "./notes.ts";
import { raiseInCode } from "./raised.ts";
import { reshape } from "./reshape.ts";

/** Prepares a tree in place. */
export function prepare(root: PageElement): void {
  reshape(root);
  for (const element of elementsOf(root)) {
    if (element.parentNode === null) continue;
    if (rewriteFormula(element)) continue;
    if (element.tag === "table" && isListing(element)) rewriteListing(element);
    else if (element.tag === "pre") cleanPre(element);
    else if (element.tag === "sup" || element.tag === "sub") raiseInCode(element);
    else if (/^h[1-6]$/.test(element.tag)) plainHeading(element);
    else if (element.tag === "br") partParagraphs(element);
  }
  rewriteNotes(root);
  readRawTex(root);
  mendSeams(root);
}

/** Replaces two or more line breaks by a break between paragraphs, which old pages and forums write so. */
function partParagraphs(first: PageElement): void {
  const run: PageNode[] = [];
  let count = 1;
  for (let next = first.nextSibling; next !== null; next = next.nextSibling) {
    const isBreak = next instanceof PageElement && next.tag === "br";
    if (!isBreak && !(next instanceof PageText && next.data.trim() === "")) break;
    run.push(next);
    if (isBreak) count++;
  }
  if (count < 2 || closest(first, ({ tag }) => tag === "pre") !== undefined) return;
  const parting = new PageElement("paragraph-break");
  // Without text, the converter would drop the element as blank.
  parting.appendChild(new PageText("break"));
  first.parentNode?.insertBefore(parting, first);
  for (const node of [first, ...run]) node.remove();
}

/** Removes emphasis from a heading that is entirely bold, and unwraps a heading that has only an image. */
function plainHeading(heading: PageElement): void {
  const bold = elementsOf(heading).filter((element) => element.tag === "b" || element.tag === "strong");
  const text = heading.textContent.trim();
  if (
    text === "" ||
    bold
      .map((element) => element.textContent)
      .join("")
      .trim() === text
  )
    for (const element of text === "" ? [heading] : bold) element.unwrap();
}

/** Whether a table is a code listing with line numbers. */
function isListing(table: PageElement): boolean {
  const cells = table.getElementsByTagName("td");
  return (
    cells.some((cell) =>
      /(?:^|[\s-])(?:gutter|lineno|line-?numbers?|blob-num|rouge-gutter|hljs-ln-numbers)/i.test(cell.className),
    ) && cells.length <= 20_000
  );
}

function rewriteListing(table: PageElement): void {
  const lines: string[] = [];
  for (const cell of table.getElementsByTagName("td")) {
    if (/gutter|lineno|line-?numbers?|blob-num|hljs-ln-numbers/i.test(cell.className)) continue;
    lines.push(codeText(cell).replace(/\n$/, ""));
  }
  const pre = new PageElement("pre", { class: `${table.className} ${languageAround(table)}`.trim() });
  pre.appendChild(new PageText(lines.join("\n")));
  table.parentNode?.insertBefore(pre, table);
  table.remove();
}

function cleanPre(pre: PageElement): void {
  for (const element of elementsOf(pre))
    if (
      /(?:^|\s)(?:gutter|lineno|line-?numbers?(?:-rows)?|linenos|copy|toolbar)(?:\s|$)/i.test(element.className) ||
      element.tag === "button"
    )
      element.remove();
}

/** The text of a code listing, with its line breaks and the boundaries of its blocks. */
export function codeText(element: PageElement): string {
  let text = "";
  for (const node of walk(element)) {
    if (node instanceof PageText) text += node.data;
    else if ((node as PageElement).tag === "br") text += "\n";
    else if (isLine(node as PageElement) && text !== "" && !text.endsWith("\n")) text += "\n";
    else if (/^t[dh]$/.test((node as PageElement).tag) && text !== "" && !text.endsWith("\n")) text += "\t";
  }
  return text.replace(/\u00a0/g, " ").replace(/\r\n?/g, "\n");
}

function isLine(element: PageElement): boolean {
  return element.tag === "div" || element.tag === "p" || element.tag === "li" || element.tag === "tr";
}
