// The copy of a tree that Turndown reads. Turndown asks of every blank element, by one search of the tree for each of
// many names, whether it holds a picture or the like: in a deep page without words those searches were all of its time.
// The copy knows beforehand which of the names are not there to be found.

import { PageElement, type PageNode, PageText } from "../dom/node.ts";
import { escapeMarkdown, startsLikeBlock } from "./escape.ts";

/** What keeps a blank element from being dropped; searches for other names are made as ever. */
const NAMES =
  "area base br col command embed hr img input keygen link meta param source track wbr " +
  "a table thead tbody tfoot th td iframe script audio video";
const BITS: ReadonlyMap<string, number> = new Map(NAMES.split(" ").map((name, at) => [name, 1 << at]));

/** Copies a tree for Turndown, which takes the copy itself. Nothing may be added to it: only removals keep it right. */
export function readingCopy(root: PageElement): PageElement {
  const copy = new ReadingElement(root.tag, { ...root.attributes });
  for (let child = root.firstChild; child !== null; child = child.nextSibling)
    if (child instanceof PageElement) {
      const inner = readingCopy(child) as ReadingElement;
      copy.held |= inner.held | (BITS.get(inner.tag) ?? 0);
      copy.appendChild(inner);
    } else copy.appendChild(new ReadingText(child.textContent));
  return copy;
}

class ReadingElement extends PageElement {
  /** A bit for each of the names that is among the descendants. */
  held = 0;

  /** Turndown copies what it is given, since it changes it; this is such a copy. */
  override cloneNode(): PageElement {
    return this;
  }

  override getElementsByTagName(name: string): PageElement[] {
    const bit = BITS.get(name.toLowerCase());
    return bit !== undefined && (this.held & bit) === 0 ? [] : super.getElementsByTagName(name);
  }
}

const INLINE = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var".split(
    " ",
  ),
);

/** Text that knows where it stands: Turndown asks for its value only to set it, and white space is collapsed by then. */
class ReadingText extends PageText {
  override get nodeValue(): string {
    if (this.parentNode?.tag === "code") return this.data;
    const text = escapeMarkdown(this.data, { isAmidLine: startsLikeBlock(this.data) && isAmidLine(this) });
    return /^[.)](?:\s|$)/.test(text) && isNumber(lineBefore(this)) ? `\\${text}` : text;
  }

  override cloneNode(): PageText {
    return new ReadingText(this.data);
  }
}

/** A number in an element of its own, that the sign behind it would make the number of an item. */
function isNumber(text: string): boolean {
  return /^\s*\d{1,9}$/.test(text);
}

/** What stands before a text in the same line, as far as it takes to tell that it is no number. */
function lineBefore(text: PageText): string {
  let line = "";
  let at: PageNode = text;
  while (line.trim().length < 10) {
    const before: PageNode | null = at.previousSibling;
    if (before === null) {
      const parent: PageElement | null = at.parentNode;
      if (parent === null || !INLINE.has(parent.tag)) break;
      at = parent;
      continue;
    }
    if (before instanceof PageElement && !INLINE.has(before.tag)) break;
    line = before.textContent + line;
    at = before;
  }
  return line;
}

/** Whether words or signs stand before it in the same line. */
function isAmidLine(text: PageText): boolean {
  let at: PageNode = text;
  for (;;) {
    const before: PageNode | null = at.previousSibling;
    if (before instanceof PageElement) return INLINE.has(before.tag) && before.textContent.trim() !== "";
    if (before !== null && before.textContent.trim() !== "") return true;
    if (before !== null) {
      at = before;
      continue;
    }
    const parent: PageElement | null = at.parentNode;
    if (parent === null || !INLINE.has(parent.tag)) return false;
    at = parent;
  }
}
