// What the web endpoints do with any request: they let its caller in, read its body, and note in its exchange what became of it.

import type { AtOnce } from "../base/at-once.ts";
import type { Config } from "../config/schema.ts";
import { type BodyLimits, readJsonBody } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import type { JobCaller, WebCaller } from "./caller.ts";
import type { Body } from "./params.ts";

/** What the rest of the program knows of requests. */
export interface WebEdge {
  /** Admits a request by key, plan, rate limit and budget. Throws 401, 402, 403 or 429. */
  admit(request: Request, exchange: Exchange): AtOnce<Pick<WebCaller, "accountId" | "keyId">>;
  /** Checks only the key. Throws 401. */
  authenticate(request: Request): AtOnce<Pick<WebCaller, "accountId">>;
  bodyLimits(): BodyLimits;
  config(): Config;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The HTTP status by which logs show that a request became a WebSocket. */
const SWITCHED = 101;
/** The status in logs and metrics for clients that left, as web servers commonly use it. */
const CLIENT_GONE = 499;

/** The caller of an admitted request. */
export type AdmittedCaller = Required<Omit<JobCaller, "waitMs">>;

/** Reads the body as a JSON object. Throws 400, 408 or 413. */
export async function readWebBody(request: Request, edge: WebEdge): Promise<Body> {
  return (await readJsonBody(request, edge.bodyLimits())).body;
}

/** The admitted caller of a request that may start a job. The job's id stands in the log line of the request. */
export function jobCallerOf(request: Request, admitted: Pick<WebCaller, "accountId" | "keyId">): AdmittedCaller {
  const { requestId, log } = exchangeOf(request);
  const started = (id: string) => {
    log["job_id"] = id;
  };
  return { accountId: admitted.accountId, keyId: admitted.keyId, requestId, signal: request.signal, started };
}

/** The scheme and host under which clients reach the gateway. If a trusted proxy ended TLS, the scheme is still https. */
export function publicUrlOf(request: Request, edge: WebEdge): string {
  const { host, origin } = new URL(request.url);
  return edge.config().server.publicUrl || (exchangeOf(request).secure ? `https://${host}` : origin);
}

/**
 * The answer to a client that has left; undefined if it is still there. Nobody reads the answer, and the request does not count
 * as a failure.
 */
export function answerIfGone(request: Request): Response | undefined {
  if (!request.signal.aborted) return undefined;
  exchangeOf(request).log["client_gone"] = true;
  return new Response(null, { status: CLIENT_GONE });
}

/** Marks a request that lasts as long as its WebSocket. Call the returned function when the socket has closed. */
export function lastsAsSocket(request: Request): () => void {
  const exchange = exchangeOf(request);
  exchange.streaming = true;
  return () => exchange.finish(SWITCHED);
}

/** Logs an error that no request should have. */
export function warnOfUnexpected(request: Request, error: unknown, edge: WebEdge): void {
  edge.warn("a web request failed unexpectedly", { request_id: exchangeOf(request).requestId, error });
}
