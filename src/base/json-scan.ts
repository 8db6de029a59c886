// Scans JSON of megabytes before it is parsed, in steps and without decoding it: its nesting and number of values (see `jsonExcess`),
// how many escapes one parse would process, where its long strings are, which are parsed separately, and where its long lists
// can be divided. All signs that JSON consists of are ASCII, so that each byte may be looked at as a character.

import { PLAIN_VALUES_PER_VALUE } from "./json-depth.ts";

/** The position of a value in the bytes. That of a string includes its quotes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A long list, and offsets of commas between its elements that divide it into pieces. */
export interface ListSpan extends Span {
  readonly cuts: readonly number[];
}

/** Limits of a large JSON text. */
export interface LargeJsonBounds {
  readonly levels: number;
  /** As in `JsonBounds`. */
  readonly values: number;
  /** Escapes (`\n`, `\u00e9`) in strings that are not long; processing a million takes about twenty milliseconds. */
  readonly escapes: number;
}

/** The result of the scan. */
export interface LargeJsonLook {
  /** The first exceeded limit. */
  readonly excess?: keyof LargeJsonBounds;
  /** Undefined if one is, or may be, a key: then everything is parsed at once, and all escapes count. */
  readonly longTexts: readonly Span[] | undefined;
  /** The long lists that are members of the object. */
  readonly lists: readonly ListSpan[];
  /** Whether characters are spelled as `\u`. */
  readonly spellsCharacters: boolean;
}

/** Shorter strings and lists are parsed with their surroundings. */
export const LONG_BYTES_MIN = 64 * 1024;
/** Pieces of a list have at least this size, except for the last one. */
const PIECE_BYTES_MIN = 128 * 1024;
/** Bytes that are looked at together. */
const WINDOW_BYTES = 64 * 1024;
/** What looking at a window costs that holds a part of one string. */
const WINDOW_COST = 4096;
/** Characters and escapes that are looked at in one step: about two milliseconds. */
const STEPS = 100_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const LETTER_U = 117;

/** Scans `bytes`, and calls `pause` at intervals. */
export async function lookOver(
  bytes: Buffer,
  bounds: LargeJsonBounds,
  pause: () => Promise<void>,
): Promise<LargeJsonLook> {
  const scan = new Scan(bytes, bounds);
  let left = STEPS;
  for (let from = 0; from < bytes.length; from += WINDOW_BYTES) {
    if (left <= 0) {
      left = STEPS;
      await pause();
    }
    left -= scan.window(from, Math.min(bytes.length, from + WINDOW_BYTES));
    if (scan.excess !== undefined) break;
  }
  return scan.ended();
}

/** No serialiser puts more white space before a colon. */
function mayBeKey(bytes: Buffer, end: number): boolean {
  const next = bytes.toString("latin1", end, end + 64);
  return /^[ \t\r\n]*:/.test(next) || /^[ \t\r\n]{64}/.test(next);
}

class Scan {
  excess: keyof LargeJsonBounds | undefined;
  readonly #bytes: Buffer;
  readonly #bounds: LargeJsonBounds;
  readonly #lists: ListSpan[] = [];
  #longTexts: Span[] | undefined = [];
  #spellsCharacters = false;
  #depth = 0;
  #found = 0;
  #commas = 0;
  #inShort = 0;
  #inLong = 0;
  /** The start of the string that is being read; -1 outside of strings. */
  #string = -1;
  #escapes = 0;
  /** The next quote and the next backslash, if they are not before what is read. */
  #quote = -1;
  #slash = -1;
  /** Whether the last window ended with the backslash of an escape. */
  #isEscaped = false;
  /** The member that is a list and is being read. */
  #list: { start: number; cuts: number[] } | undefined;
  #isObject = false;

  constructor(bytes: Buffer, bounds: LargeJsonBounds) {
    this.#bytes = bytes;
    this.#bounds = bounds;
  }

  /** Scans a part of the bytes. Returns what it cost. */
  window(from: number, to: number): number {
    const bytes = this.#bytes;
    let cost = WINDOW_COST;
    for (let at = from; at < to && this.excess === undefined; cost++) {
      if (this.#string < 0) {
        const code = bytes[at] as number;
        if (code === QUOTE) {
          this.#string = at;
          this.#escapes = 0;
        } else if (code === COMMA || code > 90) this.#sign(code, at);
        at++;
        continue;
      }
      if (this.#isEscaped) {
        this.#isEscaped = false;
        if (bytes[at++] === LETTER_U) this.#spellsCharacters = true;
        continue;
      }
      // From backslash to backslash, so that megabytes without escapes cost little.
      if (this.#quote < at) this.#quote = placeOf(bytes, QUOTE, at);
      if (this.#slash < at) this.#slash = placeOf(bytes, BACKSLASH, at);
      if (this.#slash < this.#quote && this.#slash < to) {
        this.#escapes++;
        const next = this.#slash + 1;
        if (bytes[next] === LETTER_U) this.#spellsCharacters = true;
        this.#isEscaped = next === to;
        at = next + 1;
      } else {
        at = Math.min(to, this.#quote + 1);
        if (this.#quote < to) this.#endString(at);
      }
    }
    return cost;
  }

  /** A sign outside of strings. */
  #sign(code: number, at: number): void {
    if (code === 123 || code === 91) {
      if (this.#depth === 0) this.#isObject = code === 123;
      else if (this.#depth === 1 && code === 91 && this.#isObject) this.#list = { start: at, cuts: [] };
      if (++this.#depth > this.#bounds.levels) this.excess = "levels";
      else this.#count();
    } else if (code === 125 || code === 93) {
      if (--this.#depth === 1) this.#endList(at + 1);
    } else if (code === COMMA) {
      if (this.#depth === 2) this.#cut(at);
      if (++this.#commas === PLAIN_VALUES_PER_VALUE) {
        this.#commas = 0;
        this.#count();
      }
    }
  }

  #count(): void {
    if (++this.#found > this.#bounds.values) this.excess = "values";
  }

  #cut(at: number): void {
    const list = this.#list;
    if (list !== undefined && at - (list.cuts.at(-1) ?? list.start) >= PIECE_BYTES_MIN) list.cuts.push(at);
  }

  #endList(end: number): void {
    const list = this.#list;
    this.#list = undefined;
    if (list !== undefined && end - list.start >= LONG_BYTES_MIN) this.#lists.push({ ...list, end });
  }

  #endString(end: number): void {
    const start = this.#string;
    this.#string = -1;
    this.#count();
    if (this.excess !== undefined) return;
    if (end - start < LONG_BYTES_MIN) this.#inShort += this.#escapes;
    else {
      this.#inLong += this.#escapes;
      if (this.#bytes[end - 1] !== QUOTE || mayBeKey(this.#bytes, end)) this.#longTexts = undefined;
      this.#longTexts?.push({ start, end });
    }
    if (this.#inShort + (this.#longTexts === undefined ? this.#inLong : 0) > this.#bounds.escapes) {
      this.excess = "escapes";
    }
  }

  ended(): LargeJsonLook {
    // A string without an end.
    if (this.#string >= 0 && this.excess === undefined) {
      this.#longTexts = undefined;
      this.#endString(this.#bytes.length);
    }
    const { excess } = this;
    return {
      ...(excess === undefined ? {} : { excess }),
      longTexts: this.#longTexts,
      lists: this.#lists,
      spellsCharacters: this.#spellsCharacters,
    };
  }
}

/** Most strings are short, and a call takes as long as a look at this many bytes. */
const NEAR_BYTES = 24;

function placeOf(bytes: Buffer, sign: number, from: number): number {
  const near = Math.min(bytes.length, from + NEAR_BYTES);
  for (let at = from; at < near; at++) if (bytes[at] === sign) return at;
  const at = bytes.indexOf(sign, near);
  return at < 0 ? bytes.length : at;
}
