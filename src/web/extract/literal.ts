// Tells whether a value occurs literally in a text. A value that does not may be derived, such as a sum or a summary, or
// invented, so the reader should be told. Pure.

import { isRecord } from "../../base/json-object.ts";
import { lazily } from "../../base/lazily.ts";
import { comparableRaised } from "../../base/raised-text.ts";

/** Whether the text contains a number or a string. true, false and null do not occur literally and always count as contained. */
export type HoldsLiteral = (value: unknown) => boolean;

const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Prepares the search in some texts, when the first value is searched. `share`: the share of a string's words that must occur, at
 * least one word.
 */
export function literalsIn(texts: readonly string[], share = 0): HoldsLiteral {
  const plain = lazily(() => texts.map(plainText));
  const words = lazily(() => new Set(plain().flatMap(wordsOf)));
  const numbers = lazily(() => new Set(texts.flatMap(numbersOf)));
  return (value) => {
    if (typeof value === "number") return numbers().has(Math.abs(value));
    if (typeof value !== "string") return true;
    const own = plainText(value);
    const telling = wordsOf(own);
    const held = telling.filter((word) => words().has(word)).length;
    if (telling.length === 0 || held >= Math.max(1, telling.length * share)) return true;
    // In scripts without spaces there are no words to compare.
    return plain().some((text) => text.includes(own));
  };
}

/** The numbers and strings of a value, itself or nested. */
export function leavesOf(value: unknown): unknown[] {
  const leaves: unknown[] = [];
  const waiting = [value];
  while (waiting.length > 0) {
    const one = waiting.pop();
    // Not spread as arguments, of which a call takes some ten thousand.
    if (Array.isArray(one)) for (const entry of one) waiting.push(entry);
    else if (isRecord(one)) for (const name in one) waiting.push(one[name]);
    else leaves.push(one);
  }
  return leaves;
}

function plainText(text: string): string {
  return comparableRaised(text).normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** Words of one or two letters are left out because they occur in every sentence; numbers are not left out. */
function wordsOf(plain: string): string[] {
  const words = plain.match(WORD) ?? [];
  const telling = words.filter((word) => word.length > 2 || /\p{N}/u.test(word) || /[^\u0000-\u024f]/.test(word));
  return telling.length > 0 ? telling : words;
}

/** The numbers in a text, in each possible reading of their points and commas. */
function numbersOf(text: string): number[] {
  const found: number[] = [];
  for (const [written] of comparableRaised(text)
    .normalize("NFKC")
    .matchAll(/\d[\d.,'’\u00a0\u202f ]*/g)) {
    const plain = written.replace(/['’\u00a0\u202f]/g, "").replace(/(?<![.,\s])[.,\s]+$/, "");
    for (const one of [plain, ...plain.split(" ")])
      for (const reading of [one.replace(/[, ]/g, ""), one.replace(/[. ]/g, "").replace(",", ".")]) {
        const number = Number(reading);
        if (reading !== "" && Number.isFinite(number)) found.push(number);
      }
  }
  return found;
}
