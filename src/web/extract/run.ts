// Runs an extraction over its pages. Each page is scheduled, loaded, answered from by itself, and stored; at the end all answers
// are merged. Stored steps are not repeated, so an extraction that was killed continues where it stopped.

import { ApiError } from "../../base/errors.ts";
import { pageKey } from "../../base/page-key.ts";
import type { WebModel } from "../../gateway/inner/web-model.ts";
import type { LoadedPage, LoadPage } from "../../pages/load.ts";
import type { Robots } from "../../pages/robots/robots.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import type { JobLease } from "../../store/work/job-hold.ts";
import { type AnswerVerbs, type VisitDeps, visitPage } from "../crawl-visit.ts";
import { asWebError, endsWorker } from "../failure.ts";
import { creditsOf } from "../page-view.ts";
import type { AnsweredPage } from "./check-part.ts";
import type { ExtractInput } from "./input.ts";
import { rankedLinks } from "./links.ts";
import { answerPage, type PageAnswerDeps } from "./page-answer.ts";
import { type ExtractResult, type PageOutcome, resultOf } from "./result.ts";
import { SchemaError } from "./schema-error.ts";
import type { ExtractWork } from "./threads.ts";

/** The store's functions for a running extraction. */
export interface ExtractStore extends AnswerVerbs {
  addFrontier(job: JobLease, entries: Iterable<FrontierEntry>, max: number): Promise<number>;
  takeFrontier(job: JobLease, limit: number): Promise<FrontierEntry[]>;
  resetFrontier(job: JobLease): Promise<number>;
  saveVisit(
    job: JobLease,
    visit: {
      readonly urlKey: string;
      readonly page: StoredPage;
      readonly links: readonly FrontierEntry[];
      readonly frontierMax: number;
      readonly progress: Readonly<Record<string, unknown>>;
    },
  ): Promise<number>;
  listPages(jobId: string): Promise<readonly StoredPage[]>;
}

/** The outcome of a page. */
export interface StoredPage {
  readonly url: string;
  readonly failed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What every extraction needs. */
export interface ExtractDeps extends Omit<VisitDeps, "store"> {
  readonly load: LoadPage;
  readonly robots: Robots;
  readonly threads: ExtractWork;
  readonly settings: () => { readonly respectRobots: boolean };
  /** Makes space for what an account stores; false if there is none. Absent if nothing is stored. */
  readonly makeRoom?: (accountId: string, bytes: number) => Promise<boolean>;
}

/** One extraction. */
export interface ExtractTask extends JobLease {
  readonly accountId: string;
  readonly input: ExtractInput;
  /**
   * The model. "none": structured data is used even if it is incomplete. Undefined: there is no model, so structured data must be
   * complete.
   */
  readonly model: WebModel | "none" | undefined;
  readonly store: ExtractStore;
  /** The progress that was stored last. */
  readonly progress?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Aborts when the program will stop soon, so that nothing new is started. */
  readonly winding?: AbortSignal;
  /** Called after each page. */
  readonly onPage?: (page: StoredPage) => void;
}

/** Runs extractions. */
export type Extract = (task: ExtractTask) => Promise<ExtractResult>;

/** Maximum number of concurrent pages of one extraction. */
const PARALLEL_MAX = 4;
/** Maximum number of links that one extraction follows. */
const LINKS_MAX = 5;
const PAGE_TIMEOUT_MS = 60_000;
/** Statuses of pages that do not exist. */
const GONE: ReadonlySet<number> = new Set([404, 410]);
/** Errors that concern the caller and not the page; they end the whole extraction. */
const FATAL: ReadonlySet<string> = new Set([
  "budget_exceeded",
  "rate_limit_exceeded",
  "invalid_api_key",
  "request_too_large",
]);

/**
 * Creates the function that the server's jobs and the command share. The function throws `ApiError`, or the reason of a signal.
 */
export function createExtract(deps: ExtractDeps): Extract {
  const shapeless = new Set<string>();
  return (task) => new Extraction(task, { ...deps, shapeless }).run();
}

class Extraction {
  readonly #task: ExtractTask;
  readonly #deps: ExtractDeps & Pick<PageAnswerDeps, "shapeless">;
  /** Aborts if one page ends the extraction while others are running. */
  readonly #broken = new AbortController();
  readonly #signal: AbortSignal;
  readonly #order: ReadonlyMap<string, number>;
  readonly #progress: { completed: number; credits: number };

  constructor(task: ExtractTask, deps: ExtractDeps & Pick<PageAnswerDeps, "shapeless">) {
    this.#task = task;
    this.#deps = deps;
    this.#signal = AbortSignal.any([task.signal, this.#broken.signal]);
    this.#order = new Map(
      [...task.input.urls.map(pageKey)].reverse().map((key, at, all) => [key, all.length - 1 - at]),
    );
    this.#progress = { completed: 0, credits: 0, ...(task.progress as object) };
  }

  async run(): Promise<ExtractResult> {
    const { id, input, store, winding, signal } = this.#task;
    await store.resetFrontier(this.#task);
    const entries = input.urls.map((url) => ({ urlKey: pageKey(url), url, depth: 0 }));
    await store.addFrontier(this.#task, entries, this.#frontierMax);
    const workers = Array.from({ length: PARALLEL_MAX }, () =>
      this.#work().catch((error: unknown) => {
        this.#broken.abort(error);
        throw error;
      }),
    );
    const ended = await Promise.allSettled(workers);
    signal.throwIfAborted();
    const failed = ended.find(({ status }) => status === "rejected");
    if (failed !== undefined) throw this.#broken.signal.reason;
    winding?.throwIfAborted();
    const pages = (await store.listPages(id)).map(({ url, failed: isFailed, body }) => ({ ...body, url, isFailed }));
    const outcomes = (pages as unknown as PageOutcome[]).sort((a, b) => a.at - b.at);
    return resultOf(outcomes, { ...this.#task, credits: this.#progress.credits, threads: this.#deps.threads });
  }

  get #frontierMax(): number {
    return this.#order.size + (this.#task.input.allowExternalLinks ? LINKS_MAX : 0);
  }

  async #work(): Promise<void> {
    const { store, winding } = this.#task;
    while (winding?.aborted !== true) {
      this.#signal.throwIfAborted();
      const [entry] = await store.takeFrontier(this.#task, 1);
      if (entry === undefined) return;
      await this.#visit(entry);
    }
  }

  async #visit(entry: FrontierEntry): Promise<void> {
    let page: LoadedPage | undefined;
    try {
      page = await this.#load(entry);
      // What such a page says is not what was asked for, and asking a model about it costs money.
      if (GONE.has(page.status)) throw new ApiError("extract_upstream_error", `The server answered ${page.status}.`);
      const answered = await this.#answer(entry, page);
      this.#signal.throwIfAborted();
      await this.#save(entry, { url: page.url, failed: false, body: { ...answered } }, page);
    } catch (error) {
      this.#signal.throwIfAborted();
      // Without a valid schema, no page's answer can be validated, and a job that another process has taken over must stop.
      if (error instanceof SchemaError || endsWorker(error)) throw error;
      const failure = asWebError("extract", error);
      if (FATAL.has(failure.apiCode)) throw failure;
      if (failure.status === 500) this.#deps.problem("a page of an extraction could not be read", error);
      const body = { code: failure.apiCode, message: failure.message };
      await this.#save(entry, { url: entry.url, failed: true, body }, page);
    }
  }

  async #load(entry: FrontierEntry): Promise<LoadedPage> {
    const { robots, load, settings } = this.#deps;
    const { id, lease, accountId, input, store } = this.#task;
    const signal = this.#signal;
    // robots.txt is read before the page is scheduled, since a page that may not be requested needs no slot.
    const rules = settings().respectRobots ? await robots.rulesFor(entry.url, signal, accountId) : undefined;
    await rules?.check(entry.url, signal, accountId);
    return visitPage({ job: { id, lease, accountId }, entry, signal }, { ...this.#deps, store }, (visiting) =>
      load({
        url: entry.url,
        accountId,
        markdown: true,
        html: false,
        links: input.allowExternalLinks,
        structured: true,
        screenshot: "none",
        onlyMainContent: input.onlyMainContent,
        documents: input.documents,
        timeoutMs: PAGE_TIMEOUT_MS,
        signal,
        ...visiting,
        later: true,
      }),
    );
  }

  async #answer({ urlKey }: FrontierEntry, page: LoadedPage): Promise<AnsweredPage> {
    const { id, accountId, input, model, store } = this.#task;
    const { problem, threads, shapeless } = this.#deps;
    const kept = await store.listAnswers(id, urlKey);
    const known = new Map(kept.map(({ asked, body }) => [asked, body]));
    const { markdown = "", structured, url, status } = page;
    const answered = await answerPage({ url, markdown, structured }, input, {
      model: model === "none" ? undefined : model,
      threads,
      shapeless,
      accountId,
      signal: this.#signal,
      recall: (key) => {
        const body = known.get(MODEL_ANSWER + key);
        return body === undefined ? undefined : new TextDecoder().decode(body);
      },
      keep: async (key, answer) => {
        const asked = MODEL_ANSWER + key;
        const body = new TextEncoder().encode(answer);
        await store
          .keepAnswer(this.#task, urlKey, { asked, url, status: 200, headers: new Headers(), body })
          .catch((error: unknown) => problem("a model's answer could not be kept; a restart would ask again", error));
      },
    });
    // A page with an error status rarely has the expected content.
    const told = status < 400 ? [] : [`${url}: the server answered ${status}.`];
    return { ...answered, warnings: [...told, ...answered.warnings] };
  }

  async #save(entry: FrontierEntry, page: StoredPage, loaded: LoadedPage | undefined): Promise<void> {
    const { accountId, input, store, onPage } = this.#task;
    this.#progress.completed++;
    if (loaded !== undefined) this.#progress.credits += creditsOf(loaded);
    const stored = {
      ...page,
      body: { ...page.body, at: this.#order.get(entry.urlKey) ?? this.#order.size, depth: entry.depth },
    };
    await store.saveVisit(this.#task, {
      urlKey: entry.urlKey,
      page: stored,
      links: loaded === undefined || entry.depth > 0 || !input.allowExternalLinks ? [] : this.#linksOf(loaded),
      frontierMax: this.#frontierMax,
      progress: { ...this.#progress },
    });
    onPage?.(stored);
    if ((await this.#deps.makeRoom?.(accountId, 0)) === false)
      throw new ApiError(
        "request_too_large",
        "This account's storage is used up. Delete files first, or wait until older jobs expire.",
      );
  }

  #linksOf({ links = [], markdown = "", url }: LoadedPage): FrontierEntry[] {
    const { prompt } = this.#task.input;
    const known = (link: string) => pageKey(link) === pageKey(url) || this.#order.has(pageKey(link));
    const ranked = rankedLinks({ links, markdown, url }, prompt, { max: LINKS_MAX, known });
    return ranked.map((link) => ({ urlKey: pageKey(link), url: link, depth: 1 }));
  }
}

/** The prefix under which a model's answers are stored beside the site's responses; no address begins like this. */
const MODEL_ANSWER = "model ";
