// A batch reads each page of a list once; its pages take turns with those of all other jobs. Stored pages are not read again, so
// a batch that was interrupted continues where it stopped.

import { ApiError } from "../../base/errors.ts";
import { pageKey } from "../../base/page-key.ts";
import { pause } from "../../base/retry.ts";
import { type JobFailure, type JobKind, type JobOutcome, JobTimeout, type RunningJob } from "../../jobs/kind.ts";
import { PageError } from "../../pages/page-error.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import type { CrawlDeps } from "../crawl.ts";
import { visitPage } from "../crawl-visit.ts";
import { asWebError, endsWorker } from "../failure.ts";
import { STORAGE_USED_UP } from "../job-room.ts";
import { creditsOf } from "../page-view.ts";
import { BATCH_MAX, type BatchWish } from "./crawl-input.ts";
import type { JobNotices } from "./job-notices.ts";
import type { JobPages } from "./job-pages.ts";

/** What batches need. */
export interface BatchDeps extends Pick<CrawlDeps, "store" | "load" | "robots" | "makeRoom" | "settings"> {
  readonly pages: JobPages;
  readonly notices: JobNotices;
  readonly visits: Omit<Parameters<typeof visitPage>[1], "store">;
}

/** The name under which batches are stored. */
export const BATCH_KIND = "batch";

/** Maximum number of pages in one batch, including those that are added later. */
export const BATCH_PAGES_MAX = 10 * BATCH_MAX;

/** Creates this kind of job. */
export function batchKind(deps: BatchDeps): JobKind {
  return {
    name: BATCH_KIND,
    run: (job, signal) => new Batch(job, deps, signal).run(),
    failure: (error) =>
      error instanceof JobTimeout ? { code: "crawl_timeout", message: error.message } : failureOf(error),
    ended: (job, outcome) => deps.notices.ended("batch_scrape", job, outcome),
  };
}

function failureOf(error: unknown): JobFailure {
  const { apiCode, message } = asWebError("scrape", error);
  return { code: apiCode, message };
}

/** How many pages are added to the frontier in one step. */
const ADDED_AT_ONCE = 100;

class Batch {
  readonly #job: RunningJob;
  readonly #deps: BatchDeps;
  readonly #broken = new AbortController();
  readonly #signal: AbortSignal;
  readonly #input: BatchWish;
  readonly #progress: { completed: number; fetched: number; credits: number };

  constructor(job: RunningJob, deps: BatchDeps, signal: AbortSignal) {
    this.#job = job;
    this.#deps = deps;
    this.#signal = AbortSignal.any([signal, this.#broken.signal]);
    this.#input = job.input as unknown as BatchWish;
    this.#progress = { completed: 0, fetched: 0, credits: 0, ...(job.progress as object) };
  }

  async run(): Promise<JobOutcome> {
    const { store, notices } = this.#deps;
    const { winding } = this.#job;
    await store.resetFrontier(this.#job);
    const { urls } = this.#input;
    // Long addresses take a tenth of a millisecond each, so other work runs in between.
    for (let at = 0; at < urls.length; at += ADDED_AT_ONCE) {
      await Bun.sleep(0);
      const entries = urls.slice(at, at + ADDED_AT_ONCE).map((url) => ({ urlKey: pageKey(url), url, depth: 0 }));
      await store.addFrontier(this.#job, entries, BATCH_PAGES_MAX);
    }
    if (this.#progress.completed === 0) notices.started("batch_scrape", this.#job);
    const workers = Array.from({ length: this.#input.firecrawl.concurrency }, () =>
      this.#work().catch((error: unknown) => {
        this.#broken.abort(error);
        throw error;
      }),
    );
    const ended = await Promise.allSettled(workers);
    if (ended.some(({ status }) => status === "rejected")) {
      const { reason } = this.#signal;
      if (reason instanceof ApiError && !endsWorker(reason)) return { state: "failed", error: failureOf(reason) };
      throw reason;
    }
    winding.throwIfAborted();
    return { state: "completed" };
  }

  async #work(): Promise<void> {
    const { delayMs } = this.#input.firecrawl;
    while (!this.#job.winding.aborted) {
      this.#signal.throwIfAborted();
      const [entry] = await this.#deps.store.takeFrontier(this.#job, 1);
      if (entry === undefined) return;
      if (delayMs > 0 && this.#progress.completed > 0) await pause(delayMs, this.#signal);
      await this.#visit(entry);
    }
  }

  async #visit(entry: FrontierEntry): Promise<void> {
    const { pages, notices } = this.#deps;
    const input = this.#input.firecrawl;
    const signal = this.#signal;
    try {
      const loaded = await this.#load(entry);
      const body = await pages.document(this.#job, input, { loaded, url: entry.url, signal });
      signal.throwIfAborted();
      this.#progress.credits += creditsOf(loaded);
      this.#progress.fetched++;
      await this.#save(entry, { url: loaded.url, failed: false, body });
      notices.page("batch_scrape", this.#job, { body });
    } catch (error) {
      signal.throwIfAborted();
      if (endsWorker(error)) throw error;
      const failure = failureOf(error);
      if (failure.code === "request_too_large") throw error;
      if (failure.code === "scrape_internal_error")
        this.#deps.visits.problem("a page of a batch could not be read", error);
      const isRobots = error instanceof PageError && error.fault === "robots";
      if (!isRobots) this.#progress.fetched++;
      const body = isRobots ? { ...failure, robots: true } : failure;
      await this.#save(entry, { url: entry.url, failed: true, body });
      notices.page("batch_scrape", this.#job, { failure: { ...failure, url: entry.url } });
    }
  }

  async #load(entry: FrontierEntry) {
    const { robots, settings, load, pages, store, visits } = this.#deps;
    const signal = this.#signal;
    const { accountId } = this.#job;
    const request = pages.loading(this.#job, this.#input.firecrawl, { url: entry.url, signal });
    const rules = settings().respectRobots ? await robots.rulesFor(entry.url, signal, accountId) : undefined;
    await rules?.check(entry.url, signal, accountId);
    return visitPage({ job: this.#job, entry, signal }, { ...visits, store }, (visiting) =>
      load({ ...request, ...visiting, later: true }),
    );
  }

  async #save(
    { urlKey }: FrontierEntry,
    page: { url: string; failed: boolean; body: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    const { store, makeRoom } = this.#deps;
    this.#progress.completed++;
    await store.saveVisit(this.#job, {
      urlKey,
      page,
      frontierMax: BATCH_PAGES_MAX,
      progress: { ...this.#progress },
    });
    if ((await makeRoom?.(this.#job.accountId, 0)) === false) throw new ApiError("request_too_large", STORAGE_USED_UP);
  }
}
