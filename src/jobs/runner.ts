// Runs stored jobs: claims them by lease, renews the lease while they run, ends each once, and releases unfinished ones when
// the program stops. Every job ends: by itself, at its hard deadline, or by cancellation.

import type { Clock } from "../base/clock.ts";
import { JobLost } from "../store/work/job-hold.ts";
import { type JobKind, type JobOutcome, JobTimeout } from "./kind.ts";

/** The store's side. */
export interface JobClaims {
  claimJob(input: { owner: string; leaseMs: number; kinds: readonly string[] }): Promise<ClaimedJob | undefined>;
  renewJob(id: string, owner: string, leaseMs: number): Promise<boolean>;
  releaseJobs(owner: string): Promise<number>;
  saveProgress(id: string, owner: string, progress: Readonly<Record<string, unknown>>): Promise<boolean>;
  finishJob(
    id: string,
    owner: string,
    end: {
      state: "completed" | "failed" | "cancelled";
      result?: Readonly<Record<string, unknown>> | null;
      error?: Readonly<Record<string, unknown>> | null;
      ttlMs: number;
    },
  ): Promise<boolean>;
}

/** A claimed job. */
export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly progress: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
}

/** What the runner needs. */
export interface RunnerDeps {
  readonly store: JobClaims;
  readonly kinds: readonly JobKind[];
  readonly clock: Clock;
  /**
   * Identifies this program among those that share the store; the same after a restart, so that it finds its own jobs
   * immediately.
   */
  readonly owner: string;
  readonly ttlMs: () => number;
  readonly problem: (message: string, error: unknown) => void;
}

/** A running runner. */
export interface JobRunner {
  /** Resumes the jobs of an earlier run, and from then on runs whatever is queued. */
  start(): Promise<void>;
  /** A job was queued: look now. */
  wake(): void;
  /** Stops a job that was cancelled in the store. */
  cancel(id: string): void;
  /** Resolves when the job has ended here, or after `ms`. */
  settled(id: string, ms: number): Promise<void>;
  /** Number of jobs running here. */
  running(): number;
  /** Gives running jobs some time to reach a safe point, then releases unfinished ones. */
  stop(): Promise<void>;
}

/**
 * Concurrent jobs; many, so that long ones delay nobody: the pages that they load have their own limits.
 */
const JOBS_MAX = 200;
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** How often jobs of dead processes are looked for. */
const POLL_MS = 2000;
/** Time for the current pages when the program stops; longer ones are repeated after the restart. */
const WIND_DOWN_MS = 4000;
/** Time for what was aborted after that. */
const STOP_WAIT_MS = 2000;

interface Running {
  readonly abort: AbortController;
  readonly winding: AbortController;
  readonly done: Promise<void>;
}

class Cancelled extends Error {}
class Stopping extends Error {}

/** Creates a runner; nothing runs before `start`. */
export function createJobRunner(deps: RunnerDeps): JobRunner {
  const running = new Map<string, Running>();
  const waiters = createWaiters();
  let poll: ReturnType<typeof setInterval> | undefined;
  let isClaiming = false;
  let isStopped = false;

  const claim = async (): Promise<void> => {
    if (isClaiming || isStopped) return;
    isClaiming = true;
    try {
      while (!isStopped && running.size < JOBS_MAX) {
        const job = await deps.store.claimJob({
          owner: deps.owner,
          leaseMs: LEASE_MS,
          kinds: deps.kinds.map(({ name }) => name),
        });
        if (job === undefined) break;
        // Already ours, under a lease that expired while the machine slept.
        if (!running.has(job.id)) begin(job);
      }
    } catch (error) {
      deps.problem("jobs could not be claimed; it is tried again soon", error);
    } finally {
      isClaiming = false;
    }
  };

  const begin = (job: ClaimedJob) => {
    const abort = new AbortController();
    const winding = new AbortController();
    const done = runJob(deps, job, { abort, winding: winding.signal })
      .catch((error: unknown) => deps.problem("a job could not be ended; its lease will run out", error))
      .finally(() => {
        running.delete(job.id);
        waiters.tell(job.id);
        void claim();
      });
    running.set(job.id, { abort, winding, done });
  };

  return {
    start: async () => {
      await deps.store.releaseJobs(deps.owner);
      if (isStopped) return;
      poll ??= setInterval(() => void claim(), POLL_MS);
      await claim();
    },
    wake: () => void claim(),
    running: () => running.size,
    cancel: (id) => running.get(id)?.abort.abort(new Cancelled("The job was cancelled.")),
    settled: waiters.settled,
    stop: async () => {
      isStopped = true;
      clearInterval(poll);
      const jobs = [...running.values()];
      const all = Promise.all(jobs.map(({ done }) => done));
      const reason = new Stopping("The program is stopping.");
      for (const { winding } of jobs) winding.abort(reason);
      await within(WIND_DOWN_MS, all);
      for (const { abort } of jobs) abort.abort(reason);
      await within(STOP_WAIT_MS, all);
      await deps.store.releaseJobs(deps.owner);
    },
  };
}

/** Runs one job under a renewed lease, and stores its outcome. */
async function runJob(
  deps: RunnerDeps,
  job: ClaimedJob,
  { abort, winding }: { abort: AbortController; winding: AbortSignal },
): Promise<void> {
  const kind = deps.kinds.find(({ name }) => name === job.kind) as JobKind;
  const renew = setInterval(() => {
    deps.store.renewJob(job.id, deps.owner, LEASE_MS).then(
      (mine) => (mine ? undefined : abort.abort(new Cancelled("The job no longer belongs to this program."))),
      (error: unknown) => deps.problem("a job's lease could not be renewed", error),
    );
  }, RENEW_MS);
  const limit = setTimeout(
    () => abort.abort(new JobTimeout("The job took longer than it may.")),
    Math.max(0, job.deadlineAtMs - deps.clock.now()),
  );
  let outcome: JobOutcome;
  try {
    outcome = await kind.run(
      {
        ...job,
        winding,
        saveProgress: async (progress) => {
          if (!(await deps.store.saveProgress(job.id, deps.owner, progress)))
            abort.abort(new Cancelled("The job has ended."));
        },
      },
      abort.signal,
    );
  } catch (error) {
    const cause: unknown = abort.signal.aborted ? abort.signal.reason : error;
    if (cause instanceof Cancelled || cause instanceof Stopping || cause instanceof JobLost) return;
    if (!(cause instanceof JobTimeout)) deps.problem("a job failed", cause);
    outcome = { state: "failed", error: kind.failure(cause) };
  } finally {
    clearInterval(renew);
    clearTimeout(limit);
  }
  if (await deps.store.finishJob(job.id, deps.owner, { ...outcome, ttlMs: deps.ttlMs() })) kind.ended?.(job, outcome);
}

/** Those who wait for the end of a job. */
function createWaiters() {
  const waiters = new Map<string, Set<() => void>>();
  return {
    tell(id: string): void {
      for (const done of waiters.get(id) ?? []) done();
      waiters.delete(id);
    },
    settled(id: string, ms: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const set = waiters.get(id) ?? new Set();
      waiters.set(id, set.add(resolve));
      const timer = setTimeout(resolve, ms);
      return promise.finally(() => {
        clearTimeout(timer);
        set.delete(resolve);
        if (set.size === 0 && waiters.get(id) === set) waiters.delete(id);
      });
    },
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
