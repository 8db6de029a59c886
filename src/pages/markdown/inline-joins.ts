// Corrects the joins between inline pieces. Pieces that style sheets keep apart get a space, so that words do not run together;
// words divided by a soft hyphen are joined; emphasis around whole blocks is dropped, as Markdown allows it only within a line;
// adjacent equal emphasis is merged.

import { closest, elementsOf, type PageElement, type PageNode, PageText } from "../dom/node.ts";

const EMPHASIS = new Set(["b", "strong", "i", "em", "u", "s", "del"]);
/** Elements whose leading and trailing line breaks can be moved outside. */
const WITHIN_LINE = new Set([...EMPHASIS, "a", "span", "font", "small", "big", "mark", "ins", "cite", "label"]);
const BLOCKS = new Set(
  "h1 h2 h3 h4 h5 h6 p div ul ol table blockquote pre section article figure paragraph-break".split(" "),
);
/** Elements whose text is kept literally. */
const VERBATIM = new Set(["pre", "code", "kbd", "samp", "tt", "tex", "math"]);

/** Icon fonts draw an image in place of a word. */
const ICON = /(?:^|\s)material-(?:icons|symbols)/;

/** Corrects a tree in place. */
export function mendSeams(root: PageElement): void {
  const holding = blockHolders(root);
  // The texts of nested links, each computed once.
  const texts = new Map<PageElement, string>();
  for (const element of elementsOf(root)) {
    if (element.parentNode === null) continue;
    if (element.tag === "wbr") joinAround(element);
    else if (isIcon(element)) element.remove();
    else if (EMPHASIS.has(element.tag) && holding.has(element)) element.unwrap();
    else {
      if (element.tag === "a") partLinks(element, texts);
      if (EMPHASIS.has(element.tag)) takeInLike(element, holding);
      if (isGlued(element, element.nextSibling))
        element.parentNode.insertBefore(new PageText(" "), element.nextSibling);
    }
  }
  // The innermost elements come first: a line break that leaves one may then be at the edge of the next.
  for (const element of elementsOf(root).reverse())
    if (element.parentNode !== null && WITHIN_LINE.has(element.tag)) freeBreaks(element);
}

/**
 * Resolves nested links, which Markdown does not allow. An outer link without text of its own is dropped; otherwise the inner
 * link becomes text.
 */
function partLinks(link: PageElement, texts: Map<PageElement, string>): void {
  const outer = closest(link, ({ tag }) => tag === "a");
  if (outer === undefined) return;
  const text = texts.get(outer) ?? outer.textContent.trim();
  texts.set(outer, text);
  if (link.textContent.trim() === text) outer.unwrap();
  else link.unwrap();
}

/** Whether the element is an icon that a font draws in place of the word in it. */
export function isIcon({ className }: PageElement): boolean {
  return className !== "" && ICON.test(className);
}

/** Moves line breaks at the edges of an element outside, since a closing mark after a line break does not close the emphasis. */
function freeBreaks(element: PageElement): void {
  const parent = element.parentNode;
  for (let last = element.lastChild; isEdge(last, last?.previousSibling); last = element.lastChild)
    parent?.insertBefore(last, element.nextSibling);
  for (let first = element.firstChild; isEdge(first, first?.nextSibling); first = element.firstChild)
    parent?.insertBefore(first, element);
}

/** Whether a node is a line break, or white space between a line break and the edge. */
function isEdge(node: PageNode | null | undefined, inner: PageNode | null | undefined): node is PageNode {
  if (node instanceof PageText) return node.data.trim() === "" && isBreak(inner);
  return isBreak(node);
}

function isBreak(node: PageNode | null | undefined): boolean {
  return node != null && !(node instanceof PageText) && (node as PageElement).tag === "br";
}

function joinAround(soft: PageElement): void {
  const before = soft.previousSibling;
  const after = soft.nextSibling;
  soft.remove();
  if (!(before instanceof PageText) || !(after instanceof PageText)) return;
  before.data += after.data;
  after.remove();
}

/** All elements that contain a block at any depth. */
function blockHolders(root: PageElement): ReadonlySet<PageElement> {
  const holders = new Set<PageElement>();
  for (const element of elementsOf(root))
    if (BLOCKS.has(element.tag))
      for (let at = element.parentNode; at !== null && !holders.has(at); at = at.parentNode) holders.add(at);
  return holders;
}

/**
 * Merges an element with a directly following one that has the same emphasis. The marks of two adjacent pairs would be read as
 * text.
 */
function takeInLike(element: PageElement, holding: ReadonlySet<PageElement>): void {
  for (let next = element.nextSibling; next !== null && !(next instanceof PageText); next = element.nextSibling) {
    const like = next as PageElement;
    if (like.tag !== element.tag || holding.has(like)) return;
    while (like.firstChild !== null) element.appendChild(like.firstChild);
    like.remove();
  }
}

/** Inline elements that pages often separate by style sheets alone. */
const SET_APART = new Set(["b", "strong", "em", "i", "span", "a", "time", "small", "data"]);
/** An amount or a count, with its sign and unit. */
const FIGURE = /^[$€£¥#+~<>-]{0,2}\d[\d.,:'\u00a0 /-]*(?:[%+×x]|[kKmMbB]\+?)?$/;
/** Suffixes of a number: "1st", "5th". */
const ORDINAL = /^(?:st|nd|rd|th|er|ère|ème|nde|[a-z]{1,2}|º|ª)$/i;

/**
 * Whether an element and the next piece are separate words without a space: two links, spans of different classes, a figure and
 * its unit, a time.
 */
function isGlued(element: PageElement, next: PageNode | null): boolean {
  if (!SET_APART.has(element.tag) || next === null || next instanceof PageText) return false;
  const other = next as PageElement;
  if (!SET_APART.has(other.tag)) return false;
  const left = element.textContent;
  const right = other.textContent;
  if (!/[\p{L}\p{N}%+]$/u.test(left) || !/^[#@$€£]?[\p{L}\p{N}]/u.test(right)) return false;
  if (!areApart(element, other) && !isCount(left, right) && !isCount(right, left) && !arePhrases(left, right))
    return false;
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) if (VERBATIM.has(at.tag)) return false;
  return true;
}

/**
 * Whether the structure of two elements shows that they are separate words. Single letters are assumed to be styled parts of a
 * word.
 */
function areApart(element: PageElement, other: PageElement): boolean {
  if (element.tag === "time" || other.tag === "time") return true;
  if (element.attributes["role"] !== undefined && other.attributes["role"] !== undefined) return true;
  if (element.textContent.length < 2 || other.textContent.length < 2 || element.tag !== other.tag) return false;
  if (element.tag === "a") return true;
  return (
    element.tag === "span" &&
    element.className !== "" &&
    other.className !== "" &&
    element.className !== other.className
  );
}

/**
 * Whether the left text ends in lower case, the right one begins with a capital, and one of them has several words, as with a
 * name and its description.
 */
function arePhrases(left: string, right: string): boolean {
  return /\p{Ll}$/u.test(left) && /^\p{Lu}/u.test(right) && (/\S\s+\S/.test(left) || /\S\s+\S/.test(right));
}

/** Whether the texts are a figure and its unit. */
function isCount(figure: string, word: string): boolean {
  return FIGURE.test(figure.trim()) && /^\p{L}/u.test(word) && !ORDINAL.test(word.trim());
}
