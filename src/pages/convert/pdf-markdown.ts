// Makes Markdown of the lines of a PDF by their sizes and positions: headings, paragraphs, lists, code and tables. Running heads
// and page numbers are left out.

import type { PdfLine } from "./pdf-lines.ts";

/** The lines of a page. */
export interface PdfPage {
  readonly number: number;
  readonly bottom: number;
  readonly height: number;
  readonly lines: readonly PdfLine[];
}

/** The share of the page's height at its top and bottom in which running heads stand. */
const MARGIN_SHARE = 0.12;
const HEADING_SIZE_MIN = 1.15;
const HEADING_CHARS_MAX = 200;
const HEADING_LEVELS_MAX = 4;
/** How much larger than the usual distance of lines the distance of paragraphs is. */
const PARAGRAPH_GAP = 1.25;
const BULLET = /^[•◦▪‣∙●○■□–—·*-]\s+(?=\S)/;
const NUMBER = /^(\d{1,3})[.)]\s+(?=\S)/;
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，！？]/u;

/** The Markdown of all pages. */
export function pdfMarkdown(pages: readonly PdfPage[]): string {
  const running = runningLines(pages);
  const writer = new Writer(sizesOf(pages));
  for (const { lines } of pages) writer.add(lines.filter((line) => !running.has(line)));
  return writer.finish();
}

/** A longer line is more than the number of its page. */
const PAGE_NUMBER_CHARS_MAX = 200;

/** The lines that stand at the same place of several pages, apart from the numbers in them. */
function runningLines(pages: readonly PdfPage[]): ReadonlySet<PdfLine> {
  const places = new Map<string, PdfLine[]>();
  const found = new Set<PdfLine>();
  for (const { lines, bottom, height, number } of pages)
    for (const line of lines) {
      const at = (line.y - bottom) / height;
      if (at > MARGIN_SHARE && at < 1 - MARGIN_SHARE) continue;
      const isNumber =
        line.text.length <= PAGE_NUMBER_CHARS_MAX &&
        line.text.replace(/\D/g, "") === String(number) &&
        /^\W*(?:\p{L}{1,6}\W+)?\d+\W*$/u.test(line.text);
      if (isNumber && line.size < 12.5 && (at < 0.08 || at > 0.92)) found.add(line);
      const place = `${Math.round(line.y / 3)} ${line.text.replace(/\d+|\b[ivxlc]+\b/g, "#")}`;
      const others = places.get(place);
      if (others === undefined) places.set(place, [line]);
      else others.push(line);
    }
  const most = Math.min(3, Math.max(2, Math.ceil(pages.length / 2)));
  for (const lines of places.values()) if (lines.length >= most) for (const line of lines) found.add(line);
  return found;
}

interface Sizes {
  /** The size of most of the text. */
  readonly body: number;
  /** The levels of headings by their sizes, from the largest. */
  readonly headings: ReadonlyMap<number, number>;
}

function sizesOf(pages: readonly PdfPage[]): Sizes {
  const chars = new Map<number, number>();
  for (const { lines } of pages)
    for (const { size, text } of lines) chars.set(rounded(size), (chars.get(rounded(size)) ?? 0) + text.length);
  const [body = 0] = [...chars].sort(([, one], [, two]) => two - one)[0] ?? [];
  const headings = [...chars.keys()].filter((size) => size >= body * HEADING_SIZE_MIN).sort((one, two) => two - one);
  return { body, headings: new Map(headings.map((size, level) => [size, level])) };
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}

type Kind = "paragraph" | "heading" | "item" | "code";

interface Block {
  readonly kind: Kind;
  readonly mark: string;
  readonly lines: PdfLine[];
}

class Writer {
  readonly #sizes: Sizes;
  readonly #blocks: string[] = [];
  #open: Block | undefined;
  #lastKind: Kind | "table" | undefined;
  /** The right edges of the page's columns by their left edges. */
  #rights: ReadonlyMap<number, number> = new Map();

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  /** Adds the lines of a page, or of what is left of it. */
  add(lines: readonly PdfLine[]): void {
    const usual = usualGap(lines);
    this.#rights = columnRights(lines);
    for (let at = 0; at < lines.length; at++) {
      const rows = tableAt(lines, at);
      if (rows.length > 0) {
        this.#close();
        this.#write(tableOf(rows), "table");
        at += rows.length - 1;
      } else this.#addLine(lines[at] as PdfLine, usual);
    }
  }

  finish(): string {
    this.#close();
    return this.#blocks.join("").trim();
  }

  #addLine(line: PdfLine, usual: number): void {
    const { kind, mark } = this.#kindOf(line);
    const open = this.#open;
    if (open !== undefined && this.#goesOn(open, line, kind, mark, usual)) {
      open.lines.push(line);
      return;
    }
    this.#close();
    this.#open = { kind, mark, lines: [line] };
  }

  #kindOf({ text, size, isCode }: PdfLine): { kind: Kind; mark: string } {
    const level = this.#sizes.headings.get(rounded(size));
    if (level !== undefined && text.length <= HEADING_CHARS_MAX && /\p{L}|\p{N}/u.test(text))
      return { kind: "heading", mark: `${"#".repeat(Math.min(HEADING_LEVELS_MAX, level + 1))} ` };
    if (isCode) return { kind: "code", mark: "" };
    if (BULLET.test(text)) return { kind: "item", mark: "- " };
    const number = NUMBER.exec(text)?.[1];
    return number === undefined ? { kind: "paragraph", mark: "" } : { kind: "item", mark: `${number}. ` };
  }

  /** Whether a line belongs to the open block. */
  #goesOn({ kind, mark, lines }: Block, line: PdfLine, next: Kind, nextMark: string, usual: number): boolean {
    const last = lines[lines.length - 1] as PdfLine;
    const gap = last.y - line.y;
    const isNext = gap > 0 && gap <= Math.max(usual, line.size) * PARAGRAPH_GAP;
    if (kind === "heading") return next === "heading" && mark === nextMark && gap > 0 && gap <= line.size * 1.6;
    if (kind === "code") return next === "code" && gap > 0 && gap <= line.size * 3;
    if (next !== "paragraph" || rounded(last.size) !== rounded(line.size)) return false;
    if (kind === "item" && line.x < (lines[0] as PdfLine).x - 1) return false;
    if (isNext) return !isIndented(lines, line) && !this.#isShort(last, line);
    // A sentence that a column or a page ends goes on in the next one.
    const isElsewhere = gap < 0 || gap > usual * 8;
    return isElsewhere && !/[.!?:…"”»)\]。！？]$/.test(last.text) && /^[\p{Ll}\p{Lo}(]/u.test(line.text);
  }

  /** Whether a line ended although the first word of the next one would have fitted into it. */
  #isShort(line: PdfLine, next: PdfLine): boolean {
    const right = this.#rights.get(columnOf(line)) ?? 0;
    const word = /^\S*/.exec(next.text)?.[0].length ?? 0;
    const width = ((next.right - next.x) / Math.max(1, next.text.length)) * (word + 2);
    return line.x <= next.x + line.size * 4 && line.right + width < right && !WITHOUT_SPACES.test(next.text);
  }

  #close(): void {
    const block = this.#open;
    this.#open = undefined;
    if (block === undefined) return;
    if (block.kind === "code") {
      this.#write(`\`\`\`\n${codeOf(block.lines)}\n\`\`\``, "code");
      return;
    }
    const text = joined(block.lines.map((line) => line.text));
    const { kind, mark } = block;
    // The text behind a bullet may begin with a number, as a date does.
    const body = kind === "item" ? text.replace(BULLET.test(text) ? BULLET : NUMBER, "") : text;
    this.#write(kind === "heading" ? mark + body : mark + startEscaped(body), kind);
  }

  #write(block: string, kind: Kind | "table"): void {
    const isNextItem = kind === "item" && this.#lastKind === "item";
    this.#blocks.push(isNextItem ? "\n" : "\n\n", block);
    this.#lastKind = kind;
  }
}

/** Escapes what would begin another kind of block. The rest of the text is escaped already. */
function startEscaped(text: string): string {
  return text
    .replace(/^(#{1,6}|[-+])(?=\s|$)/, "\\$1")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2")
    .replace(/^>/, "\\>");
}

/** Whether a line begins a paragraph by its indent. */
function isIndented(lines: readonly PdfLine[], line: PdfLine): boolean {
  const left = Math.min(...lines.slice(-3).map(({ x }) => x));
  const last = lines[lines.length - 1] as PdfLine;
  const indent = line.x - left;
  return lines.length > 1 && indent > line.size * 0.8 && indent < line.size * 4 && /[.!?:…"”»]$/.test(last.text);
}

function columnOf({ x, size }: PdfLine): number {
  return Math.round(x / (size * 4));
}

function columnRights(lines: readonly PdfLine[]): ReadonlyMap<number, number> {
  const rights = new Map<number, number>();
  for (const line of lines) rights.set(columnOf(line), Math.max(rights.get(columnOf(line)) ?? 0, line.right));
  return rights;
}

/** The usual distance of two lines of a paragraph. */
function usualGap(lines: readonly PdfLine[]): number {
  const gaps: number[] = [];
  lines.forEach((line, at) => {
    const before = lines[at - 1];
    if (before === undefined || rounded(before.size) !== rounded(line.size)) return;
    const gap = before.y - line.y;
    if (gap > 0 && gap < line.size * 3) gaps.push(gap);
  });
  return gaps.sort((one, two) => one - two)[Math.floor(gaps.length / 3)] ?? 0;
}

function joined(texts: readonly string[]): string {
  const parts: string[] = [];
  // The end of what is joined, since a paragraph may have all lines of a document.
  let end = "";
  for (const text of texts) {
    const [last, first] = [end.at(-1) ?? "", text[0] ?? ""];
    const isCut = last === "\u00ad" || (/\p{Ll}[-‐]$/u.test(end) && /^\p{Ll}/u.test(text) && !/-\S*-$/.test(end));
    if (isCut) {
      parts.push((parts.pop() ?? "").slice(0, -1), text);
      end = end.slice(0, -1) + text;
    } else {
      const part = end === "" || (WITHOUT_SPACES.test(last) && WITHOUT_SPACES.test(first)) ? text : ` ${text}`;
      parts.push(part);
      end += part;
    }
    end = end.slice(-WORD_CHARS_MAX);
  }
  return parts.join("").replaceAll("\u00ad", "");
}

/** A longer word is not looked through for hyphens. */
const WORD_CHARS_MAX = 100;

/** The lines of a listing, indented as they stand. */
function codeOf(lines: readonly PdfLine[]): string {
  const left = Math.min(...lines.map(({ x }) => x));
  return lines
    .map(({ raw, x, size }) => " ".repeat(Math.min(80, Math.max(0, Math.round((x - left) / (size * 0.6))))) + raw)
    .join("\n");
}

/** The rows of a table that begins with a line: lines of as many cells, one below the other. */
function tableAt(lines: readonly PdfLine[], at: number): PdfLine[] {
  const first = lines[at] as PdfLine;
  if (first.cells.length < 2) return [];
  const rows = [first];
  for (let next = at + 1; next < lines.length; next++) {
    const line = lines[next] as PdfLine;
    const above = rows[rows.length - 1] as PdfLine;
    const isBelow = above.y > line.y && above.y - line.y < line.size * 3;
    if (!isBelow || line.cells.length !== first.cells.length || !areAligned(first, line)) break;
    rows.push(line);
  }
  return rows.length < 2 ? [] : rows;
}

function areAligned(one: PdfLine, two: PdfLine): boolean {
  return one.cells.every(({ x, right }, at) => {
    const other = two.cells[at];
    return other !== undefined && (Math.abs(other.x - x) < one.size || Math.abs(other.right - right) < one.size);
  });
}

function tableOf(rows: readonly PdfLine[]): string {
  const lines = rows.map(({ cells }) => `| ${cells.map(({ text }) => text.replace(/\|/g, "\\|")).join(" | ")} |`);
  const rule = `|${" --- |".repeat(rows[0]?.cells.length ?? 0)}`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}
