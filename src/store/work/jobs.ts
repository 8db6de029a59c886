// Jobs. A program claims a job by lease, so that another one can resume it if the program dies. A job ends once: its
// final state never changes. A job past its time to live no longer exists, even before it is deleted.

import { and, asc, count, eq, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import type { JobLease } from "./job-hold.ts";
import { jobLists } from "./job-lists.ts";
import { OPEN_STATES } from "./job-states.ts";
import { jobAnswers, jobs } from "./schema.ts";

/** A job as stored. */
export type Job = typeof jobs.$inferSelect;

/** A job as its worker gets it. */
export type HeldJob = Job & JobLease;

/** The fields of a new job. */
export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Its hard deadline. */
  readonly deadlineAtMs: number;
  /** Who alone may claim it at first, since a part of it is in that program's memory. */
  readonly reservedFor?: string;
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
/** A program that has not claimed the job that is reserved for it by then has ended. */
const RESERVED_MS = 60_000;

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
    /** The job, as long as this claim of it holds. */
    held: ({ id, lease }: JobLease) => and(eq(jobs.id, id), eq(jobs.lease, lease), eq(jobs.state, "running")),
    /** Not past its time to live. */
    exists: () => or(isNull(jobs.expiresAtMs), gt(jobs.expiresAtMs, clock.now())),
    change: (where: SQL | undefined, set: Partial<Job>) =>
      db.update(jobs).set(set).where(where).returning({ id: jobs.id }).all(),
  };
}

function openJobs(store: Store, { isOpen }: Parts) {
  const { db, clock } = store;
  // Prepared, since clients poll.
  const find = lazily(() => {
    const value = (name: string) => sql.placeholder(name);
    const own = and(eq(jobs.id, value("id")), eq(jobs.kind, value("kind")), eq(jobs.accountId, value("accountId")));
    return db
      .select()
      .from(jobs)
      .where(and(own, or(isNull(jobs.expiresAtMs), gt(jobs.expiresAtMs, value("nowMs")))))
      .prepare();
  });
  return {
    /** Queues a job. */
    async createJob({ reservedFor, ...job }: NewJob): Promise<Job> {
      const nowMs = clock.now();
      const reserved = reservedFor === undefined ? {} : { owner: reservedFor, leaseUntilMs: nowMs + RESERVED_MS };
      return db
        .insert(jobs)
        .values({ ...job, ...reserved, state: "queued", progress: {}, createdAtMs: nowMs })
        .returning()
        .get();
    },

    /** A job of this kind and account. */
    async findJob(kind: string, accountId: string, id: string): Promise<Job | undefined> {
      return find().get({ kind, accountId, id, nowMs: clock.now() });
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

function leasingJobs(store: Store, { change, held }: Parts) {
  const { db, clock, takingRows } = store;
  const released = { state: "queued", owner: null, lease: null, leaseUntilMs: null } as const;
  const runningOfAccount = lazily(() => {
    const others = alias(jobs, "others");
    const running = and(eq(others.accountId, jobs.accountId), eq(others.state, "running"));
    return db.select({ n: count() }).from(others).where(running);
  });
  return {
    /**
     * Claims a job that no program works on: a queued one that is not reserved for another, or one whose lease has expired.
     * Takes the oldest job of the account with the fewest running jobs, so that many jobs of one account do not delay the
     * few of another.
     */
    async claimJob(input: { owner: string; leaseMs: number; kinds: readonly string[] }): Promise<HeldJob | undefined> {
      const nowMs = clock.now();
      const mine = and(eq(jobs.state, "queued"), or(isNull(jobs.owner), eq(jobs.owner, input.owner)));
      const left = and(inArray(jobs.state, [...OPEN_STATES]), lte(jobs.leaseUntilMs, nowMs));
      const next = db
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(inArray(jobs.kind, [...input.kinds]), or(mine, left)))
        .orderBy(asc(sql`(${runningOfAccount()})`), asc(jobs.createdAtMs), asc(byBytes(jobs.id)))
        .limit(1)
        .getSQL();
      const lease = uuid();
      const claimed = await db
        .update(jobs)
        .set({ state: "running", owner: input.owner, lease, leaseUntilMs: nowMs + input.leaseMs })
        .where(eq(jobs.id, sql`(${next}${sql.raw(takingRows)})`))
        .returning()
        .get();
      return claimed && { ...claimed, lease };
    },

    /** Renews the lease of a claimed job; false if another has claimed it, it has ended or it is gone: then stop. */
    async renewJob(job: JobLease, leaseMs: number): Promise<boolean> {
      return (await change(held(job), { leaseUntilMs: clock.now() + leaseMs })).length > 0;
    },

    /** The claims of an owner that hold. */
    async heldJobs(owner: string): Promise<JobLease[]> {
      const own = and(eq(jobs.owner, owner), eq(jobs.state, "running"));
      const rows = await db.select({ id: jobs.id, lease: jobs.lease }).from(jobs).where(own).all();
      return rows.map(({ id, lease }) => ({ id, lease: lease ?? "" }));
    },

    /** Releases all jobs of an owner that starts, left by an earlier run; returns how many. */
    async releaseJobs(owner: string): Promise<number> {
      return (await change(and(eq(jobs.owner, owner), eq(jobs.state, "running")), released)).length;
    },

    /** Releases a claimed job, so that another can resume it; false if it is not held any more. */
    async releaseJob(job: JobLease): Promise<boolean> {
      return (await change(held(job), released)).length > 0;
    },

    /** Stores the progress of a claimed job; false if it is not held any more. */
    async saveProgress(job: JobLease, progress: Readonly<Record<string, unknown>>): Promise<boolean> {
      return (await change(held(job), { progress })).length > 0;
    },
  };
}

function endingJobs(store: Store, { isOpen, held, exists, change }: Parts) {
  const { db, clock, statement } = store;
  const forgetAnswers = (id: string) => db.delete(jobAnswers).where(eq(jobAnswers.jobId, id)).run();
  const deleteOld = statement("DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE expires_at <= ? LIMIT ?)");

  return {
    /** Ends a claimed job; false if it has already ended, another has claimed it or it is gone. */
    async finishJob(job: JobLease, end: JobEnd): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        const changed = yield* step(() => change(held(job), ended(clock.now(), end)));
        if (changed.length > 0) yield* step(() => forgetAnswers(job.id));
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
    lease: null,
    leaseUntilMs: null,
    finishedAtMs: nowMs,
    expiresAtMs: nowMs + end.ttlMs,
  };
}
