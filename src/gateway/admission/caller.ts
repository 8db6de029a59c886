// The caller of a request: its key, its account, and the budgets and limits against which the request counts.

import type { CallerModels } from "../../catalog/key-models.ts";
import type { ScopedLimit } from "../../shared-state/request-slots.ts";
import type { Budget } from "../../shared-state/reservations.ts";
import type { LiveKey } from "../../store/access/key-rows.ts";
import type { CallerRuns } from "./run-limits.ts";

/** What requests of a caller must not exceed together. */
export interface CallerLimits {
  /** Requests at once; undefined: no limit. */
  readonly parallel: readonly ScopedLimit[] | undefined;
  /** Tokens a minute; undefined: no limit. */
  readonly tpm: readonly ScopedLimit[] | undefined;
}

/** An authenticated caller. */
export interface Caller extends Omit<LiveKey, "budgetMicros" | "models"> {
  /** Patterns of the models that it may use, those of its project among them; null: all models. */
  readonly models: CallerModels;
  /** The budgets of the key, its project and the account; undefined for most callers, which have none. */
  readonly budgets?: readonly Budget[] | undefined;
  /** Its limits beside requests a minute; undefined for most callers, which have none. */
  readonly limits?: CallerLimits | undefined;
  /** The limits of its agent runs; undefined for the gateway itself. */
  readonly runs?: CallerRuns | undefined;
}
