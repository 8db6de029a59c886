// Firecrawl's v2 endpoints, for its clients. POSTs that do work are admitted and counted; polls, cancellations and questions
// about the account need only a valid key. Every success has status 200, and every `error` is a string.

import { Elysia } from "elysia";
import type { AtOnce } from "../../base/at-once.ts";
import { jsonInTurns } from "../../base/json-in-slices.ts";
import type { SentForm } from "../../http/form.ts";
import { pathOf } from "../../http/path.ts";
import { offeredProtocols, takeSocket, wantsSocket } from "../../http/web-socket.ts";
import type { JobCaller, WebCaller } from "../caller.ts";
import { readQuery } from "../crawl-jobs.ts";
import type { ExtractJobsDeps } from "../extract/jobs.ts";
import type { WebFeature } from "../failure.ts";
import type { MapDeps } from "../map.ts";
import type { Body } from "../params.ts";
import type { WebSearchDeps } from "../search.ts";
import { previewCrawl } from "./crawl-input.ts";
import { extractStatus, startExtractForFirecrawl } from "./extract.ts";
import { asFirecrawlError } from "./failure.ts";
import { concurrencyCheck, creditUsage, pastUsage, queueStatus, tokenUsage } from "./figures.ts";
import { HOSTED_ADDRESSES, HOSTED_PATHS, refuseHosted } from "./hosted.ts";
import {
  activeCrawls,
  cancelFirecrawlJob,
  DOCUMENTS_MAX,
  type FirecrawlJobRef,
  type FirecrawlJobsDeps,
  findJob,
  type JobSort,
  type JobStarter,
  type JobWindow,
  jobErrors,
  jobStatus,
  SORTS,
  startBatch,
  startFirecrawlCrawl,
} from "./jobs.ts";
import { parseForFirecrawl } from "./parse.ts";
import { type FirecrawlPageDeps, scrapeForFirecrawl } from "./scrape.ts";
import { mapForFirecrawl, searchForFirecrawl } from "./search.ts";
import { tellOfJob, type Watchers, type WatcherVersion } from "./watcher.ts";

/** What the endpoints need. */
export interface FirecrawlRoutesDeps {
  /** Admits a request by key, plan, rate limit and budget. Throws 401, 402, 403 or 429. */
  admit(request: Request): AtOnce<Pick<WebCaller, "accountId" | "keyId">>;
  /** Checks only the key. Throws 401. */
  authenticate(request: Request): AtOnce<Pick<WebCaller, "accountId">>;
  /** Reads the body as a JSON object. Throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  /** Reads the body as a form. Throws 400, 408 or 413. */
  readForm(request: Request): Promise<SentForm>;
  requestId(request: Request): string;
  /** The scheme and host under which clients reach the gateway. */
  publicUrl(request: Request): string;
  /** Called when a job was queued for the request. */
  jobStarted(request: Request, id: string): void;
  clientGone(request: Request): void;
  /** Marks a request that lasts as long as its WebSocket. Call the returned function when the socket has closed. */
  becomesSocket(request: Request): () => void;
  unexpected(request: Request, error: unknown): void;
  readonly pages: FirecrawlPageDeps;
  readonly jobs: FirecrawlJobsDeps;
  readonly watchers: Watchers;
  readonly map: MapDeps;
  readonly search: WebSearchDeps;
  readonly extracts: ExtractJobsDeps;
}

/** The status in logs and metrics for clients that left. */
const CLIENT_GONE = 499;
const IDEMPOTENCY_KEY = "x-idempotency-key";
/** Elysia must not read the bodies: this program reads them itself, within limits. */
const RAW = { parse: "none" } as const;
/** Clients of Firecrawl's first version look for batches here. */
const BATCH_OF_V1 = "/v1/batch/scrape";
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Creates the endpoints. */
export function firecrawlRoutes(deps: FirecrawlRoutesDeps) {
  const { counted, countedForm, asked } = createFirecrawlAnswering(deps);
  const batch = counted("crawl", (body, from, request) => startBatch(body, deps.jobs, starting(from, request, deps)));
  return new Elysia()
    .post(
      "/v2/scrape",
      counted("scrape", (body, from) => scrapeForFirecrawl(body, deps.pages, from)),
      RAW,
    )
    .post(
      "/v2/crawl",
      counted("crawl", (body, from, request) => startFirecrawlCrawl(body, deps.jobs, starting(from, request, deps))),
      RAW,
    )
    .post(
      "/v2/crawl/params-preview",
      counted("crawl", async (body) => previewCrawl(body)),
      RAW,
    )
    .post("/v2/batch/scrape", batch, RAW)
    .post(BATCH_OF_V1, batch, RAW)
    .post(
      "/v2/parse",
      countedForm("scrape", (form, from) => parseForFirecrawl(form, deps.pages, from)),
      RAW,
    )
    .post(
      "/v2/map",
      counted("map", (body, from) => mapForFirecrawl(body, deps.map, from)),
      RAW,
    )
    .post(
      "/v2/search",
      counted("search", (body, from) => searchForFirecrawl(body, deps, from)),
      RAW,
    )
    .post(
      "/v2/extract",
      counted("extract", (body, from) => startExtractForFirecrawl(body, deps.extracts, from)),
      RAW,
    )
    .get("/v2/extract/:id", ({ request, params: { id } }) =>
      asked("extract", request, (accountId) => extractStatus({ id, accountId }, deps.extracts)),
    )
    .use(jobRoutes(deps, "crawl"))
    .use(jobRoutes(deps, "batch"))
    .use(jobRoutes(deps, "batch", BATCH_OF_V1))
    .get("/v1/crawl/:id/errors", ({ request, params: { id } }) =>
      asked("crawl", request, (accountId) => jobErrors({ sort: "crawl", id, accountId }, deps.jobs)),
    )
    .use(figureRoutes(deps))
    .use(hostedRoutes());
}

/**
 * The caller of a job. Clients that send an idempotency key are told that it has no effect, as each request starts a job of its
 * own.
 */
function starting(from: JobCaller, request: Request, deps: FirecrawlRoutesDeps): JobStarter {
  const unmet = request.headers.has(IDEMPOTENCY_KEY) ? [IDEMPOTENCY_KEY] : [];
  return { ...from, origin: deps.publicUrl(request), unmet };
}

/** The endpoints for polls, errors and cancellations of one kind of job. */
function jobRoutes(deps: FirecrawlRoutesDeps, sort: JobSort, path: string = SORTS[sort].path) {
  const { asked } = createFirecrawlAnswering(deps);
  return new Elysia()
    .get(`${path}/:id`, ({ request, params: { id } }) =>
      wantsSocket(request)
        ? watched({ sorts: [sort], id, version: path === BATCH_OF_V1 ? "v1" : "v2" }, request, deps)
        : asked("crawl", request, (accountId) =>
            jobStatus({ sort, id, accountId }, deps.jobs, windowOf(request, deps)),
          ),
    )
    .get(`${path}/:id/errors`, ({ request, params: { id } }) =>
      asked("crawl", request, (accountId) => jobErrors({ sort, id, accountId }, deps.jobs)),
    )
    .delete(`${path}/:id`, ({ request, params: { id } }) =>
      asked("crawl", request, (accountId) => cancelFirecrawlJob({ sort, id, accountId }, deps.jobs)),
    );
}

/** Answers a WebSocket at `/v1/crawl/:id`, where clients of Firecrawl's first version watch crawls and batches. */
export function watchJobOfV1(request: Request, id: string, deps: FirecrawlRoutesDeps): Promise<Response> {
  return watched({ sorts: ["crawl", "batch"], id, version: "v1" }, request, deps);
}

/** What a client watches. */
interface Watched {
  /** The kinds of jobs that it may be. */
  readonly sorts: readonly [JobSort, ...JobSort[]];
  readonly id: string;
  readonly version: WatcherVersion;
}

/**
 * Sends a job's documents over a WebSocket as they are stored. Browsers cannot send headers with a WebSocket, so the key is sent
 * as its subprotocol.
 */
async function watched({ sorts, id, version }: Watched, request: Request, deps: FirecrawlRoutesDeps) {
  const [key] = offeredProtocols(request);
  if (key !== undefined && !request.headers.has("authorization")) request.headers.set("authorization", `Bearer ${key}`);
  const { accountId } = await deps.authenticate(request);
  const ref = await refOf(sorts, { id, accountId }, deps.jobs.jobs);
  const leave = deps.watchers.enter(accountId);
  const done = deps.becomesSocket(request);
  const watching = {
    ...deps.jobs,
    origin: deps.publicUrl(request),
    stillAllowed: async () => deps.authenticate(request),
    unexpected: (error: unknown) => deps.unexpected(request, error),
  };
  return takeSocket(request, {
    ...(key === undefined ? {} : { protocol: key }),
    opened: (session) => void tellOfJob(ref, session, watching, version),
    ended: () => {
      leave();
      done();
    },
  });
}

/** The job with its kind. Throws 404. */
async function refOf(
  [first, ...others]: Watched["sorts"],
  job: Omit<FirecrawlJobRef, "sort">,
  jobs: FirecrawlJobsDeps["jobs"],
): Promise<FirecrawlJobRef> {
  for (const sort of others)
    if ((await jobs.findJob(SORTS[sort].kind, job.accountId, job.id)) !== undefined) return { ...job, sort };
  const ref = { ...job, sort: first };
  await findJob(ref, jobs);
  return ref;
}

function windowOf(request: Request, { publicUrl }: FirecrawlRoutesDeps): JobWindow {
  const { searchParams } = new URL(request.url);
  return {
    origin: publicUrl(request),
    offset: readQuery(searchParams, ["skip", "offset"], { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0,
    limit: readQuery(searchParams, ["limit"], { min: 1, max: DOCUMENTS_MAX }) ?? DOCUMENTS_MAX,
  };
}

/** The endpoints for the account's current work and remaining credits. */
function figureRoutes(deps: FirecrawlRoutesDeps) {
  const { asked } = createFirecrawlAnswering(deps);
  const figure = (answer: (accountId: string) => object | Promise<object>) => {
    return ({ request }: { request: Request }) => asked("crawl", request, async (accountId) => answer(accountId));
  };
  return new Elysia()
    .get(
      "/v2/crawl/active",
      figure((accountId) => activeCrawls(accountId, deps.jobs)),
    )
    .get("/v2/team/credit-usage", figure(creditUsage))
    .get("/v2/team/token-usage", figure(tokenUsage))
    .get("/v2/team/credit-usage/historical", figure(pastUsage))
    .get("/v2/team/token-usage/historical", figure(pastUsage))
    .get(
      "/v2/team/queue-status",
      figure((accountId) => queueStatus(accountId, deps.jobs)),
    )
    .get(
      "/v2/concurrency-check",
      figure((accountId) => concurrencyCheck(accountId, deps.jobs)),
    );
}

/** The endpoints for unsupported features. They answer with an error, even without a key. */
function hostedRoutes() {
  const routes = new Elysia();
  const refuse = ({ request }: { request: Request }) => refuseHosted(pathOf(request.url));
  const paths = [...HOSTED_PATHS.flatMap((path) => [path, `${path}/*`]), ...HOSTED_ADDRESSES];
  for (const path of paths) for (const method of METHODS) routes.route(method, path, refuse, RAW);
  return routes;
}

/** What the endpoints share: admission, and the format of results and errors. */
function createFirecrawlAnswering(deps: FirecrawlRoutesDeps) {
  const finish = async (feature: WebFeature, request: Request, work: () => Promise<object>) => {
    try {
      const text = await jsonInTurns(await work());
      return new Response(text, { headers: { "content-type": "application/json;charset=utf-8" } });
    } catch (error) {
      if (request.signal.aborted) {
        deps.clientGone(request);
        return new Response(null, { status: CLIENT_GONE });
      }
      const known = asFirecrawlError(feature, error);
      if (known.apiCode.endsWith("internal_error")) deps.unexpected(request, error);
      throw known;
    }
  };
  /** Answers a request that is admitted and counts against the rate limit. */
  const countedAs =
    <T>(read: (request: Request) => Promise<T>) =>
    (feature: WebFeature, answer: (body: T, from: JobCaller, request: Request) => Promise<object>) =>
    async ({ request }: { request: Request }) => {
      const { accountId, keyId } = await deps.admit(request);
      const body = await read(request);
      const started = (id: string) => deps.jobStarted(request, id);
      const from = { accountId, keyId, requestId: deps.requestId(request), signal: request.signal, started };
      return finish(feature, request, () => answer(body, from, request));
    };
  /** Answers a request that needs only a valid key. */
  const asked = async (feature: WebFeature, request: Request, answer: (accountId: string) => Promise<object>) => {
    const { accountId } = await deps.authenticate(request);
    return finish(feature, request, () => answer(accountId));
  };
  return { counted: countedAs<Body>(deps.readJson), countedForm: countedAs(deps.readForm), asked };
}
