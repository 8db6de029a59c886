// Reads JSON within the script of a page.

import { parsedJson } from "./json.ts";

/** The object after a mark; undefined if the mark, or the end of the object, is missing. */
export function objectAfter(text: string, mark: string): unknown {
  const at = text.indexOf(mark);
  const start = at < 0 ? -1 : text.indexOf("{", at + mark.length);
  // Only white space may be between a mark and its object.
  if (start < 0 || text.slice(at + mark.length, start).trim() !== "") return undefined;
  const end = endOf(text, start);
  return end === undefined ? undefined : parsedJson(text.slice(start, end));
}

/** The position after the brace that closes the object at `start`. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at++;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}
