// The Internet Archive: books, films, recordings, software.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const internetArchive: SearchEngine = {
  name: "internet-archive",
  categories: ["files"],
  about: { website: "https://archive.org", official: true },
  enabledByDefault: true,
  network: "internet-archive",
  timeoutMs: 12_000,
  pagesMax: 10,
  selectors: {
    results: "response.docs",
    id: "identifier",
    title: "title",
    snippet: "description",
    date: "date",
    kind: "mediatype",
    downloads: "downloads",
  },
  request(context) {
    const url = address(context, "https://archive.org", "/advancedsearch.php", {
      q: context.query.text,
      "fl[]": ["identifier", "title", "description", "mediatype", "date", "downloads"],
      rows: pageSize(context, 20),
      page: context.query.page,
      output: "json",
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: internetArchive,
      draft(fields) {
        const id = fields.literal("id");
        if (!/^[\w.-]+$/.test(id)) return undefined;
        return {
          url: `https://archive.org/details/${id}`,
          title: fields.text("title") || id,
          snippet: joined([
            fields.text("snippet"),
            fields.literal("kind"),
            counted(fields.literal("downloads"), "download"),
          ]),
          thumbnail: `https://archive.org/services/img/${id}`,
        };
      },
    }),
};
