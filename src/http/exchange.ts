// What the edge knows about a request, and what rooms above leave for the edge: response headers and the fields of its log
// line. Kept beside the Request so that no framework determines its shape.

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
  /** The path where it is answered, even if another address was requested. */
  readonly path: string;
  /** The address of another service that was requested; undefined for nearly all requests. */
  alias?: { readonly model?: string; readonly keyHeader?: string } | undefined;
  /** The pattern of the path's route, such as `/v1/models/*`; `unmatched` if there is none. */
  readonly route: string;
  /** The request's span; undefined while tracing is off. */
  readonly span: TraceSpan | undefined;
  /** The client's address; behind trusted proxies, the forwarded one. */
  readonly address: string;
  /** Whether the client uses HTTPS, possibly as a trusted proxy says. */
  readonly secure: boolean;
  /** Whether the address may be that of an unlisted proxy: then it grants nothing. */
  readonly isUnnamedProxy: boolean;
  /** Added to whatever response this request gets. */
  readonly headers: Record<string, string>;
  /** The account of the request; undefined until it is known. */
  holder: string | undefined;
  /** Reserves memory for the body until the exchange is finished. Throws 503 if there is none in time. */
  holdBody(bytes: number): BodyHold | Promise<BodyHold>;
  /** Fields of the request's one log line. */
  readonly log: Record<string, unknown>;
  /** What a route threw; the framework passes errors on, so that one place words them all. */
  thrown?: unknown;
  /** The caller, once it was admitted and the request counts; usage is recorded for it. */
  caller?: { readonly accountId: string; readonly keyId: string };
  /** Takes a copy of what passes, where the key is being debugged; undefined for nearly all. */
  wire?: WireTap;
  /** Whether a usage row of the whole request was written; otherwise one is written when it ends. */
  recorded: boolean;
  /** The upstream calls that have failed. */
  readonly failedRoutes: FailedRoute[];
  /** Runs when the exchange is finished, after its cost was recorded; immediately if that has happened. */
  atEnd(work: () => void): void;
  /** Whether a streaming answer owns the end of the exchange: it calls `finish` itself. */
  streaming: boolean;
  /** Takes an answer's value where nobody reads its JSON: the request came from within the program. */
  takeAnswer?(value: object): void;
  /** Finishes the exchange: log line and metrics. Called once. */
  finish(status: number): void;
}

/** Sends a request. */
export type Fetch = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** A copy of what passes for a request. */
export interface WireTap {
  /** The client's body came, decompressed. */
  body(bytes: Uint8Array): void;
  /** The answer: it is to be sent in place of the one given. */
  response(response: Response): Response;
  /** Sends to a provider: it is to be used in place of the one given. */
  transport(provider: string, send: Fetch): Fetch;
}

const exchanges = new WeakMap<Request, Exchange>();

/** Attaches an exchange to its request. */
export function bindExchange(request: Request, exchange: Exchange): void {
  exchanges.set(request, exchange);
}

/** The exchange of a request, if it came through the edge. */
export function maybeExchangeOf(request: Request): Exchange | undefined {
  return exchanges.get(request);
}

/** The exchange of a request that came through the edge. */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error("The request did not come through the edge.");
  return exchange;
}
