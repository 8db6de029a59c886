// Why engines give nothing, one of them or all.

import type { EngineFailureKind } from "./engine.ts";

/** What an engine's own reading tells, and what only asking it shows. */
export type FailureKind =
  | EngineFailureKind
  /** It could not be reached, or broke off. */
  | "network"
  | "timeout"
  /** Its hits have nothing to do with the query. */
  | "unrelated"
  /** Its turn would have come too late: it takes only so many requests. */
  | "busy";

/** A failure of one engine. The message is ours. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** An engine that has no part in an answer, and why. */
export interface Unresponsive {
  readonly name: string;
  /** A kind of failure, `suspended: KIND`, or `too slow`. */
  readonly reason: string;
}

/**
 * No answer at all. `unavailable`: there is no engine to ask; `failed`: none of the engines answered; `timeout`: the
 * deadline passed first; `full`: too many searches at once.
 */
export type SearchFault = "unavailable" | "failed" | "timeout" | "full";

/** Thrown by a search. The message is a sentence without its full stop; the engines that failed are put to it. */
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
