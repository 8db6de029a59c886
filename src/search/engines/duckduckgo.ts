// DuckDuckGo's page for browsers without scripts. It blocks clients that it recognises as programs, so the operator must enable
// it. No second page is requested, because that needs a token of the first and is how programs are recognised.

import { entryOf } from "../../base/json-object.ts";
import { address, browserHeaders, cookies, encoded, primaryLanguage, regionOf } from "../address.ts";
import type { EngineContext, SearchEngine, TimeRange } from "../engine.ts";
import { readMarkup } from "../reading/markup.ts";
import { webAddress } from "../reading/text.ts";

const ORIGIN = "https://html.duckduckgo.com";
const QUERY_CHARS_MAX = 499;
const DATES: Readonly<Record<TimeRange, string>> = { day: "d", week: "w", month: "m", year: "y" };
const ALL_REGIONS = "wt-wt";
const REGIONS = new Set(
  "ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr de-de gr-el hk-tzh hu-hu in-en ie-en il-he it-it jp-jp kr-kr lv-lv lt-lt mx-es nl-nl nz-en no-no pe-es ph-en pl-pl pt-pt ro-ro ru-ru sg-en sk-sk sl-sl za-en es-es se-sv ch-de ch-fr ch-it tw-tzh th-th tr-tr ua-uk uk-en us-en vn-vi".split(
    " ",
  ),
);
/** The default region of a language. */
const HOMES: Readonly<Record<string, string>> = {
  cs: "cz-cs",
  da: "dk-da",
  el: "gr-el",
  en: "us-en",
  et: "ee-et",
  he: "il-he",
  ja: "jp-jp",
  ko: "kr-kr",
  nb: "no-no",
  sl: "sl-sl",
  sv: "se-sv",
  uk: "ua-uk",
  vi: "vn-vi",
  zh: "cn-zh",
};

export const duckduckgo: SearchEngine = {
  name: "duckduckgo",
  categories: ["general"],
  about: { website: "https://duckduckgo.com", official: false },
  enabledByDefault: false,
  network: "duckduckgo",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 6000,
  languages: "any",
  timeRanges: ["day", "week", "month", "year"],
  safeSearch: true,
  selectors: {
    results: "#links > div.web-result:not(.result--ad):not(.result--no-result)",
    none: "#links .no-results, #links .result--no-result",
    captcha: "form#challenge-form, .anomaly-modal__modal",
    title: "h2 a",
    url: "h2 a@href",
    snippet: "a.result__snippet",
  },
  request(context) {
    const url = address(context, ORIGIN, "/html/");
    const kl = region(context);
    const df = context.query.timeRange && DATES[context.query.timeRange];
    const headers = browserHeaders(context, {
      "content-type": "application/x-www-form-urlencoded",
      referer: url,
      "sec-fetch-dest": "document",
      "sec-fetch-mode": "navigate",
      "sec-fetch-site": "same-origin",
      "sec-fetch-user": "?1",
      cookie: cookies({ kl, df }),
    });
    // The form on the first page sends an empty `b`.
    const body = `${encoded({ q: askable(context.query.text) })}&b=&${encoded({ kl, df })}`;
    return { method: "POST", url, headers, body };
  },
  parse: (response, context) =>
    readMarkup(response, context, {
      engine: duckduckgo,
      // Queries without results are redirected.
      failure: (page, { url, request, status }) =>
        status < 300 && url !== request.url && page.texts("results").length === 0
          ? { kind: "hits", hits: [] }
          : undefined,
      draft: (fields) => ({ url: unwrapped(fields.address("url")) }),
    }),
};

/** The query without words that begin with "!", which would redirect to another site. */
function askable(text: string): string {
  return text
    .slice(0, QUERY_CHARS_MAX)
    .replace(/(?<=^|\s)!\S+/g, "'$&'")
    .slice(0, QUERY_CHARS_MAX);
}

function region(context: EngineContext): string {
  const language = primaryLanguage(context);
  if (language === undefined) return ALL_REGIONS;
  const home = entryOf(HOMES, language) ?? `${language}-${language}`;
  const place = regionOf(context);
  const named = place === undefined ? home : `${place === "gb" ? "uk" : place}-${home.split("-")[1]}`;
  const wanted = [named.replace(/^(tw|hk)-zh$/, "$1-tzh"), home].find((one) => REGIONS.has(one));
  return wanted ?? ALL_REGIONS;
}

/** The address in a link. Some links count clicks and contain the address as a parameter. */
function unwrapped(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = new URL(link);
  return (url.pathname === "/l/" ? webAddress(url.searchParams.get("uddg") ?? "") : undefined) ?? link;
}
