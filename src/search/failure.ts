// Why one engine, or all of them, gave no hits.

import type { EngineFailureKind } from "./engine.ts";

/** Failures found by an engine's parser, and those of the request itself. */
export type FailureKind =
  | EngineFailureKind
  /** It could not be reached, or the connection broke. */
  | "network"
  | "timeout"
  /** Its hits are unrelated to the query. */
  | "unrelated"
  /** Its rate limit would have delayed the request too long. */
  | "busy";

/** A failure of one engine. The message is in our own words. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** An engine that did not contribute, and why. */
export interface Unresponsive {
  readonly name: string;
  /** A kind of failure, `suspended: KIND`, or `too slow`. */
  readonly reason: string;
}

/**
 * No result at all. `unavailable`: no engine can be queried; `failed`: none of the engines answered; `timeout`: the deadline
 * passed first; `full`: too many concurrent searches.
 */
export type SearchFault = "unavailable" | "failed" | "timeout" | "full";

/** Thrown by a search. The message is a sentence without its full stop; the failed engines are appended. */
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
