// Serper: Google's results, with a key.

import { address, jsonPost, pageSize, primaryLanguage, regionOf } from "../address.ts";
import type { SearchEngine, TimeRange } from "../engine.ts";
import { namesOf, readJsonAnswer, valueAt } from "../reading/json.ts";
import { failed } from "../reading/status.ts";
import { joined } from "../reading/text.ts";

const RANGES: Readonly<Record<TimeRange, string>> = { day: "d", week: "w", month: "m", year: "y" };

export const serper: SearchEngine = {
  name: "serper",
  categories: ["general", "news"],
  weight: 1.5,
  about: { website: "https://serper.dev", official: true },
  enabledByDefault: false,
  key: { looksLike: "an API key" },
  network: "serper",
  timeoutMs: 10_000,
  pagesMax: 10,
  languages: "any",
  timeRanges: ["day", "week", "month", "year"],
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "organic|news",
    title: "title",
    url: "link",
    snippet: "snippet",
    date: "date",
    source: "source",
    thumbnail: "imageUrl",
    related: "relatedSearches",
  },
  request(context) {
    const { query, settings } = context;
    const body = {
      q: query.text,
      gl: regionOf(context),
      hl: primaryLanguage(context),
      num: pageSize(context, 20),
      page: query.page,
      tbs: query.timeRange && `qdr:${RANGES[query.timeRange]}`,
      safe: query.safe === "off" ? undefined : "active",
    };
    const url = address(context, "https://google.serper.dev", query.category === "news" ? "/news" : "/search");
    return { url, ...jsonPost(context, body, { "x-api-key": settings.apiKey ?? "" }) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: serper,
      failure(body, { status }) {
        const message = status === 400 ? valueAt(body, "message") : undefined;
        return typeof message === "string" && /credit/i.test(message)
          ? failed("bad_key", "The key has no credits left.")
          : undefined;
      },
      draft: (fields) => ({ snippet: joined([fields.literal("snippet"), fields.literal("source")]) }),
      more(fields, body) {
        const related = fields.raw("related");
        if (namesOf(body) === undefined || !Array.isArray(related)) return {};
        const suggestions = related.map((one) => valueAt(one, "query")).filter((one) => typeof one === "string");
        return suggestions.length > 0 ? { suggestions } : {};
      },
    }),
};
