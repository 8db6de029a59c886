// The descriptions of the web endpoints, for the documentation alone. Bounds are the ones that the parameter readers check.

import { Type } from "@sinclair/typebox";
import { oneOf, orNull, pathId } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { CRAWL_LIMIT, CRAWL_LIMIT_MAX } from "./crawl-jobs.ts";
import { COMPAT_TEXTS } from "./openapi-compat.ts";
import { JOB_TEXTS } from "./openapi-jobs.ts";
import { textOfFeature } from "./openapi-post.ts";
import { SEARCH_TEXTS } from "./openapi-search.ts";

/** The address of a page to read. */
const URL_PARAMETER = Type.String({
  maxLength: 8192,
  description:
    "Fully-qualified http or https URL. Addresses within private networks are refused unless the operator allows them.",
});

const PAGE_SHAPE = {
  formats: Type.Optional(
    Type.Array(oneOf(["markdown", "html", "links", "screenshot", "screenshot@fullPage", "rawHtml"]), {
      default: ["markdown"],
      maxItems: 1000,
      description:
        "The formats in which to return a page. A screenshot is a PNG in base64 and needs a browser; `rawHtml` is another name of `html`.",
    }),
  ),
  only_main_content: Type.Optional(
    Type.Boolean({ default: true, description: "Leave out navigation, headers, footers and sidebars." }),
  ),
  full_page: Type.Optional(
    Type.Boolean({ default: false, description: "Screenshots show the whole page instead of its first screen only." }),
  ),
  documents: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Also convert PDF, plain text, JSON, XML and feeds to Markdown, which are refused otherwise.",
    }),
  ),
};

const timeoutMs = (maximum: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum,
      default: 60_000,
      description: "The time limit of the request, in milliseconds.",
    }),
  );

/** A loaded page. */
const PAGE = Type.Object(
  {
    markdown: Type.Optional(Type.String()),
    html: Type.Optional(Type.String()),
    links: Type.Optional(Type.Array(Type.String())),
    screenshot: Type.Optional(Type.String({ description: "PNG in base64." })),
    warning: Type.Optional(Type.String()),
    metadata: Type.Object(
      {
        title: Type.String(),
        description: Type.String(),
        language: Type.String(),
        sourceURL: Type.String({ description: "The address after redirects." }),
        statusCode: Type.Integer({ description: "The status with which the site answered." }),
        extractor: Type.Optional(
          Type.Literal("model", {
            description:
              "Present if a model labelled the parts of the page (web.extractor). Then there is no extraction_quality.",
          }),
        ),
        extraction_quality: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 1,
            description:
              "How good the choice of main content probably is: the predicted F1 of its words. Below 0.7 most choices " +
              "miss something or have too much; `only_main_content: false` returns the whole page.",
          }),
        ),
        omissions: Type.Optional(
          Type.Array(Type.String(), { description: "What limits left out of the page, in sentences, if anything." }),
        ),
      },
      {
        additionalProperties: true,
        description: "Also author, dates and Open Graph members, if the page has them.",
      },
    ),
  },
  { $id: "Page", description: "Contains only the requested `formats`." },
);

const SCRAPED = Type.Object({ success: Type.Literal(true), data: PAGE }, { $id: "ScrapeResult" });

const SCRAPE = textOfFeature({
  feature: "scrape",
  summary: "Read one web page",
  description:
    "Fetches the page, in a browser if it needs one, and returns its main content as clean Markdown, or in the requested `formats`.",
  schema: Type.Object(
    { url: URL_PARAMETER, ...PAGE_SHAPE, timeout_ms: timeoutMs(300_000) },
    { $id: "ScrapeRequest", additionalProperties: true },
  ),
  example: { url: "https://example.com/" },
  answer: {
    description: "The page.",
    schema: SCRAPED,
    example: {
      success: true,
      data: {
        markdown: "# Example Domain\n\nThis domain is for use in examples.",
        metadata: {
          title: "Example Domain",
          description: "",
          language: "en",
          sourceURL: "https://example.com/",
          statusCode: 200,
        },
      },
    },
  },
  errors: ["scrape_failed"],
});

const MAP = textOfFeature({
  feature: "map",
  summary: "List the addresses of a site",
  description: "From robots.txt, sitemaps and the links of the root page. No other page is fetched.",
  schema: Type.Object(
    {
      url: URL_PARAMETER,
      search: Type.Optional(Type.String({ description: "Only addresses that contain this text." })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 5000, default: 5000, description: "Most addresses." })),
      timeout_ms: timeoutMs(300_000),
    },
    { $id: "MapRequest", additionalProperties: true },
  ),
  example: { url: "https://example.com/", limit: 100 },
  answer: {
    description: "The addresses.",
    schema: Type.Object(
      { success: Type.Literal(true), links: Type.Array(Type.String()), total: Type.Integer() },
      { $id: "MapResult" },
    ),
  },
  errors: ["scrape_failed"],
});

const JOB_ID = pathId("id", "The `job_id` from the response to the start.", "crawl_01a204b1c159705394b214d6bf6f3ad5");

const patterns = (description: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: `${description} Globs on the path: \`*\` within a segment, \`**\` across.`,
    }),
  );

const CRAWLS: Readonly<Record<"startCrawl" | "getCrawl" | "cancelCrawl", NamelessText>> = {
  startCrawl: textOfFeature({
    feature: "crawl",
    summary: "Start reading a site",
    description:
      "Follows links within the domain, breadth first. The crawl is a job that continues after the response, and after a restart of the gateway.",
    schema: Type.Object(
      {
        url: URL_PARAMETER,
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: CRAWL_LIMIT_MAX, default: CRAWL_LIMIT, description: "Most pages." }),
        ),
        max_depth: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 10,
            description: "Maximum number of links between the root and a page. By default there is no limit.",
          }),
        ),
        include_paths: patterns("Only pages that match one of these."),
        exclude_paths: patterns("No pages that match one of these."),
        ...PAGE_SHAPE,
      },
      { $id: "CrawlRequest", additionalProperties: true },
    ),
    example: { url: "https://example.com/", limit: 5 },
    answer: {
      description: "The job.",
      schema: Type.Object(
        { success: Type.Literal(true), job_id: Type.String(), id: Type.String(), url: Type.String() },
        { $id: "CrawlStart" },
      ),
    },
    errors: ["request_too_large"],
  }),
  getCrawl: {
    group: "Web",
    summary: "Read a crawl's pages",
    description:
      "The pages read so far. Poll until `status` is no longer `scraping`. Finished jobs are kept for a while.",
    parameters: [
      JOB_ID,
      { name: "offset", in: "query", schema: Type.Integer({ minimum: 0, default: 0, description: "Pages to skip." }) },
      {
        name: "limit",
        in: "query",
        schema: Type.Integer({
          minimum: 1,
          maximum: CRAWL_LIMIT_MAX,
          default: CRAWL_LIMIT_MAX,
          description: "Maximum number of pages in `data`.",
        }),
      },
    ],
    answer: {
      description: "The job.",
      schema: Type.Object(
        {
          success: Type.Literal(true),
          job_id: Type.String(),
          id: Type.String(),
          status: oneOf(["scraping", "completed", "failed", "cancelled"]),
          url: Type.String(),
          total: Type.Integer({ description: "Pages queued." }),
          completed: Type.Integer({ description: "Number of finished pages, including failed ones." }),
          creditsUsed: Type.Integer({ description: "One for each page, and one more if a browser was needed." }),
          data: Type.Array(PAGE),
          errors: Type.Array(
            Type.Object({ url: Type.String(), code: Type.String(), message: Type.String() }, { $id: "CrawlFailure" }),
          ),
          created_at: Type.String(),
          expires_at: Type.String(),
          expiresAt: Type.String(),
          error: Type.Optional(orNull(Type.String())),
          error_code: Type.Optional(Type.String()),
          next: Type.Optional(Type.String({ description: "The address of the next pages." })),
        },
        { $id: "Crawl" },
      ),
    },
    errors: ["crawl_job_not_found", "invalid_request"],
  },
  cancelCrawl: {
    group: "Web",
    summary: "Cancel a crawl",
    description: "Pages that were already read are kept. A job that has ended keeps its status.",
    parameters: [JOB_ID],
    answer: {
      description: "The status of the job.",
      schema: Type.Object(
        {
          success: Type.Literal(true),
          job_id: Type.String(),
          id: Type.String(),
          status: oneOf(["cancelled", "completed", "failed"]),
        },
        { $id: "CrawlEnd" },
      ),
    },
    errors: ["crawl_job_not_found"],
  },
};

const MOVED: NamelessText = {
  group: "Web",
  summary: "Older address of scrape",
  description: "Answers 307 with `POST /v1/scrape`, before the key or the body is checked.",
  answer: {
    status: 307,
    description: "Go to `/v1/scrape`.",
    headers: { Location: "`/v1/scrape`." },
    instead: { description: "The page, for clients that follow the redirect.", schema: SCRAPED },
  },
};

/** The descriptions by the names of their operations. */
export const WEB_TEXTS = {
  scrape: SCRAPE,
  ...SEARCH_TEXTS,
  map: MAP,
  ...CRAWLS,
  ...JOB_TEXTS,
  fetchMoved: MOVED,
  fetchMovedShort: MOVED,
  ...COMPAT_TEXTS,
};
