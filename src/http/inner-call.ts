// Calls the program's own endpoints without an HTTP connection, for clients of another transport: with the same admission,
// limits, responses, usage row and log line as a request over HTTP.

import type { TraceSpan } from "../telemetry/span.ts";
import { asApiError } from "./errors.ts";
import { bindExchange, type Exchange } from "./exchange.ts";
import { noteError, runAtEnd } from "./request-end.ts";

/** The caller of the endpoint. */
export interface InnerCaller {
  readonly requestId: string;
  /** The `Authorization` header. */
  readonly authorization: string;
  readonly address: string;
  readonly secure: boolean;
  readonly isUnnamedProxy: boolean;
  /** Scheme and host under which the client reaches the gateway. */
  readonly origin: string;
  readonly span?: TraceSpan | undefined;
  /** Whether the caller's own request was admitted. */
  readonly isPart?: true;
}

/** The request. */
export interface InnerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** The path with its query. */
  readonly path: string;
  /** The pattern of the path, if it has parameters. */
  readonly route?: string;
  readonly body?: unknown;
  /** Aborts the work. */
  readonly signal: AbortSignal;
  /** Whether the call is a part of a call that has a log line, so that it gets none and is not counted. */
  readonly isQuiet?: boolean;
}

/** A call in progress. */
export interface InnerRun {
  /** The JSON of the response. Rejects with `ApiError`, or with the signal's reason. */
  readonly answer: Promise<Record<string, unknown>>;
  /** The response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The fields of the log line, which are set during the call. */
  readonly log: Readonly<Record<string, unknown>>;
}

/** Calls an endpoint. */
export type CallEndpoint = (caller: InnerCaller, request: InnerRequest) => InnerRun;

/** What the calls need. */
export interface InnerCallDeps {
  /** Answers a request. Errors that it throws are recorded on the exchange. */
  handle(request: Request): Response | Promise<Response>;
  /** The transport of the calls, for their log lines. */
  readonly via: string;
  finished(exchange: Exchange, status: number): void;
  /** Called for an unexpected error. */
  unexpected(exchange: Exchange, cause: unknown): void;
}

/** The status in logs and metrics for clients that left, as web servers commonly use it. */
const CLIENT_GONE = 499;

/** Creates the function that calls endpoints. */
export function createInnerCalls(deps: InnerCallDeps): CallEndpoint {
  return (caller, asked) => {
    const { method, path, body, signal } = asked;
    const request = new Request(caller.origin + path, {
      method,
      headers: { authorization: caller.authorization, "content-type": "application/json" },
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const exchange = openExchange(caller, asked, deps);
    bindExchange(request, exchange);
    return { answer: answerOf(request, exchange, deps), headers: exchange.headers, log: exchange.log };
  };
}

async function answerOf(request: Request, exchange: Exchange, deps: InnerCallDeps): Promise<Record<string, unknown>> {
  let status = CLIENT_GONE;
  let taken: object | undefined;
  exchange.takeAnswer = (value) => {
    taken = value;
  };
  try {
    const response = await deps.handle(request);
    if (exchange.thrown !== undefined) throw exchange.thrown;
    request.signal.throwIfAborted();
    status = response.status;
    return (taken ?? (await response.json())) as Record<string, unknown>;
  } catch (thrown) {
    if (request.signal.aborted) {
      exchange.log["client_gone"] = true;
      throw request.signal.reason;
    }
    const error = asApiError(thrown);
    status = error.status;
    if (error.apiCode === "internal_error") deps.unexpected(exchange, error.detail.cause ?? thrown);
    noteError(exchange, error);
    if (error.status < 500 && error.detail.cause === undefined) exchange.log["reason"] = error.message;
    throw error;
  } finally {
    exchange.finish(status);
  }
}

/** The body came with a request whose bytes are already reserved. */
const HELD = { shrinkTo: () => undefined, release: () => undefined };

function openExchange(caller: InnerCaller, asked: InnerRequest, deps: InnerCallDeps): Exchange {
  const { method, path, route = path, isQuiet = false } = asked;
  const name = `${method} ${route}`;
  let finished = false;
  const atEnd: (() => void)[] = [];
  const exchange: Exchange = {
    requestId: caller.requestId,
    startedMs: performance.now(),
    method,
    path: path.split("?", 1)[0] as string,
    route,
    span: caller.span?.child(name, { "http.request.method": method, "http.route": route }),
    address: caller.address,
    secure: caller.secure,
    isUnnamedProxy: caller.isUnnamedProxy,
    headers: {},
    holder: undefined,
    isPart: caller.isPart,
    holdBody: () => HELD,
    log: { via: deps.via },
    recorded: false,
    failedRoutes: [],
    streaming: false,
    atEnd(work) {
      if (finished) work();
      else atEnd.push(work);
    },
    finish(status) {
      if (finished) return;
      finished = true;
      runAtEnd(atEnd, (error) => deps.unexpected(exchange, error));
      if (!isQuiet) deps.finished(exchange, status);
    },
  };
  return exchange;
}
