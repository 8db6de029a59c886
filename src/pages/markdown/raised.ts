// Writes superscripts and subscripts: powers, indices, note references. Without marks, 10 to the 6th power would become 106.

import { isCents, notation } from "../../base/raised-text.ts";
import { closest, PageElement, PageText } from "../dom/node.ts";
import { textAfter } from "../words/plain-text.ts";

/** Superscripts that can be written as normal text: "1st", "Brand™". */
const FLAT_AFTER_DIGIT = /^(?:st|nd|rd|th|er|ère|ème|nde|º|ª)$/i;
const FLAT = /^[®©™℠*†‡]$/;
/** Text in brackets needs no separation from the word before it. */
const BRACKETED = /^[[(]/;

const CODE_TAGS = new Set(["pre", "code", "kbd", "samp", "tt"]);
/** The Markdown of a <sup> or <sub> element with this content. */
export function raisedMarkdown(content: string, element: PageElement): string {
  const text = content.trim();
  const plain = element.textContent.trim();
  if (text === "" || text.includes("\n") || text.startsWith("[^")) return content;
  if (BRACKETED.test(plain) || FLAT.test(plain)) return content;
  if (element.tag === "sup" && FLAT_AFTER_DIGIT.test(plain) && /\d$/.test(textBefore(element))) return content;
  const { tag } = element as { readonly tag: "sup" | "sub" };
  if (isCents({ tag, text: plain, before: textBefore(element), after: textAfter(element) })) return `.${text}`;
  return `<${tag}>${text}</${tag}>`;
}

/**
 * Rewrites superscripts and subscripts in code, where markup is not possible, as Unicode characters or in a programmer's
 * notation.
 */
export function raiseInCode(element: PageElement): void {
  if (closest(element, ({ tag }) => CODE_TAGS.has(tag)) === undefined) return;
  const text = element.textContent.trim();
  const isShort = text !== "" && text.length <= 12;
  if (!isShort || FLAT.test(text) || text.startsWith("[")) return;
  const { tag } = element as { readonly tag: "sup" | "sub" };
  const shown = notation({ tag, text, before: textBefore(element), after: textAfter(element) });
  element.parentNode?.insertBefore(new PageText(shown), element);
  element.remove();
}

/** The text right before an element in the same line. */
function textBefore(element: PageElement): string {
  const before = element.previousSibling;
  if (before instanceof PageText) return before.data;
  return before instanceof PageElement ? before.textContent : "";
}
