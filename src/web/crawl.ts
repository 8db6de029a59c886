// A crawl reads the pages of a site breadth first from its root, each page once. Results and the frontier are stored before
// anything else happens, so a crawl that was killed continues where it stopped.

import { pause } from "../base/retry.ts";
import { type JobFailure, type JobKind, type JobOutcome, JobTimeout, type RunningJob } from "../jobs/kind.ts";
import type { Converter } from "../pages/convert/convert.ts";
import type { LoadedPage, LoadPage, LoadRequest } from "../pages/load.ts";
import { PageError } from "../pages/page-error.ts";
import type { Robots } from "../pages/robots/robots.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";
import type { JobLease } from "../store/work/job-hold.ts";
import { TaskTimeout } from "../workers/pool.ts";
import { type CrawlInput, CrawlScope, type Judgement, type RootRedirect } from "./crawl-scope.ts";
import { type AnswerVerbs, type VisitDeps, visitPage } from "./crawl-visit.ts";
import { asWebError, endsWorker } from "./failure.ts";
import type { JobNotices } from "./firecrawl/job-notices.ts";
import type { JobPages } from "./firecrawl/job-pages.ts";
import { STORAGE_USED_UP } from "./job-room.ts";
import { creditsOf, loadRequest, pageView } from "./page-view.ts";

/** The store's functions for crawls. */
export interface CrawlStore extends AnswerVerbs {
  addFrontier(job: JobLease, entries: Iterable<FrontierEntry>, max: number): Promise<number>;
  takeFrontier(job: JobLease, limit: number): Promise<FrontierEntry[]>;
  resetFrontier(job: JobLease): Promise<number>;
  saveVisit(job: JobLease, visit: VisitOutcome): Promise<number>;
  /** The keys of all pages that were returned so far. */
  listPageKeys(jobId: string): Promise<readonly string[]>;
}

/** What is stored about one visit. */
export interface VisitOutcome {
  readonly urlKey: string;
  readonly page?: { readonly url: string; readonly failed: boolean; readonly body: Readonly<Record<string, unknown>> };
  readonly aliases?: readonly FrontierEntry[];
  readonly links?: readonly FrontierEntry[];
  readonly frontierMax: number;
  readonly progress?: Readonly<Record<string, unknown>>;
}

/** What crawling needs. */
export interface CrawlDeps extends Omit<VisitDeps, "store"> {
  readonly store: CrawlStore;
  readonly load: LoadPage;
  readonly pickLinks: Converter["pickLinks"];
  readonly robots: Robots;
  /** Makes space for what an account stores; false if there is none. Absent if nothing is stored. */
  readonly makeRoom?: (accountId: string, bytes: number) => Promise<boolean>;
  readonly settings: () => { readonly respectRobots: boolean };
  /** For crawls of Firecrawl's clients; absent if they are not supported. */
  readonly firecrawl?: FirecrawlCrawling;
}

/** What is different in crawls of Firecrawl's clients. */
export interface FirecrawlCrawling {
  readonly pages: JobPages;
  readonly notices: JobNotices;
  /** The addresses in the site's own lists, one per line. */
  sitemapOf(url: string, from: { readonly account: string; readonly signal: AbortSignal }): Promise<string>;
}

/** Maximum number of concurrent pages of one crawl. It equals the limit of one host; the other slots are for other crawls. */
const PARALLEL_MAX = 4;
/** Maximum number of addresses remembered for each page that the crawl may fetch; more would never be visited. */
const FRONTIER_PER_PAGE = 50;
const FRONTIER_MIN = 1000;
/**
 * Pages that turn out to be duplicates do not count towards the page limit. They have a limit of their own: this many for each
 * page.
 */
const REPEATS_PER_PAGE = 2;
/** Time limit of one page. */
const PAGE_TIMEOUT_MS = 60_000;

const SLOW_PATTERNS = "includePaths and excludePaths take too long to match. Write them without nested repetitions.";

/** The progress of a crawl, stored with each visit. */
interface Progress {
  /** The number of pages requested from their server, at most `limit`. */
  fetched: number;
  /** The number of finished pages, including pages that failed or were never requested. */
  completed: number;
  /** The number of fetched pages that turned out to be duplicates. */
  repeats: number;
  credits: number;
  home?: RootRedirect | undefined;
  /** Whether the sitemap was read. */
  seeded?: boolean;
}

/** Creates this kind of job. */
export function crawlKind(deps: CrawlDeps): JobKind {
  return {
    name: "crawl",
    run: (job, signal) => new Crawl(job, deps, signal).run(),
    failure: (error) =>
      error instanceof JobTimeout ? { code: "crawl_timeout", message: error.message } : failureOf("crawl", error),
    ended: (job, outcome) => deps.firecrawl?.notices.ended("crawl", job, outcome),
  };
}

function failureOf(feature: "crawl" | "scrape", error: unknown): JobFailure {
  const { apiCode, message } = asWebError(feature, error);
  return { code: apiCode, message };
}

class Crawl {
  readonly #job: RunningJob;
  readonly #deps: CrawlDeps;
  /** The job's signal, combined with one that aborts if one visit fails the crawl while others are running. */
  readonly #signal: AbortSignal;
  readonly #broken = new AbortController();
  readonly #input: CrawlInput;
  readonly #scope: CrawlScope;
  /** The keys of returned pages, for all of their addresses. */
  readonly #returned = new Set<string>();
  readonly #active = new Map<Promise<void>, number>();
  readonly #frontierMax: number;
  /** The number of addresses that were added to the frontier since the program started. */
  #found = 0;
  readonly #progress: Progress;
  /** A page that was taken from the frontier and waits until pages of lower depth are finished. */
  #held: FrontierEntry | undefined;
  #fatal: JobFailure | undefined;

  constructor(job: RunningJob, deps: CrawlDeps, signal: AbortSignal) {
    this.#job = job;
    this.#deps = deps;
    this.#signal = AbortSignal.any([signal, this.#broken.signal]);
    this.#input = job.input as unknown as CrawlInput;
    this.#progress = { fetched: 0, completed: 0, repeats: 0, credits: 0, ...(job.progress as Partial<Progress>) };
    this.#scope = new CrawlScope(this.#input, this.#progress.home);
    this.#frontierMax = Math.max(FRONTIER_MIN, this.#input.limit * FRONTIER_PER_PAGE);
  }

  async run(): Promise<JobOutcome> {
    const { store } = this.#deps;
    const { id, winding } = this.#job;
    await store.resetFrontier(this.#job);
    await this.#add([this.#scope.root]);
    this.#remember(await store.listPageKeys(id));
    if (this.#progress.completed === 0) this.#deps.firecrawl?.notices.started("crawl", this.#job);
    try {
      await this.#seed().catch((error: unknown) => {
        if (this.#fatal === undefined) throw error;
      });
      for (;;) {
        this.#signal.throwIfAborted();
        while (!winding.aborted && this.#fatal === undefined && this.#hasRoom()) {
          const entry = await this.#next();
          if (entry === undefined) break;
          this.#begin(entry);
        }
        this.#signal.throwIfAborted();
        if (this.#active.size === 0) break;
        await Promise.race(this.#active.keys());
      }
    } finally {
      this.#broken.abort(new Error("The crawl ended."));
      await Promise.allSettled(this.#active.keys());
    }
    if (this.#fatal !== undefined) return { state: "failed", error: this.#fatal };
    winding.throwIfAborted();
    return { state: "completed" };
  }

  async #add(entries: readonly FrontierEntry[]): Promise<void> {
    const added = await this.#deps.store.addFrontier(this.#job, entries, this.#frontierMax);
    this.#found += added;
  }

  /** How many links of a page could be added to the frontier, if none of the others were known. */
  get #linksMost(): number {
    return this.#found >= this.#frontierMax ? 0 : this.#frontierMax;
  }

  #hasRoom(): boolean {
    const { fetched, repeats } = this.#progress;
    const { limit } = this.#input;
    const active = this.#active.size;
    return (
      active < this.#parallel && fetched + active < limit && repeats + active < limit * REPEATS_PER_PAGE + PARALLEL_MAX
    );
  }

  get #parallel(): number {
    return this.#input.firecrawl?.concurrency ?? PARALLEL_MAX;
  }

  /** Adds the addresses in the site's own lists to the frontier; this is done once. */
  async #seed(): Promise<void> {
    const { firecrawl: plan, url } = this.#input;
    const crawling = this.#deps.firecrawl;
    if (plan === undefined || crawling === undefined || plan.sitemap === "skip" || this.#progress.seeded === true)
      return;
    const listed = await crawling.sitemapOf(url, { account: this.#job.accountId, signal: this.#signal });
    const picking = this.#picking;
    const { links } = await this.#scope
      .pick(listed, { own: [], depth: 1, most: this.#linksMost }, picking)
      .catch(this.#asRuled);
    await this.#add(links);
    this.#progress.seeded = true;
    await this.#job.saveProgress({ ...this.#progress });
  }

  /** The next page to visit; undefined if there is none, or if it has to wait. */
  async #next(): Promise<FrontierEntry | undefined> {
    const entry = this.#held ?? (await this.#deps.store.takeFrontier(this.#job, 1))[0];
    this.#held = undefined;
    // With a depth limit, each page needs its smallest depth. A page that was first found at a greater depth, because another
    // page was faster, would wrongly end its branch.
    const waits =
      entry !== undefined && this.#input.maxDepth !== null && Math.min(...this.#active.values()) < entry.depth;
    if (!waits) return entry;
    this.#held = entry;
    return undefined;
  }

  #begin(entry: FrontierEntry): void {
    const visit = this.#visit(entry)
      .catch((error: unknown) => {
        // Even if nobody waits for this visit when it fails: its page must not be missing from a completed crawl.
        this.#broken.abort(error);
        throw error;
      })
      .finally(() => this.#active.delete(visit));
    this.#active.set(visit, entry.depth);
    // Whoever waits for all visits also handles their errors.
    visit.catch(() => undefined);
  }

  async #visit(entry: FrontierEntry): Promise<void> {
    let page: LoadedPage;
    let judged: Judgement;
    let document: Readonly<Record<string, unknown>> | undefined;
    try {
      page = await this.#load(entry);
      if (entry.depth === 0) this.#scope.foundRoot(page);
      const picking = this.#picking;
      judged = await this.#scope.judge(page, entry, this.#linksMost, picking).catch(this.#asRuled);
      if (judged.isWanted && !this.#isKnown(this.#scope.keysOf(entry, page)))
        document = await this.#document(page, entry);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (endsWorker(error)) throw error;
      return this.#saveFailure(entry, error);
    }
    const { links, isWanted } = judged;
    // Nothing is awaited between here and the save, so that the figures stored with a visit include that visit and all earlier
    // ones.
    this.#signal.throwIfAborted();
    this.#progress.credits += creditsOf(page);
    if (!this.#scope.mayVisit(page.url))
      return this.#saveFailure(entry, new PageError("refused", "The page redirects to another site."));
    const keys = this.#scope.keysOf(entry, page);
    const isRepeat = this.#isKnown(keys);
    if (isRepeat) this.#progress.repeats++;
    else this.#count({ isFetched: true });
    // A page that is not returned must not make other pages duplicates.
    if (isWanted) this.#remember(keys);
    const aliases = isWanted ? keys.filter((key) => key !== entry.urlKey).map((urlKey) => ({ ...entry, urlKey })) : [];
    if (isRepeat || !isWanted) return this.#save(entry, { aliases, links });
    const body = { ...(document ?? pageView(page, this.#input.formats)), keys };
    await this.#save(entry, { page: { url: page.url, failed: false, body }, aliases, links });
    if (document !== undefined) this.#deps.firecrawl?.notices.page("crawl", this.#job, { body: document });
  }

  #isKnown(keys: readonly string[]): boolean {
    return keys.some((key) => this.#returned.has(key));
  }

  /** The page as Firecrawl's clients get it; undefined for crawls of the gateway's own endpoint. */
  async #document(loaded: LoadedPage, { url }: FrontierEntry) {
    const { firecrawl: plan } = this.#input;
    return plan && this.#deps.firecrawl?.pages.document(this.#job, plan, { loaded, url, signal: this.#signal });
  }

  /** If the regular expressions take too long on one page, they do so on every page, so the crawl ends. */
  readonly #asRuled = (error: unknown): never => {
    if (!this.#scope.hasExpressions || !(error instanceof TaskTimeout)) throw error;
    this.#fatal = { code: "invalid_request", message: SLOW_PATTERNS };
    throw new PageError("conversion", SLOW_PATTERNS, { cause: error });
  };

  #request(url: string): LoadRequest {
    const signal = this.#signal;
    const { accountId } = this.#job;
    const { firecrawl: plan } = this.#input;
    if (plan === undefined) return loadRequest(url, this.#input, { timeoutMs: PAGE_TIMEOUT_MS, signal, accountId });
    if (this.#deps.firecrawl === undefined) throw new Error("Crawls of Firecrawl's clients are not supported here.");
    return this.#deps.firecrawl.pages.loading(this.#job, plan, { url, signal });
  }

  get #picking() {
    return { pickLinks: this.#deps.pickLinks, account: this.#job.accountId, signal: this.#signal };
  }

  async #load(entry: FrontierEntry): Promise<LoadedPage> {
    const { robots, load } = this.#deps;
    const signal = this.#signal;
    const { accountId } = this.#job;
    const request = this.#request(entry.url);
    const { delayMs = 0 } = this.#input.firecrawl ?? {};
    if (delayMs > 0 && this.#progress.fetched > 0) await pause(delayMs, signal);
    // robots.txt is read before the page is scheduled, since a page that may not be requested needs no slot.
    const rules = this.#deps.settings().respectRobots ? await robots.rulesFor(entry.url, signal, accountId) : undefined;
    await rules?.check(entry.url, signal, accountId);
    const pickAt = this.#scope.pickAt(entry, () => this.#linksMost);
    return visitPage({ job: this.#job, entry, signal }, this.#deps, (visiting) =>
      load({ ...request, ...visiting, later: true, pickAt }),
    );
  }

  async #saveFailure(entry: FrontierEntry, error: unknown): Promise<void> {
    const failure = failureOf("scrape", error);
    if (failure.code === "scrape_internal_error") this.#deps.problem("a page of a crawl could not be read", error);
    if (entry.depth === 0) this.#fatal ??= failureOf("crawl", error);
    const isRobots = error instanceof PageError && error.fault === "robots";
    this.#count({ isFetched: !isRobots });
    const body = isRobots ? { ...failure, robots: true } : failure;
    await this.#save(entry, { page: { url: entry.url, failed: true, body } });
    if (this.#input.firecrawl !== undefined)
      this.#deps.firecrawl?.notices.page("crawl", this.#job, { failure: { ...failure, url: entry.url } });
  }

  #count({ isFetched }: { isFetched: boolean }): void {
    this.#progress.completed++;
    if (isFetched) this.#progress.fetched++;
  }

  async #save(entry: FrontierEntry, visit: Omit<VisitOutcome, "urlKey" | "frontierMax" | "progress">): Promise<void> {
    this.#signal.throwIfAborted();
    const progress = { ...this.#progress, home: this.#scope.home };
    const { urlKey } = entry;
    const { store } = this.#deps;
    const outcome = { urlKey, frontierMax: this.#frontierMax, progress, ...visit };
    // Other visits are saved meanwhile.
    const added = await store.saveVisit(this.#job, outcome);
    this.#found += added;
    // The storage is checked after the save, because only then is the size of the page known. Few pages are in progress at once.
    if ((await this.#deps.makeRoom?.(this.#job.accountId, 0)) === false) {
      this.#fatal = { code: "request_too_large", message: STORAGE_USED_UP };
    }
  }

  #remember(keys: readonly string[]): void {
    for (const key of keys) this.#returned.add(key);
  }
}
