// Errors for Firecrawl's clients. `error` is a string, and statuses 502 and 504 are not used: on a 502, these clients send a
// request three times, which does not help if the server of a page fails.

import { ApiError, type ErrorBody } from "../../base/errors.ts";
import { entryOf } from "../../base/json-object.ts";
import type { EndpointTraits } from "../../http/edge.ts";
import { asWebError, type WebFeature } from "../failure.ts";

/** Statuses of the gateway that these clients would misread, each with the one sent instead. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [502, 500],
  [504, 408],
]);

/** Firecrawl's own codes for errors. */
const CODES: Readonly<Record<string, string>> = { scrape_timeout: "SCRAPE_TIMEOUT" };

/** The format of every error under `/v2/`. */
export const FIRECRAWL_TRAITS: EndpointTraits = {
  envelope: ({ message, code, param, details }: ErrorBody) => ({
    success: false,
    error: message,
    code: entryOf(CODES, code) ?? code,
    ...(param === null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  }),
};

/** The status of an error under `/v2/`, if it differs from the usual one. */
export function statusOf(status: number): number {
  return STATUSES.get(status) ?? status;
}

/** Converts an error to an `ApiError` with the status for these clients. */
export function asFirecrawlError(feature: WebFeature, thrown: unknown): ApiError {
  const error = asWebError(feature, thrown);
  const status = statusOf(error.status);
  return status === error.status ? error : new ApiError(error.apiCode, error.message, { ...error.detail, status });
}
