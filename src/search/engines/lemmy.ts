// Posts of Lemmy communities, as one server knows them.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const lemmy: SearchEngine = {
  name: "lemmy",
  categories: ["social media"],
  about: { website: "https://join-lemmy.org", official: true },
  enabledByDefault: true,
  network: "lemmy",
  timeoutMs: 8000,
  pagesMax: 10,
  selectors: {
    results: "posts",
    title: "post.name",
    url: "post.ap_id",
    snippet: "post.body",
    date: "post.published",
    thumbnail: "post.thumbnail_url",
    community: "community.title|community.name",
    comments: "counts.comments",
    score: "counts.score",
  },
  request(context) {
    const url = address(context, "https://lemmy.ml", "/api/v3/search", {
      q: context.query.text,
      page: context.query.page,
      limit: pageSize(context, 20),
      type_: "Posts",
      sort: "TopAll",
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: lemmy,
      draft(fields) {
        const score = fields.literal("score");
        return {
          snippet: joined([
            fields.literal("snippet"),
            fields.literal("community"),
            score && `score ${score}`,
            counted(fields.literal("comments"), "comment"),
          ]),
        };
      },
    }),
};
