// Drops what stands in windows that open over a page: terms of an offer, tables of sizes, forms.

import { closest, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isNamedPrice } from "./expected-parts.ts";
import { headingLevel, type JudgedPage, sumChars } from "./judged.ts";

const WINDOW = /(?:^|[\s_-])(?:modal|lightbox|popup|pop-up|offcanvas)(?:[\s_-]|$)/i;
/** Pictures that open in a window of their own stand in the page, with their captions. */
const GALLERY = /galler/i;
/** If more of the kept text stands in such windows, the name means something else. */
const WINDOWS_SHARE_MAX = 0.3;

/** Drops such windows. */
export function dropWindows({ kept }: JudgedPage): void {
  const isOfPicture = ({ tag, className }: PageElement) => tag === "figure" || GALLERY.test(className);
  dropNamed(kept, WINDOW, WINDOWS_SHARE_MAX, isOfPicture);
}

/** Drops what stands in parts with certain class names, unless it is more than a share of the kept text, a headline or a price. */
export function dropNamed(
  kept: Set<Block>,
  names: RegExp,
  shareMax: number,
  isSpared: (element: PageElement) => boolean = () => false,
): void {
  const known = new Map<PageElement, boolean>();
  const isNamed = (element: PageElement) => {
    const found = known.get(element);
    if (found !== undefined) return found;
    const answer = element.className !== "" && names.test(element.className);
    known.set(element, answer);
    return answer;
  };
  const inside = [...kept].filter(
    (block) =>
      (isNamed(block.element) || closest(block.element, isNamed) !== undefined) &&
      !(isSpared(block.element) || closest(block.element, isSpared) !== undefined) &&
      headingLevel(block) !== 1 &&
      !isNamedPrice({ ...block, element: block.nodes[0]?.parentNode ?? block.element }),
  );
  if (inside.length === 0 || sumChars(inside) > sumChars(kept) * shareMax) return;
  for (const block of inside) kept.delete(block);
}
