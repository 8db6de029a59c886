// Failures that a response's status and headers report, before its body is read.

import type { EngineFailure, EngineFailureKind, EngineResponse, Parsed } from "../engine.ts";

/** A failure as a parsed answer. */
export function failed(kind: EngineFailureKind, message: string, retryAfterMs?: number): Parsed {
  return { kind: "failure", failure: { kind, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } };
}

/** The failure of the status; undefined if the body must be read. */
export function statusFailure(response: EngineResponse, { keyed = false } = {}): EngineFailure | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = retryAfter(response.headers);
  const failure = (kind: EngineFailureKind, message: string): EngineFailure => ({
    kind,
    message: `${message} (HTTP ${status}).`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  if (isChallenge(response)) return failure("captcha", "The engine asks for a proof that a person is there");
  if (status === 429 || isUsedUp(response)) return failure("rate_limited", "The engine takes no more requests for now");
  if (status === 401 || status === 402 || status === 407)
    return keyed
      ? failure("bad_key", "The engine does not take the key")
      : failure("blocked", "The engine wants its users to be known");
  if (status === 403)
    return keyed
      ? failure("bad_key", "The engine refuses the key")
      : failure("blocked", "The engine refuses this client");
  if (status === 451) return failure("blocked", "The engine may not answer here");
  if (status >= 500) return failure("server_error", "The engine is out of order");
  if (status === 404 || status === 410) return failure("changed_markup", "The engine is not at this address");
  if (status >= 300 && status < 400) return failure("changed_markup", "The engine leads to no answer");
  return failure("refused", "The engine would not take the request");
}

/** A 403 with an exhausted quota is a rate limit, as on GitHub. */
function isUsedUp({ status, headers }: EngineResponse): boolean {
  return status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null);
}

/** Bot checks of Cloudflare and Google. */
function isChallenge({ status, headers, body }: EngineResponse): boolean {
  if (status !== 403 && status !== 429 && status !== 503) return false;
  if (headers.get("cf-mitigated") === "challenge") return true;
  const isMarkup = /html/i.test(headers.get("content-type") ?? "");
  return isMarkup && /__cf_chl_|cf-challenge|challenge-platform|g-recaptcha|\bhcaptcha\b/.test(body);
}

/** The year 2001: earlier values are not timestamps. */
const EPOCH_SECONDS_LEAST = 1_000_000_000;
const RETRY_MAX_MS = 7 * 86_400_000;

/** `Retry-After` in seconds or as a date, else the time of the quota's renewal; times are relative to the response's own date. */
export function retryAfter(headers: Headers): number | undefined {
  const asked = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(asked)) return Math.min(Number(asked) * 1000, RETRY_MAX_MS);
  const renewed = headers.get("x-ratelimit-remaining") === "0" ? Number(headers.get("x-ratelimit-reset") ?? "") : 0;
  // A small number is a count of seconds, which some send under the same name.
  const until = asked !== "" ? Date.parse(asked) : renewed > EPOCH_SECONDS_LEAST ? renewed * 1000 : Number.NaN;
  const ms = until - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, RETRY_MAX_MS) : undefined;
}
