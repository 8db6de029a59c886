// The one reader of plain text: what an element says on one line, as a reader sees it. Every text of a page that is not Markdown
// comes from here, so that each agrees with the page about powers, note marks, old prices and hidden words.

import { type Raised, raisedText } from "../../base/raised-text.ts";
import { hasUnseenText, hidingOf } from "../dom/hidden.ts";
import { PageElement, type PageNode, PageText } from "../dom/node.ts";
import { isStruck } from "../dom/parts.ts";
import { formulaOf } from "../markdown/formulas.ts";

/** The length of a long paragraph; no reader of plain text needs more. */
const CHARS_MAX = 5000;
/** Elements without a space around them. */
const WITHIN_LINES = new Set(
  (
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark output q rb ruby s samp small span strong sub sup " +
    "time tt u var wbr"
  ).split(" "),
);
/** Elements whose text is not shown, or not as text. */
const WITHOUT_WORDS = new Set(
  "script style template noscript svg datalist textarea select canvas object iframe rp".split(" "),
);
const NOTE_ROLE = /^doc-noteref$/;
const NOTE_CLASS = /(?:^|\s)(?:footnote-?ref|footnote-reference|noteref|footnote-link|reference)(?:\s|$)/i;
const NOTE_TEXT = /^[[(]?[\w*†‡§¶]{1,8}[\])]?$/;
/** The text around a superscript that is examined. */
const BEFORE_CHARS = 40;
const AFTER_CHARS = 12;
const BLANK = /\s+/g;
/** Characters that separate syllables or mark directions and show nothing. */
const NOT_SHOWN = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Options of the reader. */
export interface PlainTextOptions {
  readonly charsMax?: number;
  /** Whether text is read that only screen readers say. */
  readonly withSpoken?: boolean;
  /** The node before which the reader stops. */
  readonly until?: PageNode;
}

/** The text of an element on one line: without hidden and deleted text and without the marks of notes. */
export function plainTextOf(element: PageElement, options: PlainTextOptions = {}): string {
  const line = new Line(options);
  line.readAll(element);
  return line.text();
}

/** Whether a node is white space. */
export function isBlank(node: PageNode): boolean {
  return node instanceof PageText && node.data.trim() === "";
}

/** The characters in an element of XML or of a form, which are no text for readers but an address, a number or markup. */
export function rawTextOf(element: PageElement): string {
  return element.textContent;
}

class Line {
  #text = "";
  readonly #charsMax: number;
  readonly #withSpoken: boolean;

  readonly #until: PageNode | undefined;
  #isDone = false;
  /** Whether something was left out here that a reader sees, so that the text before it and after it are not one word. */
  #isBroken = false;
  /** A superscript or subscript that is not written yet. */
  #raised: Pick<Raised, "tag" | "text"> | undefined;

  constructor({ charsMax = CHARS_MAX, withSpoken = false, until }: PlainTextOptions) {
    this.#charsMax = charsMax;
    this.#withSpoken = withSpoken;
    this.#until = until;
  }

  text(): string {
    this.#settle("");
    return this.#text.replace(NOT_SHOWN, "").replace(BLANK, " ").trim().slice(0, this.#charsMax);
  }

  #add(text: string): void {
    if (text === "") return;
    this.#settle(text);
    const isJoined = /[\p{L}\p{N}]$/u.test(this.#text) && /^[\p{L}\p{N}]/u.test(text);
    this.#text += this.#isBroken && isJoined ? ` ${text}` : text;
    this.#isBroken = false;
  }

  /** Writes the superscript or subscript before a text. Only that text tells how. */
  #settle(after: string): void {
    const raised = this.#raised;
    if (raised === undefined) return;
    this.#raised = undefined;
    const shown = raisedText({ ...raised, before: this.#text.slice(-BEFORE_CHARS), after });
    this.#text += shown;
    this.#isBroken = shown === "";
  }

  readAll(element: PageElement): void {
    for (let child = element.firstChild; child !== null && !this.#isDone; child = child.nextSibling) this.#read(child);
  }

  #read(node: PageNode): void {
    // White space is collapsed at the end, so a page of white space must not use up the limit.
    if (node === this.#until || this.#text.length > 2 * this.#charsMax) this.#isDone = true;
    else if (node instanceof PageText) {
      const isBlank = node.data.trim() === "";
      this.#add(isBlank ? " " : node.data.slice(0, 4 * this.#charsMax).replace(BLANK, " "));
    } else if (node instanceof PageElement) this.#readElement(node);
  }

  #readElement(element: PageElement): void {
    const { tag } = element;
    if (this.#isHidden(element)) return;
    if (WITHOUT_WORDS.has(tag) || isStruck(element) || isNoteMark(element)) {
      this.#isBroken = true;
      return;
    }
    const formula = formulaOf(element);
    if (formula !== undefined) this.#add(formula.isDisplay ? ` ${formula.tex} ` : formula.tex);
    else if (tag === "sup" || tag === "sub") this.#readRaised(element, tag);
    else if (tag === "rt") this.#readReading(element);
    else if (WITHIN_LINES.has(tag)) this.readAll(element);
    else {
      this.#add(" ");
      this.readAll(element);
      this.#add(" ");
    }
  }

  #isHidden(element: PageElement): boolean {
    const hiding = hidingOf(element);
    if (hiding === "unseen") return !this.#withSpoken;
    // A size of zero often closes the gaps between elements that have a size of their own.
    return hiding === "hidden" || (element.children.length === 0 && hasUnseenText(element));
  }

  #readRaised(element: PageElement, tag: "sup" | "sub"): void {
    const text = this.#apart(element);
    if (text === "") return;
    this.#settle("");
    this.#raised = { tag, text };
  }

  /** Puts the pronunciation of a word in brackets, unless the page does. */
  #readReading(element: PageElement): void {
    const text = this.#apart(element);
    if (text !== "") this.#add(`(${text})`);
  }

  /** The text of a part by itself. */
  #apart(element: PageElement): string {
    const part = new Line({ charsMax: this.#charsMax, withSpoken: this.#withSpoken });
    part.readAll(element);
    return part.text();
  }
}

/** Whether the element refers to a note of the page. */
export function isNoteMark(element: PageElement): boolean {
  const { tag, attributes, className } = element;
  if (tag !== "a" && tag !== "sup") return false;
  const isNamed =
    NOTE_ROLE.test(attributes["role"] ?? "") ||
    attributes["epub:type"] === "noteref" ||
    (className !== "" && NOTE_CLASS.test(className));
  if (isNamed) return NOTE_TEXT.test(element.textContent.replace(BLANK, ""));
  if (tag === "a") return false;
  const links = element.getElementsByTagName("a");
  return (
    links.length > 0 &&
    links.every((link) => (link.attributes["href"] ?? "").includes("#") && NOTE_TEXT.test(link.textContent.trim()))
  );
}

/** The beginning of the text after an element in the same line. */
export function textAfter(element: PageElement): string {
  let at: PageElement = element;
  while (at.nextSibling === null && at.parentNode !== null && WITHIN_LINES.has(at.parentNode.tag)) at = at.parentNode;
  const next = at.nextSibling;
  if (next instanceof PageText) return next.data.slice(0, AFTER_CHARS);
  if (!(next instanceof PageElement) || !WITHIN_LINES.has(next.tag)) return "";
  return firstTextIn(next)?.data.slice(0, AFTER_CHARS) ?? "";
}

function firstTextIn(element: PageElement): PageText | undefined {
  let node: PageNode | null = element.firstChild;
  while (node instanceof PageElement) node = node.firstChild;
  return node instanceof PageText ? node : undefined;
}
