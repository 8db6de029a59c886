// Startpage's web page. A search needs a token from its home page, so there are two requests, or one while the token is valid.
// The page changes often, so the operator must enable it.

import { entryOf } from "../../base/json-object.ts";
import { address, browserHeaders, cookies, encoded, primaryLanguage } from "../address.ts";
import type {
  EngineContext,
  EngineRequest,
  EngineResponse,
  Parsed,
  SafeSearch,
  SearchEngine,
  TimeRange,
} from "../engine.ts";
import { isoDate } from "../reading/date.ts";
import { readItems, selectorsOf, settled, strangeSelector, valueAt } from "../reading/json.ts";
import { firstText } from "../reading/markup.ts";
import { objectAfter } from "../reading/script.ts";
import { failed, statusFailure } from "../reading/status.ts";

const ORIGIN = "https://www.startpage.com";
const SEARCH = "search";
const TOKEN_MS = 3_600_000;
const DATES: Readonly<Record<TimeRange, string>> = { day: "d", week: "w", month: "m", year: "y" };
const FILTERS: Readonly<Record<SafeSearch, string>> = { off: "none", moderate: "moderate", strict: "heavy" };
const LANGUAGES: Readonly<Record<string, string>> = {
  da: "dansk",
  de: "deutsch",
  en: "english",
  es: "espanol",
  fi: "suomi",
  fr: "francais",
  it: "italiano",
  nb: "norsk",
  nl: "nederlands",
  no: "norsk",
  pl: "polski",
  pt: "portugues",
  sv: "svenska",
};

export const startpage: SearchEngine = {
  name: "startpage",
  categories: ["general"],
  about: { website: ORIGIN, official: false },
  enabledByDefault: false,
  network: "startpage",
  requestRate: { requests: 2, perMs: 4000 },
  timeoutMs: 8000,
  pagesMax: 18,
  languages: Object.keys(LANGUAGES),
  timeRanges: ["day", "week", "month", "year"],
  safeSearch: true,
  selectors: {
    token: 'form#search input[name="sc"]@value',
    state: "React.createElement(UIStartpage.AppSerpWeb,",
    groups: "render.presenter.regions.mainline",
    kind: "display_type",
    results: "results",
    title: "title",
    url: "clickUrl",
    snippet: "description",
  },
  request(context) {
    if (context.remembered !== undefined) return search(context, context.remembered);
    return { method: "GET", url: address(context, ORIGIN, "/"), headers: browserHeaders(context) };
  },
  parse(response, context) {
    if (/\/sp\/captcha\b/.test(new URL(response.url).pathname)) return failed("captcha", "The engine shows a captcha.");
    const strange = strangeSelector(startpage, context);
    if (strange !== undefined) return strange;
    const failure = statusFailure(response);
    if (failure !== undefined) return { kind: "failure", failure };
    return response.request.step === SEARCH ? readResults(response, context) : readToken(response, context);
  },
};

function readToken(response: EngineResponse, context: EngineContext): Parsed {
  const token = firstText(response.body, selectorsOf(startpage, context)["token"] ?? "");
  if (token === "") return failed("changed_markup", "The home page has no token.");
  return { kind: "next", request: search(context, token), remember: { value: token, forMs: TOKEN_MS } };
}

function search(context: EngineContext, token: string): EngineRequest {
  const { query } = context;
  const language = entryOf(LANGUAGES, primaryLanguage(context) ?? "en") ?? "english";
  const headers = browserHeaders(context, {
    "content-type": "application/x-www-form-urlencoded",
    origin: new URL(address(context, ORIGIN, "/")).origin,
    referer: address(context, ORIGIN, "/"),
    cookie: cookies({ preferences: preferences(language) }),
  });
  const body = encoded({
    query: query.text,
    cat: "web",
    t: "device",
    sc: token,
    with_date: query.timeRange && DATES[query.timeRange],
    abd: 1,
    abe: 1,
    qsr: "all",
    qadf: FILTERS[query.safe],
    language,
    lui: language,
    page: query.page > 1 ? query.page : undefined,
    segment: query.page > 1 ? "startpage.udog" : undefined,
  });
  return { method: "POST", url: address(context, ORIGIN, "/sp/search"), headers, body, step: SEARCH };
}

function preferences(language: string): string {
  const values = { date_time: "world", language, language_ui: language, num_of_results: "10" };
  return Object.entries(values)
    .map(([name, value]) => `${name}EEE${value}`)
    .join("N1N");
}

function readResults(response: EngineResponse, context: EngineContext): Parsed {
  const selectors = selectorsOf(startpage, context);
  const state = objectAfter(response.body, selectors["state"] ?? "");
  if (state === undefined) return failed("changed_markup", "The page's script contains no results.");
  const groups = valueAt(state, selectors["groups"] ?? "");
  if (!Array.isArray(groups)) return failed("changed_markup", `The answer has no list at "${selectors["groups"]}".`);
  if (groups.length === 0) return { kind: "hits", hits: [] };
  const web = groups.filter((group) => String(valueAt(group, selectors["kind"] ?? "")).startsWith("web-"));
  const lists = web.map((group) => valueAt(group, selectors["results"] ?? ""));
  if (lists.length === 0 || !lists.every(Array.isArray))
    return failed("changed_markup", "The answer has no list of pages.");
  return readItems({ results: lists.flat() }, settled(context), {
    engine: { selectors: { ...selectors, results: "results" } },
    markup: ["title"],
    draft(fields) {
      const [, date, text] = DATED.exec(fields.text("snippet")) ?? [undefined, "", fields.text("snippet")];
      return { snippet: text ?? "", publishedAt: isoDate(date ?? "", context.query.nowMs) };
    },
  });
}

/** Matches a snippet that begins with its date: "18 Jun 2023 ... The text". */
const DATED =
  /^(\d+ (?:minute|hour|day|week)s? ago|\d{1,2} [A-Z][a-z]{2,8} \d{4}|[A-Z][a-z]{2,8} \d{1,2}, \d{4}) (?:\.\.\.|…) (.*)$/;
