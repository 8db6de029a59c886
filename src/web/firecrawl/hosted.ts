// Features of Firecrawl's hosted service that this gateway does not have: agents, remote browsers, change tracking, research.
// Requests to their paths get an error in the format of Firecrawl's clients.

import { ApiError } from "../../base/errors.ts";

/** The unsupported paths. Everything below them is unsupported too. */
export const HOSTED_PATHS: readonly string[] = [
  "/v2/agent",
  "/v2/browser",
  "/v2/monitor",
  "/v2/feedback",
  "/v2/search/developer",
  "/v2/search/research",
];

/** Single unsupported paths below supported ones. */
export const HOSTED_ADDRESSES: readonly string[] = ["/v2/scrape/:id/interact", "/v2/search/:id/feedback"];

/** Refuses a request for such a feature. */
export function refuseHosted(path: string): never {
  throw new ApiError(
    "not_implemented",
    `${path.slice(0, 200)} is a part of Firecrawl's hosted service and does not exist here.`,
  );
}
