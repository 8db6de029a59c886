// Reads the filters of the request log from the query. Errors name the parameter.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { LogFilter } from "../../store/usage/log.ts";
import { LOG_OUTCOMES, SPAN_HOURS, type SpanName } from "../contract-log.ts";

const HOUR_MS = 3_600_000;
/** The stored length of a request id. */
const TEXT_CHARS_MAX = 200;

/** The filter that a query describes. Throws `ApiError` 400. */
export function logFilterOf(query: URLSearchParams, clock: Clock): LogFilter {
  const requestId = textOf(query, "request");
  const span = textOf(query, "span");
  if (span !== undefined && !Object.hasOwn(SPAN_HOURS, span)) {
    const names = Object.keys(SPAN_HOURS).join(", ");
    throw new ApiError("invalid_request", `span: expected one of ${names}.`, { param: "span" });
  }
  const outcome = textOf(query, "status");
  const known = LOG_OUTCOMES.find((one) => one === outcome);
  if (outcome !== undefined && known === undefined)
    throw new ApiError("invalid_request", `status: expected one of ${LOG_OUTCOMES.join(", ")}.`, { param: "status" });
  return {
    keyId: textOf(query, "key"),
    model: query.get("model") === NO_MODEL ? "" : textOf(query, "model"),
    outcome: known,
    errorCode: textOf(query, "error"),
    requestId,
    // A request id is searched for in all rows, whatever the span.
    sinceMs:
      span === undefined || requestId !== undefined ? undefined : clock.now() - SPAN_HOURS[span as SpanName] * HOUR_MS,
  };
}

/** Stands for requests without a model, since no model has such an id. */
const NO_MODEL = "-";

function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim() ?? "";
  if (text === "") return undefined;
  if (text.length <= TEXT_CHARS_MAX) return text;
  throw new ApiError("invalid_request", `${name}: expected at most ${TEXT_CHARS_MAX} characters.`, { param: name });
}

/**
 * The row after which a live view continues: the last one that the browser received, otherwise the one in the query.
 * Throws `ApiError` 400.
 */
export function afterOf(request: Request, query: URLSearchParams): number | undefined {
  const text = request.headers.get("last-event-id") ?? query.get("after");
  if (text === null || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ApiError("invalid_request", "after must be the id of a row.", { param: "after" });
}
