// Measures the nesting depth and the number of values of a JSON text in one pass. Serialising values with some ten thousand
// levels takes seconds, and deeper ones overflow the stack; a million keys or objects take seconds to parse and hundreds of
// times their size. Such a text is refused before it is parsed.

import { stringEnd } from "./json-splice.ts";

/** No client nests this deep. */
export const JSON_LEVELS_MAX = 1000;

/** Numbers, true, false and null in lists cost this much less than strings and objects: token lists have many. */
export const PLAIN_VALUES_PER_VALUE = 10;

const QUOTE = 34;
const COMMA = 44;

/** Limits of a JSON text. */
export interface JsonBounds {
  readonly levels: number;
  /** Objects, lists and strings, including keys; ten other values count as one. */
  readonly values?: number | undefined;
}

/** The first limit that a JSON text exceeds; undefined if it is within both. */
export function jsonExcess(
  text: string,
  { levels, values = Number.POSITIVE_INFINITY }: JsonBounds,
): keyof JsonBounds | undefined {
  // Each level takes two characters, and no value takes fewer.
  if (text.length <= 2 * levels && text.length <= values) return undefined;
  let depth = 0;
  let found = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (++found > values) return "values";
    } else if (code === 123 || code === 91) {
      if (++depth > levels) return "levels";
      if (++found > values) return "values";
    } else if (code === 125 || code === 93) depth -= 1;
    else if (code === COMMA && ++commas === PLAIN_VALUES_PER_VALUE) {
      commas = 0;
      if (++found > values) return "values";
    }
  }
  return undefined;
}

/** Whether a JSON text has more than `levels` nested objects and arrays. */
export function isNestedDeeper(text: string, levels: number): boolean {
  return jsonExcess(text, { levels }) !== undefined;
}
