// JSON that a page's script starts from.

import { parsedJson } from "./json.ts";

/** The object that begins behind a mark; undefined when the mark or the object's end is missing. */
export function objectAfter(text: string, mark: string): unknown {
  const at = text.indexOf(mark);
  const start = at < 0 ? -1 : text.indexOf("{", at + mark.length);
  // What stands between a mark and its object is a blank.
  if (start < 0 || text.slice(at + mark.length, start).trim() !== "") return undefined;
  const end = endOf(text, start);
  return end === undefined ? undefined : parsedJson(text.slice(start, end));
}

/** Behind the brace that closes the one at `start`. */
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
