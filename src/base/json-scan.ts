// Scans a JSON text of megabytes before it is parsed, in steps: its nesting and number of values (see `jsonExcess`), how many
// escapes one parse would process, and where its long strings are, which are parsed separately.

import { PLAIN_VALUES_PER_VALUE } from "./json-depth.ts";

/** The position of a string, including quotes. */
export interface Span {
  readonly start: number;
  readonly end: number;
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
}

/** Shorter strings are parsed with their surroundings. */
export const LONG_CHARS_MIN = 64 * 1024;
/** Loop iterations per step: some milliseconds. */
const STEPS = 200_000;

const QUOTE = 34;
const COMMA = 44;

/** Scans `text`, and calls `pause` at intervals. */
export async function lookOver(
  text: string,
  bounds: LargeJsonBounds,
  pause: () => Promise<void>,
): Promise<LargeJsonLook> {
  const { levels, values, escapes } = bounds;
  const strings = new Strings(text);
  let longTexts: Span[] | undefined = [];
  let [depth, found, commas, left, inShort, inLong] = [0, 0, 0, STEPS, 0, 0];
  for (let at = 0; at < text.length; at++) {
    if (--left <= 0) {
      left = STEPS;
      await pause();
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      strings.open(at);
      while (!strings.skip(STEPS)) await pause();
      left -= strings.escapes;
      const span = { start: at, end: strings.end };
      at = span.end - 1;
      if (++found > values) return { excess: "values", longTexts };
      if (span.end - span.start < LONG_CHARS_MIN) inShort += strings.escapes;
      else {
        inLong += strings.escapes;
        if (text.charCodeAt(at) !== QUOTE || mayBeKey(text, span.end)) longTexts = undefined;
        longTexts?.push(span);
      }
      if (inShort + (longTexts === undefined ? inLong : 0) > escapes) return { excess: "escapes", longTexts };
    } else if (code === 123 || code === 91) {
      if (++depth > levels) return { excess: "levels", longTexts };
      if (++found > values) return { excess: "values", longTexts };
    } else if (code === 125 || code === 93) depth -= 1;
    else if (code === COMMA && ++commas === PLAIN_VALUES_PER_VALUE) {
      commas = 0;
      if (++found > values) return { excess: "values", longTexts };
    }
  }
  return { longTexts };
}

/** No serialiser puts more white space before a colon. */
function mayBeKey(text: string, end: number): boolean {
  const next = text.slice(end, end + 64);
  return /^[ \t\r\n]*:/.test(next) || /^[ \t\r\n]{64}/.test(next);
}

/** Scans strings from backslash to backslash, so that megabytes without escapes cost little. */
class Strings {
  /** Of the last string scanned. */
  escapes = 0;
  /** The position after it. */
  end = 0;
  readonly #text: string;
  #at = 0;
  /** The next of each from `#at` on; the text's length if there is none. */
  #slash: number;
  #quote = -1;

  constructor(text: string) {
    this.#text = text;
    this.#slash = this.#next("\\", 0);
  }

  /** Starts with the string whose opening quote is at `start`. */
  open(start: number): void {
    this.escapes = 0;
    this.#at = start + 1;
    this.#quote = this.#next('"', this.#at);
    if (this.#slash < this.#at) this.#slash = this.#next("\\", this.#at);
  }

  /** Scans at most this many escapes; true if the string ends. */
  skip(escapesMax: number): boolean {
    for (let left = escapesMax; this.#slash < this.#quote; left--) {
      if (left === 0) return false;
      this.escapes++;
      this.#at = this.#slash + 2;
      if (this.#quote < this.#at) this.#quote = this.#next('"', this.#at);
      this.#slash = this.#next("\\", this.#at);
    }
    this.end = Math.min(this.#quote + 1, this.#text.length);
    return true;
  }

  #next(sign: string, from: number): number {
    const at = this.#text.indexOf(sign, from);
    return at < 0 ? this.#text.length : at;
  }
}
