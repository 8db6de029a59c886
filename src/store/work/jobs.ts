// Jobs: claimed by lease, so that one whose process died is taken up again, and finished once: a state that is final
// never changes. A job past its time to live does not exist, whenever it is swept.

import { and, asc, count, eq, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { jobLists } from "./job-lists.ts";
import { OPEN_STATES } from "./job-states.ts";
import { jobAnswers, jobs } from "./schema.ts";

/** A job as stored. */
export type Job = typeof jobs.$inferSelect;

/** What a new job is made of. */
export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Its hard limit. */
  readonly deadlineAtMs: number;
}

/** How a job ends. */
export interface JobEnd {
  readonly state: "completed" | "failed" | "cancelled";
  readonly result?: Readonly<Record<string, unknown>> | null;
  readonly error?: Readonly<Record<string, unknown>> | null;
  /** How long it can still be asked for. */
  readonly ttlMs: number;
}

/** Verbs over jobs. */
export type JobStore = ReturnType<typeof jobStore>;

// A job may own thousands of pages, which go with it.
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

    /** How many jobs no one has taken up yet. */
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
     * Takes up a job that no one works on: queued, or running under a lease that has ended. The oldest of the account
     * that has the fewest running, so that no account's many jobs keep another's few from beginning.
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

    /** Keeps a job one is working on; false when it is someone else's now, has ended or is gone: then stop. */
    async renewJob(id: string, owner: string, leaseMs: number): Promise<boolean> {
      const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
      return (await change(mine, { leaseUntilMs: clock.now() + leaseMs })).length > 0;
    },

    /** Gives back all jobs of an owner that stops, for another to continue with; returns how many. */
    async releaseJobs(owner: string): Promise<number> {
      const released = await change(and(eq(jobs.owner, owner), eq(jobs.state, "running")), {
        state: "queued",
        owner: null,
        leaseUntilMs: null,
      });
      return released.length;
    },

    /** Stores how far a running job is; false when it is not running (any more). */
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
    /** Ends a job one is working on; false when it has ended already, is someone else's or is gone. */
    async finishJob(id: string, owner: string, end: JobEnd): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        const mine = and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, "running"));
        const changed = yield* step(() => change(mine, ended(clock.now(), end)));
        if (changed.length > 0) yield* step(() => forgetAnswers(id));
        return changed.length > 0;
      });
    },

    /** Cancels a job unless it has ended. Returns the job as it is then; undefined when there is none. */
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
     * Deletes some of the jobs past their time to live, pages and frontier too; returns how many, 0 when none is left.
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
