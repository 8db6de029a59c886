// Bing News, by its feeds. Their terms of use are for feed readers, so the operator must enable it.

import { entryOf } from "../../base/json-object.ts";
import { address, primaryLanguage, regionOf } from "../address.ts";
import type { EngineContext, SearchEngine, TimeRange } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";
import { joined, webAddress } from "../reading/text.ts";

const INTERVALS: Readonly<Partial<Record<TimeRange, string>>> = { day: "4", week: "7", month: "9" };
const REGIONS: Readonly<Record<string, string>> = {
  en: "us",
  ja: "jp",
  ko: "kr",
  pt: "br",
  sv: "se",
  da: "dk",
  zh: "cn",
};

export const bingNews: SearchEngine = {
  name: "bing-news",
  categories: ["news"],
  about: { website: "https://www.bing.com/news", official: false },
  enabledByDefault: false,
  network: "bing",
  timeoutMs: 6000,
  pagesMax: 5,
  languages: "any",
  timeRanges: ["day", "week", "month"],
  selectors: {
    results: "rss > channel > item",
    none: "rss > channel:not(:has(> :not(title, link, description, language, copyright, image, pubDate, ttl)))",
    title: "title",
    url: "link",
    snippet: "description",
    date: "pubDate",
    source: "News\\:Source",
    thumbnail: "News\\:Image",
  },
  request(context) {
    const { query } = context;
    const interval = query.timeRange && INTERVALS[query.timeRange];
    const url = address(context, "https://www.bing.com", "/news/search", {
      q: query.text,
      format: "rss",
      mkt: market(context),
      first: query.page > 1 ? (query.page - 1) * 10 + 1 : undefined,
      qft: interval && `interval="${interval}"`,
    });
    const headers = { accept: "application/rss+xml, application/xml", "user-agent": context.settings.userAgent };
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: bingNews,
      xml: true,
      draft: (fields) => ({
        url: publisherOf(fields.address("url")),
        snippet: joined([fields.inner("snippet"), fields.text("source")]),
      }),
    }),
};

/** The publisher's address in a link. Links count clicks and contain that address as a parameter. */
function publisherOf(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = new URL(link);
  return (/\/apiclick\.aspx$/.test(url.pathname) ? webAddress(url.searchParams.get("url") ?? "") : undefined) ?? link;
}

function market(context: EngineContext): string | undefined {
  const language = primaryLanguage(context);
  return language && `${language}-${regionOf(context) ?? entryOf(REGIONS, language) ?? language}`;
}
