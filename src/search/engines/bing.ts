// Bing's web page. It serves unrelated hits to some clients, so the operator must enable it.

import { entryOf } from "../../base/json-object.ts";
import { address, browserHeaders, primaryLanguage, regionOf } from "../address.ts";
import type { EngineContext, SearchEngine } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";
import { webAddress } from "../reading/text.ts";

const REGIONS: Readonly<Record<string, string>> = {
  cs: "cz",
  da: "dk",
  el: "gr",
  en: "us",
  ja: "jp",
  ko: "kr",
  nb: "no",
  pt: "br",
  sv: "se",
  uk: "ua",
  zh: "cn",
};

export const bing: SearchEngine = {
  name: "bing",
  categories: ["general"],
  weight: 0.8,
  about: { website: "https://www.bing.com", official: false },
  enabledByDefault: false,
  network: "bing",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 6000,
  languages: "any",
  safeSearch: true,
  selectors: {
    results: "ol#b_results > li.b_algo",
    none: "li.b_no",
    captcha: "#turnstile-widget, .captcha_header",
    hidden: "span.algoSlug_icon",
    title: "h2 a",
    url: "h2 a@href",
    snippet: "p",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "https://www.bing.com", "/search", {
      q: query.text,
      adlt: query.safe,
      mkt: market(context),
    });
    const language = query.language?.toLowerCase() ?? "en-us";
    const headers = browserHeaders(context, { "accept-language": `${language},${language.split("-", 1)[0]};q=0.9` });
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readMarkup(response, context, { engine: bing, draft: (fields) => ({ url: unwrapped(fields.address("url")) }) }),
};

function market(context: EngineContext): string {
  const language = primaryLanguage(context) ?? "en";
  return `${language}-${regionOf(context) ?? entryOf(REGIONS, language) ?? language}`;
}

/** The address in a link. Some links count clicks and contain the address as a parameter, in base64 after "a1". */
function unwrapped(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = new URL(link);
  if (url.pathname !== "/ck/a") return link;
  const hidden = url.searchParams.get("u") ?? "";
  return hidden.startsWith("a1") ? webAddress(Buffer.from(hidden.slice(2), "base64url").toString("utf8")) : undefined;
}
