// Search as an endpoint and as a command: reads the parameters, searches, loads the pages of the hits if requested, and builds
// the response.

import { CATEGORIES, type Category } from "../search/engine.ts";
import type { Fused } from "../search/fuse.ts";
import type { Search, SearchAnswer, SearchRequest } from "../search/run.ts";
import type { PageCaller } from "./caller.ts";
import { loadRequest } from "./page-view.ts";
import { type Body, invalid, readBoolean, readInteger, readText } from "./params.ts";
import { loadSingle, type SinglePageDeps } from "./single-page.ts";

/** What a search needs. */
export interface WebSearchDeps {
  readonly search: Pick<Search, "search">;
  readonly pages: SinglePageDeps;
}

// The maximum number of hits, as documented at docs/reference/http-api.md#post-v1search.
export const LIMIT_MAX = 20;
const LIMIT = 5;
const TIMEOUT_SECONDS = 30;
const TIMEOUT_SECONDS_MAX = 60;
const QUERY_CHARS_MAX = 2000;
/** A page is not requested if less time than this is left. */
const PAGE_TIME_MIN_MS = 250;
/** The time that is reserved for building the response after the last page. */
const ANSWER_TIME_MS = 100;

/** Reads the parameters, searches, and builds the response. Throws `ApiError` and `SearchError`. */
export async function searchWeb(body: Body, deps: WebSearchDeps, from: PageCaller): Promise<Record<string, unknown>> {
  const { query, request } = readSearch(body);
  const wantsContent = readBoolean(body, ["include_content", "includeContent"], false);
  const wantsDocuments = wantsFirecrawlPages(body);
  const endsMs = performance.now() + request.timeoutMs - ANSWER_TIME_MS;
  const answer = await deps.search.search(request, from.signal);
  const texts = wantsContent || wantsDocuments ? await readPages(answer.results, deps.pages, { endsMs, from }) : [];
  return {
    success: true,
    results: answer.results.map((hit, index) => ({
      ...hit,
      ...(wantsContent && texts[index] !== undefined ? { full_content: texts[index] } : {}),
    })),
    ...envelope(answer, query),
    data: answer.results.map((hit, index) => firecrawlView(hit, wantsDocuments ? texts[index] : undefined)),
  };
}

/** The members of the response beside the hits. */
function envelope({ results, suggestions, corrections, unresponsive }: SearchAnswer, query: string) {
  return {
    suggestions,
    corrections,
    number_of_results: results.length,
    query,
    unresponsive_engines: unresponsive,
  };
}

function readSearch(body: Body): { query: string; request: SearchRequest } {
  const query = readQuery(body);
  return {
    query,
    request: {
      text: query,
      category: readCategory(body),
      language: readLanguage(body),
      limit: readInteger(body, ["limit"], { min: 1, max: LIMIT_MAX }) ?? LIMIT,
      timeoutMs: readTimeoutMs(body),
    },
  };
}

function readTimeoutMs(body: Body): number {
  const seconds = readInteger(body, ["timeout_seconds"], { min: 5, max: TIMEOUT_SECONDS_MAX });
  // Firecrawl's clients send milliseconds, possibly more than a search may take.
  const ms = readInteger(body, ["timeout"], { min: 1000, max: 300_000 });
  if (seconds !== undefined) return seconds * 1000;
  return ms === undefined ? TIMEOUT_SECONDS * 1000 : Math.min(TIMEOUT_SECONDS_MAX * 1000, ms);
}

function readQuery(body: Body): string {
  const query = readText(body, ["text_query", "query"]);
  if (query === undefined) throw invalid("text_query", "Missing required parameter: text_query.");
  return checkQuery(query, "text_query");
}

/** Checks a query and returns it unchanged. Throws 400 if it is empty or too long. */
export function checkQuery(query: string, param: string): string {
  if (query.trim() === "") throw invalid(param, `${param} must not be empty.`);
  if (query.length > QUERY_CHARS_MAX) throw invalid(param, `${param} may have at most ${QUERY_CHARS_MAX} characters.`);
  return query;
}

function readCategory(body: Body): Category {
  const named = readText(body, ["categories"]) ?? "general";
  const known = CATEGORIES.find((category) => category === named);
  if (known === undefined) throw invalid("categories", `categories must be one of ${CATEGORIES.join(", ")}.`);
  return known;
}

function readLanguage(body: Body): string {
  const language = readText(body, ["language"]) ?? "auto";
  if (language !== "auto" && !isLanguage(language))
    throw invalid("language", "language must be auto or a BCP-47 code, such as de or pt-BR.");
  return language;
}

/** Whether a text is a well-formed BCP-47 tag. */
export function isLanguage(text: string): boolean {
  return /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}$/i.test(text);
}

/** Firecrawl's clients request the pages of hits by listing formats. */
function wantsFirecrawlPages(body: Body): boolean {
  const options = body["scrapeOptions"];
  const formats = typeof options === "object" && options !== null ? (options as Body)["formats"] : undefined;
  return Array.isArray(formats) && formats.includes("markdown");
}

function firecrawlView({ url, title, content }: Fused, markdown: string | undefined): Record<string, unknown> {
  const metadata = { title, description: content, sourceURL: url };
  return { url, title, description: content, ...(markdown === undefined ? {} : { markdown, metadata }) };
}

/** The pages' Markdown in the order of the hits, loaded concurrently; undefined for pages that cannot be loaded in time. */
async function readPages(
  hits: readonly Fused[],
  pages: SinglePageDeps,
  { endsMs, from }: { endsMs: number; from: PageCaller },
): Promise<readonly (string | undefined)[]> {
  const leftMs = endsMs - performance.now();
  if (leftMs < PAGE_TIME_MIN_MS) return [];
  const read = await Promise.all(hits.map(({ url }) => tryPage(url, pages, { timeoutMs: leftMs, from })));
  return read.map((page) => page?.markdown);
}

/** The main content of a page, or undefined if it cannot be read. Throws only the signal's reason. */
export async function tryPage(
  url: string,
  pages: SinglePageDeps,
  { timeoutMs, from: { signal, accountId } }: { timeoutMs: number; from: PageCaller },
): Promise<{ readonly markdown: string; readonly title: string } | undefined> {
  const shape = { formats: ["markdown"], fullPage: false, onlyMainContent: true, documents: true } as const;
  try {
    const page = await loadSingle(loadRequest(url, shape, { timeoutMs, signal, accountId }), pages);
    if (page.status >= 400 || page.markdown === undefined || page.markdown.trim() === "") return undefined;
    return { markdown: page.markdown, title: page.metadata.title ?? "" };
  } catch {
    // If the page cannot be read, the hit is returned without its text.
    signal.throwIfAborted();
    return undefined;
  }
}
