// The OpenAPI description of Firecrawl's v2 endpoints.

import { Type } from "@sinclair/typebox";
import type { ApiEndpoint } from "../../http/endpoint.ts";
import { FIRECRAWL_JOB_ENDPOINTS } from "./openapi-jobs.ts";
import { DOCUMENT, PAGE_OPTIONS, URL_PARAMETER, work } from "./openapi-parts.ts";

/** The endpoints. */
export const FIRECRAWL_ENDPOINTS: readonly ApiEndpoint[] = [
  work("/v2/scrape", {
    id: "firecrawlScrape",
    summary: "Read one web page",
    description: "Firecrawl's `scrape`. What is taken without effect is named in the document's `warning`.",
    feature: "scrape",
    body: { url: URL_PARAMETER, ...PAGE_OPTIONS },
    example: { url: "https://example.com/", formats: ["markdown", "links"] },
    answer: Type.Object({ success: Type.Literal(true), data: DOCUMENT }, { $id: "FirecrawlScrapeResult" }),
    errors: ["extract_unavailable", "extract_upstream_error", "tier_required"],
  }),
  ...FIRECRAWL_JOB_ENDPOINTS,
];
