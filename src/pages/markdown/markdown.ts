// Converts a tree to GitHub-flavoured Markdown. The same tree always gives the same text, byte for byte. The tree is changed by
// the conversion.

import TurndownService from "turndown";
import { closest, PageElement, PageText } from "../dom/node.ts";
import { Omissions } from "../dom/omissions.ts";
import { isContentFrame, isPlayerFrame } from "../dom/parts.ts";
import { emphasisMarkdown, isEmphasis } from "./emphasis.ts";
import { escapeMarkdown } from "./escape.ts";
import { languageAround } from "./language.ts";
import { linesOfListing } from "./listings.ts";
import { prepare } from "./prepare.ts";
import { raisedMarkdown } from "./raised.ts";
import { readingCopy, WholeElement } from "./reading-copy.ts";
import { dissolveLayoutTables, isEmptyTable, joinLines, tableMarkdown, textElement } from "./tables.ts";

/** Converts the children of `root`. What the limits leave out is added to `omissions`. */
export function toMarkdown(root: PageElement, omissions = new Omissions()): string {
  prepare(root);
  dissolveLayoutTables(root);
  renderTables(root, omissions);
  return finish(converted(root));
}

/** The Markdown of the tree that was converted last. */
let whole = "";

/**
 * The Markdown of what is in an element. It is taken before Turndown trims its result, which takes time with the square of the
 * blanks that stand in a row anywhere in it.
 */
function converted(element: PageElement): string {
  whole = "";
  service.turndown(asDom(element));
  return whole.replace(/^[\t\r\n]+/, "").trimEnd();
}

const RULE = "---";
const CODE_TAGS = new Set(["pre", "code", "kbd", "samp", "tt"]);

const service = createService();

function createService(): TurndownService {
  const turndown = new TurndownService({
    headingStyle: "atx",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    hr: RULE,
    br: "",
  });
  // The reading copy escapes the text, because it knows what precedes it.
  turndown.escape = (text) => text;
  turndown.remove(["script", "style", "noscript", "template", "form-hidden" as "form"]);
  addCode(turndown);
  addTables(turndown);
  addInline(turndown);
  addBlocks(turndown);
  turndown.addRule("whole", {
    filter: (node) => fromDom(node) instanceof WholeElement,
    replacement: (content) => {
      whole = content;
      return "";
    },
  });
  return turndown;
}

function addCode(turndown: TurndownService): void {
  turndown.addRule("pre", {
    filter: "pre",
    replacement: (_, node) => {
      const element = fromDom(node);
      const code = linesOfListing(element).replace(/^\n+/, "").trimEnd();
      if (code === "") return "";
      const fence = "`".repeat(Math.max(2, longestTicks(code, /^[ \t]*(`{3,})/gm)) + 1);
      return `\n\n${fence}${languageAround(element)}\n${code}\n${fence}\n\n`;
    },
  });
  turndown.addRule("inline-code", {
    filter: (node) => node.nodeName !== "PRE" && CODE_TAGS.has(node.nodeName.toLowerCase()),
    replacement: (_, node) => {
      const code = fromDom(node).textContent.replace(/\s+/g, " ");
      if (code.trim() === "") return code;
      const fence = "`".repeat(longestTicks(code, /(`+)/g) + 1);
      const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
      return `${fence}${pad}${code.trim()}${pad}${fence}`;
    },
  });
}

/** The length of the longest group that the pattern finds. There may be more of them than a call can have arguments. */
function longestTicks(code: string, ticks: RegExp): number {
  let longest = 0;
  for (const [, group = ""] of code.matchAll(ticks)) longest = Math.max(longest, group.length);
  return longest;
}

/** Converts the tables first, cell by cell. The main conversion then treats each table as one finished text. */
function renderTables(root: PageElement, omissions: Omissions): void {
  for (const table of root.getElementsByTagName("table")) {
    if (isEmptyTable(table)) {
      table.remove();
      continue;
    }
    // Tables inside code are output literally.
    if (closest(table, ({ tag }) => CODE_TAGS.has(tag)) !== undefined) continue;
    // The Markdown is held in an attribute because white space in text would be collapsed. The element has a word of text because
    // blank elements are dropped.
    const finished = textElement("finished-table", "table");
    finished.setAttribute("markdown", tableMarkdown(table, inlineOf, omissions));
    table.parentNode?.insertBefore(finished, table);
    table.remove();
  }
}

function addTables(turndown: TurndownService): void {
  turndown.addRule("finished-table", {
    filter: (node) => node.nodeName === "FINISHED-TABLE",
    replacement: (_, node) => `\n\n${fromDom(node).attributes["markdown"] ?? ""}\n\n`,
  });
}

function inlineOf(cell: PageElement): string {
  // Most cells have no elements. A large table can have a hundred thousand cells.
  if (cell.children.length === 0)
    return escapeMarkdown(cell.textContent.replace(/\s+/g, " ").trim(), { isAmidLine: true });
  return converted(cell);
}

function addInline(turndown: TurndownService): void {
  turndown.addRule("link", {
    filter: (node) => node.nodeName === "A",
    replacement: (content, node) => {
      const href = fromDom(node).attributes["href"];
      const text = content.trim();
      if (href === undefined || text === "") return content;
      // For a link around blocks, since a Markdown link must be on one line.
      const line = withoutLooseBrackets(joinLines(text.replace(/^#{1,6} /gm, ""), " "));
      const [before = "", after = ""] = [/^\s*/.exec(content)?.[0], content.slice(content.trimEnd().length)];
      const title = fromDom(node).attributes["title"]?.replace(/\s+/g, " ").trim();
      const shown = title === undefined || title === "" || title === line ? "" : ` "${title.replace(/"/g, '\\"')}"`;
      return `${before}[${line}](${destination(href)}${shown})${after}`;
    },
  });
  turndown.addRule("image", {
    filter: "img",
    replacement: (_, node) => {
      const { attributes } = fromDom(node);
      const alt = (attributes["alt"] ?? "").replace(/\s+/g, " ").trim().replace(/[[\]]/g, "\\$&");
      return attributes["src"] === undefined || attributes["src"] === ""
        ? ""
        : `![${alt}](${destination(attributes["src"])})`;
    },
  });
  turndown.addRule("player", {
    filter: ["video", "audio", "iframe"],
    replacement: (_, node) => playerLink(fromDom(node)),
  });
  turndown.addRule("emphasised", {
    filter: (node) => isEmphasis(node.nodeName.toLowerCase()),
    replacement: (content, node) => emphasisMarkdown(content, fromDom(node)),
  });
  turndown.addRule("tex", {
    filter: (node) => node.nodeName === "TEX",
    replacement: (_, node) => {
      const element = fromDom(node);
      const tex = element.textContent.trim();
      return element.attributes["display"] === "block" ? `\n\n$$\n${tex}\n$$\n\n` : `$${tex}$`;
    },
  });
  turndown.addRule("footnote-mark", {
    filter: (node) => node.nodeName === "FOOTNOTE-MARK",
    replacement: (_, node) => `[^${fromDom(node).attributes["label"]}]`,
  });
  turndown.addRule("quotation", {
    filter: (node) => node.nodeName === "Q",
    replacement: (content, node) => {
      const words = content.trim();
      if (words === "" || words.includes("\n") || /^["“«„‘']/.test(words)) return content;
      const isInner = closest(fromDom(node), ({ tag }) => tag === "q") !== undefined;
      return isInner ? `‘${words}’` : `“${words}”`;
    },
  });
  turndown.addRule("raised", {
    filter: ["sup", "sub"],
    replacement: (content, node) => raisedMarkdown(content, fromDom(node)),
  });
  turndown.addRule("checkbox", {
    filter: (node) => node.nodeName === "INPUT",
    replacement: (_, node) => {
      const { attributes, parentNode } = fromDom(node);
      if (attributes["type"] !== "checkbox" || parentNode?.tag !== "li") return "";
      return attributes["checked"] === undefined ? "[ ] " : "[x] ";
    },
  });
}

function addBlocks(turndown: TurndownService): void {
  turndown.addRule("footnote-text", {
    filter: (node) => node.nodeName === "FOOTNOTE-TEXT",
    replacement: (content, node) => `\n\n[^${fromDom(node).attributes["label"]}]: ${indented(content)}\n\n`,
  });
  turndown.addRule("paragraph-break", {
    filter: (node) => node.nodeName === "PARAGRAPH-BREAK",
    replacement: () => "\n\n",
  });
  turndown.addRule("heading", {
    filter: ["h1", "h2", "h3", "h4", "h5", "h6"],
    replacement: (content, node) => {
      const line = joinLines(content, " ").replace(/^(?:#+ )+/, "");
      return line === "" ? "" : `\n\n${"#".repeat(Number(node.nodeName[1]))} ${line}\n\n`;
    },
  });
  turndown.addRule("list-item", {
    filter: "li",
    replacement: (content, node, options) => {
      const element = fromDom(node);
      const list = element.parentNode;
      const marker = list?.tag === "ol" ? `${numberOf(element, list)}. ` : `${options.bulletListMarker} `;
      const indent = " ".repeat(marker.length);
      const body = indented(content.trim().replace(/^(\[[ x]\])\s+/, "$1 "), isDeep(element) ? "" : indent);
      return body === "" ? "" : `${isBehindText(element) ? "\n\n" : ""}${marker}${body}\n`;
    },
  });
  turndown.addRule("quoted", {
    filter: "blockquote",
    replacement: (content, node) => {
      const body = withoutEmptyEnds(content);
      return `\n\n${isDeep(fromDom(node)) ? body : body.replace(/^/gm, "> ")}\n\n`;
    },
  });
  turndown.addRule("term", {
    filter: "dt",
    replacement: (content) => (content.trim() === "" ? "" : `\n\n${content.trim().replace(/\n+/g, " ")}\n`),
  });
  turndown.addRule("definition", {
    filter: "dd",
    replacement: (content, node) => {
      const element = fromDom(node);
      const body = indented(content, isDeep(element) ? "" : "  ");
      return body === "" ? "" : `${isBehindText(element) ? "\n" : ""}: ${body}\n`;
    },
  });
  turndown.addRule("summary", {
    filter: (node) => node.nodeName === "SUMMARY",
    replacement: (content) =>
      content.trim() === "" ? "" : `\n\n**${joinLines(content, " ").replace(/\*\*/g, "")}**\n\n`,
  });
  turndown.addRule("parts", {
    // Inline elements that each get a line of their own.
    filter: (node) => /^(?:BUTTON|LABEL|OPTION|LEGEND|FIGCAPTION)$/.test(node.nodeName),
    replacement: (content) => (content.trim() === "" ? "" : `\n\n${content.trim()}\n\n`),
  });
}

/** The parts that are indented, or marked before each line, within a part of the same kind. */
const NESTING = new Set(["li", "dd", "blockquote"]);
/** In more of them, the inner ones stand beside each other: a line of a few letters would be mostly its indentation. */
const NESTING_MAX = 20;

/** Whether a part stands in so many others that what is in it is not indented further. */
function isDeep(element: PageElement): boolean {
  let levels = 0;
  for (let at = element.parentNode; at !== null && levels < NESTING_MAX; at = at.parentNode)
    if (NESTING.has(at.tag)) levels++;
  return levels >= NESTING_MAX;
}

/** The text without line breaks at its start and end. */
function withoutEmptyEnds(content: string): string {
  let end = content.length;
  while (content[end - 1] === "\n") end--;
  return content.slice(0, end).replace(/^\n+/, "");
}

/** Indents all lines but the first, so that they belong to the list item. */
function indented(content: string, indent = "    "): string {
  return content
    .trim()
    .replace(/\n{3,}/g, "\n\n")
    .replace(/\n(?=.)/g, `\n${indent}`);
}

/** Whether text of the list itself is directly before an item, so that the item needs a line break. */
function isBehindText(item: PageElement): boolean {
  let before = item.previousSibling;
  while (before instanceof PageText && before.data.trim() === "") before = before.previousSibling;
  return before !== null && !(before instanceof PageElement && /^(?:li|dt|dd)$/.test(before.tag));
}

const numbers = new WeakMap<PageElement, ReadonlyMap<PageElement, number>>();

/** The number of an item. The items of a list are numbered together, not by counting for each item. */
function numberOf(item: PageElement, list: PageElement): number {
  let known = numbers.get(list);
  if (known === undefined) {
    const items = list.children.filter((child) => child.tag === "li");
    const isReversed = list.attributes["reversed"] !== undefined;
    const start = Number.parseInt(list.attributes["start"] ?? "", 10);
    let next = Number.isNaN(start) ? (isReversed ? items.length : 1) : start;
    known = new Map(
      items.map((child) => {
        const own = Number.parseInt(child.attributes["value"] ?? "", 10);
        const number = Number.isNaN(own) ? next : own;
        next = number + (isReversed ? -1 : 1);
        return [child, number];
      }),
    );
    numbers.set(list, known);
  }
  return known.get(item) ?? 1;
}

/** Escapes unbalanced brackets in the text of a link, which would end it early. */
function withoutLooseBrackets(text: string): string {
  if (!/[[\]]/.test(text)) return text;
  const open: number[] = [];
  const loose = new Set<number>();
  // Brackets in code, and escaped ones, are literal.
  for (const { 0: sign, index } of text.matchAll(/\\.|`[^`]*`|[[\]]/gs)) {
    if (sign === "[") open.push(index);
    else if (sign === "]" && open.pop() === undefined) loose.add(index);
  }
  for (const index of open) loose.add(index);
  return text.replace(/[[\]]/g, (sign, index: number) => (loose.has(index) ? `\\${sign}` : sign));
}

/** Writes a player or an embedded page as a link to it; "" if it has no address. */
function playerLink(player: PageElement): string {
  const { tag, attributes } = player;
  const address = attributes["src"] ?? "";
  if (!/^https?:/.test(address) || (tag === "iframe" && !isContentFrame(player))) return "";
  const name = (attributes["title"] ?? attributes["aria-label"] ?? "").replace(/\s+/g, " ").trim();
  const isPage = tag === "iframe" && !isPlayerFrame(player);
  const kind = isPage ? new URL(address).hostname : tag === "audio" ? "Audio" : "Video";
  const shown = escapeMarkdown(name === "" ? kind : name, { isAmidLine: true });
  return `\n\n[${shown}](${destination(address)})\n\n`;
}

/** An address as the destination of a link, with spaces and brackets encoded. */
function destination(address: string): string {
  return address.replace(/[\s()<>\\]/g, (character) =>
    character === "(" ? "%28" : character === ")" ? "%29" : encodeURIComponent(character),
  );
}

/** Removes spaces at line ends, repeated empty lines and redundant rules, except in fenced code. */
function finish(markdown: string): string {
  const out: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.trim().split("\n")) {
    const mark = /^\s*(?:(?:[-*]|\d+\.)\s+)*(`{3,})/.exec(line)?.[1];
    if (fence === undefined ? mark !== undefined : mark === fence) fence = fence === undefined ? mark : undefined;
    else if (fence !== undefined) {
      out.push(line);
      continue;
    }
    const trimmed = line.trimEnd();
    if (trimmed === RULE && (out.length === 0 || lastOf(out) === RULE)) continue;
    if (trimmed !== "" || (out[out.length - 1] ?? "") !== "") out.push(trimmed);
  }
  while (fence === undefined && (lastOf(out) === RULE || out[out.length - 1] === "")) out.pop();
  return out.join("\n").trim();
}

/** The last line that is not empty. */
function lastOf(lines: readonly string[]): string | undefined {
  const last = lines[lines.length - 1];
  return last === "" ? lines[lines.length - 2] : last;
}

/** Returns the element as a DOM element: the tree has the part of the DOM that Turndown uses. */
function asDom(element: PageElement): HTMLElement {
  return readingCopy(element) as unknown as HTMLElement;
}

function fromDom(node: Node): PageElement {
  return node as unknown as PageElement;
}
