// Semantic Scholar. Without a key, all users share one rate limit, so it often refuses requests.

import { address, jsonHeaders, offset, pageSize, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

const FIELDS = "title,url,abstract,year,publicationDate,authors,externalIds,openAccessPdf,venue,citationCount";
const AUTHORS_MAX = 3;

export const semanticScholar: SearchEngine = {
  name: "semantic-scholar",
  categories: ["science"],
  about: { website: "https://www.semanticscholar.org", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "an API key" },
  network: "semantic-scholar",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 8000,
  pagesMax: 10,
  timeRanges: TIME_RANGES,
  selectors: {
    results: "data",
    title: "title",
    url: "url",
    snippet: "abstract",
    date: "publicationDate|year",
    authors: "authors",
    venue: "venue",
    citations: "citationCount",
  },
  request(context) {
    const size = pageSize(context, 20);
    const since = rangeStart(context)?.toISOString().slice(0, 10);
    const { apiKey } = context.settings;
    const url = address(context, "https://api.semanticscholar.org", "/graph/v1/paper/search", {
      query: context.query.text,
      offset: offset(context, size),
      limit: size,
      fields: FIELDS,
      publicationDateOrYear: since && `${since}:`,
    });
    return { method: "GET", url, headers: jsonHeaders(context, apiKey === undefined ? {} : { "x-api-key": apiKey }) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: semanticScholar,
      isEmpty: (body) => valueAt(body, "total") === 0,
      draft(fields) {
        const authors = fields.raw("authors");
        const names = Array.isArray(authors) ? authors.flatMap((one) => (valueAt(one, "name") as string) ?? []) : [];
        const year = fields.literal("date");
        return {
          snippet: joined([
            fields.literal("snippet"),
            names.slice(0, AUTHORS_MAX).join(", ") + (names.length > AUTHORS_MAX ? " et al." : ""),
            fields.literal("venue"),
            counted(fields.literal("citations"), "citation"),
          ]),
          publishedAt: /^\d{4}$/.test(year) ? year : fields.date("date"),
        };
      },
    }),
};
