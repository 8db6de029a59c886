// Serialises values with strings of megabytes in steps: the event loop continues meanwhile. The text is the same as with
// JSON.stringify.

import { createPause } from "./time-slices.ts";

/** Characters that are escaped at once. */
const SLICE_CHARS = 64 * 1024;
/**
 * The size of a value that is serialised at once. In a list of many short values, as most are, one step for each of their members
 * would take several times as long as the text itself.
 */
const SMALL_CHARS = 4096;
/** What a value counts besides its strings. */
const VALUE_CHARS = 4;

/** The text of a plain value: null, booleans, numbers, strings, and arrays and objects of these. */
export async function jsonInTurns(value: unknown): Promise<string> {
  const parts: string[] = [];
  await written(value, parts, createPause());
  return parts.join("");
}

/** The size of the parts in which bytes are written. */
const PART_BYTES = 256 * 1024;
/** Bytes in UTF-8 of a character of a string, at most. */
const CHAR_BYTES_MAX = 3;

/**
 * The same as bytes, in parts that are written one by one. Each part has a buffer of its own. `requestSinceMs`: see `longStep`.
 */
export async function jsonBytesInTurns(value: unknown, requestSinceMs?: number): Promise<Buffer<ArrayBuffer>[]> {
  const parts: Buffer<ArrayBuffer>[] = [];
  let part = Buffer.allocUnsafeSlow(PART_BYTES);
  let size = 0;
  const end = () => {
    if (size === 0) return;
    parts.push(part.subarray(0, size));
    part = Buffer.allocUnsafeSlow(PART_BYTES);
    size = 0;
  };
  const writer = {
    push(text: string) {
      const bytes = text.length * CHAR_BYTES_MAX;
      if (size + bytes > PART_BYTES) end();
      // Without a copy of the texts that are written together.
      if (bytes <= PART_BYTES) size += part.write(text, size);
      else parts.push(Buffer.from(text));
    },
  };
  await written(value, writer, createPause(requestSinceMs));
  end();
  return parts;
}

async function written(
  value: unknown,
  parts: { push(text: string): void },
  pause: ReturnType<typeof createPause>,
): Promise<void> {
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
      if (sizeLeft(member, SMALL_CHARS) > 0) {
        parts.push(JSON.stringify(member) ?? "null");
        const wait = pause();
        if (wait !== undefined) await wait;
      } else await write(member);
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
}

/** What is left of `most` after the size of a plain value; 0 or less when it is larger, whose rest is not looked at. */
function sizeLeft(value: unknown, most: number): number {
  if (typeof value === "string") return most - VALUE_CHARS - value.length;
  let budget = most - VALUE_CHARS;
  if (typeof value !== "object" || value === null) return budget;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && budget > 0; at++) budget = sizeLeft(value[at], budget);
    return budget;
  }
  const keys = Object.keys(value);
  for (let at = 0; at < keys.length && budget > 0; at++) {
    const key = keys[at] as string;
    budget = sizeLeft((value as Record<string, unknown>)[key], budget - key.length);
  }
  return budget;
}
