// Brave Search's web page. It often refuses programs, so the operator must enable it. `brave` is the API, which needs a key.

import { address, browserHeaders, cookies, regionOf } from "../address.ts";
import type { SearchEngine, TimeRange } from "../engine.ts";
import { type MarkupFields, readMarkup } from "../reading/markup.ts";

const RANGES: Readonly<Record<TimeRange, string>> = { day: "pd", week: "pw", month: "pm", year: "py" };

/** Brave Search, without a key. */
export const braveHtml: SearchEngine = {
  name: "brave-html",
  categories: ["general"],
  about: { website: "https://search.brave.com", official: false },
  enabledByDefault: false,
  network: "brave",
  requestRate: { requests: 1, perMs: 2000 },
  timeoutMs: 6000,
  pagesMax: 10,
  timeRanges: ["day", "week", "month", "year"],
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "div.snippet",
    none: 'body:contains("Not many great matches came back")',
    captcha: 'form[action*="captcha"], title:contains("Captcha")',
    title: '.title, [class*="snippet-title"]',
    url: "a[href]@href",
    snippet: ".content",
    date: ".content span.t-secondary",
    thumbnail: "a.thumbnail img@src",
    related: "a.related-query",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "https://search.brave.com", "/search", {
      q: query.text,
      source: "web",
      offset: query.page > 1 ? query.page - 1 : undefined,
      tf: query.timeRange && RANGES[query.timeRange],
    });
    const cookie = cookies({
      safesearch: query.safe,
      useLocation: "0",
      summarizer: "0",
      country: regionOf(context) ?? "all",
      ui_lang: "en-us",
    });
    return { method: "GET", url, headers: browserHeaders(context, { cookie }) };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: braveHtml,
      // Relative addresses belong to advertisements.
      skips: (fields) => !/^https?:/.test(fields.text("url")),
      draft: (fields) => ({ snippet: withoutDate(fields) }),
      more(page) {
        const suggestions = [...new Set(page.texts("related"))];
        return suggestions.length > 0 ? { suggestions } : {};
      },
    }),
};

/** The text of a hit, without the date before it. */
function withoutDate(fields: MarkupFields): string {
  const [text, date] = [fields.text("snippet"), fields.text("date")];
  return date !== "" && text.startsWith(date) ? text.slice(date.length).replace(/^[\s\-–—·]+/, "") : text;
}
