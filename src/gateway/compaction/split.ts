// Where a conversation may be split: never between a call and its result, and preferably before a user's turn.

import type { MeasuredElement } from "./measure.ts";

/** True at `i` if a cut before element `i` separates nothing; one longer than the list. */
export function safeSplits(list: readonly MeasuredElement[]): boolean[] {
  const safe = new Array<boolean>(list.length + 1).fill(true);
  const open = new Map<string, number>();
  const spans: { from: number; to: number }[] = [];
  list.forEach(({ entry }, at) => {
    for (const piece of entry.pieces) {
      if (piece.type === "call") open.set(piece.id, at);
      else if (piece.type === "result") {
        const from = open.get(piece.id);
        // A result without a preceding call belongs to nothing.
        if (from === undefined) continue;
        spans.push({ from, to: at });
        open.delete(piece.id);
      }
    }
  });
  // Calls without results yet: only those of the last turn can be.
  const turn = lastTurn(list);
  for (const from of open.values()) if (from >= turn) spans.push({ from, to: list.length });
  closeSpans(safe, spans);
  // Reasoning belongs to what follows it.
  list.forEach(({ entry }, at) => {
    if (entry.role === "assistant" && entry.pieces.every((piece) => piece.type === "reasoning")) safe[at + 1] = false;
  });
  safe[0] = true;
  safe[list.length] = true;
  return safe;
}

/** The last element that is neither a result nor a call: earlier calls no longer wait. */
function lastTurn(list: readonly MeasuredElement[]): number {
  return list.findLastIndex(
    ({ entry: { role, pieces } }) =>
      role === "user" || role === "system" || (role === "assistant" && !pieces.some((piece) => piece.type === "call")),
  );
}

/** No cut lies within a span; linear in both. */
function closeSpans(safe: boolean[], spans: readonly { from: number; to: number }[]): void {
  const steps = new Array<number>(safe.length + 1).fill(0);
  for (const { from, to } of spans) {
    steps[from + 1]!++;
    steps[Math.min(to, safe.length - 1) + 1]!--;
  }
  let depth = 0;
  for (let at = 0; at < safe.length; at++) {
    depth += steps[at]!;
    if (depth > 0) safe[at] = false;
  }
}

/** How much of the end is kept unchanged. */
export interface TailWish {
  /** Messages that are always kept. */
  keepLast: number;
  /** More are kept up to this many tokens. */
  tokens: number;
}

/** The first element of the kept tail. */
export function tailStart(list: readonly MeasuredElement[], wish: TailWish): number {
  const safe = safeSplits(list);
  let at = list.length;
  let tokens = 0;
  let messages = 0;
  while (at > 0) {
    const before = list[at - 1]!;
    if (messages >= wish.keepLast && tokens + before.tokens > wish.tokens) break;
    at--;
    tokens += before.tokens;
    if (before.entry.role !== "system") messages++;
  }
  while (!safe[at]) at--;
  return userTurnBefore(list, { at, safe, tokens: wish.tokens / 2 }) ?? at;
}

/** The start of a user's turn at or shortly before an element, if a cut is allowed there. */
function userTurnBefore(
  list: readonly MeasuredElement[],
  { at, safe, tokens }: { at: number; safe: readonly boolean[]; tokens: number },
): number | undefined {
  let left = tokens;
  for (let i = at; i > 0 && i < list.length; i--) {
    if (safe[i] && list[i]!.entry.role === "user") return i;
    left -= list[i - 1]!.tokens;
    if (left < 0) return undefined;
  }
  return undefined;
}
