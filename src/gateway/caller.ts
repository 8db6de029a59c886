// The caller of a request: its live key, its account, and the budgets that the request counts against.

import type { Budget } from "../shared-state/reservations.ts";
import type { LiveKey } from "../store/access/keys.ts";

/** An authenticated caller. */
export interface Caller extends Omit<LiveKey, "budgetMicros"> {
  /** Undefined for most callers: neither the key nor the account has a budget. */
  readonly budgets?: readonly Budget[] | undefined;
}
