// Brave Search, by its API with a key.

import { address, jsonHeaders, pageSize, primaryLanguage, regionOf } from "../address.ts";
import type { EngineContext, SearchEngine, TimeRange } from "../engine.ts";
import { namesOf, readJsonAnswer, valueAt } from "../reading/json.ts";
import { failed, rateLimited } from "../reading/status.ts";

const RANGES: Readonly<Record<TimeRange, string>> = { day: "pd", week: "pw", month: "pm", year: "py" };
const QUERY_CHARS_MAX = 400;
const QUERY_WORDS_MAX = 50;
/** The members of a response without pages. If there are others, the format has changed. */
const OTHER_NAMES = new Set(
  "type query mixed videos news discussions faq infobox locations summarizer rich".split(" "),
);

export const brave: SearchEngine = {
  name: "brave",
  categories: ["general", "news"],
  weight: 1.5,
  about: { website: "https://brave.com/search/api/", official: true },
  enabledByDefault: false,
  key: { looksLike: "a subscription token" },
  network: "brave-api",
  timeoutMs: 8000,
  pagesMax: 10,
  languages: "any",
  timeRanges: ["day", "week", "month", "year"],
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "web.results|results",
    title: "title",
    url: "url",
    snippet: "description",
    date: "page_age|age",
    thumbnail: "thumbnail.src",
    is_logo: "thumbnail.logo",
    correction: "query.altered",
  },
  request(context) {
    const { query } = context;
    const isNews = query.category === "news";
    const url = address(context, "https://api.search.brave.com", `/res/v1/${isNews ? "news" : "web"}/search`, {
      q: shortened(query.text),
      count: pageSize(context, 20),
      offset: query.page > 1 ? query.page - 1 : undefined,
      country: regionOf(context)?.toUpperCase(),
      search_lang: languageOf(context),
      safesearch: query.safe,
      freshness: query.timeRange && RANGES[query.timeRange],
      text_decorations: isNews ? undefined : "false",
    });
    const headers = jsonHeaders(context, { "x-subscription-token": context.settings.apiKey ?? "" });
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: brave,
      markup: ["title", "snippet"],
      failure(body, response) {
        const code = valueAt(body, "error.code");
        if (response.status === 429) return rateLimited(response, "The key is used too often.");
        if (typeof code === "string" && /TOKEN|SUBSCRIPTION/.test(code))
          return failed("bad_key", "The engine does not accept the key.");
        return undefined;
      },
      isEmpty: (body) =>
        namesOf(body)?.includes("type") === true && namesOf(body)!.every((name) => OTHER_NAMES.has(name)),
      draft: (fields) => (fields.raw("is_logo") === true ? { thumbnail: undefined } : {}),
      more(fields) {
        const correction = fields.literal("correction");
        return correction === "" ? {} : { corrections: [correction] };
      },
    }),
};

function shortened(text: string): string {
  const words = text.split(" ");
  return (words.length > QUERY_WORDS_MAX ? words.slice(0, QUERY_WORDS_MAX).join(" ") : text).slice(0, QUERY_CHARS_MAX);
}

function languageOf(context: EngineContext): string | undefined {
  const language = primaryLanguage(context);
  if (language === "ja") return "jp";
  if (language === "no") return "nb";
  if (language === "pt") return regionOf(context) === "pt" ? "pt-pt" : "pt-br";
  if (language === "zh") return /-(?:TW|HK|Hant)/i.test(context.query.language ?? "") ? "zh-hant" : "zh-hans";
  return language;
}
