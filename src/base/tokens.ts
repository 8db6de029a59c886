// Counts tokens as the public vocabulary o200k_base cuts them: exact, synchronous, in time about linear in the text.

import { pieceEnd } from "./token-pieces.ts";
import { extendHash, hashOfTail, type RankOf, ranksIn, TOKEN_BYTES_MAX } from "./token-ranks.ts";

/** Longer texts are counted this far and scaled up: a count must not hold the event loop. */
const COUNTED_CHARACTERS_MAX = 1_000_000;

/** Pieces are merged in parts of this many bytes, which bounds the memory; only a word longer than that could tell. */
const MERGED_BYTES_MAX = 1 << 14;

/**
 * Tokens of a text in o200k_base. Names of special tokens count as the ordinary text they are in a message. Beyond a million
 * characters the count is the beginning's, scaled up.
 */
export function countTokens(text: string): number {
  if (text.length === 0) return 0;
  if (text.length > COUNTED_CHARACTERS_MAX) {
    const counted = countTokens(text.slice(0, COUNTED_CHARACTERS_MAX));
    return Math.ceil((counted * text.length) / COUNTED_CHARACTERS_MAX);
  }
  const bytes = new TextEncoder().encode(text);
  const merger: Merger = { bytes, rankOf: ranksIn(bytes) };
  let tokens = 0;
  let from = 0;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const to = from + byteLength(text, start, end);
    tokens += countPiece(merger, from, to);
    start = end;
    from = to;
  }
  return tokens;
}

interface Merger {
  readonly bytes: Uint8Array;
  readonly rankOf: RankOf;
}

/** Bytes of `text[start, end)` in UTF-8. Half a surrogate pair counts as the replacement character, three bytes. */
function byteLength(text: string, start: number, end: number): number {
  let length = end - start;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    if (code < 0x800) length += 1;
    else if (code < 0xd800 || code > 0xdbff || text.codePointAt(at)! < 0x10000) length += 2;
    else {
      // Two units are four bytes.
      length += 2;
      at += 1;
    }
  }
  return length;
}

function countPiece(merger: Merger, from: number, to: number): number {
  if (to - from <= TOKEN_BYTES_MAX) {
    let hash = 0;
    for (let at = from; at < to; at++) hash = extendHash(hash, merger.bytes[at]!);
    if (merger.rankOf(from, to, hash) !== -1) return 1;
  }
  let tokens = 0;
  for (let at = from; at < to; at += MERGED_BYTES_MAX) {
    tokens += countMerged(merger, at, Math.min(to, at + MERGED_BYTES_MAX));
  }
  return tokens;
}

/** Parts by where they start; one that was merged into the part before it has no pair. */
const next = new Int32Array(MERGED_BYTES_MAX + 1);
const previous = new Int32Array(MERGED_BYTES_MAX + 1);
/** The rank of a part together with the next one; -1 for none. */
const pairRank = new Int32Array(MERGED_BYTES_MAX + 1);
/** The hash of the bytes before a place. */
const hashes = new Int32Array(MERGED_BYTES_MAX + 1);

/** Merges the pair of the lowest rank, of equals the leftmost, until no pair is a token; says how many parts remain. */
function countMerged({ bytes, rankOf }: Merger, from: number, to: number): number {
  const length = to - from;
  hashes[0] = 0;
  for (let at = 0; at < length; at++) {
    hashes[at + 1] = extendHash(hashes[at]!, bytes[from + at]!);
    next[at] = at + 1;
    previous[at] = at - 1;
  }
  next[length] = length;
  const rate = (part: number) => {
    const end = next[next[part]!]!;
    const size = end - part;
    let rank = -1;
    if (next[part]! < length && size <= TOKEN_BYTES_MAX) {
      const hash = hashOfTail(hashes[end]!, hashes[part]!, size);
      rank = rankOf(from + part, from + end, hash);
    }
    pairRank[part] = rank;
    if (rank !== -1) push(rank * PLACES + part);
  };
  for (let part = 0; part < length; part++) rate(part);
  let parts = length;
  while (heapSize > 0) {
    const lowest = pop();
    const part = lowest % PLACES;
    // The pair this entry stood for may be gone: then its neighbours were rated anew.
    if (pairRank[part] !== (lowest - part) / PLACES) continue;
    const gone = next[part]!;
    pairRank[gone] = -1;
    next[part] = next[gone]!;
    previous[next[part]!] = part;
    parts -= 1;
    rate(part);
    if (part > 0) rate(previous[part]!);
  }
  return parts;
}

/** A binary heap of rank and place in one number, the lowest on top. Empty between counts. */
const PLACES = 1 << 17;
const heap = new Float64Array(3 * MERGED_BYTES_MAX);
let heapSize = 0;

function push(entry: number): void {
  let at = heapSize++;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= entry) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

function pop(): number {
  const top = heap[0]!;
  const entry = heap[--heapSize]!;
  let at = 0;
  for (let child = 1; child < heapSize; child = 2 * at + 1) {
    if (child + 1 < heapSize && heap[child + 1]! < heap[child]!) child += 1;
    if (heap[child]! >= entry) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = entry;
  return top;
}
