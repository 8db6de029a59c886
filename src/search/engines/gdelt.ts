// GDELT: world news of the last three months. It accepts one request every five seconds and is slow, so the operator must enable
// it.

import { entryOf } from "../../base/json-object.ts";
import { address, jsonHeaders, pageSize, primaryLanguage } from "../address.ts";
import type { SearchEngine, TimeRange } from "../engine.ts";
import { namesOf, readJsonAnswer } from "../reading/json.ts";
import { failed, rateLimited } from "../reading/status.ts";
import { joined } from "../reading/text.ts";

const TIMESPANS: Readonly<Record<TimeRange, string>> = { day: "1d", week: "1w", month: "1m", year: "3m" };
const LANGUAGES: Readonly<Record<string, string>> = {
  ar: "arabic",
  cs: "czech",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  fi: "finnish",
  fr: "french",
  he: "hebrew",
  hi: "hindi",
  hu: "hungarian",
  id: "indonesian",
  it: "italian",
  ja: "japanese",
  ko: "korean",
  nl: "dutch",
  no: "norwegian",
  pl: "polish",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sv: "swedish",
  th: "thai",
  tr: "turkish",
  uk: "ukrainian",
  vi: "vietnamese",
  zh: "chinese",
};

const SENTENCE_CHARS_MAX = 500;

export const gdelt: SearchEngine = {
  name: "gdelt",
  categories: ["news"],
  weight: 0.8,
  about: { website: "https://www.gdeltproject.org", official: true },
  enabledByDefault: false,
  network: "gdelt",
  requestRate: { requests: 1, perMs: 6000 },
  timeoutMs: 25_000,
  languages: Object.keys(LANGUAGES),
  timeRanges: ["day", "week", "month"],
  selectors: {
    results: "articles",
    title: "title",
    url: "url",
    date: "seendate",
    thumbnail: "socialimage",
    domain: "domain",
    language: "language",
  },
  request(context) {
    const { query } = context;
    const language = entryOf(LANGUAGES, primaryLanguage(context) ?? "");
    const url = address(context, "https://api.gdeltproject.org", "/api/v2/doc/doc", {
      query: language === undefined ? query.text : `${query.text} sourcelang:${language}`,
      mode: "artlist",
      format: "json",
      maxrecords: pageSize(context, 250),
      timespan: query.timeRange && TIMESPANS[query.timeRange],
      sort: query.timeRange && "datedesc",
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: gdelt,
      // Refusals are plain sentences with status 200.
      failure(body, response) {
        const { body: whole, status } = response;
        const text = whole.slice(0, SENTENCE_CHARS_MAX);
        if (body !== undefined || (status !== 200 && status !== 429)) return undefined;
        if (/limit requests/i.test(text))
          return rateLimited(response, "The engine accepts one request every five seconds.");
        if (
          /\b(?:query|phrase|keyword|search)\b[^<]*\b(?:too|short|long|common|invalid|illegal)\b/i.test(text) &&
          !text.includes("<")
        )
          return failed("refused", "The engine refused the query.");
        return undefined;
      },
      isEmpty: (body) => namesOf(body)?.length === 0,
      draft: (fields) => ({
        snippet: joined([fields.literal("domain"), fields.literal("language")]),
      }),
    }),
};
