// The failures that the status and the headers of a response report, before its body is read.

import type { EngineFailure, EngineFailureKind, EngineResponse, Parsed } from "../engine.ts";

/**
 * A failure that an engine's body reports. A body may be about this query alone, so only the status says that the host has failed;
 * for a rate limit see `rateLimited`.
 */
export function failed(kind: Exclude<EngineFailureKind, "server_error" | "rate_limited">, message: string): Parsed {
  return { kind: "failure", failure: { kind, message } };
}

const RATE_LIMITED = "The engine accepts no more requests at the moment";

/** The failure of a rate limit that an engine reports in its own way. `statedMs` is the pause that its body asks for. */
export function rateLimited({ headers }: EngineResponse, message = `${RATE_LIMITED}.`, statedMs?: number): Parsed {
  const retryAfterMs = retryAfter(headers) ?? statedMs;
  return {
    kind: "failure",
    failure: { kind: "rate_limited", message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  };
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
  if (status === 429 || isUsedUp(response)) return failure("rate_limited", RATE_LIMITED);
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

/** A time in the year 2001. Smaller numbers are counts of seconds, which some engines send under the same name. */
const EPOCH_SECONDS_LEAST = 1_000_000_000;
const RETRY_MAX_MS = 7 * 86_400_000;

/**
 * How long to wait: `Retry-After` in seconds or as a date, or else until every quota that is used up is renewed. Times are relative
 * to the response's own date.
 */
export function retryAfter(headers: Headers): number | undefined {
  const asked = headers.get("retry-after")?.trim() ?? "";
  const waits = asked !== "" ? [msUntil(asked, headers, 0)] : renewals(headers);
  const known = waits.filter((ms): ms is number => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(Math.max(...known), RETRY_MAX_MS);
}

/** Maximum number of quotas that one response names, such as one for a second and one for a month. */
const QUOTAS_MAX = 10;

/** When the quotas that are used up are renewed. Several are lists, in one order in both headers. */
function renewals(headers: Headers): (number | undefined)[] {
  const list = (name: string) => (headers.get(name) ?? "").split(",", QUOTAS_MAX).map((part) => part.trim());
  const renewed = list("x-ratelimit-reset");
  return list("x-ratelimit-remaining").map((left, index) =>
    left === "0" ? msUntil(renewed[index] ?? "", headers, EPOCH_SECONDS_LEAST) : undefined,
  );
}

/** The time until a moment: a count of seconds, a date, or seconds since the epoch, which are not less than `epochLeast`. */
function msUntil(moment: string, headers: Headers, epochLeast: number): number | undefined {
  const seconds = /^\d+(?:\.\d+)?$/.test(moment) ? Number(moment) : undefined;
  if (seconds !== undefined && (epochLeast === 0 || seconds < epochLeast)) return seconds * 1000;
  const until = seconds === undefined ? Date.parse(moment) : seconds * 1000;
  const ms = until - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
