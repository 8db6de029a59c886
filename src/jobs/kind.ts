// What a kind of long work is to the runner.

/** A job that is being worked on. */
export interface RunningJob {
  readonly id: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What was last saved; empty at first. */
  readonly progress: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  /**
   * Aborts a while before `signal` when the program ends: begin nothing new, finish what is in progress, then throw its
   * reason.
   */
  readonly winding: AbortSignal;
  saveProgress(progress: Readonly<Record<string, unknown>>): Promise<void>;
}

/** How a job ended by itself. */
export type JobOutcome =
  | { readonly state: "completed"; readonly result?: Readonly<Record<string, unknown>> }
  | { readonly state: "failed"; readonly error: JobFailure };

/** Why a job failed, as it is stored and shown. */
export interface JobFailure {
  readonly [key: string]: unknown;
  readonly code: string;
  readonly message: string;
}

/** One kind of work. A job that was cut off by a restart is run again and continues from what it stored. */
export interface JobKind {
  readonly name: string;
  run(job: RunningJob, signal: AbortSignal): Promise<JobOutcome>;
  /** What a job of this kind says when it runs out of time, or when `run` throws. */
  failure(error: unknown): JobFailure;
}

/** The reason of the signal when the job's hard limit is reached. */
export class JobTimeout extends Error {
  override name = "JobTimeout";
}
