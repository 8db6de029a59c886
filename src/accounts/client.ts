// Who is at the other end of a security event, for the session list and the audit log.

/** A browser or program at an address. */
export interface Client {
  readonly address: string;
  readonly userAgent: string;
}
