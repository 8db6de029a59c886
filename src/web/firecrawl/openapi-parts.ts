// Common parts of the OpenAPI description of Firecrawl's v2 endpoints. Firecrawl's own documentation describes the many options;
// this file lists those that this gateway accepts.

import { type TSchema, Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../../base/errors.ts";
import { anyObject, type ErrorShape } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";
import type { WebFeature } from "../failure.ts";
import { ACTIONS_MAX } from "./actions.ts";
import { statusOf } from "./failure.ts";
import { FORMATS_MAX } from "./formats.ts";

/** The group under which the endpoints are listed. */
export const FIRECRAWL_GROUP = "For Firecrawl's clients";

const FAILURE = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: "The error in words." }),
    code: Type.String({ description: "The error as a code." }),
    param: Type.Optional(Type.String({ description: "Path of the invalid parameter." })),
    details: Type.Optional(Type.Unknown()),
  },
  {
    $id: "FirecrawlError",
    additionalProperties: true,
    description: "The response to a failed request under /v2.",
  },
);

/** The format of errors under `/v2/`. */
export const FIRECRAWL_SHAPE: ErrorShape = { schema: FAILURE, statusOf: (code) => statusOf(ERRORS[code].status) };

/** The address of a page. */
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
    Type.Boolean({
      default: true,
      description: "Return only the main content, without navigation, header, footer and sidebars.",
    }),
  ),
  includeTags: Type.Optional(
    Type.Array(SELECTOR, {
      maxItems: 100,
      description: "CSS selectors of the parts to keep; everything else is left out.",
    }),
  ),
  excludeTags: Type.Optional(
    Type.Array(SELECTOR, { maxItems: 100, description: "CSS selectors of the parts to leave out." }),
  ),
  headers: Type.Optional(
    anyObject("Additional request headers. They are sent only to the page's own origin and are not stored."),
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
  parsers: Type.Optional(Type.Array(Type.Unknown(), { description: "`[]` refuses PDFs, which are read by default." })),
  removeBase64Images: Type.Optional(
    Type.Boolean({ default: true, description: "Leave out images that are embedded as data URLs." }),
  ),
  blockAds: Type.Optional(
    Type.Boolean({ default: true, description: "Block requests of the browser to common advertising networks." }),
  ),
  maxAge: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Maximum age of a page from the cache, in milliseconds; at most `web.cache.max_age`.",
    }),
  ),
  storeInCache: Type.Optional(Type.Boolean({ default: true, description: "If false, the page is not cached." })),
};

/** A page that was read. */
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
    actions: Type.Optional(anyObject("The results of the steps.")),
    warning: Type.Optional(Type.String({ description: "Problems, and requested options that have no effect here." })),
    metadata: anyObject("Title, description, `sourceURL` as requested, `url` after redirects, `statusCode` and more."),
  },
  { $id: "FirecrawlDocument", description: "Contains only the requested `formats`." },
);

/** The errors with which an endpoint of this feature may fail. */
export const failuresOf = (feature: WebFeature): ErrorCode[] => [
  `${feature}_timeout`,
  `${feature}_upstream_error`,
  `${feature}_unavailable`,
  `${feature}_internal_error`,
  "url_not_allowed",
  "scrape_failed",
];

/** The description of an endpoint that reads pages or searches, and is counted. */
export function work(
  more: Pick<NamelessText, "summary" | "description"> & {
    /** The name of the body's schema. */
    name: string;
    feature: WebFeature;
    body: Record<string, TSchema>;
    example: unknown;
    answer: TSchema;
    errors?: readonly ErrorCode[];
  },
): NamelessText {
  const { name, summary, description, feature, body, example, answer, errors = [] } = more;
  return {
    group: FIRECRAWL_GROUP,
    summary,
    description,
    body: {
      schema: Type.Object(body, { $id: name, additionalProperties: true }),
      examples: { plain: example },
    },
    answer: { description: "The result.", schema: answer },
    errors: [...failuresOf(feature), ...errors],
    errorShape: FIRECRAWL_SHAPE,
  };
}
