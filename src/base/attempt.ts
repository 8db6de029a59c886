// A failed upstream call, as in usage rows and on the dashboard.

/** A route that failed while a request looked for an answer. */
export interface FailedRoute {
  readonly provider: string;
  /** The model's id there. */
  readonly model: string;
  /** The reason: a kind of `UpstreamFault`, or `interrupted`. */
  readonly kind: string;
  /** HTTP status of the upstream; 0 if there was none. */
  readonly status: number;
  readonly ms: number;
  /** `performance.now()` when it was called. */
  readonly startedMs: number;
}

/** A stored attempt of a request: the failed ones in order, then the one that answered, if any. */
export interface KeptTry extends Omit<FailedRoute, "startedMs"> {
  /** Milliseconds from the request's arrival to the call. */
  readonly at: number;
}

/** The kind of a successful attempt. */
export const ANSWERED = "ok";
