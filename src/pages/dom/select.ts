// CSS selectors over the light tree. They come from callers: what one may cost is bounded by its length here and by the
// deadline of the thread that runs it.

import { compile, selectAll } from "css-select";
import { PageElement, type PageNode } from "./node.ts";

/** Longer ones are not written by people. */
const CHARS_MAX = 300;
/** Each looks through all that is below every element. */
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
  try {
    compile(text);
    return true;
  } catch {
    return false;
  }
}

/** The elements below `root` that a selector takes, in document order; none where it cannot be used. */
export function selectElements(root: PageElement, selector: string): PageElement[] {
  if (!isSelector(selector)) return [];
  return selectAll<PageNode, PageElement>(selector, root.childNodes, { adapter: ADAPTER, cacheResults: false });
}
