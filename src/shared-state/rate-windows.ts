// The rate limit: one sliding window of a minute per key, and per project that has a limit. In memory it is exact under concurrency because asking and counting
// is one synchronous step; redis-rate-windows.ts shares the windows with other nodes.

import type { AtOnce } from "../base/at-once.ts";
import { type Clock, forwardClock } from "../base/clock.ts";

/** The outcome of a request. `resetSeconds`: whole seconds until a slot frees, 0 if none is taken. */
export interface Verdict {
  admitted: boolean;
  limit: number;
  remaining: number;
  resetSeconds: number;
  /** Names the slot that was taken, where `takeBack` needs it. */
  slot?: string;
}

/** Decides whether a key may send one more request. */
export interface RateLimiter {
  /** Takes a slot of the key's window if one is free. Throws `ApiError` 503 if the window cannot be read. */
  admit(key: string, limit: number): AtOnce<Verdict>;
  /** Gives back the slot of an admitted request that another window has refused. */
  takeBack(key: string, verdict: Verdict): AtOnce<void>;
}

/** A limiter that answers at once. */
export interface MemoryRateLimiter extends RateLimiter {
  admit(key: string, limit: number): Verdict;
  /** Counts a request that was admitted elsewhere. */
  count(key: string, limit: number): void;
  /** The windows to store over a restart: request times in milliseconds, oldest first. */
  snapshot(): { keyId: string; timesMs: number[] }[];
  restore(windows: Iterable<{ keyId: string; timesMs: readonly number[] }>): void;
}

/** How long a window is. */
export const WINDOW_MS = 60_000;
/** Limits above this are counted in slices of time instead of one by one: a window then takes 600 numbers, not millions. */
export const EXACT_LIMIT_MAX = 20_000;
/** The length of a slice. */
export const SLICE_MS = 100;
/** Keys whose windows are kept; the least recently used is dropped first. */
const KEYS_MAX = 100_000;
/** Windows that are stored over a restart are cut to this many entries. */
const SNAPSHOT_TIMES_MAX = EXACT_LIMIT_MAX;

/** Request times, or slices, as a queue. */
interface Window {
  timesMs: number[];
  counts: number[];
  /** Index of the oldest that still counts. */
  head: number;
  total: number;
}

/** A limiter in this process's memory. */
export function memoryRateLimiter(wallClock: Clock): MemoryRateLimiter {
  // A request that seems to come later than now would count until then.
  const clock = forwardClock(wallClock);
  const windows = new Map<string, Window>();

  const windowOf = (key: string): Window => {
    let window = windows.get(key);
    if (window === undefined) {
      if (windows.size >= KEYS_MAX) windows.delete(windows.keys().next().value as string);
      window = { timesMs: [], counts: [], head: 0, total: 0 };
      windows.set(key, window);
    }
    return window;
  };

  return {
    admit(key, limit) {
      const now = clock.now();
      const window = windowOf(key);
      expire(window, now);
      const admitted = window.total < limit;
      if (admitted) add(window, now, limit > EXACT_LIMIT_MAX ? SLICE_MS : 0);
      const oldest = window.timesMs[window.head];
      return {
        admitted,
        limit,
        remaining: Math.max(0, limit - window.total),
        resetSeconds: oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000)),
      };
    },
    takeBack(key) {
      const window = windows.get(key);
      const last = (window?.timesMs.length ?? 0) - 1;
      if (window === undefined || last < window.head) return;
      const count = (window.counts[last] ?? 1) - 1;
      window.total--;
      window.counts[last] = count;
      if (count > 0) return;
      window.timesMs.pop();
      window.counts.pop();
    },
    count(key, limit) {
      const window = windowOf(key);
      const now = clock.now();
      expire(window, now);
      add(window, now, limit > EXACT_LIMIT_MAX ? SLICE_MS : 0);
    },
    snapshot() {
      const now = clock.now();
      const out: { keyId: string; timesMs: number[] }[] = [];
      for (const [keyId, window] of windows) {
        expire(window, now);
        if (window.total === 0) {
          windows.delete(keyId);
          continue;
        }
        const timesMs: number[] = [];
        for (let i = window.timesMs.length - 1; i >= window.head && timesMs.length < SNAPSHOT_TIMES_MAX; i--) {
          for (let n = 0; n < (window.counts[i] ?? 0) && timesMs.length < SNAPSHOT_TIMES_MAX; n++)
            timesMs.push(window.timesMs[i] ?? 0);
        }
        out.push({ keyId, timesMs: timesMs.reverse() });
      }
      return out;
    },
    restore(saved) {
      const now = clock.now();
      for (const { keyId, timesMs } of saved) {
        const window = windowOf(keyId);
        for (const timeMs of timesMs) add(window, Math.min(timeMs, now), 0);
      }
    },
  };
}

function expire(window: Window, now: number): void {
  const from = now - WINDOW_MS;
  while (window.head < window.timesMs.length && (window.timesMs[window.head] ?? 0) <= from) {
    window.total -= window.counts[window.head] ?? 0;
    window.head++;
  }
  if (window.head > 1024 || window.head === window.timesMs.length) {
    window.timesMs.splice(0, window.head);
    window.counts.splice(0, window.head);
    window.head = 0;
  }
}

function add(window: Window, now: number, sliceMs: number): void {
  const last = window.timesMs.length - 1;
  // A slice has the time of its last request, so that it never expires too early.
  if (
    sliceMs > 0 &&
    last >= window.head &&
    Math.floor((window.timesMs[last] ?? 0) / sliceMs) === Math.floor(now / sliceMs)
  ) {
    window.timesMs[last] = now;
    window.counts[last] = (window.counts[last] ?? 0) + 1;
  } else {
    window.timesMs.push(now);
    window.counts.push(1);
  }
  window.total++;
}
