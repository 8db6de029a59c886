// Starts, polls and cancels crawls. A crawl belongs to an account; for other accounts it does not exist.

import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { prefixedId } from "../base/ids.ts";
import type { AddressGuard } from "../net/address-guard.ts";
import { compileGlob } from "../pages/globs.ts";
import type { CrawlInput } from "./crawl-scope.ts";
import { type CrawlFigures, crawlView, type StoredJob, type Window } from "./crawl-view.ts";
import { asWebError } from "./failure.ts";
import { checkJobRoom } from "./job-room.ts";
import { type Body, invalid, readInteger, readShape, readTexts, readUrl } from "./params.ts";

/** The store's functions for jobs. */
export interface JobVerbs {
  createJob(job: {
    id: string;
    kind: string;
    accountId: string;
    input: Body;
    deadlineAtMs: number;
    reservedFor?: string;
  }): Promise<unknown>;
  findJob(kind: string, accountId: string, id: string): Promise<StoredJob | undefined>;
  cancelJob(job: { kind: string; accountId: string; id: string; ttlMs: number }): Promise<StoredJob | undefined>;
  countOpenJobs(accountId: string): Promise<number>;
  countPages(id: string): Promise<{ pages: number; failed: number }>;
  countFrontier(id: string): Promise<{ waiting: number; taken: number; done: number }>;
  listPages(
    id: string,
    options: { failed: boolean; offset?: number; limit?: number; bytesMax?: number },
  ): Promise<CrawlFigures["pages"][number][]>;
}

/** What the functions for crawls need. */
export interface CrawlJobsDeps {
  readonly guard: AddressGuard;
  readonly jobs: JobVerbs;
  /** Makes space for what an account stores; false if there is none. */
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
  readonly runner: { readonly owner: string; wake(): void; cancel(id: string): void };
  readonly clock: Clock;
  readonly limits: () => { readonly jobTimeoutMs: number; readonly jobTtlMs: number };
}

/** A crawl of an account. */
export interface CrawlRef {
  readonly id: string;
  readonly accountId: string;
}

const KIND = "crawl";
/** How many pages a crawl without a `limit` reads. */
export const CRAWL_LIMIT = 10;
/** Maximum number of pages of one crawl. */
export const CRAWL_LIMIT_MAX = 100;
const DEPTH_MAX = 10;
/** Maximum number of patterns, since every link is matched against each. */
const PATTERNS_MAX = 100;
/** Maximum size of `data` in one response; the remaining pages follow under `next`. */
const DATA_BYTES_MAX = 8 * 1024 * 1024;

/** Reads the parameters of a crawl. Throws 400. */
export function readCrawl(body: Body): CrawlInput {
  return {
    ...readShape(body),
    url: readUrl(body),
    limit: readInteger(body, ["limit"], { min: 1, max: CRAWL_LIMIT_MAX }) ?? CRAWL_LIMIT,
    maxDepth: readInteger(body, ["max_depth", "maxDepth"], { min: 1, max: DEPTH_MAX }) ?? null,
    includePaths: readPatterns(body, ["include_paths", "includePaths"]),
    excludePaths: readPatterns(body, ["exclude_paths", "excludePaths"]),
  };
}

function readPatterns(body: Body, names: readonly [string, string]): string[] {
  const name = names.find((known) => body[known] !== undefined) ?? names[0];
  const patterns = readTexts(body, names) ?? [];
  if (patterns.length > PATTERNS_MAX) throw invalid(name, `${name} may hold at most ${PATTERNS_MAX} patterns.`);
  patterns.forEach((pattern, index) => {
    const param = `${name}[${index}]`;
    if (compileGlob(pattern) === undefined) throw invalid(param, `${param} must be a path pattern, such as /blog/**.`);
  });
  return patterns;
}

/** Queues a crawl and returns the response to the request that starts it. */
export async function startCrawl(
  body: Body,
  { accountId, deps, signal }: { accountId: string; deps: CrawlJobsDeps; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const input = readCrawl(body);
  const { url } = input;
  // A forbidden root is refused immediately. A root that cannot be fetched now fails the job later.
  await deps.guard.check(url, { signal }).catch((error: unknown) => {
    const { apiCode } = asWebError(KIND, error);
    if (apiCode === "url_not_allowed" || apiCode === "invalid_request") throw error;
  });
  await checkJobRoom(accountId, input, deps);
  const id = prefixedId("crawl_");
  const deadlineAtMs = deps.clock.now() + deps.limits().jobTimeoutMs;
  await deps.jobs.createJob({ id, kind: KIND, accountId, input: { ...input }, deadlineAtMs });
  deps.runner.wake();
  return { success: true, job_id: id, id, url, ...(isGiven(body["webhook"]) ? { warning: NO_WEBHOOK } : {}) };
}

const NO_WEBHOOK = "webhook has no effect here: poll the job, or start it at /v2/crawl, which sends events.";

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The response to a poll. */
export async function pollCrawl(
  { id, accountId }: CrawlRef,
  deps: CrawlJobsDeps,
  { query, address }: { query: URLSearchParams; address: string },
): Promise<Record<string, unknown>> {
  const window: Window = {
    address,
    // Firecrawl's clients use the name `skip`.
    offset: readQuery(query, ["offset", "skip"], { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0,
    limit: readQuery(query, ["limit"], { min: 1, max: CRAWL_LIMIT_MAX }) ?? CRAWL_LIMIT_MAX,
  };
  const job = await deps.jobs.findJob(KIND, accountId, id);
  if (job === undefined) throw jobNotFound();
  return crawlView(job, { figures: await figuresOf(id, window, deps.jobs), window, ttlMs: deps.limits().jobTtlMs });
}

async function figuresOf(id: string, { offset, limit }: Window, jobs: JobVerbs): Promise<CrawlFigures> {
  const [counts, frontier, pages, failures] = await Promise.all([
    jobs.countPages(id),
    jobs.countFrontier(id),
    jobs.listPages(id, { failed: false, offset, limit, bytesMax: DATA_BYTES_MAX }),
    jobs.listPages(id, { failed: true }),
  ]);
  return { pages, failures, good: counts.pages - counts.failed, ahead: frontier.waiting + frontier.taken };
}

/** Cancels a crawl and returns its state afterwards. */
export async function cancelCrawl({ id, accountId }: CrawlRef, deps: CrawlJobsDeps): Promise<Record<string, unknown>> {
  const job = await deps.jobs.cancelJob({ kind: KIND, accountId, id, ttlMs: deps.limits().jobTtlMs });
  if (job === undefined) throw jobNotFound();
  deps.runner.cancel(id);
  return { success: true, job_id: id, id, status: job.state };
}

/** Reads a whole number from the query, under the first of these names that is present. Throws 400. */
export function readQuery(
  query: URLSearchParams,
  names: readonly string[],
  { min, max }: { min: number; max: number },
): number | undefined {
  const name = names.find((known) => query.has(known));
  if (name === undefined) return undefined;
  const text = query.get(name) ?? "";
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw invalid(name, `${name} must be an integer from ${min} to ${max}.`);
  return value;
}

function jobNotFound(): ApiError {
  return new ApiError("crawl_job_not_found", "There is no crawl with this id. It may have expired.");
}
