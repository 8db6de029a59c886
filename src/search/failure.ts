// The reasons why one engine, or all of them, gave no hits.

import type { EngineFailureKind } from "./engine.ts";

/** The failures that an engine's parser finds, and those of the request itself. */
export type FailureKind =
  | EngineFailureKind
  /** It could not be reached, or the connection broke. */
  | "network"
  | "timeout"
  /** Its hits are unrelated to the query. */
  | "unrelated"
  /** Its rate limit would have delayed the request too long. */
  | "busy";

/** The failure of one engine. The message is this program's own. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** An engine without a contribution, and the reason. */
export interface Unresponsive {
  readonly name: string;
  /** A kind of failure, `suspended: KIND`, or `too slow`. */
  readonly reason: string;
}

/**
 * Why a search has no result at all. `unavailable`: no engine can be queried; `failed`: none of the engines answered; `timeout`:
 * the deadline passed before; `full`: there are too many concurrent searches.
 */
export type SearchFault = "unavailable" | "failed" | "timeout" | "full";

/** The error of a search. The message is a sentence without its full stop, to which the failed engines are added. */
export class SearchError extends Error {
  override name = "SearchError";
  readonly fault: SearchFault;
  readonly unresponsive: readonly Unresponsive[];
  constructor(fault: SearchFault, message: string, unresponsive: readonly Unresponsive[] = []) {
    const why = unresponsive.map(({ name, reason }) => `${name} (${reason})`).join(", ");
    super(why === "" ? `${message}.` : `${message}: ${why}.`);
    this.fault = fault;
    this.unresponsive = unresponsive;
  }
}
