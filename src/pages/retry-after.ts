// When to retry after a site asked to come back later.

/** Responses that may change soon. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

const BASE_MS = 500;
const MAX_MS = 8000;
/** A site that asks for a longer wait is not retried within one request. */
const ASKED_MAX_MS = 30_000;

/**
 * The wait before the next attempt: what the header asks for (in seconds; dates are rare and count as the longest wait), else
 * growing.
 */
export function retryAfterMs(header: string | null, attempt: number): number {
  const seconds = header === null ? Number.NaN : Number(header);
  if (Number.isFinite(seconds) && seconds >= 0)
    return seconds * 1000 > ASKED_MAX_MS ? Number.POSITIVE_INFINITY : seconds * 1000;
  if (header !== null) return ASKED_MAX_MS;
  return Math.min(MAX_MS, BASE_MS * 2 ** (attempt - 1));
}
