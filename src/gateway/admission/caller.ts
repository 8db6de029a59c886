// The caller of a request: its key, its account, and the budgets against which the request counts.

import type { Budget } from "../../shared-state/reservations.ts";
import type { LiveKey } from "../../store/access/key-rows.ts";

/** An authenticated caller. */
export interface Caller extends Omit<LiveKey, "budgetMicros"> {
  /** The budgets of the key and the account; undefined for most callers, which have none. */
  readonly budgets?: readonly Budget[] | undefined;
}
