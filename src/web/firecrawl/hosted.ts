// What Firecrawl's hosted service does and this gateway does not: its agents, its remote browsers, its watches over pages,
// its research. Each address says so in the shape that its clients read.

import { ApiError } from "../../base/errors.ts";

/** The addresses, each with all that is below it. */
export const HOSTED_PATHS: readonly string[] = [
  "/v2/agent",
  "/v2/browser",
  "/v2/monitor",
  "/v2/feedback",
  "/v2/crawl/params-preview",
  "/v2/search/developer",
  "/v2/search/research",
];

/** Single addresses below those of ours. */
export const HOSTED_ADDRESSES: readonly string[] = ["/v2/scrape/:id/interact", "/v2/search/:id/feedback"];

/** Says no. */
export function refuseHosted(path: string): never {
  throw new ApiError(
    "not_implemented",
    `${path.slice(0, 200)} is a part of Firecrawl's hosted service and does not exist here.`,
  );
}
