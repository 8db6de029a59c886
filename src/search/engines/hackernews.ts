// Hacker News, by Algolia's public index.

import { address, jsonHeaders, pageSize, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const hackernews: SearchEngine = {
  name: "hackernews",
  categories: ["news", "it"],
  about: { website: "https://hn.algolia.com", official: true },
  enabledByDefault: true,
  network: "algolia",
  requestRate: { requests: 10_000, perMs: 3_600_000 },
  timeoutMs: 5000,
  pagesMax: 10,
  timeRanges: TIME_RANGES,
  selectors: {
    results: "hits",
    id: "objectID",
    title: "title|story_title",
    url: "url|story_url",
    snippet: "story_text|comment_text",
    date: "created_at_i",
    points: "points",
    comments: "num_comments",
  },
  request(context) {
    const since = rangeStart(context);
    const url = address(context, "https://hn.algolia.com", "/api/v1/search", {
      query: context.query.text,
      tags: "story",
      page: context.query.page - 1,
      hitsPerPage: pageSize(context, 30),
      numericFilters: since && `created_at_i>${Math.floor(since.getTime() / 1000)}`,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: hackernews,
      draft(fields) {
        const id = fields.literal("id");
        const discussion = id === "" ? undefined : `https://news.ycombinator.com/item?id=${encodeURIComponent(id)}`;
        return {
          url: fields.address("url") ?? discussion,
          snippet: joined([
            fields.text("snippet"),
            counted(fields.literal("points"), "point"),
            counted(fields.literal("comments"), "comment"),
          ]),
        };
      },
    }),
};
