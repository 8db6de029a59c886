// Lists of jobs for display: an account's own jobs, latest first, and the unfinished jobs of all accounts. They do not
// contain results, which may be megabytes.

import { and, count, desc, eq, gt, inArray, isNull, lt, or, sql } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { OPEN_STATES } from "./job-states.ts";
import { jobPages, jobs } from "./schema.ts";

/** A job in a list. */
export interface ListedJob {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string;
  readonly state: (typeof jobs.$inferSelect)["state"];
  readonly input: Readonly<Record<string, unknown>>;
  readonly progress: Readonly<Record<string, unknown>>;
  readonly error: Readonly<Record<string, unknown>> | null;
  /** The number of addresses in its frontier. */
  readonly frontierSize: number;
  /** The size of its pages. */
  readonly heldBytes: number;
  /** The number of pages that could not be read. */
  readonly failedPages: number;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly finishedAtMs: number | null;
  readonly expiresAtMs: number | null;
}

/** A position in an account's list. */
export interface JobPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

/** Builds the verbs. */
export function jobLists({ db, clock }: Store) {
  const failedPages = () =>
    db
      .select({ n: count() })
      .from(jobPages)
      .where(and(eq(jobPages.jobId, jobs.id), eq(jobPages.failed, true)));
  const listed = lazily(() => ({
    id: jobs.id,
    kind: jobs.kind,
    accountId: jobs.accountId,
    state: jobs.state,
    input: jobs.input,
    progress: jobs.progress,
    error: jobs.error,
    frontierSize: jobs.frontierSize,
    heldBytes: jobs.heldBytes,
    failedPages: sql<number>`(${failedPages()})`.mapWith(Number),
    createdAtMs: jobs.createdAtMs,
    deadlineAtMs: jobs.deadlineAtMs,
    finishedAtMs: jobs.finishedAtMs,
    expiresAtMs: jobs.expiresAtMs,
  }));
  const exists = () => or(isNull(jobs.expiresAtMs), gt(jobs.expiresAtMs, clock.now()));
  return {
    /** An account's jobs, latest first. `before` is the last job of the preceding page. */
    async listJobs(accountId: string, { before, limit }: { before?: JobPlace; limit: number }): Promise<ListedJob[]> {
      const further =
        before === undefined
          ? undefined
          : or(
              lt(jobs.createdAtMs, before.createdAtMs),
              and(eq(jobs.createdAtMs, before.createdAtMs), lt(byBytes(jobs.id), before.id)),
            );
      return db
        .select(listed())
        .from(jobs)
        .where(and(eq(jobs.accountId, accountId), exists(), further))
        .orderBy(desc(jobs.createdAtMs), desc(byBytes(jobs.id)))
        .limit(limit)
        .all();
    },

    /** One job of an account, of any kind. */
    async findListedJob(accountId: string, id: string): Promise<ListedJob | undefined> {
      const own = and(eq(jobs.id, id), eq(jobs.accountId, accountId));
      return db.select(listed()).from(jobs).where(and(own, exists())).get();
    },

    /** Unfinished jobs of all accounts, latest first, each with its account's name. */
    async listOpenJobs(limit: number): Promise<(ListedJob & { readonly username: string })[]> {
      return db
        .select({ ...listed(), username: accounts.username })
        .from(jobs)
        .innerJoin(accounts, eq(accounts.id, jobs.accountId))
        .where(inArray(jobs.state, [...OPEN_STATES]))
        .orderBy(desc(jobs.createdAtMs), desc(byBytes(jobs.id)))
        .limit(limit)
        .all();
    },

    /** A job's account and kind. */
    async findJobOwner(id: string): Promise<{ kind: string; accountId: string } | undefined> {
      return db
        .select({ kind: jobs.kind, accountId: jobs.accountId })
        .from(jobs)
        .where(and(eq(jobs.id, id), exists()))
        .get();
    },
  };
}
