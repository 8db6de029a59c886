// Wikipedia, by MediaWiki's search API. Each language has its own host.

import { address, jsonHeaders, offset, pageSize, primaryLanguage } from "../address.ts";
import type { EngineContext, SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { mediaWikiFailure } from "../reading/mediawiki.ts";

/** The languages of the largest editions. For other languages, the English edition is searched. */
const LANGUAGES =
  "en de fr es it pt ru ja zh nl pl sv ar uk vi fa ca id ko no fi hu cs tr ro he da eo sr bg hy sk et el simple be lt sl eu hr gl nn az ka hi uz th la ms ta kk bn te mk cy ur af sq is lv mr ml sw pa gu kn ne si my km".split(
    " ",
  );

export const wikipedia: SearchEngine = {
  name: "wikipedia",
  categories: ["general"],
  about: { website: "https://www.wikipedia.org", official: true },
  enabledByDefault: true,
  network: "wikimedia",
  timeoutMs: 5000,
  pagesMax: 10,
  languages: LANGUAGES,
  safeSearch: true,
  suggestions: true,
  selectors: {
    results: "query.search",
    title: "title",
    snippet: "snippet",
    correction: "query.searchinfo.suggestion",
  },
  request(context) {
    const size = pageSize(context, 20);
    const url = address(context, `https://${edition(context)}.wikipedia.org`, "/w/api.php", {
      action: "query",
      list: "search",
      srsearch: context.query.text,
      srlimit: size,
      sroffset: offset(context, size),
      srinfo: "suggestion|totalhits",
      format: "json",
      formatversion: 2,
    });
    const { language } = context.query;
    // The Chinese edition has several scripts, and the header selects one.
    return { method: "GET", url, headers: jsonHeaders(context, language ? { "accept-language": language } : {}) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: wikipedia,
      markup: ["snippet"],
      failure: mediaWikiFailure,
      draft(fields) {
        const title = fields.literal("title");
        if (title === "") return undefined;
        const path = encodeURIComponent(title.replaceAll(" ", "_")).replace(/%(?:3A|2F|2C|28|29)/g, decodeURIComponent);
        return { title, url: `https://${edition(context)}.wikipedia.org/wiki/${path}` };
      },
      more(fields) {
        const correction = fields.literal("correction");
        return correction === "" ? {} : { corrections: [correction] };
      },
    }),
};

function edition(context: EngineContext): string {
  const language = primaryLanguage(context) ?? "en";
  const named = language === "nb" ? "no" : language;
  return LANGUAGES.includes(named) ? named : "en";
}
