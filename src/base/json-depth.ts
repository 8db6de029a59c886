// How deep a JSON text is nested, by one pass over it. Writing values that are nested some ten thousand levels deep takes
// seconds, and deeper ones overflow the stack: such a text is to be refused before it does harm.

import { stringEnd } from "./json-splice.ts";

/** No client nests so deep. */
export const JSON_LEVELS_MAX = 1000;

const QUOTE = 34;

/** True for a JSON text with more than `levels` objects and arrays within each other. */
export function isNestedDeeper(text: string, levels: number): boolean {
  // Each level takes two characters.
  if (text.length <= 2 * levels) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > levels) return true;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return false;
}
