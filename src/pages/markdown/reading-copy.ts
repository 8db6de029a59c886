// The copy of a tree that Turndown reads. For every blank element Turndown searches the tree once for each of many names, for
// images and the like; in a deep page without text those searches took all of its time. The copy knows in advance which of
// the names do not occur.

import { PageElement, type PageNode, PageText } from "../dom/node.ts";
import { escapeMarkdown, startsLikeBlock } from "./escape.ts";

/** Descendants that keep a blank element from being dropped; searches for other names run as usual. */
const NAMES =
  "area base br col command embed hr img input keygen link meta param source track wbr " +
  "a table thead tbody tfoot th td iframe script audio video";
const BITS: ReadonlyMap<string, number> = new Map(NAMES.split(" ").map((name, at) => [name, 1 << at]));

/** Copies a tree for Turndown, which takes ownership of the copy. Nothing may be added to it: only removals keep it correct. */
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
  /** A bit for each of the names that occurs among the descendants. */
  held = 0;

  /** Turndown copies its input because it changes it; this is that copy. */
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

/** Text that knows its position: Turndown reads its value only when white space has been collapsed. */
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

/** A number in an element of its own that the following character would turn into a list item number. */
function isNumber(text: string): boolean {
  return /^\s*\d{1,9}$/.test(text);
}

/** The text before it in the same line, as far as needed to tell that it is not a number. */
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

/** Whether text precedes it in the same line. */
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
