// The failures that the status and the headers of a response report, before its body is read.

import type { EngineFailure, EngineFailureKind, EngineResponse, Parsed } from "../engine.ts";

/** A failure in the form of a parsed response. */
export function failed(kind: EngineFailureKind, message: string, retryAfterMs?: number): Parsed {
  return { kind: "failure", failure: { kind, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } };
}

/** The failure that the status reports; undefined if the body must be read. */
export function statusFailure(response: EngineResponse, { keyed = false } = {}): EngineFailure | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = retryAfter(response.headers);
  const failure = (kind: EngineFailureKind, message: string): EngineFailure => ({
    kind,
    message: `${message} (HTTP ${status}).`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  if (isChallenge(response)) return failure("captcha", "The engine shows a captcha");
  if (status === 429 || isUsedUp(response))
    return failure("rate_limited", "The engine accepts no more requests at the moment");
  if (status === 401 || status === 402 || status === 407)
    return keyed
      ? failure("bad_key", "The engine does not accept the key")
      : failure("blocked", "The engine requires a sign-in");
  if (status === 403)
    return keyed
      ? failure("bad_key", "The engine refuses the key")
      : failure("blocked", "The engine refuses this client");
  if (status === 451) return failure("blocked", "The engine must not answer for legal reasons");
  if (status >= 500) return failure("server_error", "The engine has failed");
  if (status === 404 || status === 410) return failure("changed_markup", "There is no engine at this address");
  if (status >= 300 && status < 400) return failure("changed_markup", "The engine redirects without an answer");
  return failure("refused", "The engine refused the request");
}

/** Whether a quota is used up: on GitHub, for example, a 403 with an exhausted quota is a rate limit. */
function isUsedUp({ status, headers }: EngineResponse): boolean {
  return status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null);
}

/** Whether the response is a bot check of Cloudflare or Google. */
function isChallenge({ status, headers, body }: EngineResponse): boolean {
  if (status !== 403 && status !== 429 && status !== 503) return false;
  if (headers.get("cf-mitigated") === "challenge") return true;
  const isMarkup = /html/i.test(headers.get("content-type") ?? "");
  return isMarkup && /__cf_chl_|cf-challenge|challenge-platform|g-recaptcha|\bhcaptcha\b/.test(body);
}

/** A time in the year 2001. Smaller numbers are not timestamps. */
const EPOCH_SECONDS_LEAST = 1_000_000_000;
const RETRY_MAX_MS = 7 * 86_400_000;

/**
 * How long to wait: `Retry-After` in seconds or as a date, or else until the quota is renewed. Times are relative to the
 * response's own date.
 */
export function retryAfter(headers: Headers): number | undefined {
  const asked = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(asked)) return Math.min(Number(asked) * 1000, RETRY_MAX_MS);
  const renewed = headers.get("x-ratelimit-remaining") === "0" ? Number(headers.get("x-ratelimit-reset") ?? "") : 0;
  // A small number is a count of seconds, which some engines send under the same name.
  const until = asked !== "" ? Date.parse(asked) : renewed > EPOCH_SECONDS_LEAST ? renewed * 1000 : Number.NaN;
  const ms = until - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, RETRY_MAX_MS) : undefined;
}
