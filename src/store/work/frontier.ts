// The pages that a crawl has found, and those that it has visited. A page and its links are written in one transaction,
// so that a program stopped between two pages neither loses a page nor fetches one twice.

import { and, asc, count, eq, gte, inArray, lte, sql } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import { createPause } from "../../base/time-slices.ts";
import { type Store, step, steps, type Work } from "../engine/store.ts";
import { type JobLease, jobHold } from "./job-hold.ts";
import { jobFrontier, jobPages, jobs } from "./schema.ts";

/** A page to visit. */
export interface FrontierEntry {
  /** The normalised address, equal for all spellings of a page. */
  readonly urlKey: string;
  readonly url: string;
  readonly depth: number;
}

/** A page of a job: its content, or why it has none. */
export interface JobPage {
  readonly url: string;
  readonly failed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A page of a job, identified by its address. */
export type JobPageHead = Pick<JobPage, "url" | "failed"> & {
  /** Its stored content. */
  readonly bytes: number;
};

/** Selects the pages of a job. */
export interface PageWindow {
  readonly failed?: boolean;
  readonly offset?: number;
  readonly limit?: number;
  readonly bytesMax?: number;
}

/** Verbs over a job's pages and frontier. */
export type FrontierStore = ReturnType<typeof frontierStore>;

const PAGE_MAX = 1000;

/** A page that was visited. */
export interface FrontierVisit {
  readonly urlKey: string;
  readonly page?: JobPage;
  readonly aliases?: readonly FrontierEntry[];
  readonly links?: Iterable<FrontierEntry>;
  /** Maximum size of the frontier. */
  readonly frontierMax: number;
  /** Replaces the job's progress. Stored separately it would be wrong if the program stopped between the two writes. */
  readonly progress?: Readonly<Record<string, unknown>>;
}

/** Builds the verbs. Those that write for a worker throw `JobLost` where it does not hold the job any more. */
export function frontierStore(store: Store) {
  const addAll = frontierAdder(store);
  return {
    ...takingFrontier(store, addAll),
    ...visiting(store, addAll),
    ...countingPages(store),
    ...readingPages(store),
  };
}

/** How entries are added. */
interface Adding {
  /** Maximum size of the frontier. */
  readonly max: number;
  readonly state: "waiting" | "done";
}

type AddAll = ReturnType<typeof frontierAdder>;

function frontierAdder({ db, statement }: Store) {
  const add = statement(
    `INSERT INTO job_frontier (job_id, url_key, url, depth, seq, state) VALUES ($jobId, $urlKey, $url, $depth, $seq, $state)
     ON CONFLICT (job_id, url_key) DO NOTHING`,
  );
  const size = lazily(() =>
    db
      .select({ n: jobs.frontierSize })
      .from(jobs)
      .where(eq(jobs.id, sql.placeholder("jobId")))
      .prepare(),
  );

  /**
   * Adds entries up to `max` in all; returns how many were new. A deleted job takes none. Call within a transaction.
   */
  return function* addAll(jobId: string, entries: Iterable<FrontierEntry>, how: Adding): Work<number> {
    const before = (yield* step(() => size().get({ jobId })))?.n ?? how.max;
    let seq = before;
    let bytes = 0;
    for (const { urlKey, url, depth } of entries) {
      if (seq >= how.max) break;
      const row = { jobId, urlKey, url, depth, seq, state: how.state };
      if ((yield* step(() => add.run(row))).changes === 0) continue;
      seq++;
      bytes += Buffer.byteLength(urlKey) + Buffer.byteLength(url);
    }
    // Updated once for all entries: a trigger would update the job once for every link of a page.
    const heldBytes = sql`${jobs.heldBytes} + ${bytes}`;
    const set = { frontierSize: seq, heldBytes };
    if (seq > before) yield* step(() => db.update(jobs).set(set).where(eq(jobs.id, jobId)).run());
    return seq - before;
  };
}

function takingFrontier(store: Store, addAll: AddAll) {
  const { db, statement, engine } = store;
  const hold = jobHold(store);
  const openJob = statement(
    `SELECT id FROM jobs WHERE id = ? AND state IN ('queued', 'running')${engine === "postgres" ? " FOR NO KEY UPDATE" : ""}`,
  );
  const take = lazily(() => {
    const next = db
      .select({ urlKey: jobFrontier.urlKey })
      .from(jobFrontier)
      .where(and(eq(jobFrontier.jobId, sql.placeholder("jobId")), eq(jobFrontier.state, "waiting")))
      .orderBy(asc(jobFrontier.depth), asc(jobFrontier.seq))
      .limit(sql.placeholder("limit"));
    const { urlKey, url, depth, seq } = jobFrontier;
    return db
      .update(jobFrontier)
      .set({ state: "taken" })
      .where(and(eq(jobFrontier.jobId, sql.placeholder("jobId")), inArray(jobFrontier.urlKey, next)))
      .returning({ urlKey, url, depth, seq })
      .prepare();
  });
  const pause = createPause();
  return {
    /** Adds pages to visit that are not known yet, while fewer than `max` are known; returns how many were added. */
    async addFrontier(job: JobLease, entries: Iterable<FrontierEntry>, max: number): Promise<number> {
      return store.transaction(function* (): Work<number> {
        yield* hold(job);
        return yield* addAll(job.id, entries, { max, state: "waiting" });
      });
    },

    /** The same for the client of a job, whoever works on it; undefined, and nothing is added, if the job has ended. */
    async appendFrontier(jobId: string, entries: Iterable<FrontierEntry>, max: number): Promise<number | undefined> {
      return store.transaction(function* (): Work<number | undefined> {
        if ((yield* step(() => openJob.get([jobId]))) === null) return undefined;
        return yield* addAll(jobId, entries, { max, state: "waiting" });
      });
    },

    /**
     * Takes up to `limit` pages to visit: breadth first, in order of discovery. Lets other work run in between, as a job whose
     * pages are all refused at once would otherwise go through them in one step.
     */
    async takeFrontier(job: JobLease, limit: number): Promise<FrontierEntry[]> {
      await pause();
      const taken = await store.transaction(function* () {
        yield* hold(job);
        return yield* step(() => take().all({ jobId: job.id, limit }));
      });
      return taken
        .sort((a, b) => a.depth - b.depth || a.seq - b.seq)
        .map((entry) => ({ urlKey: entry.urlKey, url: entry.url, depth: entry.depth }));
    },

    /** After a restart, pages that were taken and not finished are to be visited again; returns how many. */
    async resetFrontier(job: JobLease): Promise<number> {
      return store.transaction(function* (): Work<number> {
        yield* hold(job);
        const taken = yield* step(() =>
          db
            .update(jobFrontier)
            .set({ state: "waiting" })
            .where(and(eq(jobFrontier.jobId, job.id), eq(jobFrontier.state, "taken")))
            .returning({ seq: jobFrontier.seq })
            .all(),
        );
        return taken.length;
      });
    },
  };
}

function visiting(store: Store, addAll: AddAll) {
  const { db, statement } = store;
  const hold = jobHold(store);
  const page = statement(
    `INSERT INTO job_pages (job_id, seq, url, failed, body)
     SELECT id, (SELECT COALESCE(MAX(seq), -1) + 1 FROM job_pages WHERE job_id = $jobId), $url, $failed, $body
     FROM jobs WHERE id = $jobId`,
  );
  const forget = statement("DELETE FROM job_answers WHERE job_id = ? AND url_key = ?");
  const markDone = statement("UPDATE job_frontier SET state = 'done' WHERE job_id = ? AND url_key = ?");
  return {
    /**
     * Records a visit in one transaction: the content of the page (none if it is not part of the result), other
     * addresses that turned out to be the same page, its links, and the job's progress. Deletes the site's stored
     * response. Returns the number of new links.
     */
    async saveVisit(job: JobLease, visit: FrontierVisit): Promise<number> {
      const jobId = job.id;
      return store.transaction(function* (): Work<number> {
        yield* hold(job);
        yield* steps([() => markDone.run([jobId, visit.urlKey]), () => forget.run([jobId, visit.urlKey])]);
        const aliases = visit.aliases ?? [];
        yield* addAll(jobId, aliases, { max: Number.MAX_SAFE_INTEGER, state: "done" });
        for (const { urlKey } of aliases) yield* step(() => markDone.run([jobId, urlKey]));
        if (visit.page !== undefined) {
          const { url, failed, body } = visit.page;
          yield* step(() => page.run({ jobId, url, failed, body: JSON.stringify(body) }));
        }
        const { progress } = visit;
        if (progress !== undefined)
          yield* step(() => db.update(jobs).set({ progress }).where(eq(jobs.id, jobId)).run());
        return yield* addAll(jobId, visit.links ?? [], { max: visit.frontierMax, state: "waiting" });
      });
    },
  };
}

function countingPages({ db }: Store) {
  const jobId = sql.placeholder("jobId");
  // Prepared, since clients poll: building a statement takes longer than running it.
  const states = lazily(() =>
    db
      .select({ state: jobFrontier.state, n: count() })
      .from(jobFrontier)
      .where(eq(jobFrontier.jobId, jobId))
      .groupBy(jobFrontier.state)
      .prepare(),
  );
  const outcomes = lazily(() => {
    const failed = sql<number>`COUNT(CASE WHEN ${jobPages.failed} THEN 1 END)`;
    return db.select({ pages: count(), failed }).from(jobPages).where(eq(jobPages.jobId, jobId)).prepare();
  });
  return {
    /** The number of pages in each state of a job's frontier. */
    async countFrontier(id: string): Promise<{ waiting: number; taken: number; done: number }> {
      const rows = await states().all({ jobId: id });
      const of = (state: string) => rows.find((row) => row.state === state)?.n ?? 0;
      return { waiting: of("waiting"), taken: of("taken"), done: of("done") };
    },

    /** The number of pages of a job, and of those that failed. */
    async countPages(id: string): Promise<{ pages: number; failed: number }> {
      const row = await outcomes().get({ jobId: id });
      return { pages: row?.pages ?? 0, failed: row?.failed ?? 0 };
    },
  };
}

/** The statements of a list of pages: of those with or without content, or of all. */
function listing({ db }: Store, failed?: boolean) {
  const kind = failed === undefined ? undefined : eq(jobPages.failed, failed);
  const own = and(eq(jobPages.jobId, sql.placeholder("jobId")), kind);
  const { seq, url, body } = jobPages;
  const within = and(own, gte(seq, sql.placeholder("first")), lte(seq, sql.placeholder("last")));
  return {
    sizes: db
      .select({ seq, bytes: sql<number>`octet_length(${body})` })
      .from(jobPages)
      .where(own)
      .orderBy(asc(seq))
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("offset"))
      .prepare(),
    rows: db.select({ url, failed: jobPages.failed, body }).from(jobPages).where(within).orderBy(asc(seq)).prepare(),
  };
}

function readingPages(store: Store) {
  const { db } = store;
  // Prepared, since clients poll.
  const allPages = lazily(() => listing(store));
  const failedPages = lazily(() => listing(store, true));
  const goodPages = lazily(() => listing(store, false));
  const page = lazily(() =>
    db
      .select({ body: jobPages.body })
      .from(jobPages)
      .where(and(eq(jobPages.jobId, sql.placeholder("jobId")), eq(jobPages.seq, sql.placeholder("seq"))))
      .prepare(),
  );
  return {
    /**
     * Pages of a job in order of completion; `failed` selects those with or without content. At most `limit` pages and
     * `bytesMax` bytes, but always at least one page.
     */
    async listPages(jobId: string, options: PageWindow = {}): Promise<JobPage[]> {
      const { failed, offset = 0, limit = PAGE_MAX, bytesMax = Number.POSITIVE_INFINITY } = options;
      const { sizes, rows } = failed === undefined ? allPages() : failed ? failedPages() : goodPages();
      let bytes = 0;
      const seqs: number[] = [];
      for (const size of await sizes.all({ jobId, limit: Math.min(limit, PAGE_MAX), offset })) {
        bytes += size.bytes;
        if (seqs.length > 0 && bytes > bytesMax) break;
        seqs.push(size.seq);
      }
      const [first, last] = [seqs[0], seqs.at(-1)];
      if (first === undefined || last === undefined) return [];
      return rows.all({ jobId, first, last });
    },

    /** The addresses of a job's pages in order of completion, without content. */
    async listPageHeads(jobId: string): Promise<JobPageHead[]> {
      return db
        .select({ url: jobPages.url, failed: jobPages.failed, bytes: sql<number>`octet_length(${jobPages.body})` })
        .from(jobPages)
        .where(eq(jobPages.jobId, jobId))
        .orderBy(asc(jobPages.seq))
        .limit(PAGE_MAX)
        .all();
    },

    /** The values under `keys` of each page in a job's result, without its content. Yields to other work in between. */
    async listPageKeys(jobId: string): Promise<string[]> {
      const own = and(eq(jobPages.jobId, jobId), eq(jobPages.failed, false));
      const seqs = await db.select({ seq: jobPages.seq }).from(jobPages).where(own).orderBy(asc(jobPages.seq)).all();
      const pause = createPause();
      const found: string[] = [];
      for (const { seq } of seqs) {
        await pause();
        const { keys } = (await page().get({ jobId, seq }))?.body ?? {};
        if (Array.isArray(keys)) found.push(...(keys as string[]));
      }
      return found;
    },
  };
}
