// Starts, reads and cancels crawls and batches for Firecrawl's clients. A job belongs to an account; for other accounts it does
// not exist.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { prefixedId } from "../../base/ids.ts";
import { isoTime } from "../../base/iso-time.ts";
import { pageKey } from "../../base/page-key.ts";
import type { AddressGuard, Purpose } from "../../net/address-guard.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import type { ListedJob } from "../../store/work/job-lists.ts";
import type { JobCaller } from "../caller.ts";
import type { JobVerbs } from "../crawl-jobs.ts";
import { type StoredJob, withoutKeys } from "../crawl-view.ts";
import { asWebError } from "../failure.ts";
import { checkJobRoom } from "../job-room.ts";
import { type Body, invalid, readText } from "../params.ts";
import type { ActionRules } from "./actions.ts";
import { BATCH_KIND, BATCH_PAGES_MAX } from "./batch.ts";
import { type FirecrawlJob, type ReadJob, readBatchWish, readCrawlWish } from "./crawl-input.ts";
import type { JobHeaders } from "./job-pages.ts";
import { warningOf } from "./options.ts";

/** The dependencies of the functions for jobs. */
export interface FirecrawlJobsDeps {
  readonly guard: Pick<AddressGuard, "check">;
  readonly jobs: JobVerbs & {
    listJobs(accountId: string, page: { limit: number }): Promise<readonly ListedJob[]>;
    appendFrontier(jobId: string, entries: Iterable<FrontierEntry>, max: number): Promise<number | undefined>;
  };
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
  readonly runner: { readonly owner: string; wake(): void; cancel(id: string): void };
  readonly clock: Clock;
  readonly limits: () => { readonly jobTimeoutMs: number; readonly jobTtlMs: number; readonly concurrency: number };
  readonly headers: JobHeaders;
  rules(): ActionRules;
}

/** The two kinds of jobs, with their paths and the names under which they are stored. */
export const SORTS = {
  crawl: { kind: "crawl", path: "/v2/crawl" },
  batch: { kind: BATCH_KIND, path: "/v2/batch/scrape" },
} as const;
export type JobSort = keyof typeof SORTS;

/** A job of an account. */
export interface FirecrawlJobRef {
  readonly sort: JobSort;
  readonly id: string;
  readonly accountId: string;
}

/** Which documents of a job are requested, and the base URL under which the client reaches the gateway. */
export interface JobWindow {
  readonly origin: string;
  readonly offset: number;
  readonly limit: number;
}

/** Maximum number of documents in one response. */
export const DOCUMENTS_MAX = 100;
/** Maximum number of bytes in `data` of one response; the remaining documents follow under `next`. */
const DATA_BYTES_MAX = 8 * 1024 * 1024;
const LISTED_MAX = 500;

/** The caller that starts a job, and the base URL under which it reaches the gateway. */
export interface JobStarter extends JobCaller {
  readonly origin: string;
  /** The requested options, given as headers, that have no effect here. */
  readonly unmet: readonly string[];
}

/** Answers `POST /v2/crawl`. */
export async function startFirecrawlCrawl(
  body: Body,
  deps: FirecrawlJobsDeps,
  from: JobStarter,
): Promise<Record<string, unknown>> {
  const read = readCrawlWish(body, from, deps.rules());
  await mayBeAsked(deps, { url: read.input.url, param: "url", purpose: "navigation" }, from.signal);
  // The stored parameters of a crawl require these members, but pages of Firecrawl's clients use `formats` of their own.
  const shape = { formats: [], fullPage: false, onlyMainContent: true, documents: true };
  const id = await queue("crawl", { ...read, input: { ...shape, ...read.input } }, deps, from);
  return startedView("crawl", id, from.origin, read.input.firecrawl);
}

/** Answers `POST /v2/batch/scrape`. */
export async function startBatch(
  body: Body,
  deps: FirecrawlJobsDeps,
  from: JobStarter,
): Promise<Record<string, unknown>> {
  const read = readBatchWish(body, from, deps.rules());
  const left = read.invalid.length === 0 ? {} : { invalidURLs: read.invalid };
  const appendTo = readText(body, ["appendToId"]);
  if (appendTo !== undefined) {
    await append(read.input.urls, { sort: "batch", id: appendTo, accountId: from.accountId }, deps);
    return { ...startedView("batch", appendTo, from.origin, read.input.firecrawl), ...left };
  }
  const id = await queue("batch", read, deps, from);
  return { ...startedView("batch", id, from.origin, read.input.firecrawl), ...left };
}

/** Adds pages to a batch that has not ended. */
async function append(urls: readonly string[], ref: FirecrawlJobRef, { jobs }: FirecrawlJobsDeps): Promise<void> {
  const isOpen = async () => ["queued", "running"].includes((await findJob(ref, jobs)).state);
  const entries = urls.map((url) => ({ urlKey: pageKey(url), url, depth: 0 }));
  if ((await isOpen()) && (await jobs.appendFrontier(ref.id, entries, BATCH_PAGES_MAX)) !== undefined) {
    // The job may have ended meanwhile, without these pages.
    if (await isOpen()) return;
  }
  throw invalid("appendToId", "appendToId names a batch that has ended. Start another one.");
}

async function queue(
  sort: JobSort,
  { input, headers, webhookHeaders }: ReadJob<{ readonly firecrawl: FirecrawlJob }>,
  deps: FirecrawlJobsDeps,
  { accountId, signal, started }: JobCaller,
): Promise<string> {
  const { webhook } = input.firecrawl;
  if (webhook !== null) await mayBeAsked(deps, { url: webhook.url, param: "webhook.url", purpose: "webhook" }, signal);
  await checkJobRoom(accountId, input, deps);
  const id = prefixedId(`${sort}_`);
  const deadlineAtMs = deps.clock.now() + deps.limits().jobTimeoutMs;
  deps.headers.hold(id, { page: headers, webhook: webhookHeaders });
  const isHeld = Object.keys(headers).length + Object.keys(webhookHeaders).length > 0;
  await deps.jobs.createJob({
    ...{ id, kind: SORTS[sort].kind, accountId, input: { ...input }, deadlineAtMs },
    // Only this node has the headers of the request, so only it may run the job.
    ...(isHeld ? { reservedFor: deps.runner.owner } : {}),
  });
  started?.(id);
  deps.runner.wake();
  return id;
}

/** Refuses addresses that may never be fetched. Temporary problems are left to the job. */
async function mayBeAsked(
  { guard }: FirecrawlJobsDeps,
  { url, param, purpose }: { url: string; param: string; purpose: Purpose },
  signal: AbortSignal,
): Promise<void> {
  await guard.check(url, { purpose, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    const { apiCode, message } = asWebError("crawl", error);
    if (apiCode === "url_not_allowed" || apiCode === "invalid_request") throw new ApiError(apiCode, message, { param });
  });
}

function startedView(sort: JobSort, id: string, origin: string, { unmet }: FirecrawlJob): Record<string, unknown> {
  const warning = warningOf(unmet);
  return {
    success: true,
    id,
    url: `${origin}${SORTS[sort].path}/${id}`,
    ...(warning === undefined ? {} : { warning }),
  };
}

/** Finds a job by its id. Throws 404. */
export async function findJob(
  { sort, id, accountId }: FirecrawlJobRef,
  jobs: Pick<JobVerbs, "findJob">,
): Promise<StoredJob> {
  const job = await jobs.findJob(SORTS[sort].kind, accountId, id);
  if (job === undefined)
    throw new ApiError("crawl_job_not_found", `There is no ${sort} with this id. It may have expired.`);
  return job;
}

/** The response to a poll. */
export async function jobStatus(
  ref: FirecrawlJobRef,
  deps: Pick<FirecrawlJobsDeps, "jobs" | "limits">,
  window: JobWindow,
): Promise<Record<string, unknown>> {
  const { jobs } = deps;
  const job = await findJob(ref, jobs);
  const { offset, limit, origin } = window;
  const [counts, pages, frontier] = await Promise.all([
    jobs.countPages(ref.id),
    jobs.listPages(ref.id, { failed: false, offset, limit, bytesMax: DATA_BYTES_MAX }),
    jobs.countFrontier(ref.id),
  ]);
  const after = offset + pages.length;
  const { unmet = [] } = (job.input["firecrawl"] ?? {}) as Partial<FirecrawlJob>;
  const warning = warningOf(unmet);
  return {
    success: true,
    status: mayGoOn(job) ? "scraping" : job.state,
    ...figuresOf(ref.sort, job, frontier.waiting + frontier.taken),
    creditsUsed: Number(job.progress["credits"] ?? 0),
    expiresAt: isoTime(job.expiresAtMs ?? job.deadlineAtMs + deps.limits().jobTtlMs),
    next:
      after < counts.pages - counts.failed
        ? `${origin}${SORTS[ref.sort].path}/${ref.id}?skip=${after}&limit=${limit}`
        : null,
    data: pages.map(({ body }) => withoutKeys(body)),
    ...(warning === undefined ? {} : { warning }),
    ...(job.error === null ? {} : { error: job.error["message"], code: job.error["code"] }),
  };
}

/** Whether the job may still produce documents. */
export function mayGoOn({ state }: Pick<StoredJob, "state">): boolean {
  return state === "queued" || state === "running";
}

function figuresOf(sort: JobSort, job: StoredJob, ahead: number): { total: number; completed: number } {
  const { input, progress } = job;
  const completed = Number(progress["completed"] ?? 0);
  if (!mayGoOn(job) && job.state !== "cancelled") return { total: completed, completed };
  const fetched = Number(progress["fetched"] ?? 0);
  const urls = Array.isArray(input["urls"]) ? input["urls"].length : 1;
  const known = completed === 0 ? Math.max(sort === "batch" ? urls : 1, ahead) : ahead;
  const most = sort === "batch" ? known : Math.max(0, Number(input["limit"]) - fetched);
  return { total: completed + Math.min(known, most), completed };
}

/** Answers `GET …/errors`. */
export async function jobErrors(
  ref: FirecrawlJobRef,
  { jobs }: Pick<FirecrawlJobsDeps, "jobs">,
): Promise<Record<string, unknown>> {
  await findJob(ref, jobs);
  const failures = await jobs.listPages(ref.id, { failed: true });
  const isRobots = ({ body }: { body: Body }) => body["robots"] === true;
  return {
    errors: failures
      .filter((page) => !isRobots(page))
      .map(({ url, body }, index) => ({ id: `${ref.id}/${index}`, url, code: body["code"], error: body["message"] })),
    robotsBlocked: failures.filter(isRobots).map(({ url }) => url),
  };
}

/** Answers `DELETE`: cancels the job and returns its state. */
export async function cancelFirecrawlJob(
  ref: FirecrawlJobRef,
  { jobs, runner, limits, headers }: Pick<FirecrawlJobsDeps, "jobs" | "runner" | "limits" | "headers">,
): Promise<Record<string, unknown>> {
  const { id, accountId, sort } = ref;
  await findJob(ref, jobs);
  const job = await jobs.cancelJob({ kind: SORTS[sort].kind, accountId, id, ttlMs: limits().jobTtlMs });
  if (job === undefined)
    throw new ApiError("crawl_job_not_found", `There is no ${sort} with this id. It may have expired.`);
  runner.cancel(id);
  headers.drop(id);
  return { success: true, status: job.state };
}

/** Answers `GET /v2/crawl/active`. */
export async function activeCrawls(accountId: string, { jobs }: FirecrawlJobsDeps): Promise<Record<string, unknown>> {
  const listed = await jobs.listJobs(accountId, { limit: LISTED_MAX });
  const crawls = listed
    .filter((job) => job.kind === SORTS.crawl.kind && mayGoOn(job))
    .map(({ id, input }) => {
      const { url, limit, maxDepth, includePaths, excludePaths } = input;
      return {
        id,
        teamId: accountId,
        url,
        options: { limit, maxDiscoveryDepth: maxDepth, includePaths, excludePaths },
      };
    });
  return { success: true, crawls };
}
