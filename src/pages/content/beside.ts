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
  return new Set(
    within.filter(({ element }) => {
      for (let at: PageElement | null = element; at !== null && !around.has(at); at = at.parentNode)
        if (isNamed(at)) return true;
      return false;
    }),
  );
}
