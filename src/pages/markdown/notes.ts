// Converts footnotes: a reference to a note on the page becomes `[^1]`, and the note becomes `[^1]: text`. A reference without a
// note on the page becomes plain text.

import { percentDecoded } from "../../base/percent.ts";
import { UnusedNames } from "../../base/unused-names.ts";
import { closest, elementsOf, PageElement, type PageNode, PageText, walk } from "../dom/node.ts";

const MARK = /^[\w*†‡§¶]{1,8}$/;
/** Names of the links that lead back from a note to its reference. */
const BACK_NAME = /^_?(?:fn[-_:]?ref|footnote[-_]?ref|cite_ref|ftnref|ednref|noteref)/i;
/** Names that only notes have. A reference with such a name need not be superscript. */
const SURE_NAME = /^_?(?:fn|footnote|cite_note|ftn|edn|endnote)(?!_?-?:?ref)/i;
/**
 * Names of notes and of many other things. If the target is missing, a reference with such a name is taken for one to a missing
 * note.
 */
const LOST_NAME = /^_?(?:fn|foot|note|ftn|edn|endnote|cite|bib|ref)/i;
const SURE_CLASS = /(?:^|\s)(?:footnote-?ref|footnote-reference|noteref|footnote-link)/i;
const NOTE_CHARS_MAX = 4000;
/** Elements that may be notes. Notes in tables are left in place. */
const HOLDERS = new Set(["li", "p", "div", "aside", "dd", "section"]);
const INLINE = new Set(["a", "span", "sup", "b", "strong", "em", "i"]);

/** Converts the footnotes of a tree in place. */
export function rewriteNotes(root: PageElement): void {
  const marks = new Map<PageElement, string>();
  for (const link of root.getElementsByTagName("a")) {
    const target = targetOf(link);
    if (target !== undefined) marks.set(link, target);
  }
  if (marks.size === 0) return;
  const notes = notesFor(root, marks);
  const labels = new Map<PageElement, string>();
  const unused = new UnusedNames({ before: "-" });
  // Superscripts and lists are cleaned up once, after all references or notes were removed, since one of them may contain very
  // many.
  const signs = new Set<PageElement>();
  const lists = new Set<PageElement>();
  for (const [link, target] of marks) {
    if (link.parentNode === null) continue;
    const note = notes.get(target);
    const shown = shownBy(link);
    if (note === undefined || closest(link, (element) => element === note) !== undefined) {
      if (SURE_CLASS.test(link.className) || LOST_NAME.test(target)) withoutNote(link);
      continue;
    }
    let label = labels.get(note);
    if (label === undefined) {
      label = unused.take(shown);
      labels.set(note, label);
    }
    setMark(link, label, signs);
  }
  for (const sign of signs) settleSign(sign);
  // Notes are output in the order of the page, not in that of their references.
  for (const note of notes.values()) {
    const label = labels.get(note);
    if (label !== undefined) setNote(note, label, lists);
  }
  for (const list of lists) if (list.textContent.trim() === "") list.remove();
}

/** The id of the note to which a link refers; undefined for other links. */
function targetOf(link: PageElement): string | undefined {
  const href = link.attributes["href"] ?? "";
  const at = href.indexOf("#");
  if (at < 0 || at === href.length - 1 || !MARK.test(shownBy(link))) return undefined;
  const target = percentDecoded(href.slice(at + 1));
  const isRaised =
    closest(link, ({ tag }) => tag === "sup") !== undefined || link.getElementsByTagName("sup").length > 0;
  const isSure =
    SURE_CLASS.test(link.className) ||
    link.attributes["role"] === "doc-noteref" ||
    (SURE_NAME.test(target) && /^\s*[[(]/.test(link.textContent));
  return (isSure || isRaised) && !BACK_NAME.test(target) ? target : undefined;
}

function shownBy(link: PageElement): string {
  return link.textContent.replace(/[[\]()\s]/g, "");
}

/** The elements of the notes, by the ids that references use. */
function notesFor(root: PageElement, marks: ReadonlyMap<PageElement, string>): ReadonlyMap<string, PageElement> {
  const wanted = new Set(marks.values());
  const notes = new Map<string, PageElement>();
  const holders = new Set<PageElement>();
  for (const element of elementsOf(root)) {
    const id = element.id === "" ? (element.attributes["name"] ?? "") : element.id;
    if (!wanted.has(id) || notes.has(id)) continue;
    const holder = INLINE.has(element.tag) ? holderOf(element) : element;
    if (holder === undefined || holder.textContent.length > NOTE_CHARS_MAX) continue;
    const note = holder.tag === "dt" ? definitionOf(holder) : holder;
    if (note === undefined || !HOLDERS.has(note.tag) || closest(note, (around) => holders.has(around)) !== undefined)
      continue;
    holders.add(note);
    notes.set(id, note);
  }
  return notes;
}

/** The note that begins with an anchor: the block around the anchor. */
function holderOf(anchor: PageElement): PageElement | undefined {
  const holder = closest(anchor, ({ tag }) => !INLINE.has(tag));
  if (holder === undefined) return undefined;
  return holder.textContent.trimStart().startsWith(anchor.textContent.trim()) ? holder : undefined;
}

/** The definition that follows a term, if the term is the label of a note. */
function definitionOf(term: PageElement): PageElement | undefined {
  const next = term.nextSibling instanceof PageText ? term.nextSibling.nextSibling : term.nextSibling;
  if (!(next instanceof PageElement) || next.tag !== "dd") return undefined;
  term.remove();
  return next;
}

/** Replaces a reference without a note by its plain, superscript character. */
function withoutNote(link: PageElement): void {
  const around = link.parentNode;
  const hasSup = closest(link, ({ tag }) => tag === "sup") !== undefined || link.getElementsByTagName("sup").length > 0;
  if (hasSup || around === null) {
    link.unwrap();
    return;
  }
  const sup = new PageElement("sup");
  around.insertBefore(sup, link);
  sup.appendChild(link);
  link.unwrap();
}

function setMark(link: PageElement, label: string, signs: Set<PageElement>): void {
  const mark = new PageElement("footnote-mark", { label });
  // Without text, the converter would drop the element as blank.
  mark.appendChild(new PageText(label));
  const sup = closest(link, ({ tag }) => tag === "sup");
  link.parentNode?.insertBefore(mark, link);
  link.remove();
  if (sup !== undefined) signs.add(sup);
}

/** Removes a superscript that contains nothing but references. */
function settleSign(sup: PageElement): void {
  for (const node of sup.childNodes) if (node instanceof PageText && /^[\s[\](),;]*$/.test(node.data)) node.remove();
  if (sup.getElementsByTagName("a").length === 0) sup.unwrap();
}

function setNote(note: PageElement, label: string, lists: Set<PageElement>): void {
  for (const link of note.getElementsByTagName("a")) if (isWayBack(link)) withoutFrame(link, note);
  for (const element of elementsOf(note)) if (isWayBack(element)) element.remove();
  dropLabel(note, label.replace(/-\d+$/, ""));
  const text = new PageElement("footnote-text", { label });
  while (note.firstChild !== null) text.appendChild(note.firstChild);
  const list = note.parentNode;
  if (list === null) return;
  if (!/^(?:ul|ol|dl)$/.test(list.tag)) {
    list.insertBefore(text, note);
    note.remove();
    return;
  }
  // The remaining items of a numbered list keep their numbers.
  if (list.tag === "ol") numberItems(list);
  leaveBefore(list, note);
  list.parentNode?.insertBefore(text, list);
  note.remove();
  lists.add(list);
}

/** Moves the items before a note into a list of their own, so that all items keep their order. */
function leaveBefore(list: PageElement, note: PageElement): void {
  const earlier: PageNode[] = [];
  for (let at = note.previousSibling; at !== null; at = at.previousSibling) earlier.push(at);
  if (earlier.every((node) => node.textContent.trim() === "")) return;
  const rest = new PageElement(list.tag, { ...list.attributes });
  for (const node of earlier.reverse()) rest.appendChild(node);
  list.parentNode?.insertBefore(rest, list);
}

const numbered = new WeakSet<PageElement>();

function numberItems(list: PageElement): void {
  if (numbered.has(list)) return;
  numbered.add(list);
  let number = Number.parseInt(list.attributes["start"] ?? "1", 10);
  for (const item of list.children) {
    const own = Number.parseInt(item.attributes["value"] ?? "", 10);
    if (!Number.isNaN(own)) number = own;
    item.attributes["value"] = String(number++);
  }
}

/** Removes a link, together with the superscript or brackets around it. */
function withoutFrame(link: PageElement, note: PageElement): void {
  let frame = link;
  while (frame.parentNode !== null && frame.parentNode !== note && INLINE.has(frame.parentNode.tag)) {
    const outer = frame.parentNode;
    if (outer.textContent.replace(/[[\]()\s.,^]/g, "") !== link.textContent.replace(/[[\]()\s.,^]/g, "")) break;
    frame = outer;
  }
  frame.remove();
}

/** Whether the element leads back from a note to its references, such as an arrow after the note. */
export function isWayBack(link: PageElement): boolean {
  if (link.tag !== "a") return /(?:^|\s)mw-cite-backlink/.test(link.className);
  const href = link.attributes["href"] ?? "";
  if (/#_?(?:fn[-_:]?ref|footnote[-_]?ref|cite_ref|ftnref|ednref|noteref|ref)/i.test(href)) return true;
  return href.includes("#") && /^[\s[\]↩↑⏎^]+$/.test(link.textContent.replace(/[\ufe0e\ufe0f]/g, ""));
}

/** Removes the number at the start of a note, for pages that number their notes by hand. */
function dropLabel(note: PageElement, label: string): void {
  const first = elementsOf(note).find(({ textContent }) => textContent.trim() !== "");
  if (first !== undefined && /label/.test(first.className) && shownBy(first) === label) {
    first.remove();
    return;
  }
  for (const node of walk(note)) {
    if (!(node instanceof PageText)) continue;
    const text = node.data.trimStart();
    if (text === "") continue;
    const own = [`[${label}]`, `(${label})`, `${label}.`, `${label})`, `${label}:`].find((start) =>
      text.startsWith(start),
    );
    const isAlone = text.trim() === label && node.parentNode !== note && INLINE.has(node.parentNode?.tag ?? "");
    if (own !== undefined && !/^\d/.test(text.slice(own.length))) node.data = text.slice(own.length).trimStart();
    else if (isAlone) node.data = "";
    return;
  }
}
