// What the edge knows of a request, and what other rooms leave for the edge: response headers, and the fields of its log line. It
// is kept beside the Request, so that no framework determines its form.

import type { AtOnce } from "../base/at-once.ts";
import type { FailedRoute } from "../base/attempt.ts";
import type { TraceSpan } from "../telemetry/span.ts";
import type { BodyHold } from "./body-budget.ts";

/** Counts the tokens of a request against limits of tokens a minute. */
export interface TokenMeter {
  /** Whether something is reserved. */
  readonly isReserved: boolean;
  /**
   * Reserves what the request, or a further round of it, may use, until it ends: `most` if that is left, at least `least`. Throws
   * 429.
   */
  reserve(wish: { readonly least: number; readonly most: number }): AtOnce<void>;
}

/** One request at the edge. */
export interface Exchange {
  /** The request's id, which is returned byte for byte. */
  readonly requestId: string;
  /** Whether the id was made here, and no answer has an id that is made of it yet. */
  namesAnswer?: boolean;
  /** The time of arrival by `performance.now()`. */
  readonly startedMs: number;
  readonly method: string;
  /** The path of the route that answers, even if another address was requested. */
  readonly path: string;
  /** Set if the address of another service was requested; undefined for nearly all requests. */
  alias?:
    | {
        readonly model?: string;
        readonly members?: Readonly<Record<string, unknown>>;
        readonly keyHeader?: string;
      }
    | undefined;
  /** The pattern of the path's route, such as `/v1/models/*`; `unmatched` if there is none. */
  readonly route: string;
  /** The request's span; undefined if tracing is off. */
  readonly span: TraceSpan | undefined;
  /** The client's address. Behind trusted proxies, this is the forwarded one. */
  readonly address: string;
  /** Whether the client uses HTTPS, which a trusted proxy may state. */
  readonly secure: boolean;
  /** Whether the address may be that of an unlisted proxy, so that it must not grant any rights. */
  readonly isUnnamedProxy: boolean;
  /** Headers that are added to the response, whatever it is. */
  readonly headers: Record<string, string>;
  /** The account of the request; undefined until it is known. */
  holder: string | undefined;
  /** Reserves memory for the body until the exchange is finished. Throws 503 if there is none in time. */
  holdBody(bytes: number): BodyHold | Promise<BodyHold>;
  /** The fields of the request's log line. */
  readonly log: Record<string, unknown>;
  /** The value that a route threw. The framework passes errors on, so that they are handled in one place. */
  thrown?: unknown;
  /** Counts its tokens; undefined for nearly all requests, whose keys have no limit of them. */
  tokens?: TokenMeter;
  /** Whether it is a part of a request that was admitted, and so is no request at once of its own. */
  readonly isPart?: true | undefined;
  /** The caller, after the request was admitted and counted. Its usage is recorded. */
  caller?: { readonly accountId: string; readonly keyId: string; readonly projectId?: string | null };
  /** What the client wants its requests grouped by in reports. */
  tags?: readonly string[];
  /** The agent run that the request belongs to. */
  runId?: string;
  /** Copies the messages of the request if its key is being debugged; undefined for nearly all requests. */
  wire?: WireTap;
  /** Whether a usage row of the whole request was written. If not, one is written when the request ends. */
  recorded: boolean;
  /** The upstream calls that have failed. */
  readonly failedRoutes: FailedRoute[];
  /** Runs `work` when the exchange is finished and its cost was recorded; immediately if that has already happened. */
  atEnd(work: () => void): void;
  /** Whether a streaming answer ends the exchange by calling `finish` itself. */
  streaming: boolean;
  /** Takes the value of an answer directly, for requests from within the program, where nobody reads JSON. */
  takeAnswer?(value: object): void;
  /** Finishes the exchange: writes the log line and the metrics. Called once. */
  finish(status: number): void;
}

/** Sends a request. */
export type Fetch = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** Wraps the function that sends to a provider; the returned one must be used instead. */
export type CallTransport = (provider: string, send: Fetch) => Fetch;

/** Copies the messages of a request. */
export interface WireTap {
  /** Called with the client's decompressed body. */
  body(bytes: Uint8Array): void;
  /** Wraps the response to the client; the returned one must be sent instead. */
  response(response: Response): Response;
  readonly transport: CallTransport;
}

/** Kept on the request itself, where looking it up costs least. */
const EXCHANGE = Symbol("exchange");

type BoundRequest = Request & { [EXCHANGE]?: Exchange };

/** Binds an exchange to its request. */
export function bindExchange(request: Request, exchange: Exchange): void {
  (request as BoundRequest)[EXCHANGE] = exchange;
}

/** The exchange of a request; undefined if it did not come through the edge. */
export function maybeExchangeOf(request: Request): Exchange | undefined {
  return (request as BoundRequest)[EXCHANGE];
}

/** The exchange of a request that came through the edge. */
export function exchangeOf(request: Request): Exchange {
  const exchange = maybeExchangeOf(request);
  if (exchange === undefined) throw new Error("The request did not come through the edge.");
  return exchange;
}
