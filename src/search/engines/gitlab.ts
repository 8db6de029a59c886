// Projects of gitlab.com, or of the operator's own GitLab.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const gitlab: SearchEngine = {
  name: "gitlab",
  categories: ["it"],
  weight: 0.7,
  about: { website: "https://gitlab.com", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "an access token" },
  network: "gitlab",
  requestRate: { requests: 10, perMs: 60_000 },
  timeoutMs: 6000,
  pagesMax: 10,
  selectors: {
    results: "$",
    title: "name_with_namespace",
    url: "web_url",
    snippet: "description",
    date: "last_activity_at",
    stars: "star_count",
    thumbnail: "avatar_url",
  },
  request(context) {
    const { apiKey } = context.settings;
    const url = address(context, "https://gitlab.com", "/api/v4/projects", {
      search: context.query.text,
      page: context.query.page,
      per_page: pageSize(context, 20),
      order_by: "star_count",
    });
    return {
      method: "GET",
      url,
      headers: jsonHeaders(context, apiKey === undefined ? {} : { "private-token": apiKey }),
    };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: gitlab,
      draft(fields) {
        return { snippet: joined([fields.literal("snippet"), counted(fields.literal("stars"), "star")]) };
      },
    }),
};
