// The client of a security event, for the session list and the audit log.

import { exchangeOf } from "../http/exchange.ts";

/** A browser or program at an address. */
export interface Client {
  readonly address: string;
  readonly userAgent: string;
}

/** Who sent this request. */
export function clientOf(request: Request): Client {
  return { address: exchangeOf(request).address, userAgent: request.headers.get("user-agent") ?? "" };
}
