// Puts the parts of a page that were sent after the rest into their places. Servers send slow parts last, hidden at the end of the
// page, and a short script then moves each of them to its placeholder.

import { elementsOf, PageElement } from "../dom/node.ts";
import { TREE_DEPTH_MAX } from "../dom/parse.ts";

/** React sends the part `S:1` for the place `B:1` or `P:1`; Marko sends `afx1` for the place `afxph1`. */
const PART = /^(?:S:([0-9a-f]{1,8})|(af[a-zA-Z]{0,40}?)(\d{1,6}))$/;
const PLACE = /^(?:[BP]:[0-9a-f]{1,8}|af[a-zA-Z]{0,40}ph\d{1,6})$/;

/** The nodes of all parts that are examined and moved. Real pages have about 20,000. */
const EXAMINED_MAX = 250_000;

/** Moves such parts to their places. A part without a place stays where it is. */
export function placeStreamed(body: PageElement): void {
  const places = new Map<string, PageElement>();
  const parts: PageElement[] = [];
  for (const element of elementsOf(body)) {
    if (element.id === "") continue;
    if (PLACE.test(element.id)) places.set(element.id, element);
    else if (PART.test(element.id)) parts.push(element);
  }
  if (places.size === 0) return;
  const budget = { nodes: EXAMINED_MAX };
  for (const part of parts) {
    const place = placeOf(part, places);
    if (place?.parentNode == null) continue;
    // A tree that grew with every move would become too deep for those who read it.
    const above = depthWithout(part, place);
    if (above === undefined || above + heightOf(part, budget) > TREE_DEPTH_MAX || budget.nodes <= 0) continue;
    for (const child of part.childNodes) place.parentNode.insertBefore(child, place);
    place.remove();
    part.remove();
  }
}

function placeOf({ id }: PageElement, places: ReadonlyMap<string, PageElement>): PageElement | undefined {
  const [, react, marko, number] = PART.exec(id) ?? [];
  return react === undefined
    ? places.get(`${marko}ph${number}`)
    : (places.get(`B:${react}`) ?? places.get(`P:${react}`));
}

/** The number of elements around a place; undefined if the part is one of them. */
function depthWithout(part: PageElement, place: PageElement): number | undefined {
  let depth = 0;
  for (let at = place.parentNode; at !== null; at = at.parentNode) {
    if (at === part) return undefined;
    depth++;
  }
  return depth;
}

function heightOf(element: PageElement, budget: { nodes: number }): number {
  let height = 0;
  for (let child = element.firstChild; child !== null && budget.nodes > 0; child = child.nextSibling) {
    budget.nodes--;
    if (child instanceof PageElement) height = Math.max(height, heightOf(child, budget));
  }
  return height + 1;
}
