// Mojeek's web page, with its own index. It refuses addresses of data centres, so the operator must enable it.

import { address, browserHeaders, cookies, primaryLanguage, rangeStart, regionOf } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";

export const mojeek: SearchEngine = {
  name: "mojeek",
  categories: ["general"],
  weight: 0.8,
  about: { website: "https://www.mojeek.com", official: false },
  enabledByDefault: false,
  network: "mojeek",
  requestRate: { requests: 1, perMs: 2000 },
  timeoutMs: 6000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "ul.results-standard > li:has(> a.ob)",
    none: '.result-col:contains("No pages found matching"), p.top-info:contains("No pages found matching")',
    title: "h2 a",
    url: "a.ob@href",
    snippet: "p.s",
    correction: "p.top-info.spell em a",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "https://www.mojeek.com", "/search", {
      q: query.text,
      safe: query.safe === "off" ? 0 : 1,
      // The parameter would be refused on the first page.
      s: query.page > 1 ? (query.page - 1) * 10 : undefined,
      since: rangeStart(context)?.toISOString().slice(0, 10).replaceAll("-", ""),
    });
    // As parameters, these two values would be refused.
    const cookie = cookies({ lb: primaryLanguage(context), arc: regionOf(context) ?? "none" });
    return { method: "GET", url, headers: browserHeaders(context, { cookie }) };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: mojeek,
      more(page) {
        const correction = page.text("correction");
        return correction === "" ? {} : { corrections: [correction] };
      },
    }),
};
