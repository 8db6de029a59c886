// Knows text that is hidden by the class name of an element, as in `class="facts hide"`, where the style sheet that says so is not
// part of the page.

import { PageElement, type PageNode } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

const HIDDEN = /(?:^|\s)hide(?:\s|$)/;
/** A part that is hidden on screens of some width only, as in "hide show@medium" or "hide md:block". */
export const SHOWN_AGAIN = /\S[@:]\S|(?:^|\s)(?:show|d)(?:-\w+)?-(?:block|flex|grid|inline|table)/;
/** Names of parts that a reader can open. */
const OPENED =
  /(?:^|[\s_-])(?:tab|tabs|pane|panel|tabpanel|accordion|collapse|collapsed|collapsible|expand|expanded|expandable|toggle|overlay|modal|popup|dialog|lightbox|drawer|flyout|spoiler|faqs?|questions?|answers?|slides?|slider|carousel|swiper|readmore|more)(?:[\s_-]|$)/i;
/** How many levels above a hidden part are searched for such a name. */
const OPENED_LEVELS = 3;
const NAME_CHARS_MAX = 300;
/** How deep the control may stand in the element beside a hidden part. */
const OPENER_LEVELS = 2;
/** Where a link leads that only runs a script: nowhere, once addresses are resolved. */
const LEADS_NOWHERE = /^$|#$/;
/** Elements that stand in rows of their own kind, even without a class name. */
const ITEMS: ReadonlySet<string> = new Set(["li", "tr", "dt", "dd"]);
/** If less text is expected elsewhere, or less than in the hidden parts, these are the page itself, which a script shows. */
const ELSEWHERE_CHARS_MIN = 120;
/** Hidden lists of facts are data for scripts, however long they are. */
const FACT = /^(?:dt|dd|th|td)$/;

/** The blocks that are hidden by the name of an element around them. */
export function hiddenByName(blocks: readonly Block[], verdicts: readonly number[]): ReadonlySet<Block> {
  const hidden = new Set<Block>();
  const known = new Map<PageElement, boolean>();
  const shown: ShownKinds = new Map();
  let elsewhere = 0;
  let inside = 0;
  for (const block of blocks) {
    const expected = block.text.length * (verdicts[block.index] as number);
    if (isInHidden(block.element, known, shown)) {
      hidden.add(block);
      if (!FACT.test(block.element.tag)) inside += expected;
    } else elsewhere += expected;
  }
  return elsewhere < Math.max(ELSEWHERE_CHARS_MIN, inside) ? new Set() : hidden;
}

type ShownKinds = Map<PageElement, ReadonlySet<string>>;

function isInHidden(element: PageElement, known: Map<PageElement, boolean>, shown: ShownKinds): boolean {
  const path: PageElement[] = [];
  let answer = false;
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) {
    const found = known.get(at);
    answer = found ?? isHidden(at, shown);
    path.push(at);
    if (answer || found !== undefined) break;
  }
  for (const at of path) known.set(at, answer);
  return answer;
}

/** Whether a name hides the element for good: a part with an id is one that a link or a script may show. */
function isHidden(element: PageElement, shown: ShownKinds): boolean {
  const { className, id } = element;
  if (className === "" || id !== "" || !HIDDEN.test(className) || SHOWN_AGAIN.test(className)) return false;
  let at: PageElement | null = element;
  for (let level = 0; at !== null && level <= OPENED_LEVELS; level++, at = at.parentNode)
    if (isNamedOpened(at)) return false;
  return (
    !isOpener(besides(element, "previousSibling")) &&
    !isOpener(besides(element, "nextSibling")) &&
    !isOfRow(element, shown)
  );
}

function isNamedOpened({ className, id }: PageElement): boolean {
  return OPENED.test(`${className} ${id}`.slice(0, NAME_CHARS_MAX));
}

/** Whether an element beside a hidden part shows it: a control such as "Read more", or the question above an answer. */
function isOpener(element: PageElement | undefined): boolean {
  let at = element;
  for (let level = 0; at !== undefined && level <= OPENER_LEVELS; level++) {
    const { tag, attributes } = at;
    if (tag === "button" || attributes["role"] === "button" || isNamedOpened(at)) return true;
    if (tag === "a" && LEADS_NOWHERE.test(attributes["href"] ?? "")) return true;
    at = firstElement(at.firstChild, "nextSibling");
  }
  return false;
}

function besides(element: PageElement, side: "previousSibling" | "nextSibling"): PageElement | undefined {
  return firstElement(element[side], side);
}

function firstElement(from: PageNode | null, side: "previousSibling" | "nextSibling"): PageElement | undefined {
  let at = from;
  while (at !== null && !(at instanceof PageElement)) at = at[side];
  return at ?? undefined;
}

/** Whether others of its row are shown: the further items of a list and the other parts of a switch are hidden until they are wanted. */
function isOfRow(element: PageElement, shown: ShownKinds): boolean {
  const { parentNode } = element;
  if (parentNode === null) return false;
  let kinds = shown.get(parentNode);
  if (kinds === undefined) {
    kinds = new Set(parentNode.children.filter(({ className }) => !HIDDEN.test(className)).map(kindOf));
    shown.set(parentNode, kinds);
  }
  const kind = kindOf(element);
  return (ITEMS.has(element.tag) || kind !== element.tag) && kinds.has(kind);
}

/** The tag and the class names of an element, without numbers and without the name that hides it. */
function kindOf({ tag, className }: PageElement): string {
  const names = className.slice(0, NAME_CHARS_MAX).replace(/\d+/g, "").split(/\s+/);
  return [tag, ...names.filter((name) => name !== "" && name !== "hide")].join(" ");
}
