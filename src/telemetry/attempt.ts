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
}
