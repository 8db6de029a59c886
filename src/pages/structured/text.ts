// The text of an element on one line, with spaces between blocks.

import { PageElement, type PageNode, PageText } from "../dom/node.ts";

const CHARS_MAX = 5000;
const WITHIN_LINES = new Set(
  "a abbr b bdi bdo cite code data dfn em font i kbd mark q s small span strong sub sup time u var".split(" "),
);

/** Reads the text of an element, at most as much as a long paragraph. */
export function textOnOneLine(element: PageElement): string {
  const pieces: string[] = [];
  let chars = 0;
  const read = (node: PageNode): void => {
    if (chars > CHARS_MAX) return;
    if (node instanceof PageText) {
      pieces.push(node.data);
      chars += node.data.length;
    } else if (node instanceof PageElement) {
      const gap = WITHIN_LINES.has(node.tag) ? "" : " ";
      pieces.push(gap);
      for (let child = node.firstChild; child !== null; child = child.nextSibling) read(child);
      pieces.push(gap);
    }
  };
  read(element);
  return pieces.join("").replace(/\s+/g, " ").trim().slice(0, CHARS_MAX);
}
