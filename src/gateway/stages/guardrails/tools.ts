// What checks need that ask others, and what they learn of a request.

import type { ApiError } from "../../../base/errors.ts";
import type { GuardedFetch } from "../../../net/fetch.ts";
import type { Reservation } from "../../../shared-state/reservations.ts";
import type { Caller } from "../../admission/caller.ts";
import type { LabelHolder } from "../../usage/labels.ts";

/** Where a text is on its way. */
export type GuardSide = "input" | "output";

/** Who asks which model, and by which request. */
export interface GuardedRequest {
  readonly caller: Pick<Caller, "name" | "accountId" | "keyId" | "budgets"> & {
    readonly account: Pick<Caller["account"], "tier">;
  };
  readonly model: string;
  readonly requestId: string;
  readonly endpoint: string;
  /** What reports group the request by; absent: its caller alone. */
  readonly labels?: LabelHolder;
  /** What it has reserved in its caller's budgets, if that is known already. */
  readonly reservation?: Reservation | undefined;
}

/** The caller may not pay for a check. It is no failure of the check, so that no guardrail lets the request pass for it. */
export class CallerRefused extends Error {
  readonly told: ApiError;
  constructor(told: ApiError) {
    super(told.message, { cause: told });
    this.told = told;
  }
}

/** A question to a decision model. */
export interface GuardQuestion {
  readonly model: string;
  readonly question: Readonly<Record<string, unknown>>;
  readonly state: string;
  /** The request that it is asked for, which pays. */
  readonly request: GuardedRequest;
  readonly signal: AbortSignal;
}

/** What checks need that ask others. */
export interface GuardTools {
  /** Fetches by the rules of webhooks. */
  readonly fetch: GuardedFetch;
  /** Signs what is sent to webhooks. */
  readonly webhookSecret: string;
  nowSeconds(): number;
  /** The probability of yes. Throws if there is no answer. */
  decide(asked: GuardQuestion): Promise<number>;
}
