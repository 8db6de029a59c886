// Writes emphasis so that CommonMark reads it: its marks open and close only beside certain characters, so elsewhere, as within a
// word, beside brackets of Chinese and Japanese texts, or between two pieces of emphasis, HTML tags are used.

import { entryOf } from "../../base/json-object.ts";
import { PageElement, type PageNode } from "../dom/node.ts";

const MARKS: Readonly<Record<string, readonly [mark: string, tag: string]>> = {
  b: ["**", "strong"],
  strong: ["**", "strong"],
  i: ["*", "em"],
  em: ["*", "em"],
  del: ["~~", "del"],
  s: ["~~", "del"],
  strike: ["~~", "del"],
};
/** Inline elements without marks of their own. */
const PLAIN = new Set("span font small big mark ins u cite label abbr time var bdi bdo dfn data".split(" "));
const SIGN = /[\p{P}\p{S}]/u;

/** Whether the element is emphasis. */
export function isEmphasis(tag: string): boolean {
  return Object.hasOwn(MARKS, tag);
}

/** The Markdown of emphasis with this content. */
export function emphasisMarkdown(content: string, element: PageElement): string {
  const text = content.trim();
  const [mark, tag] = entryOf(MARKS, element.tag) ?? ["", ""];
  if (text === "") return content;
  return isRead(text, element) ? `${mark}${text}${mark}` : `<${tag}>${text}</${tag}>`;
}

/** Whether marks around the text would open and close emphasis. */
function isRead(text: string, element: PageElement): boolean {
  const within = element.textContent;
  const opens = /^\s/.test(within) || !SIGN.test(inner(text, "first")) || isApart(besides(element, "before"));
  const closes = /\s$/.test(within) || !SIGN.test(inner(text, "last")) || isApart(besides(element, "after"));
  return opens && closes && !isKnotted(element);
}

/** The outermost character of a text that is not a mark of emphasis within it. */
function inner(text: string, side: "first" | "last"): string {
  const bare = side === "first" ? text.replace(/^[*~]+/, "") : text.replace(/(?<!\\)[*~]+$/, "");
  return (side === "first" ? [...bare.slice(0, 2)][0] : [...bare.slice(-2)].at(-1)) ?? "";
}

function isApart(character: string): boolean {
  return character === "" || /\s/.test(character) || SIGN.test(character);
}

/** The character next to an element in the same line; "" if there is none. */
function besides(element: PageElement, side: "before" | "after"): string {
  let at: PageNode = element;
  for (;;) {
    const next: PageNode | null = side === "before" ? at.previousSibling : at.nextSibling;
    if (next !== null) {
      const text = next.textContent;
      if (next instanceof PageElement && !PLAIN.has(next.tag)) return isEmphasis(next.tag) || text !== "" ? "*" : "";
      if (text !== "") return (side === "before" ? [...text.slice(-2)].at(-1) : [...text.slice(0, 2)][0]) ?? "";
      at = next;
      continue;
    }
    const parent: PageElement | null = at.parentNode;
    if (parent === null || !(PLAIN.has(parent.tag) || isEmphasis(parent.tag))) return parent?.tag === "a" ? "[" : "";
    at = parent;
  }
}

/** Whether the marks of an element would join those of emphasis before it, of which one has further emphasis at this edge. */
function isKnotted(element: PageElement): boolean {
  const before = element.previousSibling;
  if (!(before instanceof PageElement) || !isEmphasis(before.tag)) return false;
  if (/\s$/.test(before.textContent) || /^\s/.test(element.textContent)) return false;
  return isMarked(before.lastChild) || isMarked(element.firstChild);
}

function isMarked(node: PageNode | null): boolean {
  return node instanceof PageElement && isEmphasis(node.tag);
}
