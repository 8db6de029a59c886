// Scores kept blocks by their words, before they become Markdown.

import { type Truth, tokensOf } from "./label.ts";

/** The F1 of the words, or of the pieces that must and must not be there. */
export function keptF1(text: string, { text: reference, with: wanted = [], without: unwanted = [] }: Truth): number {
  if ((reference ?? "") === "" && wanted.length > 0) {
    const right = wanted.filter((piece) => text.includes(piece)).length;
    return harmonic(right, right + unwanted.filter((piece) => text.includes(piece)).length, wanted.length);
  }
  const [own, expected] = [tokensOf(text), tokensOf(reference)];
  if (expected.length === 0) return own.length === 0 ? 1 : 0;
  const left = new Map<string, number>();
  for (const token of expected) left.set(token, (left.get(token) ?? 0) + 1);
  let right = 0;
  for (const token of own) {
    const count = left.get(token) ?? 0;
    if (count > 0) right++;
    left.set(token, count - 1);
  }
  return harmonic(right, own.length, expected.length);
}

function harmonic(right: number, taken: number, wanted: number): number {
  return taken + wanted === 0 ? 1 : (2 * right) / (taken + wanted);
}
