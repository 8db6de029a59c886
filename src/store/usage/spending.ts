// What is spent of a budget within its window. The database does this sum when usage is written; the copy that the request
// path remembers does the same one, so that both say the same without asking each other.

/** A budget and what was spent of it. */
export interface SpendingWindow {
  readonly limitMicros: number;
  /** Length of a window; null: the budget never refills. */
  readonly periodMs: number | null;
  readonly windowStartMs: number | null;
  /** Spent within the window that began at `windowStartMs`. */
  readonly spentMicros: number;
}

/** What one key or account spent, as it was written. */
export interface Spending {
  readonly id: string;
  /** When the last of it was spent. */
  readonly atMs: number;
  readonly costMicros: number;
}

/** The window after something was spent: windows are fixed spans, and the first cost after one's end begins the next. */
export function afterSpending(window: SpendingWindow, { atMs, costMicros }: Spending): SpendingWindow {
  const { periodMs, windowStartMs, spentMicros } = window;
  if (!hasEnded(window, atMs) || periodMs === null || windowStartMs === null)
    return { ...window, spentMicros: spentMicros + costMicros };
  const windows = Math.floor((atMs - windowStartMs) / periodMs);
  return { ...window, windowStartMs: windowStartMs + windows * periodMs, spentMicros: costMicros };
}

/** What is left of a budget, in micro-dollars; negative where it is overdrawn. */
export function leftMicros(window: SpendingWindow, nowMs: number): number {
  return window.limitMicros - (hasEnded(window, nowMs) ? 0 : window.spentMicros);
}

function hasEnded({ periodMs, windowStartMs }: SpendingWindow, atMs: number): boolean {
  return periodMs !== null && windowStartMs !== null && atMs >= windowStartMs + periodMs;
}
