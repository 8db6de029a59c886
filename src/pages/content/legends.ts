// Keeps the legend under a kept table: a list that says what the signs in its cells mean. A "b" in a timetable says nothing without it.

import { closest, type PageElement } from "../dom/node.ts";
import { isTable } from "../dom/parts.ts";
import type { Block } from "./blocks.ts";
import type { JudgedPage } from "./judged.ts";

/** Longer terms are no signs. */
const SIGN_CHARS_MAX = 12;

/** Keeps the lists of definitions right after a kept table of which every term is what a cell of the table says. */
export function keepLegends({ blocks, kept }: JudgedPage): void {
  let list: PageElement | undefined;
  let signs: ReadonlySet<string> | undefined;
  let own: Block[] = [];
  const close = () => {
    const terms = own.filter(({ element }) => around(element, "dt") !== undefined);
    const isLegend = terms.length > 0 && terms.every(({ text }) => signs?.has(text) === true);
    if (isLegend) for (const block of own) kept.add(block);
    own = [];
  };
  const byTable = new Map<PageElement, ReadonlySet<string>>();
  for (const block of blocks) {
    const next = around(block.element, "dl");
    if (next !== list) {
      close();
      list = next;
      const before = blocks[block.index - 1];
      signs = list === undefined || before === undefined ? undefined : signsBefore(before, { blocks, kept }, byTable);
    }
    if (signs !== undefined) own.push(block);
  }
  close();
}

/** The element with this name that is or holds another; a list may hold its terms in groups, and paragraphs in its definitions. */
function around(element: PageElement, name: string): PageElement | undefined {
  return element.tag === name ? element : closest(element, ({ tag }) => tag === name);
}

/** The short texts of the kept cells of the table that a block ends; undefined if it ends none. */
function signsBefore(
  last: Block,
  { blocks, kept }: Pick<JudgedPage, "blocks" | "kept">,
  byTable: Map<PageElement, ReadonlySet<string>>,
): ReadonlySet<string> | undefined {
  const table = closest(last.element, isTable);
  if (table === undefined) return undefined;
  const known = byTable.get(table);
  if (known !== undefined) return known;
  const signs = new Set<string>();
  for (let at = last.index; at >= 0; at--) {
    const block = blocks[at] as Block;
    if (closest(block.element, (element) => element === table) === undefined) break;
    if (kept.has(block) && block.text.length <= SIGN_CHARS_MAX) signs.add(block.text);
  }
  byTable.set(table, signs);
  return signs;
}
