// What is spent of a budget within its window. The database computes this when usage is written, and the request path's
// cached copy does the same computation, so that both agree without a query.

/** A budget and what was spent of it. */
export interface SpendingWindow {
  readonly limitMicros: number;
  /** Length of a window; null: the budget never refills. */
  readonly periodMs: number | null;
  readonly windowStartMs: number | null;
  /** Spent within the window that started at `windowStartMs`. */
  readonly spentMicros: number;
}

/** What one key or account spent, as written. */
export interface Spending {
  readonly id: string;
  /** When the last of it was spent. */
  readonly atMs: number;
  readonly costMicros: number;
}

/** The window after an amount was spent: windows have a fixed length, and the first cost after the end of one starts the next. */
export function afterSpending(window: SpendingWindow, { atMs, costMicros }: Spending): SpendingWindow {
  const { periodMs, windowStartMs, spentMicros } = window;
  if (!hasEnded(window, atMs) || periodMs === null || windowStartMs === null)
    return { ...window, spentMicros: spentMicros + costMicros };
  const windows = Math.floor((atMs - windowStartMs) / periodMs);
  return { ...window, windowStartMs: windowStartMs + windows * periodMs, spentMicros: costMicros };
}

/** What is left of a budget, in micro-dollars; negative if it is overdrawn. */
export function leftMicros(window: SpendingWindow, nowMs: number): number {
  return window.limitMicros - (hasEnded(window, nowMs) ? 0 : window.spentMicros);
}

function hasEnded({ periodMs, windowStartMs }: SpendingWindow, atMs: number): boolean {
  return periodMs !== null && windowStartMs !== null && atMs >= windowStartMs + periodMs;
}
