// What chats and other answers share: the headers, and the limits of what is looked up.

import type { CacheWish } from "./cache-control.ts";

export const CACHE_HEADER = "x-sallyport-cache";
export const COST_HEADER = "x-sallyport-cost";

/** Characters of a request that is looked up. A longer one is seldom sent twice, and its key takes time. */
export const REQUEST_CHARS_MAX = 4 * 1024 * 1024;

/** Whether a client takes an answer of this age. */
export function isYoungEnough({ createdAtMs }: { createdAtMs: number }, wish: CacheWish, nowMs: number): boolean {
  return nowMs - createdAtMs <= (wish.maxAgeMs ?? Number.POSITIVE_INFINITY);
}
