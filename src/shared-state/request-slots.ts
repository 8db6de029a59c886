// The requests that a key or a project has at once. In memory the count is exact under concurrency because asking and counting is
// one synchronous step; redis-request-slots.ts shares it with other nodes.

import type { AtOnce } from "../base/at-once.ts";

/** A limit of a key, or of the project to which it belongs. */
export interface ScopedLimit {
  /** Unique over keys and projects. */
  readonly id: string;
  readonly of: "key" | "project";
  readonly limit: number;
}

/** The place of a request in progress. */
export interface Slot {
  /** Gives it back; further calls do nothing. */
  release(): void;
}

/** The limit that is reached. */
export interface LimitReached {
  readonly reached: ScopedLimit;
}

/** Decides whether one more request may begin. */
export interface RequestSlots {
  /** Takes a slot of every limit, or of none. Throws `ApiError` 503 if they cannot be counted. */
  take(limits: readonly ScopedLimit[]): AtOnce<Slot | LimitReached>;
}

/** Slots in this process's memory: they end with it, as the requests do. */
export interface MemoryRequestSlots extends RequestSlots {
  /** `share`: the part of a limit that counts. */
  take(limits: readonly ScopedLimit[], share?: (limit: number) => number): Slot | LimitReached;
  /** Counts a request, even beyond its limits. */
  hold(limits: readonly ScopedLimit[]): Slot;
}

/** Counts of keys without requests in progress are kept for the next request, up to this many. */
const COUNTS_KEPT = 10_000;

/** Creates the slots. */
export function memoryRequestSlots(): MemoryRequestSlots {
  const counts = new Map<string, { requests: number }>();
  const add = (id: string) => {
    const known = counts.get(id);
    if (known === undefined) counts.set(id, { requests: 1 });
    else known.requests += 1;
  };
  const leave = (id: string) => {
    const known = counts.get(id);
    if (known === undefined) return;
    known.requests -= 1;
    if (known.requests === 0 && counts.size > COUNTS_KEPT) counts.delete(id);
  };
  const hold = (limits: readonly ScopedLimit[]): Slot => {
    for (const { id } of limits) add(id);
    let isHeld = true;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        for (const { id } of limits) leave(id);
      },
    };
  };
  return {
    take(limits, share) {
      for (const scoped of limits) {
        const limit = share === undefined ? scoped.limit : share(scoped.limit);
        if ((counts.get(scoped.id)?.requests ?? 0) >= limit) return { reached: scoped };
      }
      return hold(limits);
    },
    hold,
  };
}
