// Keeps what stands on the parts that a reader can open: the question above an answer, the name of a chapter.

import { closest, elementsOf, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { type JudgedPage, shareOfKept } from "./judged.ts";

/** Longer text is no title. */
const TITLE_CHARS_MAX = 200;
/** How many blocks after a title are looked at before its part is. */
const OPENED_REACH = 6;
/** If at least this share of the text of a part is kept, its title is kept too. */
const OPENED_SHARE = 0.5;
/** What a control says that shows more of a text: it is no title. */
const MORE = /^(?:(?:read|show|see|view|load) (?:more|less|all)|more|less|expand(?: all)?|collapse(?: all)?|\W)$/i;

/** Keeps the titles of opened parts that are kept. */
export function keepOpeners({ document, blocks, kept }: JudgedPage): void {
  const titles = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    const control = controlOf(block);
    if (control === undefined) continue;
    const own = titles.get(control);
    if (own === undefined) titles.set(control, [block]);
    else own.push(block);
  }
  // Most controls, as those of menus, open nothing that is kept.
  for (const [control, own] of titles) {
    const after = (own[own.length - 1] as Block).index + 1;
    const isBeforeKept = blocks.slice(after, after + OPENED_REACH).some((block) => kept.has(block));
    if (!isBeforeKept || own.every((block) => kept.has(block))) titles.delete(control);
  }
  if (titles.size === 0) return;
  const ids = new Map<string, PageElement>();
  for (const element of elementsOf(document.body))
    if (element.id !== "" && !ids.has(element.id)) ids.set(element.id, element);
  const share = shareOfKept(blocks, kept);
  for (const [control, own] of titles) {
    const panel = ids.get(targetOf(control));
    const next = blocks[(own[own.length - 1] as Block).index + 1];
    if (panel === undefined || next === undefined || !isWithin(next.element, panel) || isWithin(control, panel))
      continue;
    const isMore = own.length === 1 && MORE.test((own[0] as Block).text);
    if (!isMore && (share(panel)?.kept ?? 0) >= OPENED_SHARE) for (const block of own) kept.add(block);
  }
}

const CONTROL_LEVELS = 4;

/** The control that a short block is the label of. */
function controlOf({ element, nodes, text }: Block): PageElement | undefined {
  if (text.length > TITLE_CHARS_MAX) return undefined;
  let at: PageElement | null = nodes[0]?.parentNode ?? element;
  for (let level = 0; at !== null && level < CONTROL_LEVELS; level++, at = at.parentNode)
    if (targetOf(at) !== "" && at.attributes["role"] !== "tab") return at;
  return undefined;
}

/** The id of the part that a control opens; "" if it states none. */
function targetOf({ attributes }: PageElement): string {
  let said = attributes["aria-controls"] ?? attributes["data-bs-target"] ?? attributes["data-target"];
  if (said === undefined && (attributes["data-bs-toggle"] ?? attributes["data-toggle"]) === "collapse")
    // Addresses are resolved by now.
    said = attributes["href"]?.replace(/^[^#]*/, "");
  return said === undefined ? "" : said.replace(/^#/, "");
}

function isWithin(element: PageElement, around: PageElement): boolean {
  return element === around || closest(element, (at) => at === around) !== undefined;
}
