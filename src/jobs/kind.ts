// What the runner needs of a kind of job.

import { lazily } from "../base/lazily.ts";
import type { JobLease } from "../store/work/job-hold.ts";

/** A running job. */
export interface RunningJob extends JobLease {
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The progress that was saved last; empty at first. */
  readonly progress: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  /**
   * Aborts some time before `signal` when the program stops. Start nothing new then, finish the current step, and throw its
   * reason.
   */
  readonly winding: AbortSignal;
  /** Throws `JobLost` if this worker no longer holds the job. */
  saveProgress(progress: Readonly<Record<string, unknown>>): Promise<void>;
}

/** The result of a job that ended by itself. */
export type JobOutcome =
  | { readonly state: "completed"; readonly result?: Readonly<Record<string, unknown>> }
  | { readonly state: "failed"; readonly error: JobFailure };

/** Why a job failed, as it is stored and shown. */
export interface JobFailure {
  readonly [key: string]: unknown;
  readonly code: string;
  readonly message: string;
}

/** A kind of job. If a restart interrupts a job, it is run again and continues from what it has stored. */
export interface JobKind {
  readonly name: string;
  run(job: RunningJob, signal: AbortSignal): Promise<JobOutcome>;
  /** The error of a job that runs out of time, or whose `run` throws. */
  failure(error: unknown): JobFailure;
  /** Called when a job has ended by itself and its outcome is stored. */
  ended?(job: Pick<RunningJob, "id" | "accountId" | "input">, outcome: JobOutcome): void;
}

/** A kind of job whose code is loaded when its first job runs. */
export function lazyKind(name: string, load: () => JobKind): JobKind {
  const kind = lazily(load);
  return {
    name,
    run: (job, signal) => kind().run(job, signal),
    failure: (error) => kind().failure(error),
    ended: (job, outcome) => kind().ended?.(job, outcome),
  };
}

/** The signal's reason when the job's deadline has passed. */
export class JobTimeout extends Error {
  override name = "JobTimeout";
}
