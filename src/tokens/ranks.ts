// The vocabulary of o200k_base, which gives the rank of a span of bytes, or -1. It is read from a packed file on first use (about
// 20 ms) and stored in typed arrays, since 200,000 small objects would take a hundred megabytes.

import { readFileSync } from "node:fs";
import ranksFile from "./o200k.zst" with { type: "file" };

/** The length of the longest token in bytes. */
export const TOKEN_BYTES_MAX = 128;

const TOKENS = 199_998;
/** The number of slots in the table: a power of two, of which less than half are used. */
const SLOTS = 1 << 19;
/** The number of bits in which a rank + 1 fits. */
const RANK_BITS = 18;
const RANKS = 1 << RANK_BITS;
const BASE = 0x01000193;

/** Extends the hash of a span by one byte. The hash of the empty span is 0. */
export function extendHash(hash: number, byte: number): number {
  return (Math.imul(hash, BASE) + byte + 1) | 0;
}

const POWERS = new Int32Array(TOKEN_BYTES_MAX + 1);
POWERS[0] = 1;
for (let n = 1; n <= TOKEN_BYTES_MAX; n++) POWERS[n] = Math.imul(POWERS[n - 1]!, BASE);

/** The hash of the last `length` bytes of a span, from the hash of the whole span and that of the bytes before them. */
export function hashOfTail(whole: number, before: number, length: number): number {
  return (whole - Math.imul(before, POWERS[length]!)) | 0;
}

/** One length for each rank, followed by the bytes; empty until the vocabulary is loaded. */
let packed: Uint8Array = new Uint8Array();
/** For each rank, the position at which its bytes end. */
let ends: Int32Array = new Int32Array();
/** Rank + 1 by hash, with the high bits of the hash above it; 0 marks a free slot. */
let slots: Int32Array = new Int32Array();
/** By the first 4, 8, 16 … bytes: the length of the longest token that begins with them. */
let longest: Uint8Array = new Uint8Array();

/** The rank of `bytes[from, to)`, whose hash is `hash`; -1 if the span is not a token. The vocabulary must be loaded. */
export function rankIn(bytes: Uint8Array, from: number, to: number, hash: number): number {
  const mixed = mix(hash);
  for (let slot = mixed & (SLOTS - 1); slots[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
    const entry = slots[slot]!;
    // Most spans are not tokens. The bits of the hash in the slot make it unnecessary to compare their bytes.
    if ((entry ^ mixed) >>> RANK_BITS !== 0) continue;
    const rank = (entry & (RANKS - 1)) - 1;
    if (packed[rank] !== to - from) continue;
    const shift = ends[rank]! - to;
    let at = from;
    while (at < to && packed[at + shift] === bytes[at]) at++;
    if (at === to) return rank;
  }
  return -1;
}

/** How many of the first bytes are examined, at least, to limit the length of a token. */
const BEGINNING_MIN = 4;
const BEGINNINGS = 1 << 18;

/**
 * No token that begins with these bytes and has at most `most` bytes is longer than the result. `hashOfFirst(n)` is the hash of
 * the first n bytes.
 */
export function longestWith(most: number, hashOfFirst: (n: number) => number): number {
  let bound = most;
  for (let n = BEGINNING_MIN; n <= bound; n *= 2) {
    bound = Math.min(bound, Math.max(n - 1, longest[beginningOf(hashOfFirst(n))]!));
  }
  return bound;
}

function beginningOf(hash: number): number {
  return (hash ^ (hash >>> 14)) & (BEGINNINGS - 1);
}

/** The number of bytes of a token. */
export function lengthOfRank(rank: number): number {
  return packed[rank]!;
}

/** Rank + 1 of the two tokens from which each token is merged. They are computed on first use; 0 means not computed yet. */
const lefts = new Int32Array(TOKENS);
const rights = new Int32Array(TOKENS);

/** The first of the two tokens from which a token is merged; for a single byte, the token itself. */
export function leftOf(rank: number): number {
  if (lefts[rank] === 0) findSplit(rank);
  return lefts[rank]! - 1;
}

/** The second of these two tokens. */
export function rightOf(rank: number): number {
  if (rights[rank] === 0) findSplit(rank);
  return rights[rank]! - 1;
}

/** The starts of parts, and the ranks of their pairs, while the split of a token is computed. */
const starts = new Int32Array(TOKEN_BYTES_MAX + 1);
const pairs = new Int32Array(TOKEN_BYTES_MAX + 1);
const sums = new Int32Array(TOKEN_BYTES_MAX + 1);

/** Merges the token's bytes until two parts are left. */
function findSplit(rank: number): void {
  const size = packed[rank]!;
  if (size === 1) {
    lefts[rank] = rank + 1;
    rights[rank] = rank + 1;
    return;
  }
  const from = ends[rank]! - size;
  for (let at = 0; at < size; at++) {
    starts[at] = at;
    sums[at + 1] = extendHash(sums[at]!, packed[from + at]!);
  }
  starts[size] = size;
  const rankAt = (start: number, end: number) =>
    rankIn(packed, from + start, from + end, hashOfTail(sums[end]!, sums[start]!, end - start));
  for (let at = 0; at + 1 < size; at++) pairs[at] = rankAt(at, at + 2);
  let parts = size;
  while (parts > 2) {
    let best = -1;
    for (let at = 0; at + 1 < parts; at++) {
      if (pairs[at]! !== -1 && (best === -1 || pairs[at]! < pairs[best]!)) best = at;
    }
    starts.copyWithin(best + 1, best + 2, parts + 1);
    pairs.copyWithin(best, best + 1, parts - 1);
    parts -= 1;
    if (best + 1 < parts) pairs[best] = rankAt(starts[best]!, starts[best + 2]!);
    if (best > 0) pairs[best - 1] = rankAt(starts[best - 1]!, starts[best + 1]!);
  }
  lefts[rank] = rankAt(0, starts[1]!) + 1;
  rights[rank] = rankAt(starts[1]!, size) + 1;
}

/** Loads the vocabulary synchronously, which takes about 20 ms. Does nothing if it is loaded. */
export function loadRanks(): void {
  if (packed.length > 0) return;
  const steps = loading();
  while (steps.next().done !== true);
}

/** Loads the vocabulary and lets other work run in between. */
export async function loadRanksInTurns(): Promise<void> {
  if (packed.length > 0) return;
  const steps = loading();
  while (steps.next().done !== true) await new Promise<void>((resume) => setImmediate(resume));
}

/** How many ranks are processed in one step, which takes about a millisecond. */
const RANKS_IN_A_TURN = 20_000;

function* loading(): Generator<void, void> {
  const bytes = Bun.zstdDecompressSync(readFileSync(ranksFile));
  yield;
  const table = {
    ends: new Int32Array(TOKENS),
    slots: new Int32Array(SLOTS),
    longest: new Uint8Array(BEGINNINGS),
  };
  let end = TOKENS;
  for (let rank = 0; rank < TOKENS; rank++) {
    if (rank % RANKS_IN_A_TURN === RANKS_IN_A_TURN - 1) yield;
    const start = end;
    const size = bytes[rank]!;
    end += size;
    let hash = 0;
    for (let at = start; at < end; at++) {
      hash = extendHash(hash, bytes[at]!);
      const n = at - start + 1;
      // Only powers of two from the smallest length on are used.
      if (n < BEGINNING_MIN || (n & (n - 1)) !== 0) continue;
      const beginning = beginningOf(hash);
      if (table.longest[beginning]! < size) table.longest[beginning] = size;
    }
    const mixed = mix(hash);
    let slot = mixed & (SLOTS - 1);
    while (table.slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    table.slots[slot] = (mixed & ~(RANKS - 1)) | (rank + 1);
    table.ends[rank] = end;
  }
  // All are assigned at once. A count that runs meanwhile loads the vocabulary again, and never sees a part of it.
  ({ ends, slots, longest } = table);
  packed = bytes;
}

/** Mixes a hash: its low bits choose a slot, and its high bits distinguish hashes in the same slot. */
function mix(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
