// Makes lines of the pieces of text that a page of a PDF places by their positions: powers and indices by size and height,
// right-to-left text in the order of reading, cells by the gaps between them.

import { raisedText } from "../../base/raised-text.ts";
import { escapeMarkdown } from "../markdown/escape.ts";

/** A piece of text with its position, in points from the lower left corner of the page. */
export interface PdfPiece {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly font: string;
  /** Whether all letters of its font have the same width. */
  readonly isCode: boolean;
  /** The address to which it leads. */
  readonly link?: string | undefined;
}

/** A line of a page. */
export interface PdfLine {
  /** Its text as Markdown. */
  readonly text: string;
  /** Its text as it is, with the gaps between words of a listing. */
  readonly raw: string;
  readonly isCode: boolean;
  readonly x: number;
  readonly right: number;
  /** The height of its baseline. */
  readonly y: number;
  readonly size: number;
  /** Its parts with wide gaps between them, each with its left edge. A line of prose has one. */
  readonly cells: readonly Cell[];
}

/** A part of a line between two wide gaps. */
export interface Cell {
  readonly text: string;
  readonly x: number;
  readonly right: number;
}

/** The share of the size by which a superscript or subscript is smaller, and is shifted. */
const RAISED_SIZE_MAX = 0.9;
const SHIFT_MIN = 0.12;
const SHIFT_MAX = 0.75;
/** The share of the size that a gap between words has at least, and one between cells. */
const WORD_GAP = 0.12;
const CELL_GAP = 1.2;
/** The share of the size that is the width of a letter of code. */
const CODE_WIDTH = 0.6;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Forms of Arabic letters by position, and ligatures of any script, which stand for plain letters. */
const PRESENTED = /[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]/;

/** Puts pieces in the order in which the PDF draws them together to lines. */
export function pdfLinesOf(pieces: readonly PdfPiece[]): PdfLine[] {
  const lines: PdfPiece[][] = [];
  let line: PdfPiece[] = [];
  // The largest piece of the line. It is kept, since one line may have all pieces of a page.
  let base: PdfPiece | undefined;
  for (const piece of pieces) {
    if (base !== undefined && !continues(line, base, piece)) {
      lines.push(line);
      line = [];
      base = undefined;
    }
    line.push(piece);
    if (base === undefined || piece.size > base.size) base = piece;
  }
  if (line.length > 0) lines.push(line);
  return lines.map(lineOf).filter(({ text }) => text !== "");
}

/** Whether a piece stands in the line, whether or not it is raised. */
function continues(line: readonly PdfPiece[], base: PdfPiece, piece: PdfPiece): boolean {
  const size = Math.max(base.size, piece.size);
  if (Math.abs(piece.y - base.y) > size * SHIFT_MAX) return false;
  const isRaised = isShifted(base, piece) || isShifted(piece, base);
  if (!isRaised && Math.abs(piece.y - base.y) > size * SHIFT_MIN * 2) return false;
  // Text to the left of the line is another column, unless the line is written from right to left.
  const last = line[line.length - 1] as PdfPiece;
  const isBehind = piece.x >= last.x - size * 0.5;
  return isBehind || RIGHT_TO_LEFT.test(piece.text + last.text);
}

function isShifted(base: PdfPiece, piece: PdfPiece): boolean {
  const shift = Math.abs(piece.y - base.y) / base.size;
  return piece.size < base.size * RAISED_SIZE_MAX && shift >= SHIFT_MIN && shift <= SHIFT_MAX;
}

function largest(line: readonly PdfPiece[]): PdfPiece | undefined {
  let found: PdfPiece | undefined;
  for (const piece of line) if (found === undefined || piece.size > found.size) found = piece;
  return found;
}

function lineOf(pieces: readonly PdfPiece[]): PdfLine {
  const sorted = [...pieces].sort((one, two) => one.x - two.x);
  const base = mostUsed(sorted);
  const isRightToLeft = directionOf(sorted.map(({ text }) => text).join(""));
  const cells = cellsOf(sorted, base).map((cell) => ({
    text: textOf(isRightToLeft ? inReadingOrder(cell) : cell, base, isRightToLeft),
    x: (cell[0] as PdfPiece).x,
    right: cell.reduce((right, { x, width }) => Math.max(right, x + width), Number.NEGATIVE_INFINITY),
  }));
  const isCode = sorted.every((piece) => piece.isCode);
  const last = sorted[sorted.length - 1] as PdfPiece;
  const shown = isRightToLeft ? cells.toReversed() : cells;
  return {
    text: shown.map(({ text }) => text).join(" "),
    x: (sorted[0] as PdfPiece).x,
    right: last.x + last.width,
    y: base.y,
    size: base.size,
    isCode,
    raw: isCode ? codeOf(sorted) : "",
    cells: isCode ? [] : shown,
  };
}

/** The piece whose size and font most of the line has. */
function mostUsed(pieces: readonly PdfPiece[]): PdfPiece {
  const chars = new Map<string, { piece: PdfPiece; count: number }>();
  for (const piece of pieces) {
    const key = `${piece.size.toFixed(1)} ${piece.font}`;
    const known = chars.get(key);
    if (known === undefined) chars.set(key, { piece, count: piece.text.length });
    else known.count += piece.text.length;
  }
  const base = largest(pieces) as PdfPiece;
  let found = { piece: base, count: 0 };
  // Small letters are indices, however many they are.
  for (const one of chars.values())
    if (one.count > found.count && one.piece.size >= base.size * RAISED_SIZE_MAX) found = one;
  return found.piece;
}

function cellsOf(sorted: readonly PdfPiece[], base: PdfPiece): PdfPiece[][] {
  const cells: PdfPiece[][] = [];
  let right = 0;
  for (const piece of sorted) {
    if (cells.length === 0 || piece.x - right > base.size * CELL_GAP) cells.push([]);
    (cells[cells.length - 1] as PdfPiece[]).push(piece);
    right = Math.max(right, piece.x + piece.width);
  }
  return cells;
}

/** Whether most letters of a text are written from right to left. */
function directionOf(text: string): boolean {
  let count = 0;
  for (const letter of text) if (/\p{L}/u.test(letter)) count += RIGHT_TO_LEFT.test(letter) ? 1 : -1;
  return count > 0;
}

/**
 * The pieces of a right-to-left line in the order of reading. Figures and words of other scripts are written from left to right
 * within it.
 */
function inReadingOrder(pieces: readonly PdfPiece[]): PdfPiece[] {
  const out: PdfPiece[] = [];
  // From right to left. A line may have all pieces of a page.
  const run: PdfPiece[] = [];
  const end = () => {
    for (let piece = run.pop(); piece !== undefined; piece = run.pop()) out.push(piece);
  };
  for (const piece of pieces.toReversed()) {
    if (isLeftToRight(piece.text) || (run.length > 0 && piece.text.trim() === "")) run.push(piece);
    else {
      end();
      out.push(piece);
    }
  }
  end();
  return out;
}

function isLeftToRight(text: string): boolean {
  return /[\p{L}\p{Nd}]/u.test(text) && !RIGHT_TO_LEFT.test(text);
}

/** The text of a line of code, with as many spaces as fit into its gaps. */
function codeOf(pieces: readonly PdfPiece[]): string {
  let text = "";
  let right: number | undefined;
  for (const piece of pieces) {
    const gap = right === undefined ? 0 : Math.round((piece.x - right) / (piece.size * CODE_WIDTH));
    text += " ".repeat(Math.max(0, Math.min(80, gap))) + plainLetters(piece.text, false);
    right = piece.x + piece.width;
  }
  return text.trimEnd();
}

/** The Markdown of pieces in the order of reading. */
function textOf(pieces: readonly PdfPiece[], base: PdfPiece, isRightToLeft: boolean): string {
  const runs: { text: string; link: string | undefined }[] = [];
  let text = "";
  pieces.forEach((piece, at) => {
    const before = pieces[at - 1];
    const next = written(piece, { base, isRightToLeft, text, before, after: pieces[at + 1] });
    text = (text + next).slice(-SEEN_CHARS);
    const last = runs[runs.length - 1];
    if (last !== undefined && last.link === piece.link) last.text += next;
    else runs.push({ text: next, link: piece.link });
  });
  return runs
    .map((run) => (run.link === undefined ? run.text : linked(run.text, run.link)))
    .join("")
    .replace(/[ \t\u00a0]+/g, " ")
    .trim();
}

function linked(text: string, link: string): string {
  const label = text.trim().replace(/[[\]]/g, "\\$&");
  if (label === "") return text;
  const [before, after] = [/^\s*/.exec(text)?.[0] ?? "", text.slice(text.trimEnd().length)];
  return `${before}[${label}](${link
    .replace(/[()<>\s\\]/g, encodeURIComponent)
    .replace(/\(/g, "%28")
    .replace(/\)/g, "%29")})${after}`;
}

/** The distance between two pieces of a line, whichever stands first. */
function gapBetween(one: PdfPiece, two: PdfPiece): number {
  return Math.max(two.x - one.x - one.width, one.x - two.x - two.width);
}

/** The characters of a line that are seen before a piece, however many it has. */
const SEEN_CHARS = 40;

interface Around {
  readonly base: PdfPiece;
  readonly isRightToLeft: boolean;
  /** The end of the line so far. */
  readonly text: string;
  readonly before: PdfPiece | undefined;
  readonly after: PdfPiece | undefined;
}

/** The text of one piece, with the space before it. */
function written(piece: PdfPiece, { base, isRightToLeft, text, before, after }: Around): string {
  const plain = plainLetters(piece.text, isRightToLeft);
  if (isShifted(base, piece) && plain.trim() !== "") {
    const tag = piece.y > base.y ? "sup" : "sub";
    const isApart = after !== undefined && gapBetween(piece, after) > base.size * WORD_GAP;
    const following = `${isApart ? " " : ""}${after?.text ?? ""}`;
    const shown = raisedText({ tag, text: plain, before: text, after: following });
    const isBreak = shown === "" && /[\p{L}\p{N}]$/u.test(text) && /^[\p{L}\p{N}]/u.test(following);
    return isBreak ? " " : escapeMarkdown(shown, { isAmidLine: true });
  }
  const escaped = escapeMarkdown(plain, { isAmidLine: true });
  const gap = before === undefined ? 0 : gapBetween(before, piece);
  return gap > base.size * WORD_GAP && !/\s$/.test(text) && !/^\s/.test(plain) ? ` ${escaped}` : escaped;
}

/** A text with plain letters instead of their forms. Some programs store right-to-left text in the order of the eye. */
function plainLetters(text: string, isRightToLeft: boolean): string {
  const shown = text.replace(/[\0-\u0008\u000b\u000c\u000e-\u001f\ufffd]/g, "");
  if (!PRESENTED.test(shown)) return isRightToLeft ? marksBehind(shown) : shown;
  return shown.replace(/[\ufb00-\ufdff\ufe70-\ufefc]+/g, (forms) => forms.normalize("NFKC"));
}

/** Moves punctuation that was drawn to the left of a figure behind it, as in ".42" at the end of a Hebrew sentence. */
function marksBehind(text: string): string {
  return text.replace(/^([.,;:!?؟،]+)(\d[\d.,]*)$/u, "$2$1");
}
