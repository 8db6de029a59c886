// Firecrawl's v2 endpoints, for its clients. POSTs that do work are admitted and counted; polls, cancellations and questions
// about the account need only a valid key. Every success has status 200, and every `error` is a string.

import { Elysia } from "elysia";
import { exchangeOf } from "../../http/exchange.ts";
import { readForm } from "../../http/form.ts";
import { writtenJson } from "../../http/json-answer.ts";
import { pathOf } from "../../http/path.ts";
import {
  admittingEndpoint,
  describedBy,
  type EndpointCall,
  endpointRoutes,
  type ServedEndpoint,
} from "../../http/served-endpoint.ts";
import { offeredProtocols, takeSocket, wantsSocket } from "../../http/web-socket.ts";
import type { JobCaller } from "../caller.ts";
import { readQuery } from "../crawl-jobs.ts";
import type { ExtractJobsDeps } from "../extract/jobs.ts";
import type { WebFeature } from "../failure.ts";
import type { MapDeps } from "../map.ts";
import type { Body } from "../params.ts";
import {
  answerIfGone,
  jobCallerOf,
  lastsAsSocket,
  publicUrlOf,
  readWebBody,
  type WebEdge,
  warnOfUnexpected,
} from "../requests.ts";
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
  readonly edge: WebEdge;
  readonly pages: FirecrawlPageDeps;
  readonly jobs: FirecrawlJobsDeps;
  readonly watchers: Watchers;
  readonly map: MapDeps;
  readonly search: WebSearchDeps;
  readonly extracts: ExtractJobsDeps;
}

const IDEMPOTENCY_KEY = "x-idempotency-key";
/** Clients of Firecrawl's first version look for batches here. */
const BATCH_OF_V1 = "/v1/batch/scrape";
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The routes of the endpoints, and of unsupported features. */
export function firecrawlRoutes(deps: FirecrawlRoutesDeps) {
  return endpointRoutes(FIRECRAWL_ENDPOINTS, deps)().use(hostedRoutes());
}

const firecrawlText = describedBy(() => {
  const { FIRECRAWL_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return FIRECRAWL_TEXTS;
});

type FirecrawlEndpoint = ServedEndpoint<FirecrawlRoutesDeps>;
type Describe = FirecrawlEndpoint["describe"];

/** Reports failures in Firecrawl's format. */
async function finish(
  feature: WebFeature,
  { request, deps }: { request: Request; deps: FirecrawlRoutesDeps },
  work: () => Promise<object>,
): Promise<Response> {
  try {
    return await writtenJson(request, await work());
  } catch (error) {
    const unread = answerIfGone(request);
    if (unread !== undefined) return unread;
    const known = asFirecrawlError(feature, error);
    if (known.apiCode.endsWith("internal_error")) warnOfUnexpected(request, error, deps.edge);
    throw known;
  }
}

/** Who sent a request that is counted, and what answers it. */
interface Work {
  readonly deps: FirecrawlRoutesDeps;
  readonly request: Request;
  readonly from: JobCaller;
}

/** Makes endpoints that are admitted and count against the rate limit. */
const countedAs =
  <T>(read: (request: Request, edge: WebEdge) => Promise<T>) =>
  (
    path: string,
    {
      describe,
      feature,
      answer,
    }: { describe: Describe; feature: WebFeature; answer(body: T, work: Work): Promise<object> },
  ): FirecrawlEndpoint =>
    admittingEndpoint("counted", "POST", path, {
      describe,
      handle: async (deps, { request }) => {
        const from = jobCallerOf(request, await deps.edge.admit(request, exchangeOf(request)));
        const body = await read(request, deps.edge);
        return finish(feature, { request, deps }, () => answer(body, { deps, request, from }));
      },
    });

const counted = countedAs<Body>(readWebBody);
const countedForm = countedAs((request, { bodyLimits }) => readForm(request, bodyLimits().maxBytes));

/** The answer to a request that needs only a valid key. */
async function asked(
  feature: WebFeature,
  { request, deps }: { request: Request; deps: FirecrawlRoutesDeps },
  answer: (accountId: string) => Promise<object>,
): Promise<Response> {
  const { accountId } = await deps.edge.authenticate(request);
  return finish(feature, { request, deps }, () => answer(accountId));
}

/** An endpoint that needs only a valid key. */
const keyed = <Path extends string>(
  method: "GET" | "DELETE",
  path: Path,
  {
    describe,
    feature = "crawl",
    answer,
  }: {
    describe: Describe;
    feature?: WebFeature;
    answer(accountId: string, call: EndpointCall<Path> & { readonly deps: FirecrawlRoutesDeps }): Promise<object>;
  },
): FirecrawlEndpoint =>
  admittingEndpoint<FirecrawlRoutesDeps, Path>("key", method, path, {
    describe,
    handle: (deps, call) => asked(feature, { ...call, deps }, (accountId) => answer(accountId, { ...call, deps })),
  });

/** The endpoints for polls, errors and cancellations of one kind of job. */
const jobEndpoints = (
  sort: JobSort,
  path: string,
  describe: Readonly<Record<"poll" | "errors" | "cancel", Describe>>,
): FirecrawlEndpoint[] => [
  admittingEndpoint("key", "GET", `${path}/:id` as const, {
    describe: describe.poll,
    handle: (deps: FirecrawlRoutesDeps, { request, params: { id } }) =>
      wantsSocket(request)
        ? watched({ sorts: [sort], id, version: path === BATCH_OF_V1 ? "v1" : "v2" }, request, deps)
        : asked("crawl", { request, deps }, (accountId) =>
            jobStatus({ sort, id, accountId }, deps.jobs, windowOf(request, deps)),
          ),
  }),
  keyed("GET", `${path}/:id/errors` as const, {
    describe: describe.errors,
    answer: (accountId, { params: { id }, deps }) => jobErrors({ sort, id, accountId }, deps.jobs),
  }),
  keyed("DELETE", `${path}/:id` as const, {
    describe: describe.cancel,
    answer: (accountId, { params: { id }, deps }) => cancelFirecrawlJob({ sort, id, accountId }, deps.jobs),
  }),
];

const batchAt = (path: string, describe: Describe) =>
  counted(path, {
    describe,
    feature: "crawl",
    answer: (body, work) => startBatch(body, work.deps.jobs, starting(work)),
  });

/** Pages and jobs. */
const WORK: readonly FirecrawlEndpoint[] = [
  counted("/v2/scrape", {
    ...{ describe: firecrawlText("firecrawlScrape"), feature: "scrape" },
    answer: (body, { deps, from }) => scrapeForFirecrawl(body, deps.pages, from),
  }),
  countedForm("/v2/parse", {
    ...{ describe: firecrawlText("firecrawlParse"), feature: "scrape" },
    answer: (form, { deps, from }) => parseForFirecrawl(form, deps.pages, from),
  }),
  counted("/v2/crawl", {
    ...{ describe: firecrawlText("firecrawlStartCrawl"), feature: "crawl" },
    answer: (body, work) => startFirecrawlCrawl(body, work.deps.jobs, starting(work)),
  }),
  counted("/v2/crawl/params-preview", {
    ...{ describe: firecrawlText("firecrawlPreviewCrawl"), feature: "crawl" },
    answer: async (body) => previewCrawl(body),
  }),
  ...jobEndpoints("crawl", SORTS.crawl.path, {
    poll: firecrawlText("firecrawlGetCrawl"),
    errors: firecrawlText("firecrawlGetCrawlErrors"),
    cancel: firecrawlText("firecrawlCancelCrawl"),
  }),
  keyed("GET", "/v1/crawl/:id/errors", {
    describe: firecrawlText("firecrawlGetCrawlErrorsV1"),
    answer: (accountId, { params: { id }, deps }) => jobErrors({ sort: "crawl", id, accountId }, deps.jobs),
  }),
  batchAt(SORTS.batch.path, firecrawlText("firecrawlStartBatch")),
  ...jobEndpoints("batch", SORTS.batch.path, {
    poll: firecrawlText("firecrawlGetBatch"),
    errors: firecrawlText("firecrawlGetBatchErrors"),
    cancel: firecrawlText("firecrawlCancelBatch"),
  }),
  batchAt(BATCH_OF_V1, firecrawlText("firecrawlStartBatchV1")),
  ...jobEndpoints("batch", BATCH_OF_V1, {
    poll: firecrawlText("firecrawlGetBatchV1"),
    errors: firecrawlText("firecrawlGetBatchV1Errors"),
    cancel: firecrawlText("firecrawlCancelBatchV1"),
  }),
  counted("/v2/map", {
    ...{ describe: firecrawlText("firecrawlMap"), feature: "map" },
    answer: (body, { deps, from }) => mapForFirecrawl(body, deps.map, from),
  }),
  counted("/v2/search", {
    ...{ describe: firecrawlText("firecrawlSearch"), feature: "search" },
    answer: (body, { deps, from }) => searchForFirecrawl(body, deps, from),
  }),
  counted("/v2/extract", {
    ...{ describe: firecrawlText("firecrawlStartExtract"), feature: "extract" },
    answer: (body, { deps, from }) => startExtractForFirecrawl(body, deps.extracts, from),
  }),
  keyed("GET", "/v2/extract/:id", {
    ...{ describe: firecrawlText("firecrawlGetExtract"), feature: "extract" },
    answer: (accountId, { params: { id }, deps }) => extractStatus({ id, accountId }, deps.extracts),
  }),
];

const figure = (
  path: string,
  describe: Describe,
  answer: (accountId: string, deps: FirecrawlRoutesDeps) => object | Promise<object>,
) => keyed("GET", path, { describe, answer: async (accountId, { deps }) => answer(accountId, deps) });

/** The account's current work and remaining credits. */
const FIGURES: readonly FirecrawlEndpoint[] = [
  figure("/v2/crawl/active", firecrawlText("firecrawlListActiveCrawls"), (accountId, { jobs }) =>
    activeCrawls(accountId, jobs),
  ),
  figure("/v2/team/credit-usage", firecrawlText("firecrawlCreditUsage"), creditUsage),
  figure("/v2/team/token-usage", firecrawlText("firecrawlTokenUsage"), tokenUsage),
  figure("/v2/team/credit-usage/historical", firecrawlText("firecrawlPastCreditUsage"), pastUsage),
  figure("/v2/team/token-usage/historical", firecrawlText("firecrawlPastTokenUsage"), pastUsage),
  figure("/v2/team/queue-status", firecrawlText("firecrawlQueueStatus"), (accountId, { jobs }) =>
    queueStatus(accountId, jobs),
  ),
  figure("/v2/concurrency-check", firecrawlText("firecrawlConcurrency"), (accountId, { jobs }) =>
    concurrencyCheck(accountId, jobs),
  ),
];

/** Firecrawl's endpoints. */
export const FIRECRAWL_ENDPOINTS: readonly FirecrawlEndpoint[] = [...WORK, ...FIGURES];

/**
 * The caller of a job. Clients that send an idempotency key are told that it has no effect, as each request starts a job of its
 * own.
 */
function starting({ from, request, deps }: Work): JobStarter {
  const unmet = request.headers.has(IDEMPOTENCY_KEY) ? [IDEMPOTENCY_KEY] : [];
  return { ...from, origin: publicUrlOf(request, deps.edge), unmet };
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
  const { accountId } = await deps.edge.authenticate(request);
  const ref = await refOf(sorts, { id, accountId }, deps.jobs.jobs);
  const leave = deps.watchers.enter(accountId);
  const socketClosed = lastsAsSocket(request);
  const watching = {
    ...deps.jobs,
    origin: publicUrlOf(request, deps.edge),
    stillAllowed: async () => deps.edge.authenticate(request),
    unexpected: (error: unknown) => warnOfUnexpected(request, error, deps.edge),
  };
  return takeSocket(request, {
    ...(key === undefined ? {} : { protocol: key }),
    opened: (session) => void tellOfJob(ref, session, watching, version),
    ended: () => {
      leave();
      socketClosed();
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

function windowOf(request: Request, { edge }: FirecrawlRoutesDeps): JobWindow {
  const { searchParams } = new URL(request.url);
  return {
    origin: publicUrlOf(request, edge),
    offset: readQuery(searchParams, ["skip", "offset"], { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0,
    limit: readQuery(searchParams, ["limit"], { min: 1, max: DOCUMENTS_MAX }) ?? DOCUMENTS_MAX,
  };
}

/** The endpoints for unsupported features. They answer with an error, even without a key. */
function hostedRoutes() {
  const routes = new Elysia();
  const refuse = ({ request }: { request: Request }) => refuseHosted(pathOf(request.url));
  const paths = [...HOSTED_PATHS.flatMap((path) => [path, `${path}/*`]), ...HOSTED_ADDRESSES];
  for (const path of paths) for (const method of METHODS) routes.route(method, path, refuse, { parse: "none" });
  return routes;
}
