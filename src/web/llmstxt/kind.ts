// The kind of job that builds a site's llms.txt: it finds the pages, reads the most important ones, and writes the file. Each
// page is stored when it was read, so a job that was killed reads only the missing pages, and from the same pages it writes the
// same file.

import type { Clock } from "../../base/clock.ts";
import { pageKey, siteKey } from "../../base/page-key.ts";
import type { FindWebModel, WebModel } from "../../gateway/inner/web-model.ts";
import { type JobFailure, type JobKind, type JobOutcome, JobTimeout, type RunningJob } from "../../jobs/kind.ts";
import { BlockedAddress } from "../../net/address-guard.ts";
import type { Converter } from "../../pages/convert/convert.ts";
import { PageError } from "../../pages/page-error.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import type { JobLease } from "../../store/work/job-hold.ts";
import type { AnswerVerbs } from "../crawl-visit.ts";
import { asWebError, endsWorker } from "../failure.ts";
import { STORAGE_USED_UP } from "../job-room.ts";
import { type CandidateDeps, findCandidates } from "./candidates.ts";
import { describePages } from "./describe.ts";
import { type SiteFacts, undescribed, writeFiles } from "./files.ts";
import { type PageNote, pageNote } from "./page-note.ts";
import { rankPages } from "./rank.ts";
import type { Signpost } from "./sections.ts";
import { readSitePage, type SitePageDeps, type SitePageRead } from "./site-page.ts";

/** The parameters of a job. */
export interface LlmstxtInput {
  readonly url: string;
  readonly maxUrls: number;
  readonly showFullText: boolean;
}

/** The parameters as they are stored with the job. Without a key, no model is used. */
export interface StoredLlmstxt extends LlmstxtInput {
  readonly keyId?: string;
  readonly requestId?: string;
}

/** The store's functions for these jobs. */
export interface LlmstxtStore extends AnswerVerbs {
  addFrontier(job: JobLease, entries: Iterable<FrontierEntry>, max: number): Promise<number>;
  takeFrontier(job: JobLease, limit: number): Promise<FrontierEntry[]>;
  resetFrontier(job: JobLease): Promise<number>;
  saveVisit(job: JobLease, visit: Visit): Promise<number>;
  listPages(jobId: string, options: object): Promise<readonly StoredPage[]>;
}

interface StoredPage {
  readonly url: string;
  readonly failed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Visit {
  readonly urlKey: string;
  readonly page?: StoredPage;
  readonly links?: readonly FrontierEntry[];
  readonly frontierMax: number;
  readonly progress?: Readonly<Record<string, unknown>>;
}

/** What building the file needs. */
export interface LlmstxtDeps extends Omit<SitePageDeps, "store" | "settings">, CandidateDeps {
  readonly store: LlmstxtStore;
  readonly pickLinks: Converter["pickLinks"];
  readonly clock: Pick<Clock, "now">;
  /** Finds the model; absent if no model is used. */
  readonly findModel?: FindWebModel;
  /** Makes space for what an account stores; false if there is none. Absent if nothing is stored. */
  readonly makeRoom?: (accountId: string, bytes: number) => Promise<boolean>;
  readonly settings: () => { readonly respectRobots: boolean; readonly jobTimeoutMs: number };
}

/** What the root page says about the site; stored with the page. */
interface Plan {
  /** The address of the root page after redirects. */
  readonly home: string;
  /** The names by which the root page links to pages, by the pages' keys. */
  readonly signposts: Readonly<Record<string, Signpost>>;
}

/** The progress, which is stored with each page. */
interface Progress {
  readonly stage: "mapping" | "reading" | "describing" | "writing";
  /** The maximum number of pages. */
  readonly total: number;
  readonly completed: number;
  readonly credits: number;
  /** The model's descriptions, by rank. */
  readonly described?: Readonly<Record<number, string>>;
}

/** Maximum number of concurrent pages, which equals the limit of one host. */
const PARALLEL_MAX = 4;
/** Pages that cannot be used are replaced by the next best ones, until this many were read in total. */
const fetchedMax = (maxUrls: number) => 2 * maxUrls + 10;
/** Time limit of one page. */
const PAGE_TIMEOUT_MS = 30_000;
/** The share of the job's time for reading pages. After it, the file is written with the pages that were read. */
const READING_SHARE = 0.7;
/** The share after which no more pages are described by a model. */
const DESCRIBING_SHARE = 0.9;
/** Maximum number of links that are kept from one page, in case the root page and the sitemaps have too few. */
const LINKS_MAX = 200;
/** Time limit for selecting links, which only a busy machine can exceed. */
const PICK_TIMEOUT_MS = 20_000;
/** The endpoint under which usage is recorded. */
const ENDPOINT = "/v1/llmstxt";

/** Creates this kind of job. */
export function llmstxtKind(deps: LlmstxtDeps): JobKind {
  return {
    name: "llmstxt",
    run: (job, signal) => new Generation(job, deps, signal).run(),
    failure: (error) =>
      error instanceof JobTimeout ? { code: "llmstxt_timeout", message: error.message } : failureOf(error),
  };
}

function failureOf(error: unknown): JobFailure {
  const { apiCode, message, detail } = asWebError("llmstxt", error);
  return { code: apiCode, message, ...(detail.param == null ? {} : { param: detail.param }) };
}

class Generation {
  readonly #job: RunningJob;
  readonly #deps: LlmstxtDeps;
  /** The job's signal, combined with one that aborts if one page fails the job while others are running. */
  readonly #signal: AbortSignal;
  readonly #broken = new AbortController();
  readonly #input: StoredLlmstxt;
  readonly #timeoutMs: number;
  readonly #notes = new Map<number, PageNote>();
  readonly #described: Map<number, string>;
  readonly #active = new Set<Promise<void>>();
  #plan: Plan | undefined;
  #fetched = 0;
  /** The highest rank that a page has so far. */
  #rank = 0;
  #credits = 0;
  /** The number of pages that are known. */
  #known = 1;
  #fatal: JobFailure | undefined;

  constructor(job: RunningJob, deps: LlmstxtDeps, signal: AbortSignal) {
    this.#job = job;
    this.#deps = deps;
    this.#signal = AbortSignal.any([signal, this.#broken.signal]);
    this.#input = job.input as unknown as StoredLlmstxt;
    this.#timeoutMs = deps.settings().jobTimeoutMs;
    const { described = {} } = job.progress as Partial<Progress>;
    this.#described = new Map(Object.entries(described).map(([rank, text]) => [Number(rank), text]));
  }

  async run(): Promise<JobOutcome> {
    const { store } = this.#deps;
    const { id, winding } = this.#job;
    const root = { urlKey: pageKey(this.#input.url), url: this.#input.url.replace(/#.*$/, ""), depth: 0 };
    await store.resetFrontier(this.#job);
    await store.addFrontier(this.#job, [root], 1);
    for (const page of await store.listPages(id, {})) this.#remember(page);
    try {
      if (this.#plan === undefined) await this.#begin();
      do await this.#readPages();
      while (await this.#findMore());
    } catch (error) {
      this.#broken.abort(error);
      await Promise.allSettled(this.#active);
      throw error;
    }
    if (this.#fatal !== undefined) return { state: "failed", error: this.#fatal };
    winding.throwIfAborted();
    return this.#finish();
  }

  /** Restores a page that an earlier run has stored. */
  #remember({ failed, body }: StoredPage): void {
    const { plan, credits, ...note } = body as unknown as PageNote & { plan?: Plan; credits: number };
    if (plan !== undefined) this.#follow(plan);
    this.#fetched++;
    this.#credits += credits;
    this.#rank = Math.max(this.#rank, note.rank);
    if (!failed) this.#notes.set(note.rank, note);
  }

  #follow(plan: Plan): void {
    this.#plan = plan;
    this.#known = 1 + Object.keys(plan.signposts).length;
  }

  /** Reads the root page and finds the other pages. If the root page cannot be read, the sitemaps are still used. */
  async #begin(): Promise<void> {
    const { store } = this.#deps;
    await this.#saveProgress("mapping");
    const entry = (await store.takeFrontier(this.#job, 1))[0];
    if (entry === undefined) throw new Error("a job has no root page");
    const read = await this.#read(entry, undefined);
    if ("error" in read && endsWorker(read.error)) throw read.error;
    if ("error" in read && read.error instanceof BlockedAddress) {
      // The root page may not be fetched, so the job fails even if sitemaps list other pages.
      this.#fatal = failureOf(read.error);
      return;
    }
    const { url: home, navigation = [], allLinks } = "page" in read ? read.page : { url: entry.url, allLinks: "" };
    const candidates = await findCandidates({ home, asked: entry.url, navigation, allLinks }, this.#deps, {
      max: fetchedMax(this.#input.maxUrls),
      account: this.#job.accountId,
      signal: this.#signal,
    });
    if ("error" in read && candidates.length === 0) {
      this.#fatal = failureOf(read.error);
      if (this.#fatal.code === "llmstxt_internal_error")
        this.#deps.problem("the root page of an llms.txt could not be read", read.error);
      return;
    }
    const signposts = candidates.map(({ key, label, group, place }): [string, Signpost] => [
      key,
      { label, group, place },
    ]);
    this.#follow({ home, signposts: Object.fromEntries(signposts) });
    const links = candidates.map(({ key, url }, index) => ({ urlKey: key, url, depth: index + 1 }));
    await this.#save(entry, read, links);
  }

  async #readPages(): Promise<void> {
    for (;;) {
      this.#signal.throwIfAborted();
      while (this.#active.size < PARALLEL_MAX && this.#wantsMore()) {
        const entry = (await this.#deps.store.takeFrontier(this.#job, 1))[0];
        if (entry === undefined) break;
        const visit = this.#visit(entry)
          .catch((error: unknown) => {
            // Even if nobody waits for this visit when it fails.
            this.#broken.abort(error);
            throw error;
          })
          .finally(() => this.#active.delete(visit));
        this.#active.add(visit);
        // Whoever waits for all pages also handles their errors.
        visit.catch(() => undefined);
      }
      this.#signal.throwIfAborted();
      if (this.#active.size === 0) return;
      await Promise.race(this.#active);
    }
  }

  #wantsMore(): boolean {
    const { maxUrls } = this.#input;
    const active = this.#active.size;
    if (this.#fatal !== undefined || this.#job.winding.aborted || this.#leftMs(READING_SHARE) <= 0) return false;
    return this.#picked().length + active < maxUrls && this.#fetched + active < fetchedMax(maxUrls);
  }

  #leftMs(share: number): number {
    return this.#job.createdAtMs + share * this.#timeoutMs - this.#deps.clock.now();
  }

  async #visit(entry: FrontierEntry): Promise<void> {
    const read = await this.#read(entry, (this.#plan as Plan).home);
    if ("error" in read && endsWorker(read.error)) throw read.error;
    await this.#save(entry, read, []);
  }

  #read(entry: FrontierEntry, home: string | undefined): Promise<SitePageRead> {
    const timeoutMs = Math.min(PAGE_TIMEOUT_MS, this.#leftMs(READING_SHARE));
    return readSitePage({ job: this.#job, entry, timeoutMs, signal: this.#signal, home }, this.#deps);
  }

  async #save(entry: FrontierEntry, read: SitePageRead, links: readonly FrontierEntry[]): Promise<void> {
    const { store, problem } = this.#deps;
    const { depth: rank, urlKey } = entry;
    const isFew = rank > 0 && this.#known < fetchedMax(this.#input.maxUrls);
    const { credits } = read;
    const more = {
      credits,
      ...(rank === 0 ? { plan: this.#plan } : {}),
      ...("page" in read && isFew ? { links: await this.#linksOf(read.page.allLinks) } : {}),
    };
    this.#signal.throwIfAborted();
    this.#fetched++;
    this.#credits += credits;
    this.#rank = Math.max(this.#rank, rank);
    let page: StoredPage;
    if ("page" in read) {
      const note = { ...pageNote(read.page, { rank, key: urlKey, withText: this.#input.showFullText }), ...more };
      this.#notes.set(rank, note);
      page = { url: note.url, failed: false, body: note };
    } else {
      const { apiCode: code, message } = asWebError("scrape", read.error);
      if (code === "scrape_internal_error") problem("a page of an llms.txt could not be read", read.error);
      page = { url: entry.url, failed: true, body: { rank, code, message, ...more } };
    }
    const frontierMax = 1 + fetchedMax(this.#input.maxUrls);
    const progress = { ...this.#progress("reading") };
    await store.saveVisit(this.#job, { urlKey, page, links, frontierMax, progress });
    if (!(await this.#hasRoom(0))) this.#fatal = { code: "request_too_large", message: STORAGE_USED_UP };
  }

  async #linksOf(allLinks: string): Promise<string[]> {
    const { home } = this.#plan as Plan;
    const task = { links: allLinks, own: [], sites: [siteKey(home)], includes: [], excludes: [], documents: false };
    const { urls } = await this.#deps.pickLinks(task, {
      timeoutMs: PICK_TIMEOUT_MS,
      signal: this.#signal,
      account: this.#job.accountId,
      later: true,
    });
    return urls === "" ? [] : urls.split("\n").slice(0, LINKS_MAX);
  }

  /** Adds the links of the pages that were read, if the site itself lists too few. False if there are no new ones. */
  async #findMore(): Promise<boolean> {
    if (!this.#wantsMore()) return false;
    const links = [...this.#notes.values()].sort((a, b) => a.rank - b.rank).flatMap((note) => note.links ?? []);
    const candidates = [...new Map(links.map((url) => [pageKey(url), url]))].map(([key, url]) => ({
      ...{ key, url, label: "", group: "", place: undefined, order: 0, priority: undefined },
    }));
    const ranked = await rankPages(candidates, (this.#plan as Plan).home);
    const entries = ranked.map(({ key, url }, index) => ({ urlKey: key, url, depth: this.#rank + 1 + index }));
    const added = await this.#deps.store.addFrontier(this.#job, entries, 1 + fetchedMax(this.#input.maxUrls));
    this.#known += added;
    return added > 0;
  }

  async #hasRoom(bytes: number): Promise<boolean> {
    return (await this.#deps.makeRoom?.(this.#job.accountId, bytes)) !== false;
  }

  /** The pages of the file by rank. A page with several addresses is included once. */
  #picked(): PageNote[] {
    const seen = new Set<string>();
    const picked: PageNote[] = [];
    for (const note of [...this.#notes.values()].sort((a, b) => a.rank - b.rank)) {
      if (note.keys.some((key) => seen.has(key))) continue;
      for (const key of note.keys) seen.add(key);
      picked.push(note);
    }
    return picked.slice(0, this.#input.maxUrls);
  }

  #progress(stage: Progress["stage"]): Progress {
    const completed = this.#picked().length;
    const isReading = stage === "mapping" || stage === "reading";
    const total = isReading ? Math.max(completed, Math.min(this.#input.maxUrls, this.#known)) : completed;
    const described = this.#described.size === 0 ? {} : { described: Object.fromEntries(this.#described) };
    return { stage, total, completed, credits: this.#credits, ...described };
  }

  #saveProgress(stage: Progress["stage"]): Promise<void> {
    return this.#job.saveProgress({ ...this.#progress(stage) });
  }

  async #finish(): Promise<JobOutcome> {
    const picked = this.#picked();
    if (picked.length === 0)
      return { state: "failed", error: failureOf(new PageError("upstream", "No page of the site could be read.")) };
    const facts = { ...(this.#plan as Plan), isFull: this.#input.showFullText, described: this.#described };
    await this.#describe(picked, facts);
    await this.#saveProgress("writing");
    const result = writeFiles(picked, facts);
    if (!(await this.#hasRoom(JSON.stringify(result).length)))
      return { state: "failed", error: { code: "request_too_large", message: STORAGE_USED_UP } };
    return { state: "completed", result: { ...result } };
  }

  /** Lets a model describe the pages that have no description, if there is a model. */
  async #describe(picked: readonly PageNote[], facts: SiteFacts): Promise<void> {
    const waiting = undescribed(picked, facts).filter(({ rank }) => !this.#described.has(rank));
    const model = waiting.length === 0 ? undefined : await this.#findModel();
    if (model === undefined) return;
    await this.#saveProgress("describing");
    const { signal, winding } = { signal: this.#signal, winding: this.#job.winding };
    await describePages(waiting, {
      model,
      signal: AbortSignal.any([signal, winding]),
      leftMs: () => this.#leftMs(DESCRIBING_SHARE),
      keep: (rank, description) => {
        this.#described.set(rank, description);
        return this.#saveProgress("describing");
      },
      problem: this.#deps.problem,
    });
  }

  /** A missing model is not an error: with an expired key, or a plan without the model, the pages' own text is used. */
  async #findModel(): Promise<WebModel | undefined> {
    const { keyId, requestId } = this.#input;
    if (keyId === undefined || requestId === undefined) return undefined;
    try {
      const model = await this.#deps.findModel?.({ keyId, requestId, endpoint: ENDPOINT });
      return model === "none" ? undefined : model;
    } catch (error) {
      if (endsWorker(error)) throw error;
      this.#deps.problem("no model is available for descriptions", error);
      return undefined;
    }
  }
}
