// Checks that a program still holds a job: it has claimed the job, and no other program has claimed it since. A program
// that lost its lease may not know it yet, and must not write among the results of the next one.

import { type Store, step, type Work } from "../engine/store.ts";

/**
 * Thrown when a program writes for a job that it no longer holds, because another one has claimed it or it has ended.
 */
export class JobLost extends Error {
  override name = "JobLost";
}

/**
 * Builds the check. It runs within the transaction of the write and prevents another claim until that ends. Without an
 * owner nothing is checked, for writes before the job is claimed.
 */
export function jobHold({ engine, statement }: Store) {
  const find = statement(
    `SELECT id FROM jobs WHERE id = ? AND owner = ? AND state = 'running'${engine === "postgres" ? " FOR NO KEY UPDATE" : ""}`,
  );
  return function* hold(jobId: string, owner: string | undefined): Work<void> {
    if (owner === undefined) return;
    if ((yield* step(() => find.get([jobId, owner]))) === null)
      throw new JobLost("The job no longer belongs to this program.");
  };
}
