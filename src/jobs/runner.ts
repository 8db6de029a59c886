// Runs stored jobs. It claims them by a lease, renews the lease while they run, ends each job once, and releases unfinished jobs
// when the program stops. Every job ends: by itself, at its deadline, or by cancellation.

import type { Clock } from "../base/clock.ts";
import { isFull, isUnreachable } from "../base/unreachable.ts";
import { waitAtMost } from "../base/wait-at-most.ts";
import { type JobLease, JobLost } from "../store/work/job-hold.ts";
import { type JobKind, type JobOutcome, JobTimeout } from "./kind.ts";

/** The store's functions for running jobs. */
export interface JobClaims {
  claimJob(input: { owner: string; leaseMs: number; kinds: readonly string[] }): Promise<ClaimedJob | undefined>;
  renewJob(job: JobLease, leaseMs: number): Promise<boolean>;
  heldJobs(owner: string): Promise<readonly JobLease[]>;
  releaseJobs(owner: string): Promise<number>;
  releaseJob(job: JobLease): Promise<boolean>;
  saveProgress(job: JobLease, progress: Readonly<Record<string, unknown>>): Promise<boolean>;
  finishJob(
    job: JobLease,
    end: {
      state: "completed" | "failed" | "cancelled";
      result?: Readonly<Record<string, unknown>> | null;
      error?: Readonly<Record<string, unknown>> | null;
      ttlMs: number;
    },
  ): Promise<boolean>;
}

/** A claimed job. */
export interface ClaimedJob extends JobLease {
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
   * Identifies this program among those that share the store. It must be the same after a restart, so that the program finds its
   * own jobs immediately.
   */
  readonly owner: string;
  readonly ttlMs: () => number;
  /** Calls `listener` with the id of each job that has ended or was deleted, by any process. A message may be lost. */
  whenJobEnds(listener: (id: string) => void): void;
  readonly problem: (message: string, error: unknown) => void;
}

/** A running runner. */
export interface JobRunner {
  /** Resumes the jobs of an earlier run, and from then on runs the jobs that are queued. */
  start(): Promise<void>;
  /** Called when a job was queued, so that the runner looks for it at once. */
  wake(): void;
  /** Stops a job that was cancelled in the store. */
  cancel(id: string): void;
  /** Identifies this process among those that share the store. */
  readonly owner: string;
  /** Resolves when the job is no longer running in this program, or after `ms`. */
  settled(id: string, ms: number): Promise<void>;
  /** The number of jobs that this program is running. */
  running(): number;
  /** Gives running jobs some time to reach a safe point, then releases those that have not ended. */
  stop(): Promise<void>;
}

/**
 * Maximum number of jobs that run at once. It is high, so that long jobs delay nobody; the pages that they load have limits of
 * their own.
 */
const JOBS_MAX = 200;
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** How often the runner looks for jobs of dead processes, and for its own jobs that were ended elsewhere. */
const POLL_MS = 2000;
/** How long the current pages may take when the program stops. Longer ones are repeated after the restart. */
const WIND_DOWN_MS = 4000;
/** How long the runner then waits for work that was aborted. */
const STOP_WAIT_MS = 2000;

interface Running {
  readonly job: ClaimedJob;
  readonly abort: AbortController;
  readonly winding: AbortController;
  readonly done: Promise<void>;
}

class Cancelled extends Error {}
class Stopping extends Error {}

/** Creates a runner; nothing runs before `start`. */
export function createJobRunner(deps: RunnerDeps): JobRunner {
  const waiters = createWaiters();
  let poll: ReturnType<typeof setInterval> | undefined;
  let isClaiming = false;
  // What is claimed before the jobs of an earlier run are released would be released with them, and run twice.
  let isStarted = false;
  let isStopped = false;

  const claim = async (): Promise<void> => {
    if (!isStarted || isClaiming || isStopped) return;
    isClaiming = true;
    try {
      while (!isStopped && here.count() < JOBS_MAX) {
        const job = await deps.store.claimJob({
          owner: deps.owner,
          leaseMs: LEASE_MS,
          kinds: deps.kinds.map(({ name }) => name),
        });
        if (job === undefined) break;
        // This process already runs the job: the lease expired while the machine slept, and the old worker can no longer write
        // anything.
        const before = here.lose(job.id);
        if (before === undefined) here.begin(job);
        else void before.then(() => (isStopped ? release(deps, job) : here.begin(job)));
      }
    } catch (error) {
      deps.problem("jobs could not be claimed; the runner will try again soon", error);
    } finally {
      isClaiming = false;
    }
  };
  const here = jobsHere(deps, (id) => {
    waiters.tell(id);
    void claim();
  });
  const tick = () => {
    void claim();
    here.look().catch((error: unknown) => deps.problem("it is not known whether jobs were ended elsewhere", error));
  };
  deps.whenJobEnds((id) => {
    here.cancel(id);
    waiters.tell(id);
  });

  return {
    start: async () => {
      try {
        await deps.store.releaseJobs(deps.owner);
      } finally {
        isStarted = true;
        // If the database did not answer, jobs are looked for all the same once it does.
        if (!isStopped) poll ??= setInterval(tick, POLL_MS);
      }
      if (isStopped) return;
      await claim();
    },
    wake: () => void claim(),
    running: here.count,
    owner: deps.owner,
    cancel: here.cancel,
    settled: waiters.settled,
    stop: async () => {
      isStopped = true;
      clearInterval(poll);
      await here.stop();
    },
  };
}

/** The jobs that run in this process. `ended` is called with the id of each job that stops. */
function jobsHere(deps: RunnerDeps, ended: (id: string) => void) {
  const running = new Map<string, Running>();
  return {
    count: () => running.size,
    begin(job: ClaimedJob): void {
      const abort = new AbortController();
      const winding = new AbortController();
      const done = runJob(deps, job, { abort, winding: winding.signal })
        .catch((error: unknown) => deps.problem("a job could not be ended; its lease will run out", error))
        .finally(() => {
          running.delete(job.id);
          ended(job.id);
        });
      running.set(job.id, { job, abort, winding, done });
    },
    cancel(id: string): void {
      running.get(id)?.abort.abort(new Cancelled("The job was cancelled."));
    },
    /** Stops a job that this process no longer holds; undefined if it does not run here. */
    lose(id: string): Promise<void> | undefined {
      const found = running.get(id);
      found?.abort.abort(new JobLost());
      return found?.done;
    },
    /** Stops every job that this process no longer holds. */
    async look(): Promise<void> {
      if (running.size === 0) return;
      const asked = [...running.values()];
      const held = new Set((await deps.store.heldJobs(deps.owner)).map(({ lease }) => lease));
      for (const { job, abort } of asked) if (!held.has(job.lease)) abort.abort(new JobLost());
    },
    async stop(): Promise<void> {
      const jobs = [...running.values()];
      const all = Promise.all(jobs.map(({ done }) => done));
      const reason = new Stopping("The program is stopping.");
      for (const { winding } of jobs) winding.abort(reason);
      await waitAtMost(WIND_DOWN_MS, all);
      for (const { abort } of jobs) abort.abort(reason);
      await waitAtMost(STOP_WAIT_MS, all);
      await Promise.all(jobs.map(({ job }) => release(deps, job)));
    },
  };
}

async function release({ store, problem }: RunnerDeps, job: JobLease): Promise<void> {
  try {
    await store.releaseJob(job);
  } catch (error) {
    problem("a job could not be released; its lease will run out", error);
  }
}

/** Runs one job under a renewed lease, and stores its outcome. */
async function runJob(
  deps: RunnerDeps,
  job: ClaimedJob,
  { abort, winding }: { abort: AbortController; winding: AbortSignal },
): Promise<void> {
  const kind = deps.kinds.find(({ name }) => name === job.kind) as JobKind;
  const renew = setInterval(() => {
    deps.store.renewJob(job, LEASE_MS).then(
      (mine) => (mine ? undefined : abort.abort(new JobLost())),
      (error: unknown) => deps.problem("a job's lease could not be renewed", error),
    );
  }, RENEW_MS);
  const limit = setTimeout(
    () => abort.abort(new JobTimeout("The job exceeded its time limit.")),
    Math.max(0, job.deadlineAtMs - deps.clock.now()),
  );
  let outcome: JobOutcome;
  try {
    outcome = await kind.run(
      {
        ...job,
        winding,
        saveProgress: async (progress) => {
          if (await deps.store.saveProgress(job, progress)) return;
          const lost = new JobLost();
          abort.abort(lost);
          throw lost;
        },
      },
      abort.signal,
    );
  } catch (error) {
    const cause: unknown = abort.signal.aborted ? abort.signal.reason : error;
    if (cause instanceof Cancelled || cause instanceof Stopping || cause instanceof JobLost) return;
    if (isFull(cause)) {
      // A full disk may have room for the release alone: the job would be claimed at once, and do the same work over and over.
      return deps.problem("there was no room for what a job stores; it goes on when its lease has run out", cause);
    }
    if (isUnreachable(cause)) {
      deps.problem("the database did not answer a job; it goes on later", cause);
      return release(deps, job);
    }
    if (!(cause instanceof JobTimeout)) deps.problem("a job failed", cause);
    outcome = { state: "failed", error: kind.failure(cause) };
  } finally {
    clearInterval(renew);
    clearTimeout(limit);
  }
  if (await deps.store.finishJob(job, { ...outcome, ttlMs: deps.ttlMs() })) kind.ended?.(job, outcome);
}

/** Creates the list of callers that wait for the end of a job. */
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
