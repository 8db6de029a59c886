// How deep a JSON text is nested and how many values it holds, by one pass over it. Writing values that are nested some ten
// thousand levels deep takes seconds, and deeper ones overflow the stack; a million keys or objects take seconds to parse
// and hundreds of times their size. Such a text is to be refused before it does harm.

import { stringEnd } from "./json-splice.ts";

/** No client nests so deep. */
export const JSON_LEVELS_MAX = 1000;

/** Numbers, true, false and null in lists cost this much less than texts and objects: lists of tokens have many. */
export const PLAIN_VALUES_PER_VALUE = 10;

const QUOTE = 34;
const COMMA = 44;

/** What a JSON text may hold. */
export interface JsonBounds {
  readonly levels: number;
  /** Objects, lists and texts, keys among them; of other values ten count as one. */
  readonly values?: number | undefined;
}

/** Which bound a JSON text exceeds first; undefined when it keeps both. */
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

/** True for a JSON text with more than `levels` objects and arrays within each other. */
export function isNestedDeeper(text: string, levels: number): boolean {
  return jsonExcess(text, { levels }) !== undefined;
}
