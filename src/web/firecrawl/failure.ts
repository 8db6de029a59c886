// Errors for Firecrawl's clients: `error` is a string, and 502 and 504 are not used. Those clients send a request three
// times on a 502, and repeating it does not repair a page whose server is broken.

import { ApiError, type ErrorBody } from "../../base/errors.ts";
import type { EndpointTraits } from "../../http/edge.ts";
import { asWebError, type WebFeature } from "../failure.ts";

/** Our own statuses that these clients would misread. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [502, 500],
  [504, 408],
]);

/** Firecrawl's name for the error. */
const CODES: Readonly<Record<string, string>> = { scrape_timeout: "SCRAPE_TIMEOUT" };

/** The format of every error under `/v2/`. */
export const FIRECRAWL_TRAITS: EndpointTraits = {
  envelope: ({ message, code, param, details }: ErrorBody) => ({
    success: false,
    error: message,
    code: CODES[code] ?? code,
    ...(param === null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  }),
};

/** The status under `/v2/` for errors that have a different one elsewhere. */
export function statusOf(status: number): number {
  return STATUSES.get(status) ?? status;
}

/** The error with the status for these clients. */
export function asFirecrawlError(feature: WebFeature, thrown: unknown): ApiError {
  const error = asWebError(feature, thrown);
  const status = statusOf(error.status);
  return status === error.status ? error : new ApiError(error.apiCode, error.message, { ...error.detail, status });
}
