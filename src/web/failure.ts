// The errors that clients get if a page or a search fails (docs/reference/errors.md).

import { ApiError, type ErrorCode } from "../base/errors.ts";
import { isUnreachable } from "../base/unreachable.ts";
import { asApiError } from "../http/errors.ts";
import { BlockedAddress } from "../net/address-guard.ts";
import { FetchError } from "../net/fetch.ts";
import { UnknownHost } from "../net/resolve.ts";
import { PageError } from "../pages/page-error.ts";
import { SearchError, type SearchFault } from "../search/failure.ts";
import { JobLost } from "../store/work/job-hold.ts";
import { PoolFull } from "../workers/pool.ts";
import type { Body } from "./params.ts";

/** The features that have error codes of their own. */
export type WebFeature = "scrape" | "crawl" | "map" | "extract" | "llmstxt" | "search";

/**
 * Returns the same error with `error` as a string if the body is from a Firecrawl client. These clients print `error` unchanged,
 * and identify themselves in `origin` or `integration`, which the gateway does not use otherwise.
 */
export function inClientFormat(error: ApiError, body: Body | undefined): ApiError {
  if (typeof body?.["origin"] !== "string" && typeof body?.["integration"] !== "string") return error;
  const { message, code, param } = error.body();
  return new ApiError(error.apiCode, error.message, {
    ...error.detail,
    body: { ...error.detail.body, success: false, error: message, code, param },
  });
}

/** Whether an error ends the worker of a job. Such an error is not a failure of the page that was being read. */
export function endsWorker(error: unknown): boolean {
  return error instanceof JobLost || isUnreachable(error);
}

/** Converts an error of `pages`, `search` or `net` to an `ApiError`; an `ApiError` is returned unchanged. */
export function asWebError(feature: WebFeature, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof BlockedAddress)
    return error.reason === "malformed"
      ? new ApiError("invalid_request", error.message, { param: "url" })
      : new ApiError("url_not_allowed", error.message, { param: "url" });
  if (error instanceof PageError) return new ApiError(codeOf(feature, error), error.message, { cause: error });
  if (error instanceof FetchError)
    return new ApiError(`${feature}_${error.fault === "timeout" ? "timeout" : "upstream_error"}`, error.message, {
      cause: error,
    });
  if (error instanceof UnknownHost) return new ApiError(`${feature}_upstream_error`, error.message, { cause: error });
  if (error instanceof PoolFull)
    return new ApiError(`${feature}_unavailable`, "Too many pages are being read at the moment. Try again soon.", {
      cause: error,
    });
  if (error instanceof SearchError)
    return new ApiError(SEARCH_CODES[error.fault], error.message, {
      body: { unresponsive_engines: error.unresponsive },
      cause: error,
    });
  if (isUnreachable(error)) return asApiError(error);
  const what = feature === "search" ? "The search failed" : "The page could not be read";
  return new ApiError(`${feature}_internal_error`, `${what} because of an internal error.`, { cause: error });
}

const SEARCH_CODES: Readonly<Record<SearchFault, ErrorCode>> = {
  unavailable: "search_unavailable",
  full: "search_unavailable",
  failed: "search_upstream_error",
  timeout: "search_timeout",
};

function codeOf(feature: WebFeature, error: PageError): ErrorCode {
  switch (error.fault) {
    case "timeout":
      return `${feature}_timeout`;
    case "upstream":
      return `${feature}_upstream_error`;
    case "no_browser":
      return `${feature}_unavailable`;
    default:
      // The other failures, for which repeating the same request does not help: protected, not HTML, too large, forbidden by
      // robots.txt.
      return "scrape_failed";
  }
}
