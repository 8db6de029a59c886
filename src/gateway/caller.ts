// The caller of a request: what its live key says of its holder, and the budgets that the request counts against.

import type { Budget } from "../http/reservations.ts";
import type { LiveKey } from "../store/access/keys.ts";

/** Who calls. */
export interface Caller extends Omit<LiveKey, "budgetMicros"> {
  /** Undefined for most: neither the key nor the account has a budget. */
  readonly budgets?: readonly Budget[] | undefined;
}
