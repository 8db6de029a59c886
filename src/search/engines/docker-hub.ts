// Docker Hub.

import { address, jsonHeaders, offset, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const dockerHub: SearchEngine = {
  name: "docker-hub",
  categories: ["it"],
  weight: 0.8,
  about: { website: "https://hub.docker.com", official: true },
  enabledByDefault: true,
  network: "docker",
  timeoutMs: 6000,
  pagesMax: 10,
  selectors: {
    results: "results",
    title: "name",
    slug: "slug",
    source: "source",
    snippet: "short_description",
    date: "updated_at",
    stars: "star_count",
    publisher: "publisher.name",
    pulls: "rate_plans.0.repositories.0.pull_count",
    thumbnail: "logo_url.large|logo_url.small",
  },
  request(context) {
    const size = pageSize(context, 20);
    const url = address(context, "https://hub.docker.com", "/api/search/v3/catalog/search", {
      query: context.query.text,
      from: String(offset(context, size)),
      size,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: dockerHub,
      draft(fields) {
        const slug = fields.literal("slug");
        if (!/^[\w./-]+$/.test(slug)) return undefined;
        const isOfficial = /^(?:store|official)$/.test(fields.literal("source"));
        const [publisher, pulls] = [fields.literal("publisher"), fields.literal("pulls")];
        return {
          url: `https://hub.docker.com/${isOfficial ? "_" : "r"}/${slug}`,
          title: fields.literal("title") || slug,
          snippet: joined([
            fields.literal("snippet"),
            publisher && `by ${publisher}`,
            counted(fields.literal("stars"), "star"),
            pulls && `pulled ${pulls} times`,
          ]),
        };
      },
    }),
};
