// What checks need that ask others, and what they learn of a request.

import type { GuardedFetch } from "../../../net/fetch.ts";
import type { Caller } from "../../admission/caller.ts";

/** Where a text is on its way. */
export type GuardSide = "input" | "output";

/** Who asks which model, and by which request. */
export interface GuardedRequest {
  readonly caller: Pick<Caller, "name" | "accountId" | "keyId"> & { readonly account: Pick<Caller["account"], "tier"> };
  readonly model: string;
  readonly requestId: string;
  readonly endpoint: string;
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
