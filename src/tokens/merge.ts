// Counts the tokens into which a run of bytes is split by merging pairs in the order of their ranks, but in about linear time. It
// takes the longest token that is compatible with the one before it, and goes back if none can follow. Two tokens are compatible
// if merging their bytes never prefers a pair across their border. Every run has exactly one split whose neighbours are all
// compatible, which is the result of merging.

import {
  extendHash,
  hashOfTail,
  leftOf,
  lengthOfRank,
  longestWith,
  rankIn,
  rightOf,
  TOKEN_BYTES_MAX,
} from "./ranks.ts";

/** Runs are split into parts of this many bytes, which limits the memory. This only affects longer words. */
export const MERGED_BYTES_MAX = 1 << 16;

/** For each position, the hash of the bytes before it. */
const hashes = new Int32Array(MERGED_BYTES_MAX + 1);
/** 1 if a split that ends at this position cannot continue. */
const dead = new Uint8Array(MERGED_BYTES_MAX + 1);
/** The current tokens, as ranks. */
const taken = new Int32Array(MERGED_BYTES_MAX);

/**
 * A cache of which pairs of tokens are compatible, which does not depend on their context. A slot holds the pair that came last.
 */
const KNOWN_BITS = 14;
const knownFirst = new Int32Array(1 << KNOWN_BITS).fill(-1);
const knownSecond = new Int32Array(1 << KNOWN_BITS);
const knownAnswer = new Uint8Array(1 << KNOWN_BITS);

/** A cache of the longest token that begins another one. A slot holds the token that came last. */
const BEGUN_BITS = 12;
const begunBy = new Int32Array(1 << BEGUN_BITS).fill(-1);
const beginning = new Int32Array(1 << BEGUN_BITS);

/** The current run. It is a variable of the module, so that the functions below are created once and not for each run. */
let run: Uint8Array = new Uint8Array();
let runFrom = 0;
let runLength = 0;

/** The number of tokens of `bytes[from, to)`, which has at most `MERGED_BYTES_MAX` bytes. The vocabulary must be loaded. */
export function countMerged(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  run = bytes;
  runFrom = from;
  runLength = length;
  hashes[0] = 0;
  for (let at = 0; at < length; at++) hashes[at + 1] = extendHash(hashes[at]!, bytes[from + at]!);
  dead.fill(0, 0, length + 1);

  let count = 0;
  let at = 0;
  let rank = longest(0, TOKEN_BYTES_MAX);
  while (at < length) {
    const before = count === 0 ? -1 : taken[count - 1]!;
    while (rank !== -1) {
      const size = lengthOfRank(rank);
      if (dead[at + size] === 0 && (before === -1 || goTogether(before, rank, at))) break;
      rank = shorter(rank, at);
    }
    if (rank === -1) {
      // No token can follow here, so the previous token is replaced by a shorter one.
      dead[at] = 1;
      count -= 1;
      at -= lengthOfRank(before);
      rank = shorter(before, at);
    } else {
      taken[count++] = rank;
      at += lengthOfRank(rank);
      if (at < length) rank = longest(at, TOKEN_BYTES_MAX);
    }
  }
  return count;
}

/** The rank of the token from `start` to `end`; -1 if there is none. */
function rankAt(start: number, end: number): number {
  return end - start > TOKEN_BYTES_MAX
    ? -1
    : rankIn(run, runFrom + start, runFrom + end, hashOfTail(hashes[end]!, hashes[start]!, end - start));
}

/** The length of the longest token that may be between these positions. */
function bound(start: number, end: number): number {
  return longestWith(end - start, (n) => hashOfTail(hashes[start + n]!, hashes[start]!, n));
}

/** The longest token that begins at this position and has at most `most` bytes. */
function longest(start: number, most: number): number {
  for (let size = bound(start, Math.min(runLength, start + most)); size > 1; size--) {
    const rank = rankAt(start, start + size);
    if (rank !== -1) return rank;
  }
  return rankAt(start, start + 1);
}

/**
 * The longest shorter token that begins at this position, where `rank` begins too; -1 if there is none. A run of one sign is split at
 * nearly each position, and has a token of nearly each length.
 */
function shorter(rank: number, start: number): number {
  const slot = rank & ((1 << BEGUN_BITS) - 1);
  if (begunBy[slot] === rank) return beginning[slot]!;
  const size = lengthOfRank(rank);
  const found = size === 1 ? -1 : longest(start, size - 1);
  begunBy[slot] = rank;
  beginning[slot] = found;
  return found;
}

function goTogether(first: number, second: number, middle: number): boolean {
  const slot = (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)) >>> (32 - KNOWN_BITS);
  if (knownFirst[slot] === first && knownSecond[slot] === second) return knownAnswer[slot] === 1;
  const answer = leavesBorder(first, second, middle);
  knownFirst[slot] = first;
  knownSecond[slot] = second;
  knownAnswer[slot] = answer ? 1 : 0;
  return answer;
}

/** Whether merging keeps the border at `middle` between these two tokens. */
function leavesBorder(first: number, second: number, middle: number): boolean {
  let [leftToken, rightToken, limit] = [first, second, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const start = middle - lengthOfRank(leftToken);
    const end = middle + lengthOfRank(rightToken);
    const across = bound(start, end) < end - start ? -1 : rankAt(start, end);
    if (across !== -1 && across < limit) return false;
    // Undoes the latest merge, on whichever side it was.
    const leftInner = rightOf(leftToken);
    const rightInner = leftOf(rightToken);
    if (leftInner === leftToken && rightInner === rightToken) return true;
    if (rightInner === rightToken || (leftToken > rightToken && leftInner !== leftToken)) {
      limit = leftToken;
      leftToken = leftInner;
    } else {
      limit = rightToken + 1;
      rightToken = rightInner;
    }
  }
}
