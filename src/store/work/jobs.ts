// Jobs. A program claims a job by lease, so that another one can resume it if the program dies. A job ends once: its
// final state never changes. A job past its time to live no longer exists, even before it is deleted.

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
  /** How long its result stays available. */
  readonly ttlMs: number;
}

/** Verbs over jobs. */
export type JobStore = ReturnType<typeof jobStore>;

// A job may have thousands of pages, which are deleted together with it.
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
    /** The condition that the time to live is not over. */
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

    /** The number of queued or running jobs of an account. */
    async countOpenJobs(accountId: string): Promise<number> {
      return db.$count(jobs, and(eq(jobs.accountId, accountId), isOpen()));
    },

    /** The number of unclaimed jobs. */
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
     * Claims a job that no program works on: a queued one, or a running one whose lease has expired. Takes the oldest
     * job of the account with the fewest running jobs, so that many jobs of one account do not delay the few of
     * another.
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

    /**
     * Renews the lease of a claimed job; false if another program has claimed it, or it has ended or been deleted. The
     * work must then stop.
     */
    async renewJob(id: string, owner: string, leaseMs: number): Promise<boolean> {
      const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
      return (await change(mine, { leaseUntilMs: clock.now() + leaseMs })).length > 0;
    },

    /** Releases all jobs of a program that stops, so that others can resume them; returns their number. */
    async releaseJobs(owner: string): Promise<number> {
      const released = await change(and(eq(jobs.owner, owner), eq(jobs.state, "running")), {
        state: "queued",
        owner: null,
        leaseUntilMs: null,
      });
      return released.length;
    },

    /** Stores the progress of a running job; false if it is not running. */
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
    /** Ends a claimed job; false if it has already ended, has another owner or was deleted. */
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
