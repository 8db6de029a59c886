// Search in the response formats of other services, for their clients: SearXNG's JSON format, and the external search and loader
// of Open WebUI.

import { entryOf } from "../base/json-object.ts";
import { CATEGORIES, type Category, type SafeSearch, TIME_RANGES, type TimeRange } from "../search/engine.ts";
import type { Unresponsive } from "../search/failure.ts";
import type { Fused } from "../search/fuse.ts";
import type { PageCaller } from "./caller.ts";
import { type Body, checkUrl, invalid, readInteger, readText, readTexts } from "./params.ts";
import { checkQuery, isLanguage, LIMIT_MAX, tryPage, type WebSearchDeps } from "./search.ts";

const TIMEOUT_MS = 30_000;
const OPEN_WEBUI_COUNT = 5;
const OPEN_WEBUI_COUNT_MAX = 100;
const OPEN_WEBUI_URLS_MAX = 20;
const SAFETY: Readonly<Record<string, SafeSearch>> = { "0": "off", "1": "moderate", "2": "strict" };

/** Answers `GET /searxng/search`. Throws `ApiError` and `SearchError`. */
export async function searchAsSearxng(
  query: URLSearchParams,
  deps: WebSearchDeps,
  from: PageCaller,
): Promise<Record<string, unknown>> {
  if (query.get("format") !== "json") throw invalid("format", "format must be json: this gateway has no HTML results.");
  const asked = query.get("q");
  if (asked === null) throw invalid("q", "Missing required parameter: q.");
  const text = checkQuery(asked, "q");
  const request = {
    text,
    category: categoryOf(query.get("categories")),
    language: languageOf(query.get("language")),
    timeRange: timeRangeOf(query.get("time_range")),
    safe: safetyOf(query.get("safesearch")),
    limit: LIMIT_MAX,
    timeoutMs: TIMEOUT_MS,
  };
  // All hits are on the first page, so later pages are empty.
  const isFirst = pageOf(query.get("pageno")) === 1;
  const answer = isFirst
    ? await deps.search.search(request, from.signal)
    : { results: [], suggestions: [], corrections: [], unresponsive: [] };
  return {
    query: text,
    number_of_results: answer.results.length,
    results: answer.results.map(searxngView),
    answers: [],
    corrections: answer.corrections,
    infoboxes: [],
    suggestions: answer.suggestions,
    unresponsive_engines: answer.unresponsive.map(({ name, reason }: Unresponsive) => [name, reason]),
  };
}

function searxngView(hit: Fused, index: number): Record<string, unknown> {
  const { url, title, content, engines, score, category, publishedDate = null, thumbnail = "", file } = hit;
  const { protocol, host, pathname, search, hash } = new URL(url);
  const isPicture = category === "images";
  return {
    url,
    title,
    content,
    engine: engines[0] ?? "",
    engines,
    positions: [index + 1],
    score,
    category,
    publishedDate,
    thumbnail,
    ...(isPicture ? { img_src: file ?? thumbnail, thumbnail_src: thumbnail } : {}),
    // The parts of the address as Python's urlparse returns them: scheme, host, path, path parameters, query and fragment.
    parsed_url: [protocol.slice(0, -1), host, pathname, "", search.slice(1), hash.slice(1)],
    template: isPicture ? "images.html" : "default.html",
  };
}

/** The first category that is known; `general` if there is none. */
function categoryOf(named: string | null): Category {
  const names = (named ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.flatMap((name) => CATEGORIES.find((category) => category === name) ?? [])[0] ?? "general";
}

/** The language; `all` means any language. */
function languageOf(named: string | null): string {
  const language = named?.trim().replace("_", "-") ?? "";
  if (language === "" || language === "auto") return "auto";
  if (language === "all") return "";
  if (!isLanguage(language))
    throw invalid("language", "language must be auto, all or a BCP-47 code, such as de or pt-BR.");
  return language;
}

function timeRangeOf(named: string | null): TimeRange | undefined {
  if (named === null || named === "") return undefined;
  const known = TIME_RANGES.find((range) => range === named);
  if (known === undefined) throw invalid("time_range", `time_range must be one of ${TIME_RANGES.join(", ")}.`);
  return known;
}

function safetyOf(named: string | null): SafeSearch | undefined {
  if (named === null || named === "") return undefined;
  const known = entryOf(SAFETY, named);
  if (known === undefined) throw invalid("safesearch", "safesearch must be 0, 1 or 2.");
  return known;
}

function pageOf(named: string | null): number {
  if (named === null || named === "") return 1;
  if (!/^[1-9]\d{0,5}$/.test(named)) throw invalid("pageno", "pageno must be a whole number of at least 1.");
  return Number(named);
}

/** Answers `POST /v1/compat/openwebui/search`. Throws `ApiError` and `SearchError`. */
export async function searchForOpenWebUi(body: Body, deps: WebSearchDeps, from: PageCaller): Promise<unknown[]> {
  const query = readText(body, ["query"]);
  if (query === undefined) throw invalid("query", "Missing required parameter: query.");
  const count = readInteger(body, ["count"], { min: 1, max: OPEN_WEBUI_COUNT_MAX }) ?? OPEN_WEBUI_COUNT;
  const { results } = await deps.search.search(
    {
      text: checkQuery(query, "query"),
      category: "general",
      language: "auto",
      limit: Math.min(count, LIMIT_MAX),
      timeoutMs: TIMEOUT_MS,
    },
    from.signal,
  );
  return results.map(({ url, title, content }) => ({ link: url, title, snippet: content }));
}

/** Answers `POST /v1/compat/openwebui/load`. Pages that cannot be read are left out. Throws `ApiError`. */
export async function loadForOpenWebUi(body: Body, { pages }: WebSearchDeps, from: PageCaller): Promise<unknown[]> {
  const urls = readTexts(body, ["urls"]);
  if (urls === undefined) throw invalid("urls", "Missing required parameter: urls.");
  if (urls.length > OPEN_WEBUI_URLS_MAX) throw invalid("urls", `urls may have at most ${OPEN_WEBUI_URLS_MAX} entries.`);
  const checked = urls.map((url, index) => checkUrl(url, `urls[${index}]`));
  const loaded = await Promise.all(
    checked.map(async (url) => {
      const page = await tryPage(url, pages, { timeoutMs: TIMEOUT_MS, from });
      return page === undefined ? [] : [{ page_content: page.markdown, metadata: { source: url, title: page.title } }];
    }),
  );
  return loaded.flat();
}
