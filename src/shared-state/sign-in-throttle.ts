// Limits password guessing. An attempt counts from its start until its window has passed, unless it succeeded: however many
// attempts are sent concurrently, no more than the limit are checked. redis-sign-in-throttle.ts shares the counters with other nodes.

import type { AtOnce } from "../base/at-once.ts";
import { type Clock, forwardClock } from "../base/clock.ts";

/** The maximum number of tries and their period. */
export interface ThrottleLimit {
  readonly failures: number;
  readonly windowMs: number;
}

/** An attempt that was allowed (`uncount` takes it back: it succeeded, or was never checked), or when to retry. */
export type ThrottledTry =
  | { readonly allowed: true; readonly uncount: () => void }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Counts tries by name. */
export interface SignInThrottle {
  /** Starts a try that counts under each of `names`; refused if one of them has none left. */
  begin(names: readonly string[]): AtOnce<ThrottledTry>;
}

/** Names that are remembered; the least recently used is dropped first. About 10 MB. */
const NAMES_MAX = 50_000;

/** Counters that answer at once, and whose tries can be stored. */
export interface LocalThrottle extends SignInThrottle {
  begin(names: readonly string[]): ThrottledTry;
  /** The times of each name's tries that still count. */
  snapshot(): Record<string, number[]>;
  restore(tries: Iterable<readonly [name: string, timesMs: readonly number[]]>): void;
}

/** Shares counters with other nodes: `local` counts this node's own tries, `what` separates the counters from others. */
export type ThrottleSharing = (
  what: string,
  own: { readonly local: Pick<LocalThrottle, "begin">; limit(): ThrottleLimit },
) => SignInThrottle;

/** Creates the counters. `limit` is read at each try, so that a reload applies. */
export function createThrottle(wallClock: Clock, limit: () => ThrottleLimit): LocalThrottle {
  const clock = forwardClock(wallClock);
  const tries = new Map<string, { readonly atMs: number }[]>();
  const counting = (list: readonly { readonly atMs: number }[]) => {
    const sinceMs = clock.now() - limit().windowMs;
    return list.filter(({ atMs }) => atMs > sinceMs);
  };
  return {
    snapshot: () => {
      const kept = [...tries].map(([name, list]) => [name, counting(list).map(({ atMs }) => atMs)] as const);
      return Object.fromEntries(kept.filter(([, times]) => times.length > 0));
    },
    restore(saved) {
      const nowMs = clock.now();
      for (const [name, times] of saved) {
        const list = counting(times.map((atMs) => ({ atMs: Math.min(atMs, nowMs) })));
        if (list.length > 0) tries.set(name, list);
      }
    },
    begin(names) {
      const { failures, windowMs } = limit();
      const nowMs = clock.now();
      let freeAtMs = 0;
      const lists = names.map((name) => {
        const list = counting(tries.get(name) ?? []);
        // The first time at which fewer than `failures` tries count.
        const blocking = list[list.length - failures];
        if (blocking !== undefined) freeAtMs = Math.max(freeAtMs, blocking.atMs + windowMs);
        return list;
      });
      if (freeAtMs > 0) return { allowed: false, retryAfterSeconds: (freeAtMs - nowMs) / 1000 };
      const attempt = { atMs: nowMs };
      for (const [at, name] of names.entries()) {
        tries.delete(name);
        tries.set(name, [...lists[at]!, attempt]);
      }
      while (tries.size > NAMES_MAX) tries.delete(tries.keys().next().value as string);
      const uncount = () => {
        for (const name of names) {
          const rest = (tries.get(name) ?? []).filter((other) => other !== attempt);
          if (rest.length > 0) tries.set(name, rest);
          else tries.delete(name);
        }
      };
      return { allowed: true, uncount };
    },
  };
}
