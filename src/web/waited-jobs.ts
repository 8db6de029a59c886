// Jobs for which the client waits up to a time limit. It gets the result, or the state of a running job that it can poll. A job
// belongs to an account; for other accounts it does not exist. A client that leaves before the response never learns the job's
// id, so the job is cancelled.

import type { Clock } from "../base/clock.ts";
import { ApiError, type ErrorCode } from "../base/errors.ts";
import { prefixedId } from "../base/ids.ts";
import { isoTime } from "../base/iso-time.ts";
import type { StoredJob } from "./crawl-view.ts";
import { checkJobRoom } from "./job-room.ts";
import type { Body } from "./params.ts";

/** The members of a stored job that the response needs. */
export interface EndingJob extends StoredJob {
  readonly result: Body | null;
}

/** What the functions for these jobs need. */
export interface WaitedJobsDeps {
  readonly jobs: {
    createJob(job: {
      id: string;
      kind: string;
      accountId: string;
      input: Body;
      deadlineAtMs: number;
    }): Promise<unknown>;
    findJob(kind: string, accountId: string, id: string): Promise<EndingJob | undefined>;
    cancelJob(job: { kind: string; accountId: string; id: string; ttlMs: number }): Promise<EndingJob | undefined>;
    countOpenJobs(accountId: string): Promise<number>;
  };
  /** Makes space for what an account stores; false if there is none. */
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
  readonly runner: { wake(): void; cancel(id: string): void; settled(id: string, ms: number): Promise<void> };
  readonly clock: Clock;
  readonly limits: () => { readonly jobTimeoutMs: number; readonly jobTtlMs: number };
}

/** A job of an account. */
export interface WaitedJobRef {
  readonly id: string;
  readonly accountId: string;
}

/** A job to start, and its account. */
export interface NewWaitedJob {
  readonly accountId: string;
  readonly input: Body;
  readonly waitMs: number;
  /** Aborts if the client leaves. */
  readonly signal: AbortSignal;
  /** Called with the job's id as soon as it is queued. */
  started?(id: string): void;
}

/** The kinds of jobs for which clients wait. */
export type WaitedKind = "extract" | "llmstxt";

/** Another process may run the job, so the store is polled for its end as well. */
const LOOK_EVERY_MS = 2000;

/**
 * Queues a job, waits for it, and returns its state. Throws the error of the job if it failed meanwhile, or the reason why it
 * cannot be queued.
 */
export async function startWaited(kind: WaitedKind, job: NewWaitedJob, deps: WaitedJobsDeps): Promise<EndingJob> {
  const { accountId, input, signal } = job;
  await checkJobRoom(accountId, input, deps);
  const ref = { id: prefixedId(`${kind}_`), accountId };
  const deadlineAtMs = deps.clock.now() + deps.limits().jobTimeoutMs;
  await deps.jobs.createJob({ ...ref, kind, input, deadlineAtMs });
  job.started?.(ref.id);
  const endsMs = performance.now() + job.waitMs;
  const left = gone(signal);
  for (;;) {
    const leftMs = endsMs - performance.now();
    const settled = deps.runner.settled(ref.id, Math.max(1, Math.min(LOOK_EVERY_MS, leftMs)));
    deps.runner.wake();
    await Promise.race([settled, left]);
    if (signal.aborted) {
      await cancelWaited(kind, ref, deps);
      signal.throwIfAborted();
    }
    const found = await findWaited(kind, ref, deps);
    if (found.state === "failed") throw failureOf(found);
    if (!isOpen(found) || endsMs <= performance.now()) return found;
  }
}

/** Finds a job of an account. Throws 404. */
export async function findWaited(
  kind: WaitedKind,
  { id, accountId }: WaitedJobRef,
  { jobs }: Pick<WaitedJobsDeps, "jobs">,
): Promise<EndingJob> {
  const job = await jobs.findJob(kind, accountId, id);
  if (job === undefined) throw notFound(kind);
  return job;
}

/** Cancels a job unless it has ended, and returns its state. Throws 404. */
export async function cancelWaited(
  kind: WaitedKind,
  ref: WaitedJobRef,
  { jobs, runner, limits }: Pick<WaitedJobsDeps, "jobs" | "runner" | "limits">,
): Promise<EndingJob> {
  const job = await jobs.cancelJob({ kind, ...ref, ttlMs: limits().jobTtlMs });
  if (job === undefined) throw notFound(kind);
  runner.cancel(ref.id);
  return job;
}

/** The members of every response about such a job. */
export function jobView(job: EndingJob, { limits }: Pick<WaitedJobsDeps, "limits">): Record<string, unknown> {
  // While the job runs: the latest time at which it will be deleted.
  const expires = isoTime(job.expiresAtMs ?? job.deadlineAtMs + limits().jobTtlMs);
  return {
    success: job.state !== "failed",
    job_id: job.id,
    id: job.id,
    status: isOpen(job) ? "processing" : job.state,
    created_at: isoTime(job.createdAtMs),
    expires_at: expires,
    expiresAt: expires,
    ...(job.error === null ? {} : { error: job.error["message"], error_code: job.error["code"] }),
  };
}

function isOpen({ state }: EndingJob): boolean {
  return state === "queued" || state === "running";
}

/** Resolves when the client has left. */
function gone(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** The error of a job that failed while its client was waiting. */
function failureOf({ id, error }: EndingJob): ApiError {
  const { code, message, param } = error ?? {};
  const at = typeof param === "string" ? { param } : {};
  return new ApiError(code as ErrorCode, String(message), { ...at, body: { job_id: id, id } });
}

function notFound(kind: WaitedKind): ApiError {
  return new ApiError(`${kind}_job_not_found`, "There is no job with this id. It may have expired.");
}
