// OpenAlex, with a free key. Its abstracts are inverted indexes.

import { address, jsonHeaders, pageSize, primaryLanguage, rangeStart } from "../address.ts";
import { type EngineContext, type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer, selectorsOf, valueAt } from "../reading/json.ts";
import { counted, joined, oneLine } from "../reading/text.ts";

const AUTHORS_MAX = 3;
/** Maximum number of words of an abstract. */
const WORDS_MAX = 400;

export const openalex: SearchEngine = {
  name: "openalex",
  categories: ["science"],
  weight: 1.2,
  about: { website: "https://openalex.org", official: true },
  enabledByDefault: false,
  key: { looksLike: "an API key" },
  network: "openalex",
  timeoutMs: 10_000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  selectors: {
    results: "results",
    title: "title|display_name",
    url: "primary_location.landing_page_url|doi|id",
    abstract: "abstract_inverted_index",
    date: "publication_date",
    authors: "authorships",
    author: "author.display_name",
    journal: "primary_location.source.display_name",
    citations: "cited_by_count",
  },
  request(context) {
    const url = address(context, "https://api.openalex.org", "/works", {
      search: context.query.text,
      page: context.query.page,
      "per-page": pageSize(context, 25),
      sort: "relevance_score:desc",
      filter: filterOf(context),
      api_key: context.settings.apiKey,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: openalex,
      markup: ["title"],
      draft(fields) {
        const authors = fields.raw("authors");
        const path = selectorsOf(openalex, context)["author"] ?? "";
        const names = Array.isArray(authors) ? authors.map((one) => valueAt(one, path)) : [];
        const known = names.filter((name): name is string => typeof name === "string");
        return {
          snippet: joined([
            inOrder(fields.raw("abstract")),
            known.slice(0, AUTHORS_MAX).join(", ") + (known.length > AUTHORS_MAX ? " et al." : ""),
            fields.literal("journal"),
            counted(fields.literal("citations"), "citation"),
          ]),
        };
      },
    }),
};

function filterOf(context: EngineContext): string | undefined {
  const [language, since] = [primaryLanguage(context), rangeStart(context)?.toISOString().slice(0, 10)];
  return joined([language && `language:${language}`, since && `from_publication_date:${since}`], ",") || undefined;
}

/** The words of an abstract in their order. */
function inOrder(index: unknown): string {
  if (typeof index !== "object" || index === null) return "";
  const words: string[] = [];
  for (const [word, places] of Object.entries(index)) {
    if (!Array.isArray(places)) continue;
    for (const place of places) if (Number.isInteger(place) && place >= 0 && place < WORDS_MAX) words[place] = word;
  }
  return oneLine(words.filter((word) => word !== undefined).join(" "));
}
