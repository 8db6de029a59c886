// Serialises values with strings of megabytes in steps: the event loop continues meanwhile. The text is the same as with
// JSON.stringify.

import { createPause } from "./time-slices.ts";

/** Characters that are escaped at once. */
const SLICE_CHARS = 64 * 1024;

/** The text of a plain value: null, booleans, numbers, strings, and arrays and objects of these. */
export async function jsonInTurns(value: unknown): Promise<string> {
  const parts: string[] = [];
  const pause = createPause();
  const write = async (value: unknown): Promise<void> => {
    if (typeof value === "string" && value.length > SLICE_CHARS) return writeLong(value);
    if (typeof value !== "object" || value === null) {
      parts.push(JSON.stringify(value) ?? "null");
      return pause();
    }
    const isList = Array.isArray(value);
    let separator = isList ? "[" : "{";
    const entries: Iterable<[unknown, unknown]> = isList ? value.entries() : Object.entries(value);
    for (const [key, member] of entries) {
      if (!isList && member === undefined) continue;
      parts.push(isList ? separator : `${separator}${JSON.stringify(key)}:`);
      separator = ",";
      await write(member);
    }
    parts.push(isList ? (separator === "[" ? "[]" : "]") : separator === "{" ? "{}" : "}");
  };
  const writeLong = async (text: string): Promise<void> => {
    parts.push('"');
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + SLICE_CHARS);
      // An unpaired surrogate is serialised differently from a pair: a possible first half is processed with what follows it.
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
      parts.push(JSON.stringify(text.slice(at, end)).slice(1, -1));
      at = end;
      await pause();
    }
    parts.push('"');
  };
  await write(value);
  return parts.join("");
}
