// Connects the web part of a running gateway: tools, search, jobs and endpoints.

import type { Clock } from "../base/clock.ts";
import { lazily } from "../base/lazily.ts";
import type { Config } from "../config/schema.ts";
import type { FindWebModel, WebPayer } from "../gateway/inner/web-model.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import { type JobKind, lazyKind } from "../jobs/kind.ts";
import { createJobRunner } from "../jobs/runner.ts";
import { hasSandbox, NO_SANDBOX } from "../pages/browser/browser.ts";
import type { BlockLabeller } from "../pages/conversion.ts";
import { createLateSearch } from "../search/late.ts";
import type { AnswerStore } from "../store/work/answers.ts";
import type { FrontierStore } from "../store/work/frontier.ts";
import type { JobStore } from "../store/work/jobs.ts";
import { createAnonymous } from "./anonymous.ts";
import type { CrawlDeps, FirecrawlCrawling } from "./crawl.ts";
import { type EngineHealthStore, keepEngineHealth } from "./engine-health.ts";
import { createExtractService } from "./extract/assemble.ts";
import { createLateFirecrawl } from "./firecrawl/late.ts";
import { llmstxtJobs } from "./llmstxt/assemble.ts";
import { createOwnedJobs } from "./owned-jobs.ts";
import type { WebEdge } from "./requests.ts";
import { WEB_ENDPOINTS, type WebRoutesDeps, webAnswers } from "./routes.ts";
import { createWebTools, type WebSharing } from "./tools.ts";
import { visitsInOrder } from "./visits-in-order.ts";

/** What the web part needs from the rest of the program. */
export interface WebDeps extends WebEdge {
  /** The name of this program among those that work on the same jobs. It must be the same after a restart. */
  readonly owner: string;
  clock: Clock;
  jobs: JobStore;
  frontier: FrontierStore;
  answers: AnswerStore;
  /** Makes space for what an account stores; false if there is none. */
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
  /** Requests per minute that a client without a key may send. */
  anonymousRpm(): number;
  /** Counts rate-limited requests and queries to search engines. */
  metrics: {
    rateLimited(): void;
    searchEngine(engine: string, outcome: string, seconds: number): void;
  };
  /** The state that several nodes share. */
  acrossNodes?: WebSharing | undefined;
  /** Where the health of the search engines is stored. */
  settings: EngineHealthStore;
  /** The secret with which an account's webhooks are signed. */
  webhookSecret(accountId: string): Promise<string>;
  /** Finds the model for extractions. */
  findModel: FindWebModel;
  /** Calls `listener` with the id of each job that has ended or was deleted. */
  whenJobEnds(listener: (id: string) => void): void;
  /** Further kinds of jobs. */
  kinds?: readonly JobKind[];
}

/** The numbers of running and waiting tasks. */
export type WebFigures = Readonly<
  Record<"jobs" | "pages" | "single pages" | "conversions", { readonly running: number; readonly waiting: number }>
>;

/** Creates the web part. `background` resumes jobs, `stop` releases them. */
export function createWeb(deps: WebDeps) {
  const tools = { ...createWebTools(deps), labellerFor: labellersOf(deps) };
  const problem = (message: string, error: unknown) => deps.warn(message, { error });
  const settings = () => deps.config().web;
  const userAgent = () => settings().userAgent;
  const { store, extract, firecrawl, runner } = createWebJobs(deps, { tools, problem, settings, userAgent });
  const search = searchOf(deps, tools, problem);
  const health = keepEngineHealth(search.health, deps.settings, (error) =>
    deps.warn("the health of the search engines could not be stored", { error }),
  );
  const { makeRoom, clock } = deps;
  const jobs = { guard: tools.guard, jobs: store, makeRoom, runner, clock, limits: settings };
  const endpoints: WebRoutesDeps = {
    edge: deps,
    anonymous: anonymousOf(deps),
    pages: tools,
    search: { search, pages: tools },
    map: { ...tools, userAgent },
    crawls: jobs,
    extracts: extract.jobs(jobs),
    llmstxts: jobs,
  };
  const firecrawlEndpoints = firecrawl.endpoints(endpoints, store);
  const routes = endpointRoutes(WEB_ENDPOINTS, {
    deps: endpoints,
    answers: webAnswers(endpoints, { waits: true }),
    watchJob: firecrawlEndpoints.watchJob,
  });
  let queued = 0;
  return {
    routes,
    /** The routes of Firecrawl's endpoints. */
    firecrawl: firecrawlEndpoints.routes,
    tools,
    runner,
    /** The tools' answers for callers within the program. They start jobs without waiting for their end. */
    answers: webAnswers(endpoints, { waits: false }),
    /** The view that accounts have of their own jobs. */
    ownJobs: createOwnedJobs({ ...endpoints, lists: store, pages: store }),
    /** All search engines, each with its health and whether it is enabled and suspended. */
    engines: () => search.engines(),
    /** Queries one engine now, even if it is suspended. Undefined if there is no engine of that name. */
    probeEngine: (name: string, signal: AbortSignal) => search.probe(name, signal),
    start: () => {
      const isLocal = settings().browser.endpoint === "";
      if (isLocal && tools.browserHealth().status !== "disabled" && !hasSandbox()) deps.warn(NO_SANDBOX);
      health.start();
    },
    /** Resumes jobs. */
    background: () => {
      runner.start().catch((error: unknown) => deps.warn("jobs of an earlier run could not be resumed", { error }));
    },
    /** The numbers of running and waiting tasks. The number of waiting jobs is the last one that `count` read. */
    figures: (): WebFigures => ({
      jobs: { running: runner.running(), waiting: queued },
      pages: tools.scheduler.load(),
      "single pages": tools.scheduler.singles(),
      conversions: tools.conversions(),
    }),
    /** Reads the figures that only the database knows, for `figures`. */
    count: async () => {
      queued = await deps.jobs.countQueued();
    },
    jobsHealth: () => ({ status: "ok" as const, running: runner.running() }),
    reconfigure: () => {
      tools.reconfigure();
      search.reconfigure();
    },
    stop: async () => {
      await health.stop();
      search.close();
      await runner.stop();
      firecrawl.stop();
      extract.close();
      await tools.close();
    },
  };
}

/** Creates labellers of doubtful pages if the operator wants them. */
function labellersOf({ config, findModel }: Pick<WebDeps, "config" | "findModel">) {
  const create = lazily(() => {
    const { createLabeller }: typeof import("./label-blocks.ts") = require("./label-blocks.ts");
    return createLabeller;
  });
  return (payer: WebPayer): BlockLabeller | undefined => {
    const { extractor, extractorBelow: below } = config().web;
    return extractor === "model" ? create()(payer, { findModel, below }) : undefined;
  };
}

/** The kinds of jobs, and what runs them. */
function createWebJobs(
  deps: WebDeps,
  shared: {
    readonly tools: ReturnType<typeof createWebTools>;
    problem(message: string, error: unknown): void;
    settings(): Config["web"];
    userAgent(): string;
  },
) {
  const { tools, problem, settings, userAgent } = shared;
  const { clock, owner, whenJobEnds, findModel } = deps;
  const saveVisit = visitsInOrder(deps.frontier.saveVisit);
  const store = { ...deps.jobs, ...deps.frontier, ...deps.answers, saveVisit };
  const work = { ...tools, store, makeRoom: deps.makeRoom, settings, problem };
  const extract = createExtractService({ ...work, findModel });
  const firecrawl = createLateFirecrawl({ ...deps, tools, work, threads: extract.threads });
  const llmstxt = llmstxtJobs({ ...work, findModel, clock, userAgent });
  const kinds = [crawls(work, firecrawl.crawling), firecrawl.batch, extract.kind, llmstxt, ...(deps.kinds ?? [])];
  const ttlMs = () => settings().jobTtlMs;
  const runner = createJobRunner({ store, kinds, clock, owner, whenJobEnds, ttlMs, problem });
  return { store, extract, firecrawl, runner };
}

/** The kind of job of crawls, whose code is loaded with its first job. */
function crawls(work: CrawlDeps, firecrawl: () => FirecrawlCrawling): JobKind {
  return lazyKind("crawl", () => {
    const { crawlKind }: typeof import("./crawl.ts") = require("./crawl.ts");
    return crawlKind({ ...work, firecrawl: firecrawl() });
  });
}

function searchOf(
  { config, clock, metrics, acrossNodes }: WebDeps,
  { fetch }: Pick<ReturnType<typeof createWebTools>, "fetch">,
  unexpected: (message: string, error: unknown) => void,
) {
  const flights = acrossNodes?.flights;
  return createLateSearch({ config, clock, fetch, asked: metrics.searchEngine, unexpected, flights });
}

function anonymousOf({ clock, config, anonymousRpm, metrics, acrossNodes }: WebDeps) {
  return createAnonymous({
    clock,
    allowed: () => config().search.compat.anonymous,
    rpm: anonymousRpm,
    limiter: acrossNodes?.addresses,
    rejected: metrics.rateLimited,
  });
}
