// Times as text, the same in every answer, table and line.

/** The time in ISO 8601, in UTC with milliseconds; null for null. */
export function isoTime(timeMs: number): string;
export function isoTime(timeMs: number | null): string | null;
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
