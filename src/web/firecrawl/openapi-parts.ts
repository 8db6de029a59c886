// Common parts of the OpenAPI description of Firecrawl's v2 endpoints. Firecrawl's own documents describe the many
// options; this file lists those that this gateway accepts.

import { type TSchema, Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../../base/errors.ts";
import { type ApiEndpoint, anyObject, type ErrorShape } from "../../http/endpoint.ts";
import type { WebFeature } from "../failure.ts";
import { ACTIONS_MAX } from "./actions.ts";
import { statusOf } from "./failure.ts";
import { FORMATS_MAX } from "./formats.ts";

/** The group under which the endpoints are listed. */
export const FIRECRAWL_GROUP = "For Firecrawl's clients";

const FAILURE = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: "What happened, for people." }),
    code: Type.String({ description: "What happened, for programs." }),
    param: Type.Optional(Type.String({ description: "Path of the parameter at fault." })),
    details: Type.Optional(Type.Unknown()),
  },
  {
    $id: "FirecrawlError",
    additionalProperties: true,
    description: "What a failed request under /v2 is answered with.",
  },
);

/** Errors under `/v2/`. */
export const FIRECRAWL_SHAPE: ErrorShape = { schema: FAILURE, statusOf: (code) => statusOf(ERRORS[code].status) };

/** Schema of a page. */
export const URL_PARAMETER = Type.String({ maxLength: 8192, description: "Fully-qualified http or https URL." });

const SELECTOR = Type.String({ examples: ["main"] });

/** The options of `scrape`, `batch/scrape` and `scrapeOptions`. */
export const PAGE_OPTIONS = {
  formats: Type.Optional(
    Type.Array(Type.Unknown({ examples: ["links"] }), {
      maxItems: FORMATS_MAX,
      description:
        "Names or objects with a `type`: markdown (default), html, rawHtml, links, images, summary, screenshot {fullPage, quality, viewport}, json {schema, prompt}, question {question}, attributes {selectors: [{selector, attribute}]}.",
    }),
  ),
  onlyMainContent: Type.Optional(
    Type.Boolean({ default: true, description: "Leave out what stands around the content." }),
  ),
  includeTags: Type.Optional(
    Type.Array(SELECTOR, { maxItems: 100, description: "CSS selectors of the parts that are kept alone." }),
  ),
  excludeTags: Type.Optional(
    Type.Array(SELECTOR, { maxItems: 100, description: "CSS selectors of parts that are left out." }),
  ),
  headers: Type.Optional(
    anyObject("Further request headers. They stay with the page's own origin and are not stored."),
  ),
  timeout: Type.Optional(
    Type.Integer({ minimum: 1000, maximum: 300_000, default: 60_000, description: "In milliseconds." }),
  ),
  waitFor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 0,
      description: "Milliseconds to wait in the browser once the page has settled.",
    }),
  ),
  mobile: Type.Optional(Type.Boolean({ default: false, description: "As a telephone." })),
  location: Type.Optional(anyObject("`languages`: as in Accept-Language.")),
  actions: Type.Optional(
    Type.Array(Type.Unknown({ examples: [{ type: "scroll", direction: "down" }] }), {
      maxItems: ACTIONS_MAX,
      description:
        "Steps in the browser before the page is read: wait, click, write, press, scroll, screenshot, scrape, pdf; executeJavascript where `web.actions_script` allows it.",
    }),
  ),
  parsers: Type.Optional(Type.Array(Type.Unknown(), { description: "`[]` refuses PDFs; they are read otherwise." })),
  removeBase64Images: Type.Optional(
    Type.Boolean({ default: true, description: "Leave out pictures that are written into the page." }),
  ),
  blockAds: Type.Optional(
    Type.Boolean({ default: true, description: "In the browser, ask no common advertising network." }),
  ),
  maxAge: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "How old a page from the cache may be, in milliseconds; at most `web.cache.max_age`.",
    }),
  ),
  storeInCache: Type.Optional(Type.Boolean({ default: true, description: "False: the page is not kept." })),
};

/** Schema of a page that was read. */
export const DOCUMENT = Type.Object(
  {
    markdown: Type.Optional(Type.String()),
    html: Type.Optional(Type.String()),
    rawHtml: Type.Optional(Type.String()),
    links: Type.Optional(Type.Array(Type.String())),
    images: Type.Optional(Type.Array(Type.String())),
    screenshot: Type.Optional(Type.String({ description: "A data: address." })),
    summary: Type.Optional(Type.String()),
    json: Type.Optional(Type.Unknown()),
    answer: Type.Optional(Type.String()),
    attributes: Type.Optional(Type.Array(anyObject("A selector, an attribute and its values."))),
    actions: Type.Optional(anyObject("What the steps gave.")),
    warning: Type.Optional(Type.String({ description: "Also what was asked for and has no effect here." })),
    metadata: anyObject("Title, description, `sourceURL` as asked for, `url` after redirects, `statusCode` and more."),
  },
  { $id: "FirecrawlDocument", description: "Only what `formats` asks for." },
);

/** The errors with which the work of an endpoint may fail. */
export const failuresOf = (feature: WebFeature): ErrorCode[] => [
  `${feature}_timeout`,
  `${feature}_upstream_error`,
  `${feature}_unavailable`,
  `${feature}_internal_error`,
  "url_not_allowed",
  "scrape_failed",
];

/** A call that does some work. */
export function work(
  path: string,
  more: Pick<ApiEndpoint, "id" | "summary" | "description"> & {
    feature: WebFeature;
    body: Record<string, TSchema>;
    example: unknown;
    answer: TSchema;
    errors?: readonly ErrorCode[];
  },
): ApiEndpoint {
  const { id, summary, description, feature, body, example, answer, errors = [] } = more;
  return {
    method: "POST",
    path,
    id,
    group: FIRECRAWL_GROUP,
    summary,
    description,
    access: "counted",
    body: {
      schema: Type.Object(body, { $id: `${id[0]?.toUpperCase()}${id.slice(1)}Request`, additionalProperties: true }),
      examples: { plain: example },
    },
    answer: { description: "The result.", schema: answer },
    errors: [...failuresOf(feature), ...errors],
    errorShape: FIRECRAWL_SHAPE,
  };
}
