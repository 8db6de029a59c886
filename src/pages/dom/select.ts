// Selects elements of the light tree by CSS selectors. The selectors come from callers; their cost is bounded by their length and
// by the deadline of the thread that runs them.

import { lazily } from "../../base/lazily.ts";
import { PageElement, type PageNode } from "./node.ts";

/** Loaded with the first selector. */
const selecting = lazily((): typeof import("css-select") => require("css-select"));

/** Maximum length of a selector; people do not write longer ones. */
const CHARS_MAX = 300;
/** Maximum number of pseudo-classes that search all descendants of every element. */
const NESTED_MAX = 1;

const ADAPTER = {
  isTag: (node: PageNode): node is PageElement => node instanceof PageElement,
  getAttributeValue: (element: PageElement, name: string) => element.attributes[name],
  getChildren: (node: PageNode): PageNode[] => (node instanceof PageElement ? node.childNodes : []),
  getName: (element: PageElement) => element.tag,
  getParent: (element: PageElement): PageNode | null => element.parentNode,
  getSiblings: (node: PageNode): PageNode[] => node.parentNode?.childNodes ?? [node],
  prevElementSibling: (node: PageNode): PageElement | null => {
    let before = node.previousSibling;
    while (before !== null && !(before instanceof PageElement)) before = before.previousSibling;
    return before;
  },
  getText: (node: PageNode) => node.textContent,
  hasAttrib: (element: PageElement, name: string) => element.attributes[name] !== undefined,
  removeSubsets: (nodes: PageNode[]): PageNode[] => {
    const all = new Set(nodes);
    return nodes.filter((node) => {
      for (let at = node.parentNode; at !== null; at = at.parentNode) if (all.has(at)) return false;
      return true;
    });
  },
};

/** Whether a text can be used as a selector. */
export function isSelector(text: string): boolean {
  if (text.trim() === "" || text.length > CHARS_MAX) return false;
  if ((text.match(/:has\(/gi)?.length ?? 0) > NESTED_MAX) return false;
  // Outside of what is caught: code that cannot be loaded says nothing about the text.
  const { compile } = selecting();
  try {
    compile(text);
    return true;
  } catch {
    return false;
  }
}

/** The elements below `root` that match a selector, in document order; none if the selector is invalid. */
export function selectElements(root: PageElement, selector: string): PageElement[] {
  if (!isSelector(selector)) return [];
  return selecting().selectAll<PageNode, PageElement>(selector, root.childNodes, {
    adapter: ADAPTER,
    cacheResults: false,
  });
}
