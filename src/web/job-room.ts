// Decides whether an account may queue another job.

import { ApiError } from "../base/errors.ts";

/** Maximum number of unfinished jobs of one account. */
export const OPEN_JOBS_MAX = 100;
/** Jobs take from seconds to minutes, so a client that tries again sooner is only refused again. */
const RETRY_SECONDS = 10;

/** The error if an account has no storage left. */
export const STORAGE_USED_UP =
  "This account's storage is used up. Delete files first, or wait until older jobs expire.";

/** What the decision needs. */
export interface JobRoomDeps {
  readonly jobs: { countOpenJobs(accountId: string): Promise<number> };
  /** Makes space for what an account stores; false if there is none. */
  makeRoom(accountId: string, bytes: number): Promise<boolean>;
}

/** Throws 429 if the account has too many unfinished jobs, and 413 if its storage has no space for this one. */
export async function checkJobRoom(accountId: string, input: object, { jobs, makeRoom }: JobRoomDeps): Promise<void> {
  if ((await jobs.countOpenJobs(accountId)) >= OPEN_JOBS_MAX)
    throw new ApiError(
      "rate_limit_exceeded",
      `Too many of your jobs are running (${OPEN_JOBS_MAX}). Wait for one to end, or cancel one.`,
      { retryAfterSeconds: RETRY_SECONDS },
    );
  if (!(await makeRoom(accountId, JSON.stringify(input).length)))
    throw new ApiError("request_too_large", STORAGE_USED_UP);
}
