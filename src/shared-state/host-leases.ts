// Turns at hosts that nodes share, so that all of them together ask a host no more often and no more at once than one would.
// A program alone needs none: its scheduler knows all its requests.

/** A lease, which ends with `leave`; or milliseconds after which to ask again. */
export type HostLease =
  | {
      readonly granted: true;
      /** `unused`: no request was made, so the host need not be spared. */
      leave(unused?: boolean): void;
    }
  | { readonly granted: false; readonly waitMs: number };

/** Grants leases. */
export interface HostLeases {
  /** Asks for a lease now; undefined if nothing can be asked, and each node decides for itself. Never rejects. */
  ask(host: string, limits: HostLimits): Promise<HostLease | undefined> | undefined;
}

/** What a host is spared. */
export interface HostLimits {
  /** Minimum time between the starts of two requests. */
  readonly delayMs: number;
  /** Concurrent requests. */
  readonly most: number;
}
