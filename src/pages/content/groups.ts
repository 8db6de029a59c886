// Judges the tiles of a grid, and the replies of a thread, together: blocks at the same position in each of them get one verdict.
// Otherwise a tile might lose its name because its neighbour's name is longer.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

/** Fewer similar parts are not a group. */
const MEMBERS_MIN = 4;
/** A position must occur in at least this many of the parts. */
const PLACES_MIN = 3;
const PATH_LEVELS_MAX = 6;

/** The verdicts, in which blocks at the same position in similar parts get the mean of their verdicts. */
export function levelGroups(blocks: readonly Block[], verdicts: readonly number[]): readonly number[] {
  const members = membersOf(blocks);
  const places = new Map<string, { count: number; sum: number }>();
  const ids = new Map<PageElement, number>();
  const keys = blocks.map((block) => placeOf(block, members, ids));
  keys.forEach((key, at) => {
    if (key === undefined) return;
    const place = places.get(key) ?? { count: 0, sum: 0 };
    place.count++;
    place.sum += verdicts[at] as number;
    places.set(key, place);
  });
  return verdicts.map((verdict, at) => {
    const place = places.get(keys[at] ?? "");
    return place === undefined || place.count < PLACES_MIN ? verdict : place.sum / place.count;
  });
}

/** The elements that have siblings of the same tag and class and hold more than one block. */
function membersOf(blocks: readonly Block[]): ReadonlySet<PageElement> {
  const counts = new Map<PageElement, number>();
  for (const { element } of blocks)
    for (let at: PageElement | null = element; at !== null; at = at.parentNode)
      counts.set(at, (counts.get(at) ?? 0) + 1);
  const groups = new Map<PageElement, Map<string, PageElement[]>>();
  for (const element of counts.keys()) {
    if (element.parentNode === null || /^(?:tr|td|th|tbody|dt|dd)$/.test(element.tag)) continue;
    const siblings = groups.get(element.parentNode) ?? new Map<string, PageElement[]>();
    groups.set(element.parentNode, siblings);
    const key = `${element.tag}.${element.className}`;
    const list = siblings.get(key);
    if (list === undefined) siblings.set(key, [element]);
    else list.push(element);
  }
  const members = new Set<PageElement>();
  for (const siblings of groups.values())
    for (const list of siblings.values()) {
      if (list.length < MEMBERS_MIN) continue;
      const held = list.reduce((sum, element) => sum + (counts.get(element) ?? 0), 0);
      if (held > list.length * 1.5) for (const element of list) members.add(element);
    }
  return members;
}

/** A block's position: its group and the path from there down to the block. Undefined for blocks outside of groups. */
function placeOf(
  { element }: Block,
  members: ReadonlySet<PageElement>,
  ids: Map<PageElement, number>,
): string | undefined {
  const path: string[] = [];
  let at: PageElement | null = element;
  while (at !== null && !members.has(at) && path.length < PATH_LEVELS_MAX) {
    path.push(`${at.tag}.${at.className}`);
    at = at.parentNode;
  }
  if (at === null || !members.has(at) || at.parentNode === null) return undefined;
  const id = ids.get(at.parentNode) ?? ids.size;
  ids.set(at.parentNode, id);
  return `${id}>${at.tag}.${at.className}>${path.join("<")}`;
}
