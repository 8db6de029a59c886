// An account's view of its own jobs of every kind: it can list them, view one with its pages, cancel it, and download the result
// as JSON or as Markdown files. Operators see whose jobs are running and their progress, but not what they are about.

import type { FrontierStore } from "../store/work/frontier.ts";
import type { JobPlace, ListedJob } from "../store/work/job-lists.ts";
import type { JobStore } from "../store/work/jobs.ts";
import type { CrawlJobsDeps } from "./crawl-jobs.ts";
import { crawlView, withoutKeys } from "./crawl-view.ts";
import { type ExtractJobsDeps, pollExtract } from "./extract/jobs.ts";
import { type LlmstxtJobsDeps, pollLlmstxt } from "./llmstxt/jobs.ts";
import { createPageNames, markdownOf } from "./page-files.ts";
import type { Body } from "./params.ts";

/** A job in a list. */
export interface OwnedJob {
  readonly id: string;
  readonly kind: string;
  readonly state: ListedJob["state"];
  /** The job's first address, and the number of its addresses. */
  readonly url: string;
  readonly urls: number;
  readonly completed: number;
  readonly total: number;
  readonly failedPages: number;
  /** The current step of an llms.txt; null for other kinds. */
  readonly stage: string | null;
  readonly credits: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly bytes: number;
  /** Whether the result can be downloaded as Markdown files. */
  readonly hasFiles: boolean;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
  /** While the job runs: the latest time at which it will be deleted. */
  readonly expiresAtMs: number;
}

/** A job with its pages. */
export interface OwnedJobDetail extends OwnedJob {
  readonly pages: readonly { readonly url: string; readonly failed: boolean; readonly bytes: number }[];
  readonly errors: readonly { readonly url: string; readonly code: string; readonly message: string }[];
  /** The parameters of the job. */
  readonly input: Body;
  /** The result beside the pages; null if there is none yet. */
  readonly result: Body | null;
}

/** An unfinished job of any account. */
export type OpenJob = OwnedJob & { readonly accountId: string; readonly username: string };

export interface OwnedJobsDeps {
  readonly lists: Pick<JobStore, "listJobs" | "findListedJob" | "listOpenJobs" | "findJobOwner" | "cancelJob">;
  readonly pages: Pick<FrontierStore, "listPageHeads" | "listPages">;
  readonly crawls: Pick<CrawlJobsDeps, "jobs" | "limits" | "runner">;
  readonly extracts: ExtractJobsDeps;
  readonly llmstxts: LlmstxtJobsDeps;
}

/** A job of an account. */
interface JobRef {
  readonly accountId: string;
  readonly id: string;
}

const OPEN_MAX = 500;

/** Creates the functions for jobs. The result is undefined if a job does not exist or belongs to another account. */
export function createOwnedJobs(deps: OwnedJobsDeps) {
  const { lists, pages, crawls } = deps;
  const viewOf = (job: ListedJob) => ownedJob(job, crawls.limits().jobTtlMs);
  const find = async ({ accountId, id }: JobRef) => lists.findListedJob(accountId, id);
  const cancel = async (accountId: string, id: string, kind: string): Promise<boolean> => {
    const job = await lists.cancelJob({ kind, accountId, id, ttlMs: crawls.limits().jobTtlMs });
    if (job !== undefined) crawls.runner.cancel(id);
    return job !== undefined;
  };
  return {
    list: async (accountId: string, page: { before?: JobPlace; limit: number }): Promise<OwnedJob[]> =>
      (await lists.listJobs(accountId, page)).map(viewOf),

    async read(ref: JobRef): Promise<OwnedJobDetail | undefined> {
      const job = await find(ref);
      if (job === undefined) return undefined;
      const [heads, failures, result] = await Promise.all([
        pages.listPageHeads(job.id),
        pages.listPages(job.id, { failed: true }),
        resultOf(job, deps),
      ]);
      const errors = failures.map(({ url, body }) => ({
        url,
        code: String(body["code"] ?? ""),
        message: String(body["message"] ?? ""),
      }));
      return { ...viewOf(job), pages: heads, errors, input: shownInput(job.input), result };
    },

    /** The content of one page of a job, by its index. */
    async page(ref: JobRef, index: number): Promise<Body | undefined> {
      const job = await find(ref);
      if (job === undefined) return undefined;
      const [page] = await pages.listPages(job.id, { offset: index, limit: 1 });
      return page === undefined ? undefined : { ...withoutKeys(page.body), url: page.url, failed: page.failed };
    },

    async cancel(ref: JobRef): Promise<boolean> {
      const job = await find(ref);
      return job !== undefined && cancel(ref.accountId, ref.id, job.kind);
    },

    /** The unfinished jobs of all accounts. */
    open: async (): Promise<OpenJob[]> =>
      (await lists.listOpenJobs(OPEN_MAX)).map((job) => ({
        ...viewOf(job),
        accountId: job.accountId,
        username: job.username,
      })),

    /** Cancels any account's job, for operators; returns the account. */
    async cancelAny(id: string): Promise<{ readonly accountId: string; readonly kind: string } | undefined> {
      const owner = await lists.findJobOwner(id);
      if (owner === undefined) return undefined;
      await cancel(owner.accountId, id, owner.kind);
      return owner;
    },

    /** The complete response to a poll of the API, in pieces, so that only one page at a time is in memory. */
    async json(ref: JobRef): Promise<AsyncIterable<string> | undefined> {
      const job = await find(ref);
      return job === undefined ? undefined : jsonOf(job, ref, deps);
    },

    /** The result as Markdown files; undefined for kinds of jobs without files. */
    async files(ref: JobRef): Promise<AsyncIterable<JobFile> | undefined> {
      const job = await find(ref);
      return job === undefined || !viewOf(job).hasFiles ? undefined : filesOf(job, ref, deps);
    },
  };
}

/** A file of a job's result. */
export interface JobFile {
  readonly name: string;
  readonly text: string;
}

/** The kinds of jobs whose pages are their input and not their result, with the format of the result. */
const RESULTS = {
  extract: (ref: JobRef, { extracts }: OwnedJobsDeps) => pollExtract(ref, extracts),
  llmstxt: (ref: JobRef, { llmstxts }: OwnedJobsDeps) => pollLlmstxt(ref, llmstxts),
} as const;

function pollOf({ kind }: ListedJob): ((ref: JobRef, deps: OwnedJobsDeps) => Promise<Body>) | undefined {
  return kind === "extract" || kind === "llmstxt" ? RESULTS[kind] : undefined;
}

async function resultOf(job: ListedJob, deps: OwnedJobsDeps): Promise<Body | null> {
  const poll = job.state === "completed" ? pollOf(job) : undefined;
  if (poll === undefined) return null;
  const { data, sources, unsupported, warnings, llmstxt, llmsfulltxt } = await poll(job, deps);
  return job.kind === "extract" ? { data, sources, unsupported, warnings } : { llmstxt, llmsfulltxt };
}

async function* jsonOf(job: ListedJob, ref: JobRef, deps: OwnedJobsDeps): AsyncGenerator<string> {
  const poll = pollOf(job);
  if (poll !== undefined) {
    yield `${JSON.stringify(await poll(ref, deps))}\n`;
    return;
  }
  const failures = await deps.pages.listPages(job.id, { failed: true });
  const figures = { pages: [], failures, good: 0, ahead: 0 };
  const { data: _, ...head } = crawlView(job, {
    figures,
    window: { address: "", offset: 0, limit: 0 },
    ttlMs: deps.crawls.limits().jobTtlMs,
  });
  let separator = `${JSON.stringify(head).slice(0, -1)},"data":[`;
  for await (const { body } of goodPages(job.id, deps)) {
    yield separator + JSON.stringify(withoutKeys(body));
    separator = ",";
  }
  yield `${separator.startsWith("{") ? separator : ""}]}\n`;
}

async function* filesOf(job: ListedJob, ref: JobRef, deps: OwnedJobsDeps): AsyncGenerator<JobFile> {
  const poll = pollOf(job);
  if (poll !== undefined) {
    const { llmstxt, llmsfulltxt } = await poll(ref, deps);
    if (typeof llmstxt === "string") yield { name: "llms.txt", text: llmstxt };
    if (typeof llmsfulltxt === "string") yield { name: "llms-full.txt", text: llmsfulltxt };
    return;
  }
  const nameOf = createPageNames();
  for await (const page of goodPages(job.id, deps)) {
    if (typeof page.body["markdown"] === "string") yield { name: nameOf(page.url), text: markdownOf(page) };
  }
}

async function* goodPages(id: string, { pages }: OwnedJobsDeps): AsyncGenerator<{ url: string; body: Body }> {
  for (let offset = 0; ; offset++) {
    const [page] = await pages.listPages(id, { failed: false, offset, limit: 1 });
    if (page === undefined) return;
    yield page;
  }
}

function ownedJob(job: ListedJob, ttlMs: number): OwnedJob {
  const { id, kind, state, input, progress, error, failedPages, heldBytes } = job;
  const urls = Array.isArray(input["urls"]) ? (input["urls"] as string[]) : [String(input["url"] ?? "")];
  const isOpen = state === "queued" || state === "running";
  const completed = Number(progress["completed"] ?? 0);
  return {
    ...{ id, kind, state, failedPages, completed },
    url: urls[0] ?? "",
    urls: urls.length,
    total: isOpen ? Math.max(completed, expected(job, urls.length)) : completed,
    stage: isOpen && typeof progress["stage"] === "string" ? progress["stage"] : null,
    credits: Number(progress["credits"] ?? 0),
    error: error === null ? null : { code: String(error["code"]), message: String(error["message"]) },
    bytes: heldBytes,
    hasFiles: kind === "llmstxt" ? state === "completed" : kind !== "extract",
    createdAtMs: job.createdAtMs,
    finishedAtMs: job.finishedAtMs,
    expiresAtMs: job.expiresAtMs ?? job.deadlineAtMs + ttlMs,
  };
}

/** The expected number of pages, as far as it is known. */
function expected({ progress, input, frontierSize }: ListedJob, urls: number): number {
  if (typeof progress["total"] === "number") return progress["total"];
  if (typeof input["limit"] === "number") return Math.min(input["limit"], Math.max(1, frontierSize));
  return urls;
}

/** The parameters without the key and the request that started the job, which are internal. */
function shownInput({ keyId: _key, requestId: _request, ...input }: Body): Body {
  return input;
}
