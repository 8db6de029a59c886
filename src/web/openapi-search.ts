// The descriptions of search.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf } from "../http/endpoint.ts";
import { CATEGORIES } from "../search/engine.ts";
import { textOfFeature } from "./openapi-post.ts";
import { LIMIT_MAX } from "./search.ts";

const HIT = {
  title: Type.String(),
  url: Type.String(),
  content: Type.String({ description: "The engines' snippet." }),
  engines: Type.Array(Type.String(), { description: "The engines that list it." }),
  score: Type.Number({ minimum: 0, maximum: 1, description: "Higher is more relevant." }),
  publishedDate: Type.Optional(Type.String({ description: "ISO 8601, if it is known." })),
  thumbnail: Type.Optional(Type.String()),
  file: Type.Optional(Type.String({ description: "Address of the image or file itself." })),
  category: oneOf(CATEGORIES),
};

const RESULTS = Type.Object(
  {
    success: Type.Literal(true),
    query: Type.String(),
    number_of_results: Type.Integer(),
    results: Type.Array(
      Type.Object(
        {
          ...HIT,
          full_content: Type.Optional(
            Type.String({
              description: "The page as Markdown. Present with `include_content`, if the page could be read in time.",
            }),
          ),
        },
        { $id: "SearchResult" },
      ),
    ),
    suggestions: Type.Array(Type.String()),
    corrections: Type.Array(Type.String()),
    unresponsive_engines: Type.Array(
      Type.Object({ name: Type.String(), reason: Type.String() }, { $id: "UnresponsiveEngine" }),
      { description: "Engines without results, and why." },
    ),
    data: Type.Array(anyObject("A hit in the format of Firecrawl's clients."), {
      description: "The same hits for Firecrawl's clients.",
    }),
  },
  { $id: "SearchResults" },
);

const SEARCH_BODY = {
  text_query: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: "What to search for. `query` is accepted too.",
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: 5, description: "Most results." })),
  language: Type.Optional(
    Type.String({ default: "auto", description: "A BCP-47 code, such as `de` or `pt-BR`, or `auto`." }),
  ),
  categories: Type.Optional(oneOf(CATEGORIES, { default: "general", description: "The kind of results." })),
  timeout_seconds: Type.Optional(
    Type.Integer({ minimum: 5, maximum: 60, default: 30, description: "The time limit of the search, in seconds." }),
  ),
};

/** The descriptions by the names of their operations. */
export const SEARCH_TEXTS = {
  search: textOfFeature({
    feature: "search",
    summary: "Search the web",
    description: "Queries several engines at once and merges their results. A search without hits is a success.",
    schema: Type.Object(
      {
        ...SEARCH_BODY,
        include_content: Type.Optional(
          Type.Boolean({ default: false, description: "Read each result's page and attach it as `full_content`." }),
        ),
      },
      { $id: "SearchRequest", additionalProperties: true },
    ),
    example: { text_query: "web standards", limit: 3 },
    answer: { description: "The hits, best first.", schema: RESULTS },
  }),
  searchWithContent: textOfFeature({
    feature: "search",
    summary: "Search the web and read the results",
    description: "`POST /v1/search` with `include_content` true.",
    schema: Type.Object(SEARCH_BODY, { $id: "SearchWithContentRequest", additionalProperties: true }),
    example: { text_query: "web standards", limit: 1 },
    answer: { description: "The hits with their pages.", schema: RESULTS },
  }),
};
