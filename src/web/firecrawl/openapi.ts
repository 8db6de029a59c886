// The OpenAPI description of Firecrawl's v2 endpoints.

import { Type } from "@sinclair/typebox";
import type { NamelessText } from "../../http/served-endpoint.ts";
import { FIRECRAWL_JOB_TEXTS } from "./openapi-jobs.ts";
import {
  DOCUMENT,
  FIRECRAWL_GROUP,
  FIRECRAWL_SHAPE,
  failuresOf,
  PAGE_OPTIONS,
  URL_PARAMETER,
  work,
} from "./openapi-parts.ts";

/** The descriptions by the names of their operations. */
export const FIRECRAWL_TEXTS = {
  firecrawlScrape: work({
    name: "FirecrawlScrapeRequest",
    summary: "Read one web page",
    description: "Firecrawl's `scrape`. Options that have no effect here are named in the document's `warning`.",
    feature: "scrape",
    body: { url: URL_PARAMETER, ...PAGE_OPTIONS },
    example: { url: "https://example.com/", formats: ["markdown", "links"] },
    answer: Type.Object({ success: Type.Literal(true), data: DOCUMENT }, { $id: "FirecrawlScrapeResult" }),
    errors: ["extract_unavailable", "extract_upstream_error", "tier_required"],
  }),
  firecrawlParse: {
    group: FIRECRAWL_GROUP,
    summary: "Read a file",
    description: "Firecrawl's `parse`: HTML, PDF, text, JSON and XML. Nothing is fetched, and no browser is used.",
    body: {
      type: "multipart/form-data",
      schema: Type.Object(
        {
          file: Type.Unsafe<string>({
            type: "string",
            contentMediaType: "application/octet-stream",
            description: "The file.",
          }),
          options: Type.Optional(Type.String({ description: "The options of `POST /v2/scrape`, as JSON." })),
        },
        { $id: "FirecrawlParseRequest" },
      ),
      examples: {},
    },
    answer: {
      description: "The document.",
      schema: Type.Object({ success: Type.Literal(true), data: DOCUMENT }, { $id: "FirecrawlParseResult" }),
    },
    errors: [...failuresOf("scrape"), "extract_unavailable", "extract_upstream_error", "tier_required"],
    errorShape: FIRECRAWL_SHAPE,
  },
  ...FIRECRAWL_JOB_TEXTS,
} satisfies Record<string, NamelessText>;
