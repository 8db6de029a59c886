// Turns at hosts that nodes share, so that all of them together ask a host no more often and no more at once than one would.
// A program alone needs none: its scheduler knows all its requests.

/** A lease, which ends with `leave`; or milliseconds after which to ask again. */
export type HostLease =
  | {
      readonly granted: true;
      /** `unused`: no request was made, so the host need not be spared. */
      leave(unused?: boolean): void;
    }
  | {
      readonly granted: false;
      readonly waitMs: number;
      /** The other accounts have to wait too. */
      readonly isForAll: boolean;
    };

/** Grants leases. */
export interface HostLeases {
  /** Asks for a lease now; undefined if nothing can be asked, and each node decides for itself. Never rejects. */
  ask(host: string, request: HostLeaseRequest): Promise<HostLease | undefined> | undefined;
}

/** Who wants to use a host, and what the host is spared. */
export interface HostLeaseRequest {
  /** The account that uses the host; "" for requests of the program. */
  readonly accountId: string;
  /** Minimum time between the starts of two requests. */
  readonly delayMs: number;
  /** Concurrent requests. */
  readonly most: number;
  /** The same for an account that has no request there on any node. */
  readonly newcomerMost: number;
}
