// What Firecrawl's clients are told when something fails: `error` as a text, and no 502 or 504. Those clients send a
// request that got a 502 three times, and a page whose server is broken is not mended by asking for it again.

import { ApiError, type ErrorBody } from "../../base/errors.ts";
import type { EndpointTraits } from "../../http/edge.ts";
import { asWebError, type WebFeature } from "../failure.ts";

/** Statuses of ours that these clients would read otherwise. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [502, 500],
  [504, 408],
]);

/** Their own name for it. */
const CODES: Readonly<Record<string, string>> = { scrape_timeout: "SCRAPE_TIMEOUT" };

/** How every error under `/v2/` is written. */
export const FIRECRAWL_TRAITS: EndpointTraits = {
  envelope: ({ message, code, param, details }: ErrorBody) => ({
    success: false,
    error: message,
    code: CODES[code] ?? code,
    ...(param === null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  }),
};

/** The status under `/v2/` of what is another elsewhere. */
export function statusOf(status: number): number {
  return STATUSES.get(status) ?? status;
}

/** The failure with the status that these clients are to see. */
export function asFirecrawlError(feature: WebFeature, thrown: unknown): ApiError {
  const error = asWebError(feature, thrown);
  const status = statusOf(error.status);
  return status === error.status ? error : new ApiError(error.apiCode, error.message, { ...error.detail, status });
}
