// The web endpoints: scrape, map and crawl, with the old paths of scrape.

import { Elysia } from "elysia";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { prefixedId } from "../base/ids.ts";
import type { Guard } from "../net/guard.ts";
import type { LoadPage } from "../pages/load.ts";
import { type CrawlInput, checkGlobs } from "./crawl.ts";
import { type CrawlFigures, crawlView, type StoredJob, type Window } from "./crawl-view.ts";
import { asWebError, type WebFeature } from "./failure.ts";
import { type MapDeps, mapSite } from "./map.ts";
import { type Body, invalid, readInteger, readShape, readTexts, readUrl } from "./params.ts";
import { scrape } from "./scrape.ts";

/** Who asks. */
export interface WebCaller {
  readonly accountId: string;
}

/** The store's side of jobs. */
export interface JobVerbs {
  createJob(job: { id: string; kind: string; accountId: string; input: Body; deadlineAtMs: number }): Promise<unknown>;
  findJob(kind: string, accountId: string, id: string): Promise<StoredJob | undefined>;
  cancelJob(job: { kind: string; accountId: string; id: string; ttlMs: number }): Promise<StoredJob | undefined>;
  countOpenJobs(accountId: string): Promise<number>;
  countPages(id: string): Promise<{ pages: number; failed: number }>;
  countFrontier(id: string): Promise<{ waiting: number; taken: number; done: number }>;
  listPages(
    id: string,
    options: { failed: boolean; offset?: number; limit?: number },
  ): Promise<CrawlFigures["pages"][number][]>;
}

/** What the endpoints need. */
export interface WebRoutesDeps {
  /** Key, plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit(request: Request): WebCaller;
  /** Key alone; throws 401. */
  authenticate(request: Request): WebCaller;
  /** The body as a JSON object; throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  readonly load: LoadPage;
  readonly map: MapDeps;
  readonly guard: Guard;
  readonly jobs: JobVerbs;
  readonly runner: { wake(): void; cancel(id: string): void };
  readonly clock: Clock;
  readonly limits: () => { readonly jobTimeoutMs: number; readonly jobTtlMs: number };
}

const CRAWL = "crawl";
const CRAWL_LIMIT = 10;
const CRAWL_LIMIT_MAX = 100;
const CRAWL_DEPTH_MAX = 10;
/** Jobs of one account that are not finished. */
const OPEN_JOBS_MAX = 100;
const WINDOW_MAX = 100;

/** The endpoints. */
export function webRoutes(deps: WebRoutesDeps) {
  const post =
    (
      feature: WebFeature,
      answer: (body: Body, signal: AbortSignal, caller: WebCaller) => Promise<Record<string, unknown>>,
    ) =>
    async ({ request }: { request: Request }) => {
      const caller = deps.admit(request);
      const body = await deps.readJson(request);
      try {
        return Response.json(await answer(body, request.signal, caller));
      } catch (error) {
        throw asWebError(feature, error);
      }
    };
  // The body is kept by the method and the status; nothing is read before the caller comes again.
  const toScrape = () => new Response(null, { status: 307, headers: { location: "/v1/scrape" } });
  return new Elysia()
    .post(
      "/v1/scrape",
      post("scrape", (body, signal) => scrape(body, deps.load, signal)),
      { parse: "none" },
    )
    .post("/v1/fetch", toScrape, { parse: "none" })
    .post("/fetch", toScrape, { parse: "none" })
    .post(
      "/v1/map",
      post("map", (body, signal) => mapSite(body, deps.map, signal)),
      { parse: "none" },
    )
    .post(
      "/v1/crawl",
      post("crawl", (body, signal, caller) => startCrawl(body, { deps, caller, signal })),
      { parse: "none" },
    )
    .get("/v1/crawl/:id", ({ request, params }) => pollCrawl(request, params.id, deps))
    .delete("/v1/crawl/:id", ({ request, params }) => cancelCrawl(request, params.id, deps));
}

async function startCrawl(
  body: Body,
  { deps, caller, signal }: { deps: WebRoutesDeps; caller: WebCaller; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  const input: CrawlInput = {
    ...readShape(body),
    url,
    limit: readInteger(body, ["limit"], { min: 1, max: CRAWL_LIMIT_MAX }) ?? CRAWL_LIMIT,
    maxDepth: readInteger(body, ["max_depth", "maxDepth"], { min: 1, max: CRAWL_DEPTH_MAX }) ?? null,
    includePaths: readTexts(body, ["include_paths", "includePaths"]) ?? [],
    excludePaths: readTexts(body, ["exclude_paths", "excludePaths"]) ?? [],
  };
  checkGlobs(input.includePaths, "include_paths");
  checkGlobs(input.excludePaths, "exclude_paths");
  // A root that may never be fetched is told at once; one that cannot be fetched now fails the job.
  await deps.guard.check(url, { signal }).catch((error: unknown) => {
    const { apiCode } = asWebError("crawl", error);
    if (apiCode === "url_not_allowed" || apiCode === "invalid_request") throw error;
  });
  if ((await deps.jobs.countOpenJobs(caller.accountId)) >= OPEN_JOBS_MAX)
    throw new ApiError(
      "crawl_unavailable",
      "Too many of your jobs are under way. Wait for one to finish, or cancel one.",
    );
  const id = prefixedId("crawl_");
  await deps.jobs.createJob({
    id,
    kind: CRAWL,
    accountId: caller.accountId,
    input: { ...input },
    deadlineAtMs: deps.clock.now() + deps.limits().jobTimeoutMs,
  });
  deps.runner.wake();
  return { success: true, job_id: id, id, url };
}

async function pollCrawl(request: Request, id: string, deps: WebRoutesDeps): Promise<Response> {
  const caller = deps.authenticate(request);
  const query = new URL(request.url).searchParams;
  const window = {
    offset: readQuery(query, "offset", 0, Number.MAX_SAFE_INTEGER) ?? 0,
    limit: readQuery(query, "limit", 1, WINDOW_MAX) ?? WINDOW_MAX,
  };
  const job = await deps.jobs.findJob(CRAWL, caller.accountId, id);
  if (job === undefined) throw jobNotFound();
  return Response.json(crawlView(job, await figuresOf(job, window, deps.jobs), window));
}

async function figuresOf(job: StoredJob, { offset, limit }: Window, jobs: JobVerbs): Promise<CrawlFigures> {
  const [counts, frontier, pages, failures] = await Promise.all([
    jobs.countPages(job.id),
    jobs.countFrontier(job.id),
    jobs.listPages(job.id, { failed: false, offset, limit }),
    jobs.listPages(job.id, { failed: true }),
  ]);
  const ahead = frontier.waiting + frontier.taken;
  return {
    pages,
    failures,
    good: counts.pages - counts.failed,
    completed: counts.pages,
    ahead: Math.max(ahead, counts.pages === 0 ? 1 : 0),
  };
}

async function cancelCrawl(request: Request, id: string, deps: WebRoutesDeps): Promise<Response> {
  const caller = deps.authenticate(request);
  const job = await deps.jobs.cancelJob({
    kind: CRAWL,
    accountId: caller.accountId,
    id,
    ttlMs: deps.limits().jobTtlMs,
  });
  if (job === undefined) throw jobNotFound();
  deps.runner.cancel(id);
  return Response.json({ success: true, job_id: id, id, status: job.state });
}

function readQuery(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw invalid(name, `${name} must be an integer from ${min} to ${max}.`);
  return value;
}

function jobNotFound(): ApiError {
  return new ApiError("crawl_job_not_found", "There is no such crawl: it may have expired.");
}
