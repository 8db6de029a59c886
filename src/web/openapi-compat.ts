// The OpenAPI description of search in the response formats of other programs.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { TIME_RANGES } from "../search/engine.ts";

const SEARCH_FAILURES = [
  "search_timeout",
  "search_upstream_error",
  "search_unavailable",
  "search_internal_error",
] as const;

const OPEN =
  "Needs a key, unless the client's address is listed in `search.compat.anonymous`. Counts against the rate limit.";

const SEARXNG: NamelessText = {
  group: "Search for other programs",
  summary: "Search in SearXNG's format",
  description: `For programs that know SearXNG's JSON API. ${OPEN}`,
  parameters: [
    {
      name: "q",
      in: "query",
      required: true,
      schema: Type.String({ minLength: 1, maxLength: 2000, description: "What to search for." }),
      example: "web standards",
    },
    {
      name: "format",
      in: "query",
      required: true,
      schema: oneOf(["json"], { description: "Only JSON is supported." }),
      example: "json",
    },
    {
      name: "categories",
      in: "query",
      schema: Type.String({ description: "A comma-separated list, of which the first known category is used." }),
    },
    { name: "language", in: "query", schema: Type.String({ description: "A BCP-47 code, `auto` or `all`." }) },
    { name: "time_range", in: "query", schema: oneOf(TIME_RANGES, { description: "How old results may be." }) },
    { name: "safesearch", in: "query", schema: oneOf(["0", "1", "2"], { description: "Off, moderate, strict." }) },
    {
      name: "pageno",
      in: "query",
      schema: Type.Integer({ minimum: 1, default: 1, description: "All results are on page 1." }),
    },
  ],
  answer: {
    description: "The hits.",
    schema: Type.Object(
      {
        query: Type.String(),
        number_of_results: Type.Integer(),
        results: Type.Array(anyObject("A result in SearXNG's format.")),
        answers: Type.Array(Type.Unknown()),
        corrections: Type.Array(Type.String()),
        infoboxes: Type.Array(Type.Unknown()),
        suggestions: Type.Array(Type.String()),
        unresponsive_engines: Type.Array(Type.Array(Type.String())),
      },
      { $id: "SearxngResults" },
    ),
  },
  errors: ["invalid_request", ...SEARCH_FAILURES],
};

const OPENWEBUI_SEARCH: NamelessText = {
  group: "Search for other programs",
  summary: "Open WebUI's external search",
  description: OPEN,
  body: {
    schema: Type.Object(
      {
        query: Type.String({ minLength: 1, maxLength: 2000, description: "What to search for." }),
        count: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 100,
            default: 5,
            description: "Maximum number of results, at most 20.",
          }),
        ),
      },
      { $id: "OpenWebuiSearch", additionalProperties: true },
    ),
    examples: { plain: { query: "web standards", count: 3 } },
  },
  answer: {
    description: "The hits.",
    schema: Type.Array(Type.Object({ link: Type.String(), title: Type.String(), snippet: Type.String() })),
  },
  errors: SEARCH_FAILURES,
};

const OPENWEBUI_LOAD: NamelessText = {
  group: "Search for other programs",
  summary: "Open WebUI's external loader",
  description: `Pages that cannot be read are left out. ${OPEN}`,
  body: {
    schema: Type.Object(
      { urls: Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 20, description: "Pages to read." }) },
      { $id: "OpenWebuiLoad", additionalProperties: true },
    ),
    examples: { plain: { urls: ["https://example.com/"] } },
  },
  answer: {
    description: "The pages.",
    schema: Type.Array(
      Type.Object({
        page_content: Type.String(),
        metadata: Type.Object({ source: Type.String(), title: Type.String() }),
      }),
    ),
  },
  errors: ["scrape_internal_error"],
};

/** The descriptions by the names of their operations. */
export const COMPAT_TEXTS = {
  searchSearxng: SEARXNG,
  searchOpenWebui: OPENWEBUI_SEARCH,
  loadOpenWebui: OPENWEBUI_LOAD,
};
