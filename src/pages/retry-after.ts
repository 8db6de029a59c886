// When to repeat a request after a site asked for a later retry.

/** Statuses of responses that may soon be different. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

const BASE_MS = 500;
const MAX_MS = 8000;
/** If a site asks for a longer wait, the request is not repeated. */
const ASKED_MAX_MS = 30_000;

/**
 * The wait before the next attempt: what the header asks for in seconds, or else a growing time. Dates, which are rare, count as
 * the longest wait.
 */
export function retryAfterMs(header: string | null, attempt: number): number {
  const seconds = header === null ? Number.NaN : Number(header);
  if (Number.isFinite(seconds) && seconds >= 0)
    return seconds * 1000 > ASKED_MAX_MS ? Number.POSITIVE_INFINITY : seconds * 1000;
  if (header !== null) return ASKED_MAX_MS;
  return Math.min(MAX_MS, BASE_MS * 2 ** (attempt - 1));
}
