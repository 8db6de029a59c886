// The OpenAPI description of Firecrawl's jobs, searches and account figures.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";
import { BATCH_MAX } from "./crawl-input.ts";
import { DOCUMENT, FIRECRAWL_GROUP, FIRECRAWL_SHAPE, PAGE_OPTIONS, URL_PARAMETER, work } from "./openapi-parts.ts";

const STARTED = Type.Object(
  {
    success: Type.Literal(true),
    id: Type.String(),
    url: Type.String({ description: "The address at which to poll the job." }),
    warning: Type.Optional(Type.String({ description: "Requested options that have no effect here." })),
  },
  { $id: "FirecrawlJobStarted", additionalProperties: true },
);

const STATUS = Type.Object(
  {
    success: Type.Literal(true),
    status: oneOf(["scraping", "completed", "failed", "cancelled"]),
    total: Type.Integer(),
    completed: Type.Integer(),
    creditsUsed: Type.Integer(),
    expiresAt: Type.String(),
    next: orNull(Type.String({ description: "The address of the next documents." })),
    data: Type.Array(DOCUMENT),
  },
  { $id: "FirecrawlJobStatus", additionalProperties: true },
);

const FAILURES = Type.Object(
  {
    errors: Type.Array(anyObject("A page that could not be read: id, url, code, error.")),
    robotsBlocked: Type.Array(Type.String()),
  },
  { $id: "FirecrawlJobErrors" },
);

const WEBHOOK = Type.Optional(
  Type.Unknown({
    description:
      "An address, or {url, headers, metadata, events}: gets the events started, page, completed and failed, signed in X-Firecrawl-Signature.",
  }),
);

const JOB_OPTIONS = {
  webhook: WEBHOOK,
  maxConcurrency: Type.Optional(Type.Integer({ minimum: 1, description: "Concurrent pages, at most 4." })),
};

const CRAWL = work({
  name: "FirecrawlStartCrawlRequest",
  summary: "Start a crawl",
  description: "Firecrawl's `crawl`; patterns are regular expressions for the path. At most 100 pages.",
  feature: "crawl",
  body: {
    url: URL_PARAMETER,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, default: 100, description: "Maximum number of pages, at most 100." }),
    ),
    maxDiscoveryDepth: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    includePaths: Type.Optional(Type.Array(Type.String({ examples: ["^/"] }), { maxItems: 100 })),
    excludePaths: Type.Optional(Type.Array(Type.String({ examples: ["^/x"] }), { maxItems: 100 })),
    regexOnFullURL: Type.Optional(Type.Boolean({ default: false })),
    crawlEntireDomain: Type.Optional(
      Type.Boolean({ default: false, description: "Also read pages that are not below the path of the first." }),
    ),
    allowExternalLinks: Type.Optional(Type.Boolean({ default: false })),
    allowSubdomains: Type.Optional(Type.Boolean({ default: false })),
    ignoreQueryParameters: Type.Optional(Type.Boolean({ default: false })),
    sitemap: Type.Optional(oneOf(["include", "skip", "only"], { default: "include" })),
    delay: Type.Optional(Type.Number({ minimum: 0, maximum: 60, description: "Seconds between two pages." })),
    scrapeOptions: Type.Optional(anyObject("The options of `POST /v2/scrape`.")),
    ...JOB_OPTIONS,
  },
  example: { url: "https://example.com/", limit: 1 },
  answer: STARTED,
});

const PREVIEW = work({
  name: "FirecrawlPreviewCrawlRequest",
  summary: "Options for a crawl",
  description: "Answers with the default options. The prompt is not interpreted, as `warning` says.",
  feature: "crawl",
  body: { url: URL_PARAMETER, prompt: Type.String({ minLength: 1, maxLength: 10_000 }) },
  example: { url: "https://example.com/", prompt: "The blog only." },
  answer: Type.Object(
    { success: Type.Literal(true), data: anyObject("Options of `POST /v2/crawl`."), warning: Type.String() },
    { $id: "FirecrawlCrawlPreview", additionalProperties: true },
  ),
});

const batchStart = (name: string) =>
  work({
    name,
    summary: "Read many pages",
    description: "Firecrawl's `batch/scrape`: the options of `POST /v2/scrape` are given beside `urls`.",
    feature: "crawl",
    body: {
      urls: Type.Array(Type.String(), { minItems: 1, maxItems: BATCH_MAX, description: "Pages to read." }),
      ignoreInvalidURLs: Type.Optional(
        Type.Boolean({
          default: true,
          description: "Texts that are not addresses are skipped and listed in `invalidURLs`.",
        }),
      ),
      appendToId: Type.Optional(
        Type.String({ description: "A batch that has not ended, to which these pages are added." }),
      ),
      ...PAGE_OPTIONS,
      ...JOB_OPTIONS,
    },
    example: { urls: ["https://example.com/"] },
    answer: STARTED,
    // Where `appendToId` names none.
    errors: ["crawl_job_not_found"],
  });

const MAP = work({
  name: "FirecrawlMapRequest",
  summary: "List the addresses of a site",
  description: "Firecrawl's `map`.",
  feature: "map",
  body: {
    url: URL_PARAMETER,
    search: Type.Optional(Type.String({ description: "Only addresses that contain this text." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, default: 5000 })),
    sitemap: Type.Optional(oneOf(["include", "skip", "only"], { default: "include" })),
    includeSubdomains: Type.Optional(Type.Boolean({ default: true })),
    ignoreQueryParameters: Type.Optional(Type.Boolean({ default: false })),
    timeout: Type.Optional(Type.Integer({ minimum: 1000, maximum: 300_000, default: 60_000 })),
  },
  example: { url: "https://example.com/" },
  answer: Type.Object(
    { success: Type.Literal(true), links: Type.Array(Type.Object({ url: Type.String() })) },
    { $id: "FirecrawlMapResult", additionalProperties: true },
  ),
});

const SEARCH = work({
  name: "FirecrawlSearchRequest",
  summary: "Search the web",
  description: "Firecrawl's `search`. With formats in `scrapeOptions` each hit contains its page.",
  feature: "search",
  body: {
    query: Type.String({ minLength: 1, maxLength: 2000 }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 5, description: "At most 20 results are returned." }),
    ),
    sources: Type.Optional(Type.Array(Type.Unknown(), { description: "web (default), news, images." })),
    categories: Type.Optional(Type.Array(Type.Unknown(), { description: "github, research, pdf, developer." })),
    includeDomains: Type.Optional(Type.Array(Type.String({ examples: ["example.com"] }), { maxItems: 20 })),
    excludeDomains: Type.Optional(Type.Array(Type.String({ examples: ["example.com"] }), { maxItems: 20 })),
    tbs: Type.Optional(Type.String({ description: "qdr:d, qdr:w, qdr:m or qdr:y." })),
    timeout: Type.Optional(Type.Integer({ minimum: 1000, maximum: 300_000, default: 60_000 })),
    scrapeOptions: Type.Optional(anyObject("The options of `POST /v2/scrape`.")),
  },
  example: { query: "web standards", limit: 3 },
  answer: Type.Object(
    { success: Type.Literal(true), data: anyObject("`web`, `news` and `images`, as requested in `sources`.") },
    { $id: "FirecrawlSearchResult", additionalProperties: true },
  ),
});

const EXTRACT = work({
  name: "FirecrawlStartExtractRequest",
  summary: "Start an extraction",
  description: "Firecrawl's `extract`. The result is at `GET /v2/extract/{id}`.",
  feature: "extract",
  body: {
    urls: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }),
    prompt: Type.Optional(Type.String({ maxLength: 20_000 })),
    schema: Type.Optional(anyObject("A JSON Schema.")),
    systemPrompt: Type.Optional(Type.String({ maxLength: 20_000 })),
    allowExternalLinks: Type.Optional(Type.Boolean({ default: false })),
    ignoreInvalidURLs: Type.Optional(Type.Boolean({ default: false })),
  },
  example: {
    urls: ["https://example.com/"],
    prompt: "The page's title.",
    schema: { type: "object", properties: { title: { type: "string" } } },
  },
  answer: Type.Object(
    { success: Type.Literal(true), id: Type.String() },
    { $id: "FirecrawlExtractStarted", additionalProperties: true },
  ),
  errors: ["tier_required"],
});

/** The description of a request that needs only a valid key. */
function free(
  more: Pick<NamelessText, "summary" | "parameters" | "errors"> & { schema: NamelessText["answer"]["schema"] },
): NamelessText {
  const { schema, ...rest } = more;
  return {
    ...{ group: FIRECRAWL_GROUP, errorShape: FIRECRAWL_SHAPE },
    description: "Firecrawl's response format. Needs only a valid key and is not counted.",
    answer: { description: "The answer.", ...(schema === undefined ? {} : { schema }) },
    ...rest,
  };
}

const WINDOW = [
  {
    name: "skip",
    in: "query",
    schema: Type.Integer({ minimum: 0, default: 0, description: "Number of documents to skip." }),
  },
  {
    name: "limit",
    in: "query",
    schema: Type.Integer({ minimum: 1, maximum: 100, default: 100, description: "Most documents." }),
  },
] as const;

const JOB_ERRORS = ["crawl_job_not_found", "crawl_internal_error"] as const;

const jobOf = (noun: "crawl" | "batch") => ({
  parameters: [pathId("id", "The job.", `${noun}_0198f3b2`)],
  errors: JOB_ERRORS,
});

const errorsOf = (noun: "crawl" | "batch") =>
  free({ summary: `Pages of a ${noun} that could not be read`, schema: FAILURES, ...jobOf(noun) });

/** The descriptions of the calls for a job: poll, errors and cancellation. */
function jobTexts(noun: "crawl" | "batch"): Record<"poll" | "errors" | "cancel", NamelessText> {
  const { parameters, errors } = jobOf(noun);
  return {
    poll: free({
      summary: `Poll a ${noun}, or watch it over a WebSocket`,
      parameters: [...parameters, ...WINDOW],
      schema: STATUS,
      errors,
    }),
    errors: errorsOf(noun),
    cancel: free({
      summary: `Cancel a ${noun}`,
      parameters,
      errors,
      schema: Type.Object(
        { success: Type.Literal(true), status: Type.String() },
        { $id: "FirecrawlJobCancelled", additionalProperties: true },
      ),
    }),
  };
}

const [CRAWLS, BATCHES] = [jobTexts("crawl"), jobTexts("batch")];

const figure = (summary: string) =>
  free({ summary, schema: anyObject("The figures."), errors: ["crawl_internal_error"] });

const FIGURES = {
  firecrawlListActiveCrawls: figure("Crawls that have not ended"),
  firecrawlCreditUsage: figure("Credits, which are unlimited"),
  firecrawlTokenUsage: figure("Tokens, which are unlimited"),
  firecrawlPastCreditUsage: figure("Credits by month, which are not counted"),
  firecrawlPastTokenUsage: figure("Tokens by month, which are not counted"),
  firecrawlQueueStatus: figure("Numbers of running and waiting jobs"),
  firecrawlConcurrency: figure("Running jobs, and how many pages may be read at once"),
};

/** The descriptions by the names of their operations. */
export const FIRECRAWL_JOB_TEXTS = {
  firecrawlStartCrawl: CRAWL,
  firecrawlPreviewCrawl: PREVIEW,
  firecrawlGetCrawl: CRAWLS.poll,
  firecrawlGetCrawlErrors: CRAWLS.errors,
  firecrawlCancelCrawl: CRAWLS.cancel,
  firecrawlGetCrawlErrorsV1: errorsOf("crawl"),
  firecrawlStartBatch: batchStart("FirecrawlStartBatchRequest"),
  firecrawlGetBatch: BATCHES.poll,
  firecrawlGetBatchErrors: BATCHES.errors,
  firecrawlCancelBatch: BATCHES.cancel,
  firecrawlStartBatchV1: batchStart("FirecrawlStartBatchV1Request"),
  firecrawlGetBatchV1: BATCHES.poll,
  firecrawlGetBatchV1Errors: BATCHES.errors,
  firecrawlCancelBatchV1: BATCHES.cancel,
  firecrawlMap: MAP,
  firecrawlSearch: SEARCH,
  firecrawlStartExtract: EXTRACT,
  firecrawlGetExtract: free({
    summary: "Poll an extraction",
    parameters: [pathId("id", "The job.", "extract_0198f3b2")],
    schema: Type.Object(
      {
        success: Type.Boolean(),
        status: oneOf(["processing", "completed", "failed", "cancelled"]),
        data: Type.Unknown(),
        expiresAt: Type.String(),
        creditsUsed: Type.Integer(),
      },
      { $id: "FirecrawlExtractStatus", additionalProperties: true },
    ),
    errors: ["extract_job_not_found", "extract_internal_error"],
  }),
  ...FIGURES,
};
