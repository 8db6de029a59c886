// What the edge knows of a request beside the request itself, and what rooms above leave for the edge: response headers
// and the fields of its log line. Kept beside the Request so that no framework decides its shape.

import type { FailedRoute } from "../telemetry/attempt.ts";
import type { TraceSpan } from "../telemetry/span.ts";
import type { BodyHold } from "./body-budget.ts";

/** One request at the edge. */
export interface Exchange {
  /** Echoed byte for byte. */
  readonly requestId: string;
  /** `performance.now()` at arrival. */
  readonly startedMs: number;
  readonly method: string;
  /** Where it is answered, also when it came by another address. */
  readonly path: string;
  /** The address of another service that it came by; undefined for nearly all. */
  alias?: { readonly model?: string; readonly keyHeader?: string } | undefined;
  /** The pattern of the route the path belongs to, as `/v1/models/*`; `unmatched` where there is none. */
  readonly route: string;
  /** The request's span; undefined while tracing is off. */
  readonly span: TraceSpan | undefined;
  /** The client's address; behind trusted proxies, the one they forward. */
  readonly address: string;
  /** True when the client came by HTTPS, as far as a trusted proxy says. */
  readonly secure: boolean;
  /** True when the address may be that of a proxy that no one named: nothing is to be granted to it. */
  readonly isUnnamedProxy: boolean;
  /** Put on whatever response this request gets. */
  readonly headers: Record<string, string>;
  /** The account it is for; undefined until that is known. */
  holder: string | undefined;
  /** Holds room for the body until the exchange is finished. Throws 503 when there is none in time. */
  holdBody(bytes: number): BodyHold | Promise<BodyHold>;
  /** Fields of the request's one log line. */
  readonly log: Record<string, unknown>;
  /** What a route threw; the framework hands errors over here, so that one place words them all. */
  thrown?: unknown;
  /** Whose request it is, once it was let in and counts; usage is written down for them. */
  caller?: { readonly accountId: string; readonly keyId: string };
  /** True once a usage row of the whole request was written; without one the request leaves its row when it ends. */
  recorded: boolean;
  /** The upstream calls that failed so far. */
  readonly failedRoutes: FailedRoute[];
  /** Runs when the exchange is finished, after what it cost was written down; at once where that has been. */
  atEnd(work: () => void): void;
  /** True once a streaming answer owns the end of the exchange: it calls `finish` itself. */
  streaming: boolean;
  /** Finishes the record: log line and metrics. Called once. */
  finish(status: number): void;
}

const exchanges = new WeakMap<Request, Exchange>();

/** Ties an exchange to its request. */
export function bindExchange(request: Request, exchange: Exchange): void {
  exchanges.set(request, exchange);
}

/** The exchange of a request, where it came through the edge. */
export function maybeExchangeOf(request: Request): Exchange | undefined {
  return exchanges.get(request);
}

/** The exchange of a request that came through the edge. */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error("The request did not come through the edge.");
  return exchange;
}
