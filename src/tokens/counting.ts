// Counts the tokens of a text step by step, so that other work can run in between.

import { countMerged, MERGED_BYTES_MAX } from "./merge.ts";
import { pieceEnd } from "./pieces.ts";
import { extendHash, loadRanks, rankIn, TOKEN_BYTES_MAX } from "./ranks.ts";

/** After this many bytes, which take a few milliseconds, other work runs. */
const TURN_BYTES = 1 << 14;

/** How many characters are examined together. Only longer words are split differently. */
const WINDOW = 1 << 16;
/** Words of non-ASCII letters take longer for each byte, so longer ones are split. */
const FOREIGN_BYTES_MAX = 1 << 14;
/** The end of a piece may depend on this many characters after it. */
const BEHIND = 4;

/** Counts piece by piece, and yields the tokens so far after each step. */
export function* counting(text: string, work: { bytes: number; merged: number }): Generator<number, number> {
  loadRanks();
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const window = windowAt(text, start);
    const last = start + window.length === text.length;
    const bytes = new TextEncoder().encode(window);
    let at = 0;
    for (let from = 0; at < window.length; ) {
      const end = pieceEnd(window, at);
      // The window may have cut off this piece, so it is read again from its start.
      if (!last && at > 0 && end > window.length - BEHIND) break;
      const to = from + byteLength(window, at, end);
      if (isToken(bytes, from, to)) tokens += 1;
      else {
        work.merged += to - from;
        const partBytes = to - from === end - at ? MERGED_BYTES_MAX : FOREIGN_BYTES_MAX;
        for (let part = from; part < to; part += partBytes) {
          const partEnd = Math.min(to, part + partBytes);
          tokens += countMerged(bytes, part, partEnd);
          if (partEnd < to) yield tokens;
        }
      }
      work.bytes += to - from;
      if (work.bytes >= TURN_BYTES) {
        work.bytes = 0;
        yield tokens;
      }
      at = end;
      from = to;
    }
    start += at;
  }
  return tokens;
}

/** The text that is examined together, from a position on. Surrogate pairs are not split. */
function windowAt(text: string, start: number): string {
  if (start === 0 && text.length <= WINDOW) return text;
  const end = start + WINDOW;
  const cutsPair = end < text.length && text.codePointAt(end - 1)! > 0xffff;
  return text.slice(start, cutsPair ? end - 1 : end);
}

/**
 * The number of bytes of `text[start, end)` in UTF-8. An unpaired surrogate counts as the replacement character, which has three
 * bytes.
 */
function byteLength(text: string, start: number, end: number): number {
  let length = end - start;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    if (code < 0x800) length += 1;
    else if (code < 0xd800 || code > 0xdbff || text.codePointAt(at)! < 0x10000) length += 2;
    else {
      // A surrogate pair has four bytes.
      length += 2;
      at += 1;
    }
  }
  return length;
}

function isToken(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > TOKEN_BYTES_MAX) return false;
  let hash = 0;
  for (let at = from; at < to; at++) hash = extendHash(hash, bytes[at]!);
  return rankIn(bytes, from, to, hash) !== -1;
}
