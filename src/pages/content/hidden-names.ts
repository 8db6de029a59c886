// Knows text that is hidden by the class name of an element, as in `class="facts hide"`, where the style sheet that says so is not
// part of the page.

import type { PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";

const HIDDEN = /(?:^|\s)hide(?:\s|$)/;
/** A part that is hidden on screens of some width only, as in "hide show@medium" or "hide md:block". */
const SHOWN_AGAIN = /[@:]|(?:^|\s)(?:show|d)(?:-\w+)?-(?:block|flex|grid|inline|table)/;
/** Names of parts that a reader can open. */
const OPENED =
  /(?:^|[\s_-])(?:tab|tabs|pane|panel|tabpanel|accordion|collapse|collapsed|collapsible|expand|expanded|expandable|toggle|overlay|modal|popup|dialog|lightbox|drawer|flyout|spoiler|faqs?|answers?|slides?|slider|carousel|swiper|readmore|more)(?:[\s_-]|$)/i;
/** How many levels above a hidden part are searched for such a name. */
const OPENED_LEVELS = 3;
const NAME_CHARS_MAX = 300;
/** If less text is expected elsewhere, the part is the page itself, which a script shows. */
const ELSEWHERE_CHARS_MIN = 120;

/** The blocks that are hidden by the name of an element around them. */
export function hiddenByName(blocks: readonly Block[], verdicts: readonly number[]): ReadonlySet<Block> {
  const hidden = new Set<Block>();
  const known = new Map<PageElement, boolean>();
  let elsewhere = 0;
  for (const block of blocks)
    if (isInHidden(block.element, known)) hidden.add(block);
    else elsewhere += block.text.length * (verdicts[block.index] as number);
  return elsewhere < ELSEWHERE_CHARS_MIN ? new Set() : hidden;
}

function isInHidden(element: PageElement, known: Map<PageElement, boolean>): boolean {
  const path: PageElement[] = [];
  let answer = false;
  for (let at: PageElement | null = element; at !== null; at = at.parentNode) {
    const found = known.get(at);
    answer = found ?? isHidden(at);
    path.push(at);
    if (answer || found !== undefined) break;
  }
  for (const at of path) known.set(at, answer);
  return answer;
}

/** Whether a name hides the element for good: a part with an id is one that a link or a script may show. */
function isHidden(element: PageElement): boolean {
  const { className, id } = element;
  if (className === "" || id !== "" || !HIDDEN.test(className) || SHOWN_AGAIN.test(className)) return false;
  let at: PageElement | null = element;
  for (let level = 0; at !== null && level <= OPENED_LEVELS; level++, at = at.parentNode)
    if (OPENED.test(`${at.className} ${at.id}`.slice(0, NAME_CHARS_MAX))) return false;
  return true;
}
