// Search and maps in Firecrawl's formats.

import { entryOf } from "../../base/json-object.ts";
import type { Category, TimeRange } from "../../search/engine.ts";
import type { Fused } from "../../search/fuse.ts";
import type { JobCaller } from "../caller.ts";
import { type MapDeps, mapSite } from "../map.ts";
import { type Body, invalid, readBoolean, readInteger, readText, readTexts } from "../params.ts";
import { checkQuery, LIMIT_MAX, type WebSearchDeps } from "../search.ts";
import { scrapeOptions } from "./crawl-input.ts";
import { readOptions, type ScrapeWish, warningOf } from "./options.ts";
import { documentFor, type FirecrawlPageDeps } from "./scrape.ts";

const LIMIT = 5;
const TIMEOUT_MS = 60_000;
const DOMAINS_MAX = 20;
/** The time that is reserved for building the response. */
const ANSWER_TIME_MS = 200;
/** A page is not requested if less time than this remains. */
const PAGE_TIME_MIN_MS = 1000;

const SOURCES = { web: "general", news: "news", images: "images" } as const satisfies Record<string, Category>;
type Source = keyof typeof SOURCES;
/** A source that only the hosted service has. Firecrawl's MCP server requests it by default. */
const HOSTED_SOURCE = "alexandria";

/** The search terms that stand for each additional category. */
const CATEGORIES: Readonly<Record<string, { readonly words: string; readonly category: Category }>> = {
  github: { words: " site:github.com", category: "general" },
  research: { words: "", category: "science" },
  pdf: { words: " filetype:pdf", category: "general" },
  developer: { words: "", category: "it" },
};

const TIMES: Readonly<Record<string, TimeRange>> = {
  "qdr:h": "day",
  "qdr:d": "day",
  "qdr:w": "week",
  "qdr:m": "month",
  "qdr:y": "year",
};

interface SearchWish {
  readonly text: string;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly timeRange: TimeRange | undefined;
  readonly sources: readonly Source[];
  readonly categories: readonly string[];
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  /** How to load the pages of the results; undefined if no pages are requested. */
  readonly pages: ScrapeWish | undefined;
  readonly unmet: readonly string[];
}

/** Answers `POST /v2/search`. Throws `ApiError` and `SearchError`. */
export async function searchForFirecrawl(
  body: Body,
  deps: { readonly search: WebSearchDeps; readonly pages: FirecrawlPageDeps },
  from: JobCaller,
): Promise<Record<string, unknown>> {
  const wish = readSearch(body, deps.pages);
  const endsMs = performance.now() + wish.timeoutMs - ANSWER_TIME_MS;
  const [bySource, byCategory] = await Promise.all([
    Promise.all(wish.sources.map((source) => hitsOf(wish, { words: "", category: SOURCES[source] }, deps, from))),
    Promise.all(
      wish.categories.map((name) => hitsOf(wish, entryOf(CATEGORIES, name) as (typeof CATEGORIES)[string], deps, from)),
    ),
  ]);
  const data: Record<string, unknown[]> = {};
  for (const [index, source] of wish.sources.entries())
    data[source] = (bySource[index] ?? []).map((hit, at) => itemOf(source, hit, at));
  if (wish.categories.length > 0) data["web"] = merged(wish, data["web"] ?? [], byCategory);
  for (const source of ["web", "news"] as const)
    data[source] &&= await withPages(data[source] as Item[], wish, { deps: deps.pages, endsMs, from });
  const warning = warningOf(wish.unmet);
  return { success: true, data, ...(warning === undefined ? {} : { warning }), id: from.requestId };
}

type Item = Readonly<Record<string, unknown>> & { readonly url: string };

function readSearch(body: Body, { rules }: FirecrawlPageDeps): SearchWish {
  const query = readText(body, ["query"]);
  if (query === undefined) throw invalid("query", "Missing required parameter: query.");
  const asked = readInteger(body, ["limit"], { min: 1, max: 1000 }) ?? LIMIT;
  const timeoutMs = Math.min(TIMEOUT_MS, readInteger(body, ["timeout"], { min: 1000, max: 300_000 }) ?? TIMEOUT_MS);
  const includes = readDomains(body, "includeDomains");
  const excludes = readDomains(body, "excludeDomains");
  if (includes.length > 0 && excludes.length > 0)
    throw invalid("excludeDomains", "excludeDomains cannot be given together with includeDomains.");
  const tbs = readText(body, ["tbs"]);
  const sources = readNames(body, "sources", [...Object.keys(SOURCES), HOSTED_SOURCE], ["web"]);
  const options = scrapeOptions(body);
  // Pages are only requested if there are formats.
  const pages = Array.isArray(options["formats"]) ? readOptions(options, rules()) : undefined;
  return {
    text: checkQuery(query, "query"),
    limit: Math.min(LIMIT_MAX, asked),
    timeoutMs,
    timeRange: tbs === undefined ? undefined : entryOf(TIMES, tbs.split(",")[0] ?? ""),
    sources: sources.filter((name): name is Source => name !== HOSTED_SOURCE),
    categories: readNames(body, "categories", Object.keys(CATEGORIES), []),
    includes,
    excludes,
    pages,
    unmet: [
      ...(asked > LIMIT_MAX ? [`limit above ${LIMIT_MAX}`] : []),
      ...(tbs !== undefined && entryOf(TIMES, tbs.split(",")[0] ?? "") === undefined ? ["tbs"] : []),
      ...(sources.includes(HOSTED_SOURCE) ? [`sources: ${HOSTED_SOURCE}`] : []),
      ...["location", "country", "enterprise", "highlights"].filter((name) => isAsked(body[name])),
      ...(pages?.options.unmet ?? []),
    ],
  };
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** Reads a list of names, or of objects with a name in `type`. */
function readNames(body: Body, name: string, known: readonly string[], fallback: string[]): string[] {
  const value = body[name];
  if (value === undefined || value === null) return fallback;
  if (!Array.isArray(value)) throw invalid(name, `${name} must be a list.`);
  const names = value.map((item: unknown, index) => {
    const given = typeof item === "string" ? item : (item as Body | null)?.["type"];
    if (typeof given !== "string" || !known.includes(given))
      throw invalid(`${name}[${index}]`, `${name}[${index}] must be one of ${known.join(", ")}.`);
    return given;
  });
  return names.length === 0 ? fallback : [...new Set(names)];
}

function readDomains(body: Body, name: string): string[] {
  const domains = readTexts(body, [name]) ?? [];
  if (domains.length > DOMAINS_MAX) throw invalid(name, `${name} may hold at most ${DOMAINS_MAX} domains.`);
  domains.forEach((domain, index) => {
    if (!/^[a-z0-9.-]{1,253}$/i.test(domain)) throw invalid(`${name}[${index}]`, `${name}[${index}] must be a domain.`);
  });
  return domains.map((domain) => domain.toLowerCase());
}

async function hitsOf(
  wish: SearchWish,
  { words, category }: { words: string; category: Category },
  { search }: { readonly search: WebSearchDeps },
  { signal }: JobCaller,
): Promise<readonly Fused[]> {
  const sites = wish.includes.map((domain) => `site:${domain}`).join(" OR ");
  const outside = wish.excludes.map((domain) => ` -site:${domain}`).join("");
  const asked = {
    text: `${wish.text}${words}${sites === "" ? "" : ` (${sites})`}${outside}`,
    category,
    language: "auto",
    limit: wish.limit,
    timeoutMs: wish.timeoutMs,
    timeRange: wish.timeRange,
  };
  const { results } = await search.search.search(asked, signal);
  // Not every engine respects these search terms, so the results are filtered as well.
  return results.filter(({ url }) => {
    const { hostname } = new URL(url);
    const isOf = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
    return !wish.excludes.some(isOf) && (wish.includes.length === 0 || wish.includes.some(isOf));
  });
}

function itemOf(source: Source, hit: Fused, index: number): Item {
  const { url, title, content, publishedDate, thumbnail, file } = hit;
  const position = index + 1;
  if (source === "web") return { url, title, description: content, position };
  if (source === "images") return { title, imageUrl: file ?? thumbnail ?? "", url, position };
  const more = { ...(publishedDate ? { date: publishedDate } : {}), ...(thumbnail ? { imageUrl: thumbnail } : {}) };
  return { title, url, snippet: content, ...more, position };
}

/** The results of the web, followed by those of the additional categories. Each address occurs once. */
function merged(wish: SearchWish, web: readonly unknown[], found: readonly (readonly Fused[])[]): unknown[] {
  const items = new Map((web as Item[]).map((item) => [item.url, item]));
  for (const [index, category] of wish.categories.entries())
    for (const hit of found[index] ?? [])
      if (!items.has(hit.url)) items.set(hit.url, { ...itemOf("web", hit, items.size), category });
  return [...items.values()];
}

/** Adds its page to each result, if the page can be loaded in time. */
async function withPages(
  items: readonly Item[],
  { pages }: SearchWish,
  { deps, endsMs, from }: { deps: FirecrawlPageDeps; endsMs: number; from: JobCaller },
): Promise<Item[]> {
  const leftMs = endsMs - performance.now();
  if (pages === undefined || leftMs < PAGE_TIME_MIN_MS) return [...items];
  const timeoutMs = Math.min(leftMs, pages.options.timeoutMs);
  const wish = { ...pages, options: { ...pages.options, timeoutMs } };
  return Promise.all(
    items.map(async (item) => {
      try {
        return { ...item, ...(await documentFor(item.url, wish, deps, from)) };
      } catch {
        // If the page cannot be read, the result is kept without it.
        from.signal.throwIfAborted();
        return item;
      }
    }),
  );
}

const MAP_LIMIT_MAX = 5000;

/** Answers `POST /v2/map`. Throws `ApiError`, and the errors of loading a page. */
export async function mapForFirecrawl(body: Body, deps: MapDeps, from: JobCaller): Promise<Record<string, unknown>> {
  const asked = readInteger(body, ["limit"], { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? MAP_LIMIT_MAX;
  const sitemap = body["sitemap"] ?? "include";
  if (sitemap !== "include" && sitemap !== "skip" && sitemap !== "only")
    throw invalid("sitemap", "sitemap must be include, skip or only.");
  const found = await mapSite({ ...body, limit: Math.min(MAP_LIMIT_MAX, asked) }, deps, from, {
    sitemap,
    subdomains: readBoolean(body, ["includeSubdomains"], true),
    ignoresQuery: readBoolean(body, ["ignoreQueryParameters"], false),
  });
  const unmet = [
    ...(asked > MAP_LIMIT_MAX ? [`limit above ${MAP_LIMIT_MAX}`] : []),
    ...["location", "threatProtection", "auditMetadata"].filter((name) => isAsked(body[name])),
  ];
  const warning = warningOf(unmet);
  return {
    success: true,
    id: from.requestId,
    links: (found["links"] as string[]).map((url) => ({ url })),
    ...(warning === undefined ? {} : { warning }),
  };
}
