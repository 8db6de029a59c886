// arXiv, by its Atom API.

import { address, offset, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";
import { failed } from "../reading/status.ts";
import { joined } from "../reading/text.ts";

const AUTHORS_MAX = 3;

export const arxiv: SearchEngine = {
  name: "arxiv",
  categories: ["science"],
  about: { website: "https://arxiv.org", official: true },
  enabledByDefault: true,
  network: "arxiv",
  requestRate: { requests: 1, perMs: 3000 },
  timeoutMs: 10_000,
  pagesMax: 10,
  selectors: {
    results: "feed > entry",
    none: "feed:not(:has(> entry)) > opensearch\\:totalResults",
    title: "title",
    url: "id",
    snippet: "summary",
    date: "published",
    authors: "author > name",
    journal: "arxiv\\:journal_ref",
    total: "feed > opensearch\\:totalResults",
  },
  request(context) {
    const size = pageSize(context, 20);
    const url = address(context, "https://export.arxiv.org", "/api/query", {
      search_query: `all:${context.query.text}`,
      start: offset(context, size),
      max_results: size,
    });
    return {
      method: "GET",
      url,
      headers: { accept: "application/atom+xml", "user-agent": context.settings.userAgent },
    };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: arxiv,
      xml: true,
      failure(page) {
        if (page.texts("url").some((id) => /\/api\/errors/.test(id)))
          return failed("refused", "The engine refused the query.");
        const total = page.text("total");
        if (page.texts("results").length === 0 && /^[1-9]/.test(total))
          return failed("changed_markup", "The answer states a number of hits but contains none.");
        return undefined;
      },
      draft(fields) {
        const names = fields.texts("authors");
        const authors = names.slice(0, AUTHORS_MAX).join(", ") + (names.length > AUTHORS_MAX ? " et al." : "");
        return {
          url: fields.address("url")?.replace(/^http:/, "https:"),
          snippet: joined([fields.text("snippet"), authors, fields.text("journal")]),
        };
      },
    }),
};
