// What is reported of a finished request: the fields of its log line, and the end of its span.

import type { ApiError } from "../base/errors.ts";
import type { Exchange } from "./exchange.ts";

/** Maximum length of an id or path in the log, so that a client cannot fill it. */
const LOGGED_CHARS_MAX = 200;

/** Ends the request's span, if tracing is on. */
export function endSpan({ span, log }: Exchange, status: number, errorCode: string | null): void {
  if (span === undefined) return;
  const { model, key_id: key } = log;
  span.set({
    "http.response.status_code": status,
    ...(typeof model === "string" ? { "sallyport.model": model } : {}),
    ...(typeof key === "string" ? { "sallyport.key_id": key } : {}),
  });
  if (errorCode !== null && (status >= 500 || status === 200)) span.fail(errorCode);
  span.end();
}

/** Notes how a request failed. */
export function noteError({ log }: Exchange, { apiCode, detail }: ApiError): void {
  log["error"] = apiCode;
  if (detail.asked !== undefined) log["asked_model"] = detail.asked.slice(0, LOGGED_CHARS_MAX);
}

/** The fields with which a request's log line begins. Those of `exchange.log` follow. */
export function logFields(exchange: Exchange, status: number, tookMs: number): Record<string, unknown> {
  return {
    request_id: exchange.requestId.slice(0, LOGGED_CHARS_MAX),
    method: exchange.method,
    path: exchange.path.slice(0, LOGGED_CHARS_MAX),
    status,
    ms: Math.round(tookMs * 10) / 10,
  };
}

/** What is to be done when an exchange ends. A failure of one thing is told, and keeps nothing else from being done. */
export function runAtEnd(works: readonly (() => void)[], failed: (error: unknown) => void): void {
  for (const work of works) {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  }
}
