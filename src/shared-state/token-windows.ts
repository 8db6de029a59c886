// The tokens that a key or a project uses in a minute: a sliding window in slices of time. A request takes its estimate when it is
// admitted, and its usage replaces the estimate when it has ended. In memory this is exact under concurrency because asking and
// taking is one synchronous step; redis-token-windows.ts shares the windows with other nodes.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
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

interface Taken {
  readonly slice: number;
  readonly tokens: number;
}

interface Window {
  /** Tokens by the number of their slice, oldest first. */
  readonly slices: Map<number, number>;
  total: number;
  /** What requests in progress have taken. */
  readonly held: Set<Taken>;
}

/** Windows in this process's memory. */
export function memoryTokenWindows(clock: Clock): MemoryTokenWindows {
  const windows = new Map<string, Window>();
  const windowOf = (id: string, slice: number): Window => {
    let window = windows.get(id);
    if (window === undefined) {
      if (windows.size >= WINDOWS_MAX) windows.delete(windows.keys().next().value as string);
      window = { slices: new Map(), total: 0, held: new Set() };
      windows.set(id, window);
    }
    expire(window, slice);
    return window;
  };
  const holdOf = (taken: readonly { readonly window: Window; readonly one: Taken }[]): TokenHold => ({
    settle(tokens) {
      const slice = Math.floor(clock.now() / SLICE_MS);
      for (const { window, one } of taken) if (window.held.delete(one)) settleIn(window, one, { tokens, slice });
    },
  });
  const takeFrom = (window: Window, one: Taken) => {
    add(window, one.slice, one.tokens);
    window.held.add(one);
    return { window, one };
  };
  return {
    take(limits, { least, most }, share = (limit) => limit) {
      const now = clock.now();
      const slice = Math.floor(now / SLICE_MS);
      const found = limits.map((of) => ({ of, limit: share(of.limit), window: windowOf(of.id, slice) }));
      const refusing = found.find(({ limit, window }) => least > limit - window.total);
      if (refusing !== undefined) {
        const { of, limit, window } = refusing;
        const remaining = Math.max(0, limit - window.total);
        const waitMs = waitOf(window, least - (limit - window.total), now);
        return { hold: undefined, of, remaining, resetMs: resetOf(window, now), waitMs };
      }
      const taken = found.map(({ limit, window }) =>
        takeFrom(window, { slice, tokens: Math.min(most, limit - window.total) }),
      );
      const left = found.map(({ limit, window }) => limit - window.total);
      const at = left.indexOf(Math.min(...left));
      const { of, window } = found[at]!;
      return { hold: holdOf(taken), of, remaining: left[at]!, resetMs: resetOf(window, now), waitMs: 0 };
    },
    count(limits, tokens) {
      const slice = Math.floor(clock.now() / SLICE_MS);
      for (const { id } of limits) add(windowOf(id, slice), slice, tokens);
    },
    hold(limits, amounts) {
      const slice = Math.floor(clock.now() / SLICE_MS);
      return holdOf(limits.map(({ id }, at) => takeFrom(windowOf(id, slice), { slice, tokens: amounts[at] ?? 0 })));
    },
  };
}

function expire(window: Window, slice: number): void {
  for (const [old, tokens] of window.slices) {
    if (old >= slice - SLICES) return;
    window.slices.delete(old);
    window.total -= tokens;
  }
}

function add(window: Window, slice: number, tokens: number): void {
  window.slices.set(slice, (window.slices.get(slice) ?? 0) + tokens);
  window.total += tokens;
}

/** What was not used is given back where it was taken. What was used beyond it counts from now on. */
function settleIn(window: Window, { slice, tokens }: Taken, used: { tokens: number; slice: number }): void {
  expire(window, used.slice);
  const beyond = used.tokens - tokens;
  if (beyond > 0) add(window, used.slice, beyond);
  else if (window.slices.has(slice)) add(window, slice, beyond);
}

function leavesInMs(slice: number, now: number): number {
  return Math.max(1, (slice + SLICES + 1) * SLICE_MS - now);
}

function resetOf({ slices }: Window, now: number): number {
  for (const [slice, tokens] of slices) if (tokens > 0) return leavesInMs(slice, now);
  return 0;
}

/** When `missing` tokens have left the window; 0 if requests in progress may give them back before. */
function waitOf({ slices, held }: Window, missing: number, now: number): number {
  let heldTokens = 0;
  for (const { slice, tokens } of held) if (slices.has(slice)) heldTokens += tokens;
  if (heldTokens >= missing) return 0;
  let freed = 0;
  for (const [slice, tokens] of slices) {
    freed += tokens;
    if (freed >= missing) return leavesInMs(slice, now);
  }
  return WINDOW_MS;
}
