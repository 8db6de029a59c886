// A crawl: breadth first from the root, within its site, each page once. What was found and what is still to visit is in
// the store before anything else happens, so a killed crawl goes on where it was.

import { ApiError } from "../base/errors.ts";
import type { JobFailure, JobKind, JobOutcome, RunningJob } from "../jobs/kind.ts";
import { JobTimeout } from "../jobs/kind.ts";
import { isTrap, mayBePage, pageKey, siteKey } from "../pages/addresses.ts";
import { compileGlob } from "../pages/globs.ts";
import type { LoadedPage, LoadPage } from "../pages/load.ts";
import type { HostGate } from "../pages/manners.ts";
import type { Robots } from "../pages/robots.ts";
import type { Slots } from "../pages/slots.ts";
import { asWebError } from "./failure.ts";
import { creditsOf, loadRequest, pageView } from "./page-view.ts";
import type { PageShape } from "./params.ts";

/** What a crawl was asked for, as stored. */
export interface CrawlInput extends PageShape {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
}

/** A page still to visit. */
export interface FrontierEntry {
  readonly urlKey: string;
  readonly url: string;
  readonly depth: number;
}

/** The store's side of a crawl. */
export interface CrawlStore {
  addFrontier(jobId: string, entries: Iterable<FrontierEntry>, max: number): Promise<number>;
  takeFrontier(jobId: string, limit: number): Promise<FrontierEntry[]>;
  resetFrontier(jobId: string): Promise<number>;
  saveVisit(jobId: string, visit: Visit): Promise<number>;
  countPages(jobId: string): Promise<{ pages: number; failed: number }>;
  listPages(jobId: string): Promise<readonly { url: string; body: Readonly<Record<string, unknown>> }[]>;
}

/** What a visit came to. */
export interface Visit {
  readonly urlKey: string;
  readonly page?: { readonly url: string; readonly failed: boolean; readonly body: Readonly<Record<string, unknown>> };
  readonly aliases?: readonly FrontierEntry[];
  readonly links?: readonly FrontierEntry[];
  readonly frontierMax: number;
}

/** What crawling needs. */
export interface CrawlDeps {
  readonly store: CrawlStore;
  readonly load: LoadPage;
  readonly robots: Robots;
  readonly gate: HostGate;
  /** Shared by all jobs. */
  readonly slots: () => Slots;
  readonly settings: () => { readonly perHostDelayMs: number; readonly respectRobots: boolean };
}

/** Pages of one crawl under way at once: the rest of the slots is for others. */
const PARALLEL_MAX = 4;
/** Addresses a crawl remembers for each page it may fetch: more will never be visited. */
const FRONTIER_PER_PAGE = 50;
const FRONTIER_MIN = 1000;
/** Hard limit of one page. */
const PAGE_TIMEOUT_MS = 60_000;

/** Makes the kind. */
export function crawlKind(deps: CrawlDeps): JobKind {
  return {
    name: "crawl",
    run: async (job, signal) => new Crawl(job, deps, signal).run(),
    failure: (error) => failureOf(error),
  };
}

function failureOf(error: unknown): JobFailure {
  if (error instanceof JobTimeout) return { code: "crawl_timeout", message: error.message };
  const { apiCode, message } = asWebError("crawl", error);
  return { code: apiCode, message };
}

class Crawl {
  readonly #job: RunningJob;
  readonly #deps: CrawlDeps;
  readonly #signal: AbortSignal;
  readonly #input: CrawlInput;
  readonly #sites: Set<string>;
  readonly #includes: readonly ((address: string) => boolean)[];
  readonly #excludes: readonly ((address: string) => boolean)[];
  /** Keys of pages that were returned, by their final and canonical addresses. */
  readonly #returned = new Set<string>();
  readonly #frontierMax: number;
  #pages = 0;
  #credits: number;

  constructor(job: RunningJob, deps: CrawlDeps, signal: AbortSignal) {
    this.#job = job;
    this.#deps = deps;
    this.#signal = signal;
    this.#input = job.input as unknown as CrawlInput;
    this.#sites = new Set([siteKey(this.#input.url)]);
    this.#includes = this.#input.includePaths.flatMap((pattern) => compileGlob(pattern) ?? []);
    this.#excludes = this.#input.excludePaths.flatMap((pattern) => compileGlob(pattern) ?? []);
    this.#frontierMax = Math.max(FRONTIER_MIN, this.#input.limit * FRONTIER_PER_PAGE);
    this.#credits = Number(job.progress["credits"] ?? 0);
  }

  async run(): Promise<JobOutcome> {
    const { store } = this.#deps;
    const { id } = this.#job;
    await store.resetFrontier(id);
    const root: FrontierEntry = { urlKey: pageKey(this.#input.url), url: this.#input.url, depth: 0 };
    await store.addFrontier(id, [root], this.#frontierMax);
    for (const page of await store.listPages(id)) this.#remember(page.url, page.body);
    this.#pages = (await store.countPages(id)).pages;
    const active = new Set<Promise<void>>();
    let failure: JobFailure | undefined;
    for (;;) {
      this.#signal.throwIfAborted();
      const room = Math.min(PARALLEL_MAX - active.size, this.#input.limit - this.#pages - active.size);
      const next = failure === undefined && room > 0 ? await store.takeFrontier(id, room) : [];
      for (const entry of next) {
        const visit = this.#visit(entry).then((fatal) => {
          failure ??= fatal;
        });
        const settled = visit.finally(() => active.delete(settled));
        active.add(settled);
        // Awaited below by way of `active`; a rejection must not be unhandled until then.
        settled.catch(() => undefined);
      }
      if (active.size === 0) break;
      await Promise.race(active);
    }
    return failure === undefined ? { state: "completed" } : { state: "failed", error: failure };
  }

  /** Visits one page. Gives the failure that ends the crawl: that of the root. */
  async #visit(entry: FrontierEntry): Promise<JobFailure | undefined> {
    const isRoot = entry.depth === 0;
    let page: LoadedPage;
    try {
      page = await this.#load(entry);
    } catch (error) {
      this.#signal.throwIfAborted();
      const failure = failureOf(error);
      await this.#save(entry, { page: { url: entry.url, failed: true, body: { ...failure } } });
      return isRoot ? failure : undefined;
    }
    const finalKey = pageKey(page.url);
    // The root may be at home elsewhere (example.com → www.example.org); its links are followed there.
    if (isRoot) this.#sites.add(siteKey(page.url));
    if (!this.#sites.has(siteKey(page.url))) {
      const body = { code: "scrape_failed", message: "The page redirects to another site." };
      await this.#save(entry, { page: { url: entry.url, failed: true, body } });
      return undefined;
    }
    const canonicalKey = this.#canonicalKey(page) ?? finalKey;
    const keys = [...new Set([finalKey, canonicalKey])].filter((key) => key !== entry.urlKey);
    const isKnown = [entry.urlKey, finalKey, canonicalKey].some((key) => this.#returned.has(key));
    const isWanted = isRoot ? this.#matches(entry.url) || this.#matches(page.url) : true;
    this.#credits += creditsOf(page);
    const returns = isWanted && !isKnown && this.#pages < this.#input.limit;
    if (returns) for (const key of [entry.urlKey, finalKey, canonicalKey]) this.#returned.add(key);
    await this.#save(entry, {
      ...(returns
        ? {
            page: { url: page.url, failed: false, body: { ...pageView(page, this.#input.formats), key: canonicalKey } },
          }
        : {}),
      aliases: keys.map((urlKey) => ({ urlKey, url: page.url, depth: entry.depth })),
      links: this.#links(page, entry.depth + 1),
    });
    return undefined;
  }

  async #load(entry: FrontierEntry): Promise<LoadedPage> {
    const { gate, robots, load } = this.#deps;
    const { perHostDelayMs, respectRobots } = this.#deps.settings();
    const signal = this.#signal;
    const rules = respectRobots ? await robots.rulesFor(entry.url, signal) : undefined;
    const delayMs = Math.max(perHostDelayMs, rules?.crawlDelayMs ?? 0);
    await gate.wait(new URL(entry.url).host, { delayMs, signal });
    return this.#deps
      .slots()
      .run(signal, () => load(loadRequest(entry.url, this.#input, { timeoutMs: PAGE_TIMEOUT_MS, signal })));
  }

  async #save(entry: FrontierEntry, visit: Omit<Visit, "urlKey" | "frontierMax">): Promise<void> {
    this.#signal.throwIfAborted();
    if (visit.page !== undefined) this.#pages++;
    await this.#deps.store.saveVisit(this.#job.id, { urlKey: entry.urlKey, frontierMax: this.#frontierMax, ...visit });
    await this.#job.saveProgress({ credits: this.#credits });
  }

  #links(page: LoadedPage, depth: number): FrontierEntry[] {
    if (depth > (this.#input.maxDepth ?? Number.POSITIVE_INFINITY)) return [];
    const entries: FrontierEntry[] = [];
    for (const address of page.allLinks) {
      if (!this.#sites.has(siteKey(address)) || isTrap(address) || !mayBePage(address, this.#input)) continue;
      if (!this.#matches(address)) continue;
      entries.push({ urlKey: pageKey(address), url: address.replace(/#.*$/, ""), depth });
    }
    return entries;
  }

  #matches(address: string): boolean {
    if (this.#excludes.some((inside) => inside(address))) return false;
    return this.#includes.length === 0 || this.#includes.some((inside) => inside(address));
  }

  /** The key of the page's own canonical address, when it is of this site. A whole site pointing to its root is a mistake of the site's. */
  #canonicalKey(page: LoadedPage): string | undefined {
    const { canonical } = page.metadata;
    if (canonical === undefined || !URL.canParse(canonical) || !this.#sites.has(siteKey(canonical))) return undefined;
    const isRoot = new URL(canonical).pathname === "/";
    return isRoot && new URL(page.url).pathname !== "/" ? undefined : pageKey(canonical);
  }

  #remember(url: string, body: Readonly<Record<string, unknown>>): void {
    if (!URL.canParse(url)) return;
    this.#returned.add(pageKey(url));
    if (typeof body["key"] === "string") this.#returned.add(body["key"]);
  }
}

/** 400 when the patterns of a request cannot be used. */
export function checkGlobs(patterns: readonly string[], param: string): void {
  patterns.forEach((pattern, index) => {
    if (compileGlob(pattern) === undefined)
      throw new ApiError("invalid_request", `${param}[${index}] is not a usable pattern.`, {
        param: `${param}[${index}]`,
      });
  });
}
