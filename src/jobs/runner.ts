// Runs jobs from the store: claims them by lease, renews the lease while they run, ends each once, and gives back what is
// unfinished when the program stops. A job always reaches an end: its own, its hard limit, or a cancellation.

import type { Clock } from "../base/clock.ts";
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

/** A job as claimed. */
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
  /** Names this process among those that share the store. */
  readonly owner: string;
  readonly ttlMs: () => number;
  readonly problem: (message: string, error: unknown) => void;
}

/** A running runner. */
export interface JobRunner {
  start(): void;
  /** A job was queued: look at once. */
  wake(): void;
  /** Stops working on a job that was cancelled in the store. */
  cancel(id: string): void;
  /** Resolves when the job has ended here, or after `ms`. */
  settled(id: string, ms: number): Promise<void>;
  /** Gives back what is unfinished. */
  stop(): Promise<void>;
}

/** Jobs worked on at once; the pages they load share slots of their own. */
const JOBS_MAX = 32;
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** Jobs of a process that died are found this late after their lease. */
const POLL_MS = 2000;
/** Waiters for one job. */
const STOP_WAIT_MS = 5000;

interface Running {
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

class Cancelled extends Error {}
class Stopping extends Error {}

/** Makes a runner; nothing runs before `start`. */
export function createJobRunner(deps: RunnerDeps): JobRunner {
  const running = new Map<string, Running>();
  const waiters = new Map<string, Set<() => void>>();
  let poll: ReturnType<typeof setInterval> | undefined;
  let isClaiming = false;
  let isStopped = false;

  const notify = (id: string) => {
    for (const done of waiters.get(id) ?? []) done();
    waiters.delete(id);
  };

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
        begin(job);
      }
    } catch (error) {
      deps.problem("jobs could not be claimed; it is tried again soon", error);
    } finally {
      isClaiming = false;
    }
  };

  const begin = (job: ClaimedJob) => {
    const abort = new AbortController();
    const done = work(job, abort)
      .catch((error: unknown) => deps.problem("a job could not be ended; its lease will run out", error))
      .finally(() => {
        running.delete(job.id);
        notify(job.id);
        void claim();
      });
    running.set(job.id, { abort, done });
  };

  const work = async (job: ClaimedJob, abort: AbortController): Promise<void> => {
    const kind = deps.kinds.find(({ name }) => name === job.kind) as JobKind;
    const renew = setInterval(() => {
      deps.store.renewJob(job.id, deps.owner, LEASE_MS).then(
        (mine) => (mine ? undefined : abort.abort(new Cancelled("The job is not ours any more."))),
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
          saveProgress: async (progress) => {
            if (!(await deps.store.saveProgress(job.id, deps.owner, progress)))
              abort.abort(new Cancelled("The job has ended."));
          },
        },
        abort.signal,
      );
    } catch (error) {
      const cause: unknown = abort.signal.aborted ? abort.signal.reason : error;
      if (cause instanceof Cancelled || cause instanceof Stopping) return;
      outcome = { state: "failed", error: kind.failure(cause) };
    } finally {
      clearInterval(renew);
      clearTimeout(limit);
    }
    await deps.store.finishJob(job.id, deps.owner, { ...outcome, ttlMs: deps.ttlMs() });
  };

  return {
    start: () => {
      poll ??= setInterval(() => void claim(), POLL_MS);
      void claim();
    },
    wake: () => void claim(),
    cancel: (id) => running.get(id)?.abort.abort(new Cancelled("The job was cancelled.")),
    settled: (id, ms) => {
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
    stop: async () => {
      isStopped = true;
      clearInterval(poll);
      for (const { abort } of running.values()) abort.abort(new Stopping("The program is stopping."));
      const all = Promise.all([...running.values()].map(({ done }) => done));
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, STOP_WAIT_MS);
      });
      await Promise.race([all, late]);
      clearTimeout(timer);
      await deps.store.releaseJobs(deps.owner);
    },
  };
}
