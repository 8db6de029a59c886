// Openverse: images with open licences. Unsafe hits are left out unless requested.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { joined } from "../reading/text.ts";

export const openverse: SearchEngine = {
  name: "openverse",
  categories: ["images"],
  about: { website: "https://openverse.org", official: true },
  enabledByDefault: true,
  network: "openverse",
  requestRate: { requests: 100, perMs: 86_400_000 },
  timeoutMs: 8000,
  pagesMax: 10,
  safeSearch: true,
  selectors: {
    results: "results",
    title: "title",
    url: "foreign_landing_url",
    file: "url",
    thumbnail: "thumbnail",
    creator: "creator",
    license: "license",
    version: "license_version",
    source: "source",
  },
  request(context) {
    const url = address(context, "https://api.openverse.org", "/v1/images/", {
      q: context.query.text,
      page: context.query.page,
      page_size: pageSize(context, 20),
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: openverse,
      draft(fields) {
        const creator = fields.literal("creator");
        const license = joined([fields.literal("license"), fields.literal("version")], " ");
        return {
          title: fields.literal("title") || "Untitled",
          snippet: joined([creator && `by ${creator}`, license && `license ${license}`, fields.literal("source")]),
        };
      },
    }),
};
