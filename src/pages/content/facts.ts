// Knows rows of facts that are no list by their markup, such as the times of a recipe: each is a short part with a number in it.

import { PageElement, PageText, walk } from "../dom/node.ts";

/** Fewer such parts may stand beside each other by chance, and more are the entries of something larger. */
const FACTS_MIN = 3;
const FACTS_MAX = 12;
const FACT_CHARS_MAX = 40;
/** A part has at most this many nodes, and this many characters with the space between its lines. */
const FACT_NODES_MAX = 40;
const SPACED_CHARS_MAX = 400;
const NONE: readonly PageElement[] = [];

/** Whether an element consists of short parts of one kind that each have a name and a number. */
export function isRowOfFacts(element: PageElement): boolean {
  const parts = partsOfOneKind(element);
  return parts.length >= FACTS_MIN && parts.every(isFact);
}

/** The children of an element with nothing but parts of one kind; none if it has others, or too many. Most elements have. */
function partsOfOneKind(element: PageElement): readonly PageElement[] {
  const parts: PageElement[] = [];
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node instanceof PageText) {
      if (node.data.trim() !== "") return NONE;
    } else if (node instanceof PageElement) {
      const { tag, className } = parts[0] ?? node;
      const isOther =
        (tag !== "div" && tag !== "span" && tag !== "p") || node.tag !== tag || node.className !== className;
      if (isOther || parts.push(node) > FACTS_MAX) return NONE;
    } else return NONE;
  }
  return parts;
}

function isFact(element: PageElement): boolean {
  const text = shortText(element)?.trim() ?? "";
  return text.length <= FACT_CHARS_MAX && /\d/.test(text) && /\p{L}{3}/u.test(text);
}

/** The text of a small element; undefined for another one, of which no more is read than that takes. */
function shortText(element: PageElement): string | undefined {
  let text = "";
  let nodes = 0;
  for (const node of walk(element)) {
    if (++nodes > FACT_NODES_MAX || text.length > SPACED_CHARS_MAX) return undefined;
    if (node instanceof PageText) text += node.data;
  }
  return text;
}
