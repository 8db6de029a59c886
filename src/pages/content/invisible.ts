// Removes text that a page does not show: no reader has seen it, and instructions for language models are often hidden there.
// Parts that a reader can open (panels, tabs, accordions) are content, whether or not they are open.

import { hasUnseenText, hidingOf, isOnlyInvisible, isShownAgain } from "../dom/hidden.ts";
import { closest, elementsOf, nodesOf, PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { UNSEEN_ATTRIBUTE } from "../dom/unseen-attribute.ts";
import { isInFrame } from "./judged.ts";
import { placeStreamed } from "./streamed.ts";
import { applyStyleRules } from "./style-rules.ts";
import type { Trace } from "./trace.ts";

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

/** A hidden part with the headline and this much other text is the page as well. */
const HEADED_CHARS_MIN = 300;
const TITLED_SHARE = 0.7;
/** Each hidden part is compared with each headline. */
const HEADLINES_MAX = 10;
/** So many hidden parts under titles are the answers to questions, or the chapters of an accordion. */
const DISCLOSED_MIN = 3;
const DISCLOSED_TITLE_CHARS_MAX = 200;
const DISCLOSED_CHARS_MIN = 60;
const SENTENCE = /[\p{Ll}\p{Lo}\p{N}"'”’)][.!?。！？](?:\s|$)/u;

/** A page with more transparent parts, or with more of its text in one, shows them later. */
const TRANSPARENT_MAX = 3;
const TRANSPARENT_SHARE = 0.2;
/** A page with more of its text in parts without height, and with more than some sentences in them, unfolds them later. */
const FOLDED_SHARE = 0.05;
const FOLDED_CHARS_MIN = 1000;
/** Of so few parts without height, a larger share of the text is taken for hidden text. */
const FOLDED_FEW = 3;
const FOLDED_FEW_SHARE = 0.2;
const NEVER_CONTENT = new Set(["select", "template", "textarea", "datalist", "svg", "noscript"]);

/**
 * Removes invisible text in place, also what the page's own style sheets hide. A page that would lose every word is left
 * unchanged.
 */
export function removeInvisible(document: PageDocument, trace: Trace): void {
  placeStreamed(document.body);
  applyStyleRules(document);
  const { body } = document;
  const found = new Set<PageElement>();
  const transparent = new Set<PageElement>();
  const folded = new Set<PageElement>();
  const small: PageElement[] = [];
  let controlled: ReadonlySet<string> | undefined;
  let chars: number | undefined;
  let headlines: Headlines | undefined;
  let disclosed: ReadonlySet<PageElement> | undefined;
  for (const element of elementsOf(body)) {
    if (hasUnseenText(element)) small.push(element);
    const hiding = hidingOf(element);
    if (hiding === undefined) continue;
    if (isWithin(element, found) || !hasText(element) || isFormula(element)) continue;
    if (hiding !== "unseen") {
      controlled ??= controlledIds(body);
      if (isOpenable(element, controlled) || STREAMED.test(element.id)) continue;
      chars ??= body.textContent.length;
      if (isWholePage(element, chars)) continue;
      headlines ??= titledHeadlines(document);
      if (isOfPage(element, headlines)) continue;
      disclosed ??= disclosedParts(body);
      if (disclosed.has(element)) continue;
    }
    // A part within another one goes or stays with it, and is not counted as one more.
    const same = hiding === "folded" ? folded : hiding === "transparent" ? transparent : found;
    if (same !== found && isWithin(element, same)) continue;
    if (hiding === "folded") folded.add(element);
    else if (hiding !== "transparent") found.add(element);
    else if (isLeftTransparent(element, chars ?? 0)) transparent.add(element);
  }
  // Pages that fade in their parts while the reader scrolls have many.
  if (transparent.size <= TRANSPARENT_MAX) for (const element of transparent) found.add(element);
  if (areLeftFolded(folded, chars ?? 0)) for (const element of folded) found.add(element);
  for (const element of small) if (!isWithin(element, found)) removeTinyText(element);
  if (found.size === 0 || !hasWords(body, found)) return;
  for (const element of found) removeHidden(element, trace);
}

/** Whether a transparent part has little text and no picture, which would be faded in when it has loaded. */
function isLeftTransparent(element: PageElement, chars: number): boolean {
  if (element.textContent.length >= chars * TRANSPARENT_SHARE) return false;
  return element.getElementsByTagName("img").length === 0;
}

/** Whether the parts without height have so little text that no script need unfold them. */
function areLeftFolded(folded: ReadonlySet<PageElement>, chars: number): boolean {
  let inside = 0;
  for (const element of folded) inside += element.textContent.trim().length;
  return inside <= Math.max(FOLDED_CHARS_MIN, chars * (folded.size > FOLDED_FEW ? FOLDED_SHARE : FOLDED_FEW_SHARE));
}

/** Removes the part, except for descendants that are made visible again. */
function removeHidden(element: PageElement, trace: Trace): void {
  const shown = isOnlyInvisible(element) ? elementsOf(element).filter(isShownAgain) : [];
  const outer = new Set(shown);
  for (const inner of shown)
    if (closest(inner, (above) => outer.has(above)) === undefined) element.parentNode?.insertBefore(inner, element);
  trace.remove(element, "invisible");
}

/**
 * Removes text that is too small to read. Pages also set the font size of a container to zero to close gaps; then its content has
 * a size of its own.
 */
function removeTinyText(element: PageElement): void {
  const isMarked = element.attributes[UNSEEN_ATTRIBUTE] !== undefined;
  const hasSize = ({ attributes }: PageElement) =>
    // The browser has told of each element by itself.
    isMarked || attributes["class"] !== undefined || /font/i.test(attributes["style"] ?? "");
  for (const node of nodesOf(element)) {
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
    const isTab =
      /^(?:tab|button)$/.test(attributes["role"] ?? "") || tag === "button" || tag === "summary" || tag === "a";
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

/** Headlines, and the characters of all of them. */
interface Headlines {
  readonly all: readonly PageElement[];
  readonly chars: number;
}

/** The headlines that the title of the page names, each inner one of nested ones; none if they are more than a page has. */
function titledHeadlines({ body, title }: PageDocument): Headlines {
  const said = new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const headlines = body.getElementsByTagName("h1");
  const outer = new Set(headlines.map((headline) => closest(headline, ({ tag }) => tag === "h1")));
  const all = headlines.filter((headline) => {
    if (outer.has(headline)) return false;
    const words = headline.textContent.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    return words.length > 0 && words.filter((word) => said.has(word)).length >= words.length * TITLED_SHARE;
  });
  if (all.length > HEADLINES_MAX) return { all: [], chars: 0 };
  return { all, chars: all.reduce((sum, { textContent }) => sum + textContent.length, 0) };
}

/** Whether a hidden part holds the headline of the page and much text: its scripts show it when it is complete. */
function isOfPage(element: PageElement, { all, chars }: Headlines): boolean {
  if (all.length === 0 || element.tag === "dialog" || element.attributes["role"] === "dialog") return false;
  const isInside = (headline: PageElement) => closest(headline, (above) => above === element) !== undefined;
  return element.textContent.length >= chars + HEADED_CHARS_MIN && all.every(isInside);
}

/** The hidden parts that follow a title each, in the same way several times: a reader opens them by their titles. */
function disclosedParts(body: PageElement): ReadonlySet<PageElement> {
  const alike = new Map<string, PageElement[]>();
  for (const element of elementsOf(body)) {
    if (hidingOf(element) !== "hidden" || !/^(?:div|section|p|dd)$/.test(element.tag)) continue;
    const title = titleBefore(element);
    if (title === undefined || !isAnswer(element)) continue;
    const key = `${title.tag}.${title.className}>${element.tag}.${element.className}`;
    const list = alike.get(key);
    if (list === undefined) alike.set(key, [element]);
    else list.push(element);
  }
  return new Set([...alike.values()].filter((list) => list.length >= DISCLOSED_MIN).flat());
}

/** The short visible element directly before a part that is the last one of its parent. */
function titleBefore(element: PageElement): PageElement | undefined {
  if (element.parentNode?.lastElementChild !== element) return undefined;
  let title = element.previousSibling;
  while (title !== null && !(title instanceof PageElement)) title = title.previousSibling;
  if (title === null || hidingOf(title) !== undefined) return undefined;
  const text = title.textContent.trim();
  return text.length > 0 && text.length <= DISCLOSED_TITLE_CHARS_MAX && !/^(?:a|img|input)$/.test(title.tag)
    ? title
    : undefined;
}

/** Whether a part has sentences, and neither links, as menus have, nor controls. */
function isAnswer(element: PageElement): boolean {
  const text = element.textContent.trim();
  if (text.length < DISCLOSED_CHARS_MIN || !SENTENCE.test(text) || isInFrame({ element })) return false;
  if (elementsOf(element).some(({ tag }) => /^(?:input|label|button|select|table)$/.test(tag))) return false;
  const linked = element.getElementsByTagName("a").reduce((sum, link) => sum + link.textContent.trim().length, 0);
  return linked < text.length * 0.5;
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
      if (!leftOut.has(node) && !NEVER_CONTENT.has(node.tag) && hasWords(node, leftOut)) return true;
    } else if (/[\p{L}\p{N}]/u.test(node.textContent)) return true;
  }
  return false;
}
