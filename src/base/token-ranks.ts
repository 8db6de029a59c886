// The vocabulary of o200k_base: the rank of a byte span, or -1. Read from a packed file at first use (some 20 ms), kept in
// typed arrays: 200,000 small objects would cost a hundred megabytes.

import { readFileSync } from "node:fs";
import ranksFile from "./o200k.zst" with { type: "file" };

/** The rank of `bytes[from, to)`, whose hash is `hash`, in the bytes it was made for; -1 when the span is no token. */
export type RankOf = (from: number, to: number, hash: number) => number;

/** No token is longer, in bytes. */
export const TOKEN_BYTES_MAX = 128;

const TOKENS = 199_998;
/** Slots of the table: a power of two, under half full. */
const SLOTS = 1 << 19;
const BASE = 0x01000193;

/** Extends the hash of a span by one byte; the empty span's hash is 0. */
export function extendHash(hash: number, byte: number): number {
  return (Math.imul(hash, BASE) + byte + 1) | 0;
}

const POWERS = new Int32Array(TOKEN_BYTES_MAX + 1);
POWERS[0] = 1;
for (let n = 1; n <= TOKEN_BYTES_MAX; n++) POWERS[n] = Math.imul(POWERS[n - 1]!, BASE);

/** The hash of the last `length` bytes of a span, from the hash of it all and the hash of what stands before them. */
export function hashOfTail(whole: number, before: number, length: number): number {
  return (whole - Math.imul(before, POWERS[length]!)) | 0;
}

interface Vocabulary {
  /** One length for each rank, then the bytes. */
  readonly packed: Uint8Array;
  /** Where a rank's bytes end. */
  readonly ends: Int32Array;
  /** Rank + 1 by hash; 0 is a free slot. */
  readonly slots: Int32Array;
}

let loaded: Vocabulary | undefined;

/** Looks up spans of these bytes. The first call loads the vocabulary. */
export function ranksIn(bytes: Uint8Array): RankOf {
  loaded ??= load();
  const { packed, ends, slots } = loaded;
  return (from, to, hash) => {
    for (let slot = slotOf(hash); slots[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
      const rank = slots[slot]! - 1;
      if (packed[rank] !== to - from) continue;
      const shift = ends[rank]! - to;
      let at = from;
      while (at < to && packed[at + shift] === bytes[at]) at++;
      if (at === to) return rank;
    }
    return -1;
  };
}

function load(): Vocabulary {
  const packed = Bun.zstdDecompressSync(readFileSync(ranksFile));
  const ends = new Int32Array(TOKENS);
  const slots = new Int32Array(SLOTS);
  let end = TOKENS;
  for (let rank = 0; rank < TOKENS; rank++) {
    const start = end;
    end += packed[rank]!;
    let hash = 0;
    for (let at = start; at < end; at++) hash = extendHash(hash, packed[at]!);
    let slot = slotOf(hash);
    while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = rank + 1;
    ends[rank] = end;
  }
  return { packed, ends, slots };
}

function slotOf(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) & (SLOTS - 1);
}
