// GitHub repositories.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { rateLimited } from "../reading/status.ts";
import { counted, joined } from "../reading/text.ts";

export const github: SearchEngine = {
  name: "github",
  categories: ["it"],
  about: { website: "https://github.com", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "an access token", requestRate: { requests: 30, perMs: 60_000 } },
  network: "github",
  requestRate: { requests: 10, perMs: 60_000 },
  timeoutMs: 6000,
  pagesMax: 10,
  selectors: {
    results: "items",
    title: "full_name",
    url: "html_url",
    snippet: "description",
    date: "updated_at",
    language: "language",
    stars: "stargazers_count",
    thumbnail: "owner.avatar_url",
  },
  request(context) {
    const { apiKey } = context.settings;
    const url = address(context, "https://api.github.com", "/search/repositories", {
      q: context.query.text,
      per_page: pageSize(context, 30),
      page: context.query.page,
    });
    const headers = jsonHeaders(context, {
      accept: "application/vnd.github+json",
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    });
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: github,
      failure(body, response) {
        const message = response.status === 403 ? valueAt(body, "message") : undefined;
        if (typeof message !== "string" || !/rate limit/i.test(message)) return undefined;
        return rateLimited(response);
      },
      draft(fields) {
        const stars = counted(fields.literal("stars"), "star");
        return { snippet: joined([fields.literal("snippet"), fields.literal("language"), stars]) };
      },
    }),
};
