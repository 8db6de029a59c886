// Parses JSON with strings of megabytes in steps: the event loop continues meanwhile, and a string without escapes is not
// copied out of the whole. The result, and what is refused, is the same as with JSON.parse.

import type { LargeJsonLook, Span } from "./json-scan.ts";

/** Characters examined in one step. */
const SLICE_CHARS = 4 * 1024 * 1024;
/** The same where there are escapes, which cost fifty times as much. */
const ESCAPED_CHARS = 128 * 1024;

const BACKSLASH = 92;
const LETTER_U = 117;

/** Parses `text`, whose long strings are at `spans`, and calls `pause` between the steps. Throws `SyntaxError`. */
export async function parseLongTexts(
  text: string,
  spans: LargeJsonLook["longTexts"],
  pause: () => Promise<void>,
): Promise<unknown> {
  if (spans === undefined || spans.length === 0) return JSON.parse(text);
  const texts: string[] = [];
  for (const { start, end } of spans) {
    const inner = { start: start + 1, end: end - 1 };
    const isPlain = await hasNoEscapes(text, inner, pause);
    texts.push(isPlain ? text.slice(inner.start, inner.end) : await unescaped(text, inner, pause));
    await pause();
  }
  // Unpredictable for the text's author.
  const mark = crypto.randomUUID();
  const parts: string[] = [];
  let at = 0;
  for (const [index, { start, end }] of spans.entries()) {
    parts.push(text.slice(at, start), `"${mark}${index}"`);
    at = end;
  }
  parts.push(text.slice(at));
  const holder = { value: JSON.parse(parts.join("")) as unknown };
  putBack(holder, (value) => (value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : undefined));
  return holder.value;
}

/** Neither a backslash nor a control character, which JSON.parse refuses. */
async function hasNoEscapes(text: string, { start, end }: Span, pause: () => Promise<void>): Promise<boolean> {
  for (let at = start; at < end; at += SLICE_CHARS) {
    if (at > start) await pause();
    if (/[\u0000-\u001f\\]/.test(text.slice(at, Math.min(end, at + SLICE_CHARS)))) return false;
  }
  return true;
}

async function unescaped(text: string, { start, end }: Span, pause: () => Promise<void>): Promise<string> {
  const parts: string[] = [];
  for (let at = start; at < end; ) {
    const next = at + ESCAPED_CHARS >= end ? end : beforeEscape(text, at, at + ESCAPED_CHARS);
    parts.push(JSON.parse(`"${text.slice(at, next)}"`) as string);
    at = next;
    await pause();
  }
  return parts.join("");
}

/** The end of a slice from `from`: `end`, or the start of an escape that it would split. */
function beforeEscape(text: string, from: number, end: number): number {
  for (let at = end - 1; at > end - 6; at--) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    let first = at;
    while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
    // Backslashes come in pairs; an odd one begins an escape.
    if ((at - first) % 2 === 1) return end;
    return at + (text.charCodeAt(at + 1) === LETTER_U ? 6 : 2) > end ? at : end;
  }
  return end;
}

/** Replaces strings by their parsed form, wherever they are. */
function putBack(holder: object, otherOf: (text: string) => string | undefined): void {
  const waiting: object[] = [holder];
  const look = (value: unknown): string | undefined => {
    if (typeof value === "object" && value !== null) waiting.push(value);
    return typeof value === "string" ? otherOf(value) : undefined;
  };
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (Array.isArray(one)) {
      // By index: a list of a million numbers needs no list of its indices.
      for (let index = 0; index < one.length; index++) {
        const other = look(one[index]);
        if (other !== undefined) one[index] = other;
      }
      continue;
    }
    for (const key of Object.keys(one)) {
      const other = look((one as Record<string, unknown>)[key]);
      // Plain assignment would lose a member called `__proto__`.
      if (other !== undefined)
        Object.defineProperty(one, key, { value: other, writable: true, enumerable: true, configurable: true });
    }
  }
}
