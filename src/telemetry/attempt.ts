// A call to an upstream that failed, as usage rows and the dashboard show it.

/** A route that failed while a request looked for an answer. */
export interface FailedRoute {
  readonly provider: string;
  /** The model's id there. */
  readonly model: string;
  /** Why: a kind of `UpstreamFault`, or `interrupted`. */
  readonly kind: string;
  /** HTTP status of the upstream; 0 where there was none. */
  readonly status: number;
  readonly ms: number;
  /** `performance.now()` when it was asked. */
  readonly startedMs: number;
}

/** A try of a request as it is kept: the failed ones in order, and last the one that answered, where one did. */
export interface KeptTry extends Omit<FailedRoute, "startedMs"> {
  /** Milliseconds from the request's arrival until it was asked. */
  readonly at: number;
}

/** The kind of the try that answered. */
export const ANSWERED = "ok";
