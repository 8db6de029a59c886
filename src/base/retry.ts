// When to retry: exponential backoff with jitter, respecting Retry-After and the deadline.

import type { StopSignal } from "./stop-signal.ts";

export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * The wait before retry number `retry` (0 is the first): half of the exponential step, plus up to the same again at random,
 * so that clients that failed together do not retry together.
 */
export function backoffMs(retry: number, backoff: Backoff, random: () => number): number {
  const step = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(retry, 30));
  return Math.round(step / 2 + (random() * step) / 2);
}

/**
 * The wait before the next attempt, or undefined if it would exceed the deadline. A `Retry-After` is a minimum, even above
 * the backoff's maximum: an earlier attempt would only be refused again.
 */
export function retryWaitMs(
  retry: number,
  backoff: Backoff,
  options: { random: () => number; remainingMs: number; retryAfterSeconds?: number | undefined },
): number | undefined {
  const asked = Math.max(0, options.retryAfterSeconds ?? 0) * 1000;
  const waitMs = Math.max(backoffMs(retry, backoff, options.random), asked);
  return waitMs < options.remainingMs ? waitMs : undefined;
}

/** Waits; rejects with the signal's reason as soon as it aborts, and leaves neither timer nor listener behind. */
export function pause(ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
