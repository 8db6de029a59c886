// Exa, with a key.

import { address, jsonPost, pageSize, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";

export const exa: SearchEngine = {
  name: "exa",
  categories: ["general", "news"],
  weight: 1.5,
  about: { website: "https://exa.ai", official: true },
  enabledByDefault: false,
  key: { looksLike: "an API key" },
  network: "exa",
  timeoutMs: 10_000,
  timeRanges: TIME_RANGES,
  safeSearch: true,
  selectors: {
    results: "results",
    title: "title|url",
    url: "url",
    snippet: "highlights.0|summary|text",
    date: "publishedDate",
    thumbnail: "image",
  },
  request(context) {
    const { query, settings } = context;
    const body = {
      query: query.text,
      type: "auto",
      numResults: pageSize(context, 25),
      contents: { highlights: { maxCharacters: 500 } },
      moderation: query.safe !== "off",
      ...(query.category === "news" && { category: "news" }),
      ...(query.timeRange !== undefined && { startPublishedDate: rangeStart(context)?.toISOString() }),
    };
    const url = address(context, "https://api.exa.ai", "/search");
    return { url, ...jsonPost(context, body, { "x-api-key": settings.apiKey ?? "" }) };
  },
  parse: (response, context) => readJsonAnswer(response, context, { engine: exa }),
};
