// Who may write for a job: the program that claimed it, for as long as no other has. A program whose lease was taken over may
// not know it yet; what it still writes must not mix with the work of the next.

import { type Store, step, type Work } from "../engine/store.ts";

/** Thrown where a program writes for a job that it does not hold any more: another has it, or it has ended. */
export class JobLost extends Error {
  override name = "JobLost";
}

/**
 * Builds the check. It is made within the transaction of the write, and keeps the job from being claimed until that ends.
 * Without an owner nothing is checked: for what is written before the job is claimed.
 */
export function jobHold({ engine, statement }: Store) {
  const find = statement(
    `SELECT id FROM jobs WHERE id = ? AND owner = ? AND state = 'running'${engine === "postgres" ? " FOR NO KEY UPDATE" : ""}`,
  );
  return function* hold(jobId: string, owner: string | undefined): Work<void> {
    if (owner === undefined) return;
    if ((yield* step(() => find.get([jobId, owner]))) === null) throw new JobLost("The job is not ours any more.");
  };
}
