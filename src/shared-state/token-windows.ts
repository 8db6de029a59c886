// The tokens that a key or a project uses in a minute: a sliding window in slices of time. A request takes its estimate when it is
// admitted, and its usage replaces the estimate when it has ended. In memory this is exact under concurrency because asking and
// taking is one synchronous step; redis-token-windows.ts shares the windows with other nodes.

import type { AtOnce } from "../base/at-once.ts";
import { type Clock, forwardClock } from "../base/clock.ts";
import { SLICE_MS, WINDOW_MS } from "./rate-windows.ts";
import type { ScopedLimit } from "./request-slots.ts";

/** The tokens that a request may use. */
export interface TokenWish {
  /** What must be left of every limit. */
  readonly least: number;
  /** What is taken if it is left, at least `least`: the request does not say how long its answer may be. */
  readonly most: number;
}

/** What a request took. */
export interface TokenHold {
  /** Replaces it by what was used; further calls do nothing. */
  settle(tokens: number): void;
}

/** The outcome of a request. */
export interface TokenVerdict {
  /** Undefined: it is refused. */
  readonly hold: TokenHold | undefined;
  /** The limit that refuses it, or of which least is left. */
  readonly of: ScopedLimit;
  readonly remaining: number;
  /** Until the oldest tokens are free again; 0: none are taken. */
  readonly resetMs: number;
  /** Until enough is left for a refused request, if none in progress gives anything back; 0: that is enough. */
  readonly waitMs: number;
}

/** Decides whether a request may use tokens. */
export interface TokenWindows {
  /** Takes tokens of every limit, or of none. Throws `ApiError` 503 if they cannot be counted. */
  take(limits: readonly ScopedLimit[], wish: TokenWish): AtOnce<TokenVerdict>;
  /** Counts tokens that were used without asking. */
  count(limits: readonly ScopedLimit[], tokens: number): void;
}

/** Windows that answer at once. */
export interface MemoryTokenWindows extends TokenWindows {
  /** `share`: the part of a limit that counts. */
  take(limits: readonly ScopedLimit[], wish: TokenWish, share?: (limit: number) => number): TokenVerdict;
  /** Counts a request that was admitted elsewhere. */
  hold(limits: readonly ScopedLimit[], amounts: readonly number[]): TokenHold;
}

/** A slice leaves the window when all of it is older. */
export const SLICES = WINDOW_MS / SLICE_MS;
/** Windows that are kept; the oldest is dropped first. */
const WINDOWS_MAX = 100_000;

/** One window. The slice of the moment is kept apart, since nearly all that is added belongs to it. */
class Window {
  /** Tokens by the number of their slice, before the slice of the moment. */
  readonly #slices = new Map<number, number>();
  #slice: number;
  #tokens = 0;
  /** No slice is older. */
  #oldest: number;
  total = 0;
  /** What requests in progress have taken. */
  held = 0;

  constructor(slice: number) {
    this.#slice = slice;
    this.#oldest = slice;
  }

  add(slice: number, tokens: number): void {
    this.total += tokens;
    if (slice === this.#slice) this.#tokens += tokens;
    else if (slice < this.#slice) this.#slices.set(slice, (this.#slices.get(slice) ?? 0) + tokens);
    else {
      this.#slices.set(this.#slice, this.#tokens);
      this.#slice = slice;
      this.#tokens = tokens;
    }
  }

  /** What was not used is given back where it was taken. What was used beyond it counts from now on. */
  settle(taken: { readonly slice: number; readonly tokens: number }, used: number, clock: Clock): void {
    this.held -= taken.tokens;
    const beyond = used - taken.tokens;
    if (beyond > 0) {
      const slice = sliceAt(clock.now());
      this.expire(slice);
      this.add(slice, beyond);
    } else if (taken.slice === this.#slice || this.#slices.has(taken.slice)) this.add(taken.slice, beyond);
  }

  expire(slice: number): void {
    const first = slice - SLICES;
    if (this.#oldest >= first) return;
    this.#oldest = first;
    for (const [old, tokens] of this.#slices) {
      if (old >= first) {
        this.#oldest = old;
        return;
      }
      this.#slices.delete(old);
      this.total -= tokens;
    }
    if (this.#slice < first) {
      this.total -= this.#tokens;
      this.#tokens = 0;
      this.#slice = slice;
    }
    this.#oldest = this.#slice;
  }

  /** Until the oldest tokens leave it; 0 if it has none. */
  resetMs(now: number): number {
    for (const [slice, tokens] of this.#slices) if (tokens > 0) return leavesInMs(slice, now);
    return this.#tokens > 0 ? leavesInMs(this.#slice, now) : 0;
  }

  /** When `missing` tokens have left it; 0 if requests in progress may give them back before. */
  waitMs(missing: number, now: number): number {
    if (this.held >= missing) return 0;
    let freed = 0;
    for (const [slice, tokens] of this.#slices) {
      freed += tokens;
      if (freed >= missing) return leavesInMs(slice, now);
    }
    return leavesInMs(this.#slice, now);
  }
}

function leavesInMs(slice: number, now: number): number {
  return Math.max(1, (slice + SLICES + 1) * SLICE_MS - now);
}

/** What a request took of each window. */
class Hold implements TokenHold {
  readonly #clock: Clock;
  readonly #slice: number;
  readonly #windows: Window[] = [];
  readonly #amounts: number[] = [];

  constructor(clock: Clock, slice: number) {
    this.#clock = clock;
    this.#slice = slice;
  }

  take(window: Window, tokens: number): void {
    window.add(this.#slice, tokens);
    window.held += tokens;
    this.#windows.push(window);
    this.#amounts.push(tokens);
  }

  settle(tokens: number): void {
    for (let at = 0; at < this.#windows.length; at++) {
      this.#windows[at]!.settle({ slice: this.#slice, tokens: this.#amounts[at]! }, tokens, this.#clock);
    }
    this.#windows.length = 0;
  }
}

function sliceAt(ms: number): number {
  return Math.floor(ms / SLICE_MS);
}

/** Windows in this process's memory. */
export function memoryTokenWindows(wallClock: Clock): MemoryTokenWindows {
  const clock = forwardClock(wallClock);
  const windows = new Map<string, Window>();
  const windowOf = (id: string, slice: number): Window => {
    let window = windows.get(id);
    if (window === undefined) {
      if (windows.size >= WINDOWS_MAX) windows.delete(windows.keys().next().value as string);
      window = new Window(slice);
      windows.set(id, window);
    }
    window.expire(slice);
    return window;
  };
  const refusal = (of: ScopedLimit, { limit, least, now }: { limit: number; least: number; now: number }) => {
    const window = windowOf(of.id, sliceAt(now));
    const left = limit - window.total;
    const waitMs = window.waitMs(least - left, now);
    return { hold: undefined, of, remaining: Math.max(0, left), resetMs: window.resetMs(now), waitMs };
  };
  return {
    take(limits, { least, most }, share) {
      const now = clock.now();
      const slice = sliceAt(now);
      for (const of of limits) {
        const limit = share === undefined ? of.limit : share(of.limit);
        if (least > limit - windowOf(of.id, slice).total) return refusal(of, { limit, least, now });
      }
      const hold = new Hold(clock, slice);
      let tightest: ScopedLimit | undefined;
      let remaining = Number.POSITIVE_INFINITY;
      let resetMs = 0;
      for (const of of limits) {
        const window = windows.get(of.id)!;
        const limit = share === undefined ? of.limit : share(of.limit);
        hold.take(window, Math.min(most, limit - window.total));
        if (limit - window.total >= remaining) continue;
        tightest = of;
        remaining = limit - window.total;
        resetMs = window.resetMs(now);
      }
      return { hold, of: tightest!, remaining, resetMs, waitMs: 0 };
    },
    count(limits, tokens) {
      const slice = sliceAt(clock.now());
      for (const { id } of limits) windowOf(id, slice).add(slice, tokens);
    },
    hold(limits, amounts) {
      const slice = sliceAt(clock.now());
      const hold = new Hold(clock, slice);
      for (const [at, { id }] of limits.entries()) hold.take(windowOf(id, slice), amounts[at] ?? 0);
      return hold;
    },
  };
}
