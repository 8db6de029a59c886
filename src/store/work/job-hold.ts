// Who may write for a job: the one whose claim of it is the latest. Each claim has a token of its own, so that a program which
// was stalled while its lease ran out writes nothing more, even where a program of the same name has claimed the job since.

import { type Store, step, type Work } from "../engine/store.ts";

/** A claim of a job. Whatever its worker writes names it. */
export interface JobLease {
  /** The job. */
  readonly id: string;
  /** The token of the claim. */
  readonly lease: string;
}

/** Thrown where a worker writes for a job that it does not hold any more: another has it, it has ended or it is gone. */
export class JobLost extends Error {
  override name = "JobLost";
  constructor() {
    super("The job no longer belongs to this program.");
  }
}

/**
 * Builds the check. It is made within the transaction of the write, and keeps the job from being claimed until that ends.
 */
export function jobHold({ engine, statement }: Store) {
  const find = statement(
    `SELECT id FROM jobs WHERE id = ? AND lease = ? AND state = 'running'${engine === "postgres" ? " FOR NO KEY UPDATE" : ""}`,
  );
  return function* hold({ id, lease }: JobLease): Work<void> {
    if ((yield* step(() => find.get([id, lease]))) === null) throw new JobLost();
  };
}
