// Pages of one job are read at the same time, and each is stored with the progress of all before it. They are therefore stored
// one after the other; when one could not be, none after it is, since its progress would count the one that is missing.

import type { JobLease } from "../store/work/job-hold.ts";

type SaveVisit<Visit> = (job: JobLease, visit: Visit) => Promise<number>;

/** The same for each running job, in the order of the calls. */
export function visitsInOrder<Visit>(saveVisit: SaveVisit<Visit>): SaveVisit<Visit> {
  const last = new WeakMap<JobLease, Promise<number>>();
  return (job, visit) => {
    const before = last.get(job);
    const saved = before === undefined ? saveVisit(job, visit) : before.then(() => saveVisit(job, visit));
    last.set(job, saved);
    return saved;
  };
}
