// The job that makes a site's llms.txt: finds its pages, reads those that matter most, and writes the file. Each page is
// stored when it was read, so a killed job reads only what is missing; with the same pages it writes the same file.

import type { Clock } from "../../base/clock.ts";
import { pageKey, siteKey } from "../../base/page-key.ts";
import { type JobFailure, type JobKind, type JobOutcome, JobTimeout, type RunningJob } from "../../jobs/kind.ts";
import { BlockedAddress } from "../../net/guard.ts";
import type { LoadedPage, LoadPage } from "../../pages/load.ts";
import { PageError } from "../../pages/page-error.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import { STORAGE_USED_UP } from "../crawl.ts";
import { type AnswerVerbs, type VisitDeps, visitPage } from "../crawl-visit.ts";
import { asWebError } from "../failure.ts";
import { type CandidateDeps, findCandidates } from "./candidates.ts";
import { writeFiles } from "./files.ts";
import { type PageNote, pageNote } from "./page-note.ts";
import type { Signpost } from "./sections.ts";

/** What it is asked for, as stored. */
export interface LlmstxtInput {
  readonly url: string;
  readonly maxUrls: number;
  readonly showFullText: boolean;
}

/** The store's side. */
export interface LlmstxtStore extends AnswerVerbs {
  addFrontier(jobId: string, entries: Iterable<FrontierEntry>, max: number): Promise<number>;
  takeFrontier(jobId: string, limit: number): Promise<FrontierEntry[]>;
  resetFrontier(jobId: string): Promise<number>;
  saveVisit(jobId: string, visit: Visit): Promise<number>;
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

/** What making it needs. */
export interface LlmstxtDeps extends Omit<VisitDeps, "store">, CandidateDeps {
  readonly store: LlmstxtStore;
  readonly load: LoadPage;
  readonly clock: Pick<Clock, "now">;
  /** Makes room for what an account keeps; false when there is none. Absent where nothing is kept. */
  readonly makeRoom?: (accountId: string, bytes: number) => Promise<boolean>;
  readonly settings: () => { readonly respectRobots: boolean; readonly jobTimeoutMs: number };
}

/** What the root page says of the site; stored with it. */
interface Plan {
  /** The root page after redirects. */
  readonly home: string;
  /** By key of the page. */
  readonly signposts: Readonly<Record<string, Signpost>>;
}

/** How far it is, as stored with each page. */
interface Progress {
  readonly stage: "mapping" | "reading" | "writing";
  /** Pages that it will have at most. */
  readonly total: number;
  readonly completed: number;
  readonly credits: number;
}

/** Pages under way at once: what a host takes. */
const PARALLEL_MAX = 4;
/** Pages that turn out to be none are replaced by the next best ones, up to so many in all. */
const fetchedMax = (maxUrls: number) => 2 * maxUrls + 10;
/** Hard limit of one page. */
const PAGE_TIMEOUT_MS = 30_000;
/** Of the job's time: what was read until then is written down, however slow the site is. */
const READING_SHARE = 0.7;

/** Makes the kind. */
export function llmstxtKind(deps: LlmstxtDeps): JobKind {
  return {
    name: "llmstxt",
    run: (job, signal) => new Generation(job, deps, signal).run(),
    failure: (error) =>
      error instanceof JobTimeout ? { code: "llmstxt_timeout", message: error.message } : failureOf(error),
  };
}

function failureOf(error: unknown): JobFailure {
  const { apiCode, message } = asWebError("llmstxt", error);
  return { code: apiCode, message };
}

class Generation {
  readonly #job: RunningJob;
  readonly #deps: LlmstxtDeps;
  /** The job's, and ours for the case that one page breaks it while others are under way. */
  readonly #signal: AbortSignal;
  readonly #broken = new AbortController();
  readonly #input: LlmstxtInput;
  readonly #readUntilMs: number;
  readonly #notes = new Map<number, PageNote>();
  readonly #active = new Set<Promise<void>>();
  #plan: Plan | undefined;
  #fetched = 0;
  #credits = 0;
  #planned = 1;
  #fatal: JobFailure | undefined;

  constructor(job: RunningJob, deps: LlmstxtDeps, signal: AbortSignal) {
    this.#job = job;
    this.#deps = deps;
    this.#signal = AbortSignal.any([signal, this.#broken.signal]);
    this.#input = job.input as unknown as LlmstxtInput;
    this.#readUntilMs = job.createdAtMs + READING_SHARE * deps.settings().jobTimeoutMs;
  }

  async run(): Promise<JobOutcome> {
    const { store } = this.#deps;
    const { id, winding } = this.#job;
    const root = { urlKey: pageKey(this.#input.url), url: this.#input.url.replace(/#.*$/, ""), depth: 0 };
    await store.resetFrontier(id);
    await store.addFrontier(id, [root], 1);
    for (const page of await store.listPages(id, {})) this.#remember(page);
    try {
      if (this.#plan === undefined) await this.#begin();
      winding.throwIfAborted();
      await this.#readPages();
    } finally {
      this.#broken.abort(new Error("The job has ended."));
      await Promise.allSettled(this.#active);
    }
    if (this.#fatal !== undefined) return { state: "failed", error: this.#fatal };
    winding.throwIfAborted();
    return this.#finish();
  }

  /** Takes what an earlier run has stored. */
  #remember({ failed, body }: StoredPage): void {
    const { plan, ...note } = body as unknown as PageNote & { plan?: Plan };
    if (plan !== undefined) this.#follow(plan);
    this.#fetched++;
    if (failed) return;
    this.#notes.set(note.rank, note);
    this.#credits += note.credits;
  }

  #follow(plan: Plan): void {
    this.#plan = plan;
    this.#planned = 1 + Object.keys(plan.signposts).length;
  }

  /** Reads the root page and finds the others. A root page that cannot be read takes nothing from a sitemap that can. */
  async #begin(): Promise<void> {
    const { store } = this.#deps;
    const { id } = this.#job;
    await this.#job.saveProgress({ ...this.#progress("mapping") });
    const entry = (await store.takeFrontier(id, 1))[0];
    if (entry === undefined) throw new Error("a job has no root page");
    const loaded = await this.#tryLoad(entry, { isRoot: true });
    if ("error" in loaded && loaded.error instanceof BlockedAddress) {
      // Not to be asked for, whatever else the site lists.
      this.#fatal = failureOf(loaded.error);
      return;
    }
    const page = "page" in loaded ? loaded.page : undefined;
    const candidates = await findCandidates(
      {
        home: page?.url ?? entry.url,
        asked: entry.url,
        navigation: page?.navigation ?? [],
        allLinks: page?.allLinks ?? "",
      },
      this.#deps,
      { max: fetchedMax(this.#input.maxUrls), signal: this.#signal },
    );
    if ("error" in loaded && candidates.length === 0) {
      this.#fatal = failureOf(loaded.error);
      return;
    }
    const signposts = Object.fromEntries(
      candidates.map(({ key, label, group, place }): [string, Signpost] => [key, { label, group, place }]),
    );
    this.#follow({ home: page?.url ?? entry.url, signposts });
    const links = candidates.map(({ key, url }, index) => ({ urlKey: key, url, depth: index + 1 }));
    await this.#save(entry, loaded, links);
  }

  async #readPages(): Promise<void> {
    for (;;) {
      this.#signal.throwIfAborted();
      while (this.#wantsMore()) {
        const entry = (await this.#deps.store.takeFrontier(this.#job.id, 1))[0];
        if (entry === undefined) break;
        const visit = this.#visit(entry).finally(() => this.#active.delete(visit));
        this.#active.add(visit);
        // Whoever waits for all of them sees it.
        visit.catch(() => undefined);
      }
      if (this.#active.size === 0) return;
      await Promise.race(this.#active);
    }
  }

  #wantsMore(): boolean {
    const active = this.#active.size;
    const { maxUrls } = this.#input;
    return (
      this.#fatal === undefined &&
      !this.#job.winding.aborted &&
      active < PARALLEL_MAX &&
      this.#picked().length + active < maxUrls &&
      this.#fetched + active < fetchedMax(maxUrls) &&
      this.#leftMs() > 0
    );
  }

  #leftMs(): number {
    return this.#readUntilMs - this.#deps.clock.now();
  }

  async #visit(entry: FrontierEntry): Promise<void> {
    await this.#save(entry, await this.#tryLoad(entry, { isRoot: false }), []);
  }

  async #tryLoad(
    entry: FrontierEntry,
    { isRoot }: { isRoot: boolean },
  ): Promise<{ readonly page: LoadedPage } | { readonly error: unknown }> {
    try {
      const page = await this.#load(entry, { isRoot });
      if (page.status >= 400) throw new PageError("upstream", `The server answered ${page.status}.`);
      if (!isRoot && siteKey(page.url) !== siteKey(this.#plan?.home ?? page.url))
        throw new PageError("refused", "The page redirects to another site.");
      return { page };
    } catch (error) {
      this.#signal.throwIfAborted();
      return { error };
    }
  }

  async #load(entry: FrontierEntry, { isRoot }: { isRoot: boolean }): Promise<LoadedPage> {
    const { robots, load, settings } = this.#deps;
    const signal = this.#signal;
    // Before its turn: what may not be asked for takes nobody's place.
    const rules = settings().respectRobots ? await robots.rulesFor(entry.url, signal) : undefined;
    await rules?.check(entry.url, signal);
    return visitPage({ job: this.#job, entry, signal }, this.#deps, (visiting) =>
      load({
        url: entry.url,
        accountId: this.#job.accountId,
        markdown: true,
        html: false,
        links: false,
        navigation: isRoot,
        screenshot: "none",
        onlyMainContent: true,
        documents: false,
        timeoutMs: Math.max(1, Math.min(PAGE_TIMEOUT_MS, this.#leftMs())),
        signal,
        ...visiting,
        later: true,
      }),
    );
  }

  async #save(
    entry: FrontierEntry,
    loaded: { readonly page: LoadedPage } | { readonly error: unknown },
    links: readonly FrontierEntry[],
  ): Promise<void> {
    this.#signal.throwIfAborted();
    this.#fetched++;
    const plan = entry.depth === 0 ? { plan: this.#plan } : {};
    let page: StoredPage;
    if ("page" in loaded) {
      const withText = this.#input.showFullText;
      const note = pageNote(loaded.page, { rank: entry.depth, key: entry.urlKey, withText });
      this.#notes.set(note.rank, note);
      this.#credits += note.credits;
      page = { url: note.url, failed: false, body: { ...note, ...plan } };
    } else {
      const failure = asWebError("scrape", loaded.error);
      if (failure.apiCode === "scrape_internal_error")
        this.#deps.problem("a page of an llms.txt could not be read", loaded.error);
      page = { url: entry.url, failed: true, body: { code: failure.apiCode, message: failure.message, ...plan } };
    }
    await this.#deps.store.saveVisit(this.#job.id, {
      urlKey: entry.urlKey,
      page,
      links,
      frontierMax: 1 + fetchedMax(this.#input.maxUrls),
      progress: { ...this.#progress("reading") },
    });
    if (!(await this.#hasRoom(0))) this.#fatal = { code: "request_too_large", message: STORAGE_USED_UP };
  }

  async #hasRoom(bytes: number): Promise<boolean> {
    return (await this.#deps.makeRoom?.(this.#job.accountId, bytes)) !== false;
  }

  /** The pages of the file by rank, each once under all of its addresses. */
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
    const total = Math.min(this.#input.maxUrls, this.#planned);
    return { stage, total, completed: Math.min(this.#picked().length, total), credits: this.#credits };
  }

  async #finish(): Promise<JobOutcome> {
    const picked = this.#picked();
    if (picked.length === 0)
      return { state: "failed", error: failureOf(new PageError("upstream", "No page of the site could be read.")) };
    await this.#job.saveProgress({ ...this.#progress("writing"), total: picked.length });
    const plan = this.#plan as Plan;
    const result = writeFiles(picked, { ...plan, isFull: this.#input.showFullText });
    if (!(await this.#hasRoom(JSON.stringify(result).length)))
      return { state: "failed", error: { code: "request_too_large", message: STORAGE_USED_UP } };
    return { state: "completed", result: { ...result } };
  }
}
