// Computes how much of a budget is spent in its current window. The database does the same computation when usage is
// written, so the request path can keep its cached copy current without a query.

/** A budget and what was spent of it. */
export interface SpendingWindow {
  readonly limitMicros: number;
  /** Length of a window; null: the budget never refills. */
  readonly periodMs: number | null;
  readonly windowStartMs: number | null;
  /** Spent within the window that started at `windowStartMs`. */
  readonly spentMicros: number;
}

/** An amount that one key or account has spent. */
export interface Spending {
  readonly id: string;
  /** The time of the last request in the amount. */
  readonly atMs: number;
  readonly costMicros: number;
}

/**
 * The window after an amount was spent. Windows have a fixed length; the first cost after the end of one begins the
 * next.
 */
export function afterSpending(window: SpendingWindow, { atMs, costMicros }: Spending): SpendingWindow {
  const { periodMs, windowStartMs, spentMicros } = window;
  if (!hasEnded(window, atMs) || periodMs === null || windowStartMs === null)
    return { ...window, spentMicros: spentMicros + costMicros };
  const windows = Math.floor((atMs - windowStartMs) / periodMs);
  return { ...window, windowStartMs: windowStartMs + windows * periodMs, spentMicros: costMicros };
}

/** The remaining budget in micro-dollars; negative if it is overdrawn. */
export function leftMicros(window: SpendingWindow, nowMs: number): number {
  return window.limitMicros - (hasEnded(window, nowMs) ? 0 : window.spentMicros);
}

/** When the next window begins; null if the budget never refills. */
export function resetsAtMs({ periodMs, windowStartMs }: SpendingWindow, nowMs: number): number | null {
  if (periodMs === null || windowStartMs === null) return null;
  const windows = Math.floor((nowMs - windowStartMs) / periodMs) + 1;
  return windowStartMs + Math.max(1, windows) * periodMs;
}

/** The budget of a key as it is stored. */
interface KeyBudgetRow {
  readonly budgetMicros: number | null;
  readonly budgetPeriodMs: number | null;
  readonly budgetWindowStartMs: number | null;
  readonly spentMicros: number;
}

/** What is spent of a key's budget in the current window, and when the next one begins; undefined without a budget. */
export function keyBudgetNow(
  {
    budgetMicros: limitMicros,
    budgetPeriodMs: periodMs,
    budgetWindowStartMs: windowStartMs,
    spentMicros,
  }: KeyBudgetRow,
  nowMs: number,
): { readonly spentMicros: number; readonly resetsAtMs: number | null } | undefined {
  if (limitMicros === null) return undefined;
  const window = { limitMicros, periodMs, windowStartMs, spentMicros };
  return { spentMicros: limitMicros - leftMicros(window, nowMs), resetsAtMs: resetsAtMs(window, nowMs) };
}

function hasEnded({ periodMs, windowStartMs }: SpendingWindow, atMs: number): boolean {
  return periodMs !== null && windowStartMs !== null && atMs >= windowStartMs + periodMs;
}
