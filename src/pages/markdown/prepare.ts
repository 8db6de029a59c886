// Rewrites parts that have a Markdown syntax of their own before the conversion: formulas, footnotes, code listings with line
// numbers, captions and definition lists become elements that the conversion rules know.

import { closest, elementsOf, PageElement, type PageNode, PageText } from "../dom/node.ts";
import { readRawTex, rewriteFormula } from "./formulas.ts";
import { mendSeams } from "./inline-joins.ts";
import { plainListing } from "./listings.ts";
import { rewriteNotes } from "./notes.ts";
import { raiseInCode } from "./raised.ts";
import { reshape } from "./reshape.ts";

/** Prepares a tree in place. */
export function prepare(root: PageElement): void {
  reshape(root);
  for (const element of elementsOf(root)) {
    if (element.parentNode === null) continue;
    if (rewriteFormula(element)) continue;
    if (element.tag === "table" || element.tag === "pre") {
      partFromLine(element);
      plainListing(element);
    } else if (element.tag === "sup" || element.tag === "sub") raiseInCode(element);
    else if (/^h[1-6]$/.test(element.tag)) plainHeading(element);
    else if (element.tag === "br") partParagraphs(element);
  }
  rewriteNotes(root);
  readRawTex(root);
  mendSeams(root);
}

/**
 * Makes blocks of the elements around a table or listing that would be parts of a line, such as those of components. The converter
 * trims what is in a line, and the fence of a listing would stand amid it.
 */
function partFromLine(inner: PageElement): void {
  let around = inner.parentNode;
  while (around?.parentNode != null && (around.tag === "span" || around.tag.includes("-"))) {
    const block = new PageElement("div", around.attributes);
    around.parentNode.insertBefore(block, around);
    while (around.firstChild !== null) block.appendChild(around.firstChild);
    around.remove();
    around = block.parentNode;
  }
}

/** Replaces two or more line breaks by a break between paragraphs, which old pages and forums write so. */
function partParagraphs(first: PageElement): void {
  if (closest(first, ({ tag }) => tag === "pre") !== undefined) return;
  const run: PageNode[] = [];
  let count = 1;
  for (let next = first.nextSibling; next !== null; next = next.nextSibling) {
    const isBreak = next instanceof PageElement && next.tag === "br";
    if (!isBreak && !(next instanceof PageText && next.data.trim() === "")) break;
    run.push(next);
    if (isBreak) count++;
  }
  if (count < 2) return;
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
