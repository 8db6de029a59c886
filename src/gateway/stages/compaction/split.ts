// Finds where a conversation may be split: never between a call and its result, and preferably before a user's turn.

import type { MeasuredElement } from "./measure.ts";

/** `true` at index `i` if the list may be cut before element `i`. The array is one longer than the list. */
export function safeSplits(list: readonly MeasuredElement[]): boolean[] {
  const safe = new Array<boolean>(list.length + 1).fill(true);
  const openCalls = new Map<string, number>();
  const spans: { from: number; to: number }[] = [];
  list.forEach(({ entry }, at) => {
    for (const piece of entry.pieces) {
      if (piece.type === "call") openCalls.set(piece.id, at);
      else if (piece.type === "result") {
        const from = openCalls.get(piece.id);
        // A result without a preceding call is not tied to any other element.
        if (from === undefined) continue;
        spans.push({ from, to: at });
        openCalls.delete(piece.id);
      }
    }
  });
  // Of the calls without results, only those of the last turn can still get one.
  const turn = lastTurn(list);
  for (const from of openCalls.values()) if (from >= turn) spans.push({ from, to: list.length });
  closeSpans(safe, spans);
  // An element of reasoning alone stays with the element that follows it.
  list.forEach(({ entry }, at) => {
    if (entry.role === "assistant" && entry.pieces.every((piece) => piece.type === "reasoning")) safe[at + 1] = false;
  });
  safe[0] = true;
  safe[list.length] = true;
  return safe;
}

/** Index of the last element that is neither a result nor has a call: no result can follow for the calls before it. */
function lastTurn(list: readonly MeasuredElement[]): number {
  return list.findLastIndex(
    ({ entry: { role, pieces } }) =>
      role === "user" || role === "system" || (role === "assistant" && !pieces.some((piece) => piece.type === "call")),
  );
}

/** Forbids cuts within the spans, in time linear in the list and the spans. */
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

/** How much of the conversation's end is kept unchanged. */
export interface TailWish {
  /** Number of messages that are always kept. */
  keepLast: number;
  /** Further messages are kept while all together have at most this many tokens. */
  tokens: number;
}

/** Index of the first element of the kept tail. */
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

/** Index of a user's turn at an element or shortly before it where a cut is allowed; undefined if there is none. */
function userTurnBefore(
  list: readonly MeasuredElement[],
  { at, safe, tokens }: { at: number; safe: readonly boolean[]; tokens: number },
): number | undefined {
  let tokensLeft = tokens;
  for (let i = at; i > 0 && i < list.length; i--) {
    if (safe[i] && list[i]!.entry.role === "user") return i;
    tokensLeft -= list[i - 1]!.tokens;
    if (tokensLeft < 0) return undefined;
  }
  return undefined;
}
