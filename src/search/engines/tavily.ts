// Tavily, with a key.

import { address, jsonPost, pageSize } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { failed } from "../reading/status.ts";

export const tavily: SearchEngine = {
  name: "tavily",
  categories: ["general", "news"],
  weight: 1.5,
  about: { website: "https://tavily.com", official: true },
  enabledByDefault: false,
  key: { looksLike: "tvly-…" },
  network: "tavily",
  timeoutMs: 10_000,
  timeRanges: TIME_RANGES,
  selectors: { results: "results", title: "title", url: "url", snippet: "content", date: "published_date" },
  request(context) {
    const { query, settings } = context;
    const body = {
      query: query.text,
      search_depth: "basic",
      topic: query.category === "news" ? "news" : "general",
      max_results: pageSize(context, 20),
      ...(query.timeRange !== undefined && { time_range: query.timeRange }),
    };
    const url = address(context, "https://api.tavily.com", "/search");
    return { url, ...jsonPost(context, body, { authorization: `Bearer ${settings.apiKey ?? ""}` }) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: tavily,
      // Two statuses that are not standard: the plan is used up, or its pay-as-you-go limit is.
      failure: (_body, { status }) =>
        status === 432 || status === 433 ? failed("bad_key", "The key's plan is used up.") : undefined,
    }),
};
