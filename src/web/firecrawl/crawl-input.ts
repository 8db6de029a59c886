// Reads requests for a crawl or a batch, and defines which part of them is stored. Headers may be credentials, so they are not
// stored but held in memory while the job runs.

import type { WebCaller } from "../caller.ts";
import { type Body, checkUrl, invalid, readBoolean, readInteger, readText, readTexts, readUrl } from "../params.ts";
import type { ActionRules } from "./actions.ts";
import { type PageOptions, readOptions } from "./options.ts";
import { readWebhook, type Webhook } from "./webhook-input.ts";

/** What is stored for every job of Firecrawl's clients. */
export interface FirecrawlJob {
  readonly options: PageOptions;
  readonly keyId: string;
  readonly requestId: string;
  /** Whether headers for the job are held in memory. */
  readonly hasHeaders: boolean;
  readonly webhook: Webhook | null;
  /** The pause between two pages. */
  readonly delayMs: number;
  readonly concurrency: number;
  /** The requested options that have no effect here. */
  readonly unmet: readonly string[];
}

/** The scope of a crawl. */
export interface CrawlPlan extends FirecrawlJob {
  /** The part of an address against which patterns are matched. The patterns are regular expressions. */
  readonly patterns: "path" | "address";
  /** Only addresses below this path are read; if it is empty, the whole site. */
  readonly below: string;
  readonly anySite: boolean;
  readonly subdomains: boolean;
  readonly ignoresQuery: boolean;
  readonly sitemap: "include" | "skip" | "only";
}

/** A request as it was read, and the part of it that is held in memory. */
export interface ReadJob<T> {
  readonly input: T;
  readonly headers: Readonly<Record<string, string>>;
  readonly webhookHeaders: Readonly<Record<string, string>>;
}

/** Who requests a job. */
export interface JobOrigin extends Pick<WebCaller, "keyId" | "requestId"> {
  /** The requested options, given as headers, that have no effect here. */
  readonly unmet?: readonly string[];
}

/** Maximum number of pages in one crawl. */
export const FIRECRAWL_CRAWL_MAX = 100;
const DEPTH_MAX = 100;
const PATTERNS_MAX = 100;
const PATTERN_CHARS_MAX = 500;
const CONCURRENCY_MAX = 4;
const DELAY_SECONDS_MAX = 60;
/** Maximum number of pages in one batch. */
export const BATCH_MAX = 1000;

/** A request for a crawl. */
export interface CrawlWish {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
  readonly firecrawl: CrawlPlan;
}

/** Reads the body of `POST /v2/crawl`. Throws 400. */
export function readCrawlWish(body: Body, origin: JobOrigin, rules: ActionRules): ReadJob<CrawlWish> {
  const url = readUrl(body);
  const asked = readInteger(body, ["limit"], { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? FIRECRAWL_CRAWL_MAX;
  const job = readJob(body, scrapeOptions(body), origin, rules);
  const entire = readBoolean(body, ["crawlEntireDomain", "allowBackwardLinks"], false);
  const unmet = [
    ...(asked > FIRECRAWL_CRAWL_MAX ? [`limit above ${FIRECRAWL_CRAWL_MAX}`] : []),
    ...["prompt", "ignoreRobotsTxt", "robotsUserAgent", "zeroDataRetention"].filter((name) => isAsked(body[name])),
    ...(body["deduplicateSimilarURLs"] === false ? ["deduplicateSimilarURLs"] : []),
    ...job.input.unmet,
  ];
  return {
    ...job,
    input: {
      url,
      limit: Math.min(FIRECRAWL_CRAWL_MAX, asked),
      maxDepth: readInteger(body, ["maxDiscoveryDepth"], { min: 0, max: DEPTH_MAX }) ?? null,
      includePaths: readPatterns(body, "includePaths"),
      excludePaths: readPatterns(body, "excludePaths"),
      firecrawl: {
        ...job.input,
        unmet,
        patterns: readBoolean(body, ["regexOnFullURL"], false) ? "address" : "path",
        below: entire ? "" : new URL(url).pathname.replace(/\/+$/, ""),
        anySite: readBoolean(body, ["allowExternalLinks"], false),
        subdomains: readBoolean(body, ["allowSubdomains"], false),
        ignoresQuery: readBoolean(body, ["ignoreQueryParameters"], false),
        sitemap: readSitemap(body),
      },
    },
  };
}

const PROMPT_CHARS_MAX = 10_000;

/**
 * Answers `POST /v2/crawl/params-preview`: the options of a crawl of this address. The prompt is not interpreted, which the warning
 * says. Throws 400.
 */
export function previewCrawl(body: Body): Record<string, unknown> {
  const url = readUrl(body);
  const prompt = readText(body, ["prompt"]);
  if (prompt === undefined || prompt.trim() === "" || prompt.length > PROMPT_CHARS_MAX)
    throw invalid("prompt", `prompt must be a text of 1 to ${PROMPT_CHARS_MAX} characters.`);
  return {
    success: true,
    data: {
      url,
      includePaths: [],
      excludePaths: [],
      crawlEntireDomain: false,
      allowExternalLinks: false,
      allowSubdomains: false,
      ignoreQueryParameters: false,
      sitemap: "include",
      limit: FIRECRAWL_CRAWL_MAX,
    },
    warning: "These are the default options. The prompt has no effect here: choose paths and limits yourself.",
  };
}

/** A request for a batch. */
export interface BatchWish {
  readonly urls: readonly string[];
  readonly firecrawl: FirecrawlJob;
}

/**
 * Reads the body of `POST /v2/batch/scrape`. `invalid` lists the addresses that are skipped, if the client allows that. Throws
 * 400.
 */
export function readBatchWish(
  body: Body,
  origin: JobOrigin,
  rules: ActionRules,
): ReadJob<BatchWish> & { readonly invalid: readonly string[] } {
  const given = readTexts(body, ["urls"]);
  if (given === undefined) throw invalid("urls", "Missing required parameter: urls.");
  if (given.length === 0 || given.length > BATCH_MAX)
    throw invalid("urls", `urls must hold 1 to ${BATCH_MAX} addresses.`);
  const mayLeaveOut = readBoolean(body, ["ignoreInvalidURLs"], true);
  const urls: string[] = [];
  const invalidUrls: string[] = [];
  for (const [index, address] of given.entries()) {
    const param = `urls[${index}]`;
    try {
      const url = checkUrl(address, param);
      if (!/^https?:/i.test(url)) throw invalid(param, `${param} must be an http or https address.`);
      urls.push(url);
    } catch (error) {
      if (!mayLeaveOut) throw error;
      invalidUrls.push(address);
    }
  }
  if (urls.length === 0) throw invalid("urls", "urls must hold at least one http or https address.");
  const job = readJob(body, body, origin, rules);
  return { ...job, input: { urls, firecrawl: job.input }, invalid: invalidUrls };
}

function readJob(body: Body, options: Body, origin: JobOrigin, rules: ActionRules): ReadJob<FirecrawlJob> {
  const read = readOptions(options, rules);
  const webhook = readWebhook(body["webhook"]);
  const delay = body["delay"];
  if (delay !== undefined && delay !== null && !(typeof delay === "number" && delay >= 0 && delay <= DELAY_SECONDS_MAX))
    throw invalid("delay", `delay must be a number of seconds from 0 to ${DELAY_SECONDS_MAX}.`);
  const most = readInteger(body, ["maxConcurrency"], { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? CONCURRENCY_MAX;
  const delayMs = Math.round(Number(delay ?? 0) * 1000);
  return {
    headers: read.headers,
    webhookHeaders: webhook?.headers ?? {},
    input: {
      options: read.options,
      keyId: origin.keyId,
      requestId: origin.requestId,
      hasHeaders: Object.keys(read.headers).length > 0,
      webhook: webhook?.webhook ?? null,
      delayMs,
      concurrency: delayMs > 0 ? 1 : Math.min(CONCURRENCY_MAX, most),
      unmet: [...read.options.unmet, ...(origin.unmet ?? [])],
    },
  };
}

/** The page options of a crawl, an extraction or a search. */
export function scrapeOptions(body: Body): Body {
  const options = body["scrapeOptions"];
  if (options === undefined || options === null) return {};
  if (typeof options !== "object" || Array.isArray(options))
    throw invalid("scrapeOptions", "scrapeOptions must be an object.");
  return options as Body;
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

function readPatterns(body: Body, name: "includePaths" | "excludePaths"): string[] {
  const patterns = readTexts(body, [name]) ?? [];
  if (patterns.length > PATTERNS_MAX) throw invalid(name, `${name} may hold at most ${PATTERNS_MAX} patterns.`);
  patterns.forEach((pattern, index) => {
    const param = `${name}[${index}]`;
    if (pattern.length > PATTERN_CHARS_MAX || !compiles(pattern))
      throw invalid(param, `${param} must be a regular expression of at most ${PATTERN_CHARS_MAX} characters.`);
  });
  return patterns;
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

function readSitemap(body: Body): CrawlPlan["sitemap"] {
  const { sitemap = "include" } = body;
  if (sitemap === null) return "include";
  if (sitemap !== "include" && sitemap !== "skip" && sitemap !== "only")
    throw invalid("sitemap", "sitemap must be include, skip or only.");
  return sitemap;
}
