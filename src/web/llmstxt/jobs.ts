// Starting, polling and cancelling the making of an llms.txt. Whoever starts one waits for it a while; a job that takes
// longer, or failed after that, is told by its poll. It is its account's alone: to others it does not exist.

import type { Clock } from "../../base/clock.ts";
import { ApiError, type ErrorCode } from "../../base/errors.ts";
import { prefixedId } from "../../base/ids.ts";
import type { AddressGuard } from "../../net/guard.ts";
import { STORAGE_USED_UP } from "../crawl.ts";
import { OPEN_JOBS_MAX } from "../crawl-jobs.ts";
import { asWebError } from "../failure.ts";
import { type Body, readBoolean, readInteger, readUrl } from "../params.ts";
import type { Asker } from "../scrape.ts";
import type { LlmstxtInput } from "./kind.ts";

/** The stored job, as far as it is shown. */
interface StoredJob {
  readonly id: string;
  readonly state: "queued" | "running" | "completed" | "failed" | "cancelled";
  readonly input: Body;
  readonly progress: Body;
  readonly result: Body | null;
  readonly error: Body | null;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly expiresAtMs: number | null;
}

/** What they need. */
export interface LlmstxtJobsDeps {
  readonly guard: Pick<AddressGuard, "check">;
  readonly jobs: {
    createJob(job: {
      id: string;
      kind: string;
      accountId: string;
      input: Body;
      deadlineAtMs: number;
    }): Promise<unknown>;
    findJob(kind: string, accountId: string, id: string): Promise<StoredJob | undefined>;
    cancelJob(job: { kind: string; accountId: string; id: string; ttlMs: number }): Promise<StoredJob | undefined>;
    countOpenJobs(accountId: string): Promise<number>;
  };
  /** Makes room for what an account keeps; false when there is none. */
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
  readonly runner: { wake(): void; cancel(id: string): void; settled(id: string, ms: number): Promise<void> };
  readonly clock: Clock;
  readonly limits: () => { readonly jobTimeoutMs: number; readonly jobTtlMs: number };
}

/** A job of an account. */
export interface LlmstxtRef {
  readonly id: string;
  readonly accountId: string;
}

const KIND = "llmstxt";
/** Pages of a file that says nothing of it. */
export const LLMSTXT_URLS = 10;
/** Pages of one file. */
export const LLMSTXT_URLS_MAX = 100;
const WAIT_SECONDS = 60;
const WAIT_SECONDS_RANGE = { min: 10, max: 120 };

/** Reads what is asked for. Throws 400. */
export function readLlmstxt(body: Body): LlmstxtInput {
  return {
    url: readUrl(body),
    maxUrls: readInteger(body, ["max_urls", "maxUrls"], { min: 1, max: LLMSTXT_URLS_MAX }) ?? LLMSTXT_URLS,
    showFullText: readBoolean(body, ["show_full_text", "showFullText"], false),
  };
}

/** Queues a job, waits for it as long as its caller does, and gives its state then. Throws what failed meanwhile. */
export async function startLlmstxt(body: Body, deps: LlmstxtJobsDeps, from: Asker): Promise<Record<string, unknown>> {
  const { accountId, signal } = from;
  const input = readLlmstxt(body);
  const waitSeconds = readInteger(body, ["timeout_seconds", "timeoutSeconds"], WAIT_SECONDS_RANGE) ?? WAIT_SECONDS;
  await deps.guard.check(input.url, { signal }).catch((error: unknown) => {
    const { apiCode } = asWebError(KIND, error);
    if (apiCode === "url_not_allowed" || apiCode === "invalid_request") throw error;
  });
  if ((await deps.jobs.countOpenJobs(accountId)) >= OPEN_JOBS_MAX)
    throw new ApiError(
      "llmstxt_unavailable",
      "Too many of your jobs are under way. Wait for one to end, or cancel one.",
    );
  if (!(await deps.makeRoom(accountId, JSON.stringify(input).length)))
    throw new ApiError("request_too_large", STORAGE_USED_UP);
  const id = prefixedId("llmstxt_");
  const deadlineAtMs = deps.clock.now() + deps.limits().jobTimeoutMs;
  await deps.jobs.createJob({ id, kind: KIND, accountId, input: { ...input }, deadlineAtMs });
  const settled = deps.runner.settled(id, waitSeconds * 1000);
  deps.runner.wake();
  await Promise.race([settled, gone(signal)]);
  if (signal.aborted) {
    // Nobody has been told its id.
    await cancelLlmstxt({ id, accountId }, deps);
    signal.throwIfAborted();
  }
  const job = await deps.jobs.findJob(KIND, accountId, id);
  if (job === undefined) throw jobNotFound();
  if (job.state === "failed") throw failureOf(job);
  return viewOf(job, deps);
}

/** Resolves when the client has left. */
function gone(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** The answer to a poll. */
export async function pollLlmstxt(
  { id, accountId }: LlmstxtRef,
  deps: Pick<LlmstxtJobsDeps, "jobs" | "limits">,
): Promise<Record<string, unknown>> {
  const job = await deps.jobs.findJob(KIND, accountId, id);
  if (job === undefined) throw jobNotFound();
  return viewOf(job, deps);
}

/** Ends a job, and gives the answer to that: its state as it is then. */
export async function cancelLlmstxt(
  { id, accountId }: LlmstxtRef,
  deps: Pick<LlmstxtJobsDeps, "jobs" | "runner" | "limits">,
): Promise<Record<string, unknown>> {
  const job = await deps.jobs.cancelJob({ kind: KIND, accountId, id, ttlMs: deps.limits().jobTtlMs });
  if (job === undefined) throw jobNotFound();
  deps.runner.cancel(id);
  return { success: true, job_id: id, id, status: statusOf(job) };
}

/** The job as clients see it. */
function viewOf(job: StoredJob, { limits }: Pick<LlmstxtJobsDeps, "limits">): Record<string, unknown> {
  const { stage = "mapping", total = 1, completed = 0, credits = 0 } = job.progress;
  // While it runs: when it is gone at the latest.
  const expires = new Date(job.expiresAtMs ?? job.deadlineAtMs + limits().jobTtlMs).toISOString();
  const isOpen = job.state === "queued" || job.state === "running";
  // Firecrawl's clients read the texts in `data`.
  const texts = job.state === "completed" ? { ...job.result, data: job.result ?? {} } : {};
  return {
    success: job.state !== "failed",
    job_id: job.id,
    id: job.id,
    status: statusOf(job),
    url: job.input["url"],
    ...(isOpen ? { stage } : {}),
    total,
    completed,
    creditsUsed: credits,
    ...texts,
    created_at: new Date(job.createdAtMs).toISOString(),
    expires_at: expires,
    expiresAt: expires,
    ...(job.error === null ? {} : { error: job.error["message"], error_code: job.error["code"] }),
  };
}

function statusOf({ state }: StoredJob): string {
  return state === "queued" || state === "running" ? "processing" : state;
}

/** A failure while its caller waits is an error like any other. */
function failureOf({ id, error }: StoredJob): ApiError {
  const { code, message } = error ?? {};
  const param = code === "url_not_allowed" || code === "invalid_request" ? "url" : null;
  return new ApiError(code as ErrorCode, String(message), { param, body: { job_id: id, id } });
}

function jobNotFound(): ApiError {
  return new ApiError("llmstxt_job_not_found", "There is no such job: it may have expired.");
}
