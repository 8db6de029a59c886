// Some sites say in the name of an article whether it may have comments ("has-comments"). Only a part that does not hold the headline of
// the page is the part of the comments, or of the reviews.

import type { PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Block } from "./blocks.ts";
import { headlineOf } from "./expected-parts.ts";

/** Of the blocks in named elements, those that have such a name below all elements around the headline. */
export function besideHeadline(
  { document, blocks }: { readonly document: PageDocument; readonly blocks: readonly Block[] },
  within: readonly Block[],
  isNamed: (element: PageElement) => boolean,
): ReadonlySet<Block> {
  if (within.length === 0) return new Set();
  const around = new Set<PageElement>();
  for (const { element } of headlineOf(document, blocks))
    for (let at: PageElement | null = element; at !== null; at = at.parentNode) around.add(at);
  // Each element is looked at once, however many blocks it holds.
  const known = new Map<PageElement, boolean>();
  const isBeside = (element: PageElement | null): boolean => {
    if (element === null || around.has(element)) return false;
    let is = known.get(element);
    if (is === undefined) {
      is = isNamed(element) || isBeside(element.parentNode);
      known.set(element, is);
    }
    return is;
  };
  return new Set(within.filter(({ element }) => isBeside(element)));
}
