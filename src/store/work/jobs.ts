// Jobs: claimed by lease, so that one whose process died is resumed, and finished once: a final state never changes. A job
// past its time to live no longer exists, even before it is swept.

import { and, asc, count, eq, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { jobLists } from "./job-lists.ts";
import { OPEN_STATES } from "./job-states.ts";
import { jobAnswers, jobs } from "./schema.ts";

/** A job as stored. */
export type Job = typeof jobs.$inferSelect;

/** The fields of a new job. */
export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Its hard deadline. */
  readonly deadlineAtMs: number;
}

/** The outcome of a job. */
export interface JobEnd {
  readonly state: "completed" | "failed" | "cancelled";
  readonly result?: Readonly<Record<string, unknown>> | null;
  readonly error?: Readonly<Record<string, unknown>> | null;
  /** How long its result can be fetched. */
  readonly ttlMs: number;
}

/** Verbs over jobs. */
export type JobStore = ReturnType<typeof jobStore>;

// A job may have thousands of pages, which are deleted with it.
const DELETE_BATCH = 5;

/** Builds the verbs. */
export function jobStore(store: Store) {
  const parts = jobParts(store);
  return { ...openJobs(store, parts), ...leasingJobs(store, parts), ...endingJobs(store, parts), ...jobLists(store) };
}

/** Conditions and steps that several verbs share. */
type Parts = ReturnType<typeof jobParts>;

function jobParts({ db, clock }: Store) {
  return {
    isOpen: () => inArray(jobs.state, [...OPEN_STATES]),
    /** Not past its time to live. */
    exists: () => or(isNull(jobs.expiresAtMs), gt(jobs.expiresAtMs, clock.now())),
    change: (where: SQL | undefined, set: Partial<Job>) =>
      db.update(jobs).set(set).where(where).returning({ id: jobs.id }).all(),
  };
}

function openJobs(store: Store, { isOpen, exists }: Parts) {
  const { db, clock } = store;
  return {
    /** Queues a job. */
    async createJob(job: NewJob): Promise<Job> {
      return db
        .insert(jobs)
        .values({ ...job, state: "queued", progress: {}, createdAtMs: clock.now() })
        .returning()
        .get();
    },

    /** A job of this kind and account. */
    async findJob(kind: string, accountId: string, id: string): Promise<Job | undefined> {
      const own = and(eq(jobs.id, id), eq(jobs.kind, kind), eq(jobs.accountId, accountId));
      return db.select().from(jobs).where(and(own, exists())).get();
    },

    /** How many jobs of an account are queued or running. */
    async countOpenJobs(accountId: string): Promise<number> {
      return db.$count(jobs, and(eq(jobs.accountId, accountId), isOpen()));
    },

    /** How many jobs are unclaimed. */
    async countQueued(): Promise<number> {
      return (await db.select({ n: count() }).from(jobs).where(eq(jobs.state, "queued")).get())?.n ?? 0;
    },
  };
}

function leasingJobs(store: Store, { change }: Parts) {
  const { db, clock, takingRows } = store;
  const others = alias(jobs, "others");
  const runningOfAccount = db
    .select({ n: count() })
    .from(others)
    .where(and(eq(others.accountId, jobs.accountId), eq(others.state, "running")));
  return {
    /**
     * Claims a job that nobody works on: queued, or running under an expired lease. Takes the oldest of the account with the
     * fewest running jobs, so that one account's many jobs do not delay another's few.
     */
    async claimJob(input: { owner: string; leaseMs: number; kinds: readonly string[] }): Promise<Job | undefined> {
      const nowMs = clock.now();
      const free = or(eq(jobs.state, "queued"), and(eq(jobs.state, "running"), lte(jobs.leaseUntilMs, nowMs)));
      const next = db
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(inArray(jobs.kind, [...input.kinds]), free))
        .orderBy(asc(sql`(${runningOfAccount})`), asc(jobs.createdAtMs), asc(byBytes(jobs.id)))
        .limit(1)
        .getSQL();
      return db
        .update(jobs)
        .set({ state: "running", owner: input.owner, leaseUntilMs: nowMs + input.leaseMs })
        .where(eq(jobs.id, sql`(${next}${sql.raw(takingRows)})`))
        .returning()
        .get();
    },

    /** Renews the lease of a claimed job; false if another owner has it, it has ended or it is gone: then stop. */
    async renewJob(id: string, owner: string, leaseMs: number): Promise<boolean> {
      const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
      return (await change(mine, { leaseUntilMs: clock.now() + leaseMs })).length > 0;
    },

    /** Releases all jobs of an owner that stops, so that another can resume them; returns how many. */
    async releaseJobs(owner: string): Promise<number> {
      const released = await change(and(eq(jobs.owner, owner), eq(jobs.state, "running")), {
        state: "queued",
        owner: null,
        leaseUntilMs: null,
      });
      return released.length;
    },

    /** Stores the progress of a running job; false if it is not running (any more). */
    async saveProgress(id: string, owner: string, progress: Readonly<Record<string, unknown>>): Promise<boolean> {
      const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
      return (await change(mine, { progress })).length > 0;
    },
  };
}

function endingJobs(store: Store, { isOpen, exists, change }: Parts) {
  const { db, clock, statement } = store;
  const forgetAnswers = (id: string) => db.delete(jobAnswers).where(eq(jobAnswers.jobId, id)).run();
  const deleteOld = statement("DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE expires_at <= ? LIMIT ?)");

  return {
    /** Ends a claimed job; false if it has already ended, has another owner or is gone. */
    async finishJob(id: string, owner: string, end: JobEnd): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
        const changed = yield* step(() => change(mine, ended(clock.now(), end)));
        if (changed.length > 0) yield* step(() => forgetAnswers(id));
        return changed.length > 0;
      });
    },

    /** Cancels a job unless it has ended. Returns the job afterwards; undefined if there is none. */
    async cancelJob(job: { kind: string; accountId: string; id: string; ttlMs: number }): Promise<Job | undefined> {
      return store.transaction(function* (): Work<Job | undefined> {
        const own = and(eq(jobs.id, job.id), eq(jobs.kind, job.kind), eq(jobs.accountId, job.accountId));
        const cancelled = ended(clock.now(), { state: "cancelled", ttlMs: job.ttlMs });
        const changed = yield* step(() => change(and(own, isOpen()), cancelled));
        if (changed.length > 0) yield* step(() => forgetAnswers(job.id));
        return yield* step(() => db.select().from(jobs).where(and(own, exists())).get());
      });
    },

    /**
     * Deletes a batch of the jobs past their time to live, with pages and frontier; returns how many, 0 when none is left.
     */
    async deleteExpiredJobs(): Promise<number> {
      return (await deleteOld.run([clock.now(), DELETE_BATCH])).changes;
    },
  };
}

function ended(nowMs: number, end: JobEnd): Partial<Job> {
  return {
    state: end.state,
    result: end.result ?? null,
    error: end.error ?? null,
    owner: null,
    leaseUntilMs: null,
    finishedAtMs: nowMs,
    expiresAtMs: nowMs + end.ttlMs,
  };
}
