// How many tokens a run of bytes is cut into, as merging pairs by rank would cut it, but in time about linear in the run: the
// longest token that goes together with the one before it is taken, and taken back where nothing can follow. Two tokens go
// together when merging them from their bytes never prefers another pair across their border. Any run has exactly one cutting
// whose neighbours all go together, so what is found is what merging finds.

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

/** Runs are cut in parts of this many bytes, which bounds the memory; only a word longer than that could tell. */
export const MERGED_BYTES_MAX = 1 << 16;

/** The hash of the bytes before a place. */
const hashes = new Int32Array(MERGED_BYTES_MAX + 1);
/** 1 where a cutting that ends here cannot go on. */
const dead = new Uint8Array(MERGED_BYTES_MAX + 1);
/** The tokens taken so far, by rank. */
const taken = new Int32Array(MERGED_BYTES_MAX);

/** Answers about pairs of tokens, which do not depend on what stands around them; a slot holds the latest. */
const KNOWN_BITS = 14;
const knownFirst = new Int32Array(1 << KNOWN_BITS).fill(-1);
const knownSecond = new Int32Array(1 << KNOWN_BITS);
const knownAnswer = new Uint8Array(1 << KNOWN_BITS);

/** The run that is being cut: module-wide, so that the functions below are made once and not for each run. */
let run: Uint8Array = new Uint8Array();
let runFrom = 0;
let runLength = 0;

/** Tokens of `bytes[from, to)`, which are at most `MERGED_BYTES_MAX`. The vocabulary must be loaded. */
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
  let most = TOKEN_BYTES_MAX;
  while (at < length) {
    let rank = longest(at, most);
    const before = count === 0 ? -1 : taken[count - 1]!;
    while (rank !== -1) {
      const size = lengthOfRank(rank);
      if (dead[at + size] === 0 && (before === -1 || goTogether(before, rank, at))) break;
      rank = size === 1 ? -1 : longest(at, size - 1);
    }
    if (rank === -1) {
      // Nothing can follow here: the token before is taken back for a shorter one.
      dead[at] = 1;
      count -= 1;
      const size = lengthOfRank(before);
      at -= size;
      most = size - 1;
    } else {
      taken[count++] = rank;
      at += lengthOfRank(rank);
      most = TOKEN_BYTES_MAX;
    }
  }
  return count;
}

/** The rank of the token that stands there; -1 when there is none. */
function rankAt(start: number, end: number): number {
  return end - start > TOKEN_BYTES_MAX
    ? -1
    : rankIn(run, runFrom + start, runFrom + end, hashOfTail(hashes[end]!, hashes[start]!, end - start));
}

/** No token between these is longer. */
function bound(start: number, end: number): number {
  return longestWith(end - start, (n) => hashOfTail(hashes[start + n]!, hashes[start]!, n));
}

/** The longest token that starts there and has at most `most` bytes. */
function longest(start: number, most: number): number {
  for (let size = bound(start, Math.min(runLength, start + most)); size > 1; size--) {
    const rank = rankAt(start, start + size);
    if (rank !== -1) return rank;
  }
  return rankAt(start, start + 1);
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

/** Whether merging leaves the border at `middle` between these two. */
function leavesBorder(first: number, second: number, middle: number): boolean {
  let [left, right, limit] = [first, second, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const start = middle - lengthOfRank(left);
    const end = middle + lengthOfRank(right);
    const across = bound(start, end) < end - start ? -1 : rankAt(start, end);
    if (across !== -1 && across < limit) return false;
    // Takes back the merge that was made last, on whichever side.
    const leftInner = rightOf(left);
    const rightInner = leftOf(right);
    if (leftInner === left && rightInner === right) return true;
    if (rightInner === right || (left > right && leftInner !== left)) {
      limit = left;
      left = leftInner;
    } else {
      limit = right + 1;
      right = rightInner;
    }
  }
}
