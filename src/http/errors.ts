// Converts anything thrown to the error format (docs/reference/errors.md). Unknown errors get a fixed public text, and their
// cause is logged.

import { ApiError, type ErrorBody } from "../base/errors.ts";
import { isFull, isUnreachable } from "../base/unreachable.ts";
import { pathOf } from "./path.ts";

/** The time after which a client may try again if the database does not answer. */
const RETRY_DATABASE_SECONDS = 5;

const NO_ANSWER = "The gateway's database does not answer at the moment. Try again shortly.";
const NO_ROOM = "The gateway has no room to store anything at the moment. Try again later.";

/** Converts a thrown value to an API error; unknown ones become `internal_error`. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (isUnreachable(thrown))
    return new ApiError("server_busy", isFull(thrown) ? NO_ROOM : NO_ANSWER, {
      retryAfterSeconds: RETRY_DATABASE_SECONDS,
      cause: thrown,
    });
  return new ApiError("internal_error", "An internal error occurred. Try again.", { cause: thrown });
}

/** Maximum length of a message. Messages may quote the client's text, and a response must not repeat all of it. */
const MESSAGE_CHARS_MAX = 2000;
/**
 * Maximum number of seconds to retry after, which is a year. Some upstreams send larger numbers, which would be written with an
 * exponent.
 */
const RETRY_SECONDS_MAX = 31_536_000;

/** The body of an error's response. `envelope` writes it in the client's format; if absent, it has the usual format. */
export function errorJson(
  error: ApiError,
  envelope?: (body: ErrorBody) => Record<string, unknown>,
): Record<string, unknown> {
  const said = error.body();
  if (said.message.length > MESSAGE_CHARS_MAX) said.message = `${said.message.slice(0, MESSAGE_CHARS_MAX)}…`;
  if (said.param !== null) said.param = said.param.slice(0, MESSAGE_CHARS_MAX);
  return { ...(envelope === undefined ? { error: said } : envelope(said)), ...error.detail.body };
}

/** The response for an error. `envelope` writes its body in the client's format; if absent, it has the usual format. */
export function errorResponse(error: ApiError, envelope?: (body: ErrorBody) => Record<string, unknown>): Response {
  const { retryAfterSeconds, headers } = error.detail;
  const response = Response.json(errorJson(error, envelope), { status: error.status });
  // Some clients repeat a request with a wrong key for minutes, without a message, unless they are told not to.
  if (error.status === 401) response.headers.set("x-should-retry", "false");
  for (const [name, value] of Object.entries(headers ?? {})) response.headers.set(name, value);
  if (retryAfterSeconds !== undefined) {
    response.headers.set("retry-after", String(Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(retryAfterSeconds)))));
  }
  return response;
}

/** Maximum length of an address that an error quotes. */
const PATH_CHARS_MAX = 200;

/**
 * What stands twice in an address by the most common wrong base URLs: its beginning, or a version below another service's prefix.
 * Clients add both themselves.
 */
const TWICE = /^((?:\/[^/]{1,20}){1,2})\1\/|^(?:\/[^/]{1,20}){1,2}(\/v\d{1,2}(?:alpha|beta)?)\2\//;

/** The 404 for an address without a route. */
export function noEndpoint({ method, url }: Pick<Request, "method" | "url">): ApiError {
  const path = pathOf(url);
  const [, beginning, version] = TWICE.exec(path) ?? [];
  const twice = beginning ?? version;
  const hint = twice === undefined ? "" : ` ${twice} is in it twice: set the base URL of the client without it.`;
  return new ApiError("route_not_found", `No endpoint ${method} ${path.slice(0, PATH_CHARS_MAX)}.${hint}`);
}
