// The copy of a tree that Turndown reads. For every blank element, Turndown searches the tree once for each of many names; in a
// deep page without text, these searches took nearly all of the time. The copy records which of the names occur below each
// element.

import { PageElement, type PageNode, PageText } from "../dom/node.ts";
import { escapeMarkdown, startsLikeBlock } from "./escape.ts";

/** Names of descendants for which a blank element is kept. Searches for other names run as usual. */
const NAMES =
  "area base br col command embed hr img input keygen link meta param source track wbr " +
  "a table thead tbody tfoot th td iframe script audio video";
/** By both spellings, since Turndown asks in capitals for each name at each blank element. */
const BITS: ReadonlyMap<string, number> = new Map(
  NAMES.split(" ").flatMap((name, at) => [name, name.toUpperCase()].map((spelled) => [spelled, 1 << at] as const)),
);
const NONE: PageElement[] = [];

/**
 * Copies a tree for Turndown, which then owns the copy, in an element that holds nothing else: what is in that is converted. Nothing
 * may be added to the copy; removals keep it correct.
 */
export function readingCopy(root: PageElement): PageElement {
  const holder = new ReadingElement("div", {});
  holder.appendChild(filledCopy(root, new WholeElement(root.tag, { ...root.attributes })));
  return holder;
}

function filledCopy(root: PageElement, copy: ReadingElement): ReadingElement {
  for (let child = root.firstChild; child !== null; child = child.nextSibling)
    if (child instanceof PageElement) {
      const inner = filledCopy(child, new ReadingElement(child.tag, { ...child.attributes }));
      copy.held |= inner.held | (BITS.get(inner.tag) ?? 0);
      copy.appendChild(inner);
    } else copy.appendChild(new ReadingText(child.textContent));
  return copy;
}

class ReadingElement extends PageElement {
  /** One bit for each of the names that occur among the descendants. */
  held = 0;
  #nodeName: string | undefined;

  /** Turndown copies its input before changing it. This tree already is a copy. */
  override cloneNode(): PageElement {
    return this;
  }

  /** Turndown compares it with every name that it knows. */
  override get nodeName(): string {
    this.#nodeName ??= super.nodeName;
    return this.#nodeName;
  }

  override getElementsByTagName(name: string): PageElement[] {
    const bit = BITS.get(name);
    return bit !== undefined && (this.held & bit) === 0 ? NONE : super.getElementsByTagName(name);
  }
}

/** The root of a copied tree. */
export class WholeElement extends ReadingElement {
  /** Turndown leaves out an element without text, and takes the blanks off one that is part of a line. */
  override get textContent(): string {
    return "x";
  }
}

const INLINE = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var".split(
    " ",
  ),
);

/** Elements that become parts of a line without having text. */
const DRAWN = new Set(["img", "input", "footnote-mark", "tex", "math", "kbd", "picture", "ruby"]);
/** Elements that get lines of their own, and that Turndown takes for parts of a line, so that it keeps the space after them. */
const STANDALONE = new Set(
  "paragraph-break finished-table footnote-text summary button label option legend".split(" "),
);

/** Text that is escaped by its position. Turndown reads the value only after white space has been collapsed. */
class ReadingText extends PageText {
  override get nodeValue(): string {
    if (this.parentNode?.tag === "code") return this.data;
    const data = fillsLines(this.previousSibling) ? this.data.trimStart() : this.data;
    const text = escapeMarkdown(data, { isAmidLine: startsLikeBlock(data) && isAmidLine(this) });
    return /^[.)](?:\s|$)/.test(text) && isNumber(lineBefore(this)) ? `\\${text}` : text;
  }

  override cloneNode(): PageText {
    return new ReadingText(this.data);
  }
}

/** Whether a node fills lines of its own, although Turndown does not know it. Empty ones fill none. */
function fillsLines(before: PageNode | null): boolean {
  return before instanceof PageElement && STANDALONE.has(before.tag) && before.textContent.trim() !== "";
}

/** Whether a text is a number that, together with the following character, would be read as the number of a list item. */
function isNumber(text: string): boolean {
  return /^\s*\d{1,9}$/.test(text);
}

/** The text before a node in the same line, as far as it is needed to tell whether that text is a number. */
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

/** Whether there is text before a node in the same line. */
function isAmidLine(text: PageText): boolean {
  let at: PageNode = text;
  for (;;) {
    const before: PageNode | null = at.previousSibling;
    if (before instanceof PageElement)
      return DRAWN.has(before.tag) || (INLINE.has(before.tag) && before.textContent.trim() !== "");
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
