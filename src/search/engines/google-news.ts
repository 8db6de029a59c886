// Google News, by its feeds. Its links lead through Google's own site and do not contain the publisher's address.

import { entryOf } from "../../base/json-object.ts";
import { address, primaryLanguage, regionOf } from "../address.ts";
import type { EngineContext, SearchEngine, TimeRange } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";
import { failed } from "../reading/status.ts";

const WHEN: Readonly<Record<TimeRange, string>> = { day: "1d", week: "7d", month: "30d", year: "1y" };
/** The default edition of each language, for languages without a region. */
const REGIONS: Readonly<Record<string, string>> = {
  ar: "EG",
  bg: "BG",
  bn: "BD",
  cs: "CZ",
  de: "DE",
  el: "GR",
  en: "US",
  es: "ES",
  fr: "FR",
  he: "IL",
  hi: "IN",
  hu: "HU",
  id: "ID",
  it: "IT",
  ja: "JP",
  ko: "KR",
  lt: "LT",
  lv: "LV",
  nl: "NL",
  no: "NO",
  pl: "PL",
  pt: "BR",
  ro: "RO",
  ru: "RU",
  sk: "SK",
  sl: "SI",
  sr: "RS",
  sv: "SE",
  th: "TH",
  tr: "TR",
  uk: "UA",
  vi: "VN",
  zh: "CN",
};

export const googleNews: SearchEngine = {
  name: "google-news",
  categories: ["news"],
  about: { website: "https://news.google.com", official: false },
  enabledByDefault: false,
  network: "google",
  timeoutMs: 6000,
  languages: Object.keys(REGIONS),
  timeRanges: ["day", "week", "month", "year"],
  selectors: {
    results: "rss > channel > item",
    none: "rss > channel:not(:has(> :not(title, link, description, language, generator, webMaster, copyright, lastBuildDate, pubDate, image, ttl)))",
    title: "title",
    url: "link",
    source: "source",
    date: "pubDate",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "https://news.google.com", "/rss/search", {
      q: query.timeRange === undefined ? query.text : `${query.text} when:${WHEN[query.timeRange]}`,
      ...edition(context),
    });
    const headers = { accept: "application/rss+xml, application/xml", "user-agent": context.settings.userAgent };
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: googleNews,
      xml: true,
      failure: (_page, { url }) =>
        /^\/sorry(?:\/|$)/.test(new URL(url).pathname) ? failed("captcha", "The engine shows a captcha.") : undefined,
      draft(fields) {
        const [title, source] = [fields.text("title"), fields.text("source")];
        const end = ` - ${source}`;
        return {
          title: source !== "" && title.endsWith(end) ? title.slice(0, -end.length) : title,
          snippet: source,
        };
      },
    }),
};

function edition(context: EngineContext): Record<"hl" | "gl" | "ceid", string> {
  const language = primaryLanguage(context) ?? "en";
  const known = entryOf(REGIONS, language) === undefined ? "en" : language;
  const region = (known === language ? regionOf(context)?.toUpperCase() : undefined) ?? entryOf(REGIONS, known) ?? "US";
  if (known === "zh") {
    const isTraditional = region === "TW" || region === "HK" || /-hant/i.test(context.query.language ?? "");
    const place = isTraditional && region === "CN" ? "TW" : region;
    return { hl: `zh-${place}`, gl: place, ceid: `${place}:${isTraditional ? "zh-Hant" : "zh-Hans"}` };
  }
  const hl = known === "en" || known === "pt" ? `${known}-${region}` : known;
  return { hl, gl: region, ceid: `${region}:${known === "pt" ? hl : known}` };
}
