// Pages of one job are read at the same time, and each one is stored with the progress of all pages before it. They are therefore
// stored one after the other. If one cannot be stored, none of the later ones is, because their progress would include the
// missing one.

import type { JobLease } from "../store/work/job-hold.ts";

type SaveVisit<Visit> = (job: JobLease, visit: Visit) => Promise<number>;

/** Calls `saveVisit` for each running job in the order of the calls. */
export function visitsInOrder<Visit>(saveVisit: SaveVisit<Visit>): SaveVisit<Visit> {
  const last = new WeakMap<JobLease, Promise<number>>();
  return (job, visit) => {
    const before = last.get(job);
    const saved = before === undefined ? saveVisit(job, visit) : before.then(() => saveVisit(job, visit));
    last.set(job, saved);
    return saved;
  };
}
