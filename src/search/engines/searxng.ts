// A SearXNG instance that allows JSON. Its hits name the engines that found them.

import { address, jsonHeaders } from "../address.ts";
import { CATEGORIES, type SafeSearch, type SearchEngine, TIME_RANGES } from "../engine.ts";
import { namesOf, readJsonAnswer, selectorsOf, valueAt } from "../reading/json.ts";
import { failed } from "../reading/status.ts";
import { oneLine } from "../reading/text.ts";

const SAFE: Readonly<Record<SafeSearch, number>> = { off: 0, moderate: 1, strict: 2 };
/** Maximum number of engine names; no instance has as many engines. */
const NAMES_MAX = 50;

export const searxng: SearchEngine = {
  name: "searxng",
  categories: CATEGORIES,
  weight: 1.5,
  about: { website: "https://docs.searxng.org", official: true },
  enabledByDefault: false,
  needsBaseUrl: true,
  network: "searxng",
  timeoutMs: 15_000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "results",
    title: "title",
    url: "url",
    snippet: "content",
    date: "publishedDate|pubdate",
    thumbnail: "thumbnail|thumbnail_src",
    file: "img_src",
    engines: "engines",
    engine: "engine",
    suggestions: "suggestions",
    corrections: "corrections",
    unresponsive: "unresponsive_engines",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "", "/search", {
      q: query.text,
      format: "json",
      categories: query.category,
      pageno: query.page,
      language: query.language ?? "all",
      safesearch: SAFE[query.safe],
      time_range: query.timeRange,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: searxng,
      failure(body, { status }) {
        if (status === 403)
          return failed("blocked", "The instance refused the request. Its setting search.formats may lack json.");
        const selectors = selectorsOf(searxng, context);
        const results = valueAt(body, selectors["results"] ?? "");
        const unresponsive = valueAt(body, selectors["unresponsive"] ?? "");
        if (!Array.isArray(results) || results.length > 0 || !Array.isArray(unresponsive) || unresponsive.length === 0)
          return undefined;
        return failed("unanswered", "The engines of the instance did not answer.");
      },
      draft(fields) {
        const engines = words(fields.raw("engines"));
        const engine = fields.literal("engine");
        return { engines: engines.length > 0 ? engines : engine === "" ? undefined : [engine] };
      },
      more(fields, body) {
        const [suggestions, corrections] = [words(fields.raw("suggestions")), words(fields.raw("corrections"))];
        if (namesOf(body) === undefined) return {};
        return {
          ...(suggestions.length > 0 && { suggestions }),
          ...(corrections.length > 0 && { corrections }),
        };
      },
    }),
};

function words(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  const texts = list.filter((one): one is string => typeof one === "string").map(oneLine);
  return texts.filter((text) => text !== "").slice(0, NAMES_MAX);
}
