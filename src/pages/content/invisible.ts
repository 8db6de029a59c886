// Removes text that a page does not show: no reader has seen it, and instructions for language models are often hidden there.
// Parts that a reader can open (panels, tabs, accordions) are content, whether or not they are open.

import { closest, elementsOf, PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import type { Trace } from "./trace.ts";

/** Class names of text that is only for screen readers. */
const SCREEN_READER =
  /(?:^|\s)(?:(?:sr|screen-?readers?)-?only|screen-?reader(?:-?text)?|visually-?hidden|visuallyhidden|visually_hidden|[\w]+-visually-hidden|u-hidden-visually|hide-visually|a11y-hidden|a11y-text|assistive-text|element-invisible|a-offscreen|off-?screen(?:-text)?)(?:\s|$)/i;
const NOT_DISPLAYED = /(?:^|[;\s])display\s*:\s*none/i;
const NOT_VISIBLE = /(?:^|[;\s])visibility\s*:\s*(?:hidden|collapse)/i;
const VISIBLE = /(?:^|[;\s])visibility\s*:\s*visible/i;
const FONT_SIZE = /(?:^|[;\s])font(?:-size)?\s*:[^;]*?(?<![\w.#])(\d*\.?\d+)\s*(px|pt|em|rem|%|)(?![\w.])/i;
/** Text of at most this size cannot be read. */
const FONT_PX_MAX = 1;
const FONT_SHARE_MAX = 0.05;
const OUT_OF_SIGHT =
  /(?:^|[;\s])(?:text-indent\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01]|clip-path\s*:\s*inset\(\s*(?:50|100)%)/i;
const FAR_AWAY = /(?:^|[;\s])(?:left|right|top)\s*:\s*-\d{3,}/i;
const LIFTED = /(?:^|[;\s])position\s*:\s*(?:absolute|fixed)/i;
/** Words that name a part which the reader can open. */
const OPENABLE = new Set(
  (
    "tab tabs tabpanel tabpane tabcontent tabbed pane panes panel panels accordion accordions collapse collapsible collapsed " +
    "collapsable expand expandable expanded expander spoiler faq faqs answer slide slides slider carousel swiper readmore " +
    "showmore showhide"
  ).split(" "),
);
/** How many levels above a hidden part are searched for such a name. */
const NAME_LEVELS = 2;
const INLINE_TAGS = new Set("span a b i em strong small label u s font abbr sup sub mark code time cite".split(" "));
/** React streams parts of a page under such ids, and a script then moves them to their place. */
const STREAMED = /^S:[0-9a-f]+$/;
/** A hidden part with more than this share of the page's text is the page itself, hidden until its scripts run. */
const WHOLE_SHARE = 0.8;

/** Removes invisible text in place. A page that would lose every word is left unchanged. */
export function removeInvisible({ body }: PageDocument, trace: Trace): void {
  const found = new Set<PageElement>();
  const small: PageElement[] = [];
  let controlled: ReadonlySet<string> | undefined;
  let chars: number | undefined;
  for (const element of elementsOf(body)) {
    const { attributes } = element;
    const style = attributes["style"] ?? "";
    if (style !== "" && isTinyText(style)) small.push(element);
    const isUnseen =
      SCREEN_READER.test(element.className) || (style !== "" && (OUT_OF_SIGHT.test(style) || isFarAway(style)));
    if (!isUnseen && !isHidden(attributes, style)) continue;
    if (isWithin(element, found) || !hasText(element) || isFormula(element)) continue;
    if (!isUnseen) {
      controlled ??= controlledIds(body);
      if (isOpenable(element, controlled) || STREAMED.test(element.id)) continue;
      chars ??= body.textContent.length;
      if (isWholePage(element, chars)) continue;
    }
    found.add(element);
  }
  for (const element of small) if (!isWithin(element, found)) removeTinyText(element);
  if (found.size === 0 || !hasWords(body, found)) return;
  for (const element of found) removeHidden(element, trace);
}

/** Removes the part, except for descendants that are made visible again. */
function removeHidden(element: PageElement, trace: Trace): void {
  const shown = NOT_VISIBLE.test(element.attributes["style"] ?? "")
    ? elementsOf(element).filter((inner) => VISIBLE.test(inner.attributes["style"] ?? ""))
    : [];
  const outer = new Set(shown);
  for (const inner of shown)
    if (closest(inner, (above) => outer.has(above)) === undefined) element.parentNode?.insertBefore(inner, element);
  trace.remove(element, "invisible");
}

function isHidden(attributes: Readonly<Record<string, string>>, style: string): boolean {
  const { hidden } = attributes;
  if (hidden !== undefined && hidden.toLowerCase() !== "until-found") return true;
  return style !== "" && (NOT_DISPLAYED.test(style) || NOT_VISIBLE.test(style));
}

function isFarAway(style: string): boolean {
  return FAR_AWAY.test(style) && LIFTED.test(style);
}

function isTinyText(style: string): boolean {
  const [, size, unit] = FONT_SIZE.exec(style) ?? [];
  if (size === undefined) return false;
  const value = Number(size);
  if (value === 0) return true;
  if (unit === "px" || unit === "pt") return value <= FONT_PX_MAX;
  return unit !== "" && value <= FONT_SHARE_MAX * (unit === "%" ? 100 : 1);
}

/**
 * Removes text that is too small to read. Pages also set the font size of a container to zero to close gaps; then its content has
 * a size of its own.
 */
function removeTinyText(element: PageElement): void {
  const hasSize = ({ attributes }: PageElement) =>
    attributes["class"] !== undefined || /font/i.test(attributes["style"] ?? "");
  for (const node of [...walk(element)]) {
    if (!(node instanceof PageText) || node.data.trim() === "") continue;
    let at = node.parentNode;
    while (at !== null && at !== element && !hasSize(at)) at = at.parentNode;
    if (at === element) node.remove();
  }
}

/** Whether the reader can open the part: its name says so, or a button of the page refers to it. */
function isOpenable(element: PageElement, controlled: ReadonlySet<string>): boolean {
  if (INLINE_TAGS.has(element.tag)) return false;
  if (element.id !== "" && controlled.has(element.id)) return true;
  let at: PageElement | null = element;
  for (let level = 0; at !== null && level <= NAME_LEVELS; level++, at = at.parentNode)
    if (isNamedOpenable(at)) return true;
  return false;
}

function isNamedOpenable({ className, id, attributes }: PageElement): boolean {
  const names = `${className} ${id} ${attributes["role"] ?? ""}`;
  return (
    names.length > 4 &&
    names
      .slice(0, 300)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z]+/)
      .some((word) => OPENABLE.has(word))
  );
}

/** The ids of the parts that tabs and buttons open. */
function controlledIds(body: PageElement): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { tag, attributes } of elementsOf(body)) {
    const isTab = attributes["role"] === "tab" || tag === "button" || tag === "summary" || tag === "a";
    if (isTab) for (const id of (attributes["aria-controls"] ?? "").split(/\s+/)) if (id !== "") ids.add(id);
  }
  return ids;
}

function isWholePage(element: PageElement, chars: number): boolean {
  if (element.textContent.length < chars * WHOLE_SHARE) return false;
  return (
    /^(?:main|article)$/.test(element.tag) ||
    elementsOf(element).some(({ tag }) => tag === "main" || tag === "article" || tag === "h1")
  );
}

/** Whether an element is a formula. Formulas are hidden as MathML beside their image, and it is the MathML that is converted. */
function isFormula(element: PageElement): boolean {
  const formulas = element.getElementsByTagName("math");
  if (formulas.length === 0) return false;
  const inside = formulas.reduce((sum, formula) => sum + formula.textContent.trim().length, 0);
  return inside >= element.textContent.trim().length * 0.8;
}

function isWithin(element: PageElement, found: ReadonlySet<PageElement>): boolean {
  return found.size > 0 && closest(element, (above) => found.has(above)) !== undefined;
}

function hasText(element: PageElement): boolean {
  for (const node of walk(element)) if (node instanceof PageText && node.data.trim() !== "") return true;
  return false;
}

/** Whether there is a letter or digit below `root` outside of the elements in `leftOut`. The tree's depth is bounded. */
function hasWords(root: PageElement, leftOut: ReadonlySet<PageElement>): boolean {
  for (let node = root.firstChild; node !== null; node = node.nextSibling) {
    if (node instanceof PageElement) {
      if (!leftOut.has(node) && hasWords(node, leftOut)) return true;
    } else if (/[\p{L}\p{N}]/u.test(node.textContent)) return true;
  }
  return false;
}
