// Stored conversations, and the summaries that stand for their earlier parts. A thread belongs to one account; the gateway
// seals its content, so here it is opaque bytes.

import { and, asc, desc, eq, gt, lte, type SQL } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import { once, type Store, step, type Work } from "../engine/store.ts";
import { requireStorable } from "../values.ts";
import { largeValueStore, readWhole } from "./large-values.ts";
import { threadSummaries, threads } from "./schema.ts";
import { threadItemVerbs } from "./thread-items.ts";
import type { ThreadName } from "./thread-name.ts";
import { THREAD_BYTES } from "./thread-size.ts";

/** A thread as stored. */
export type Thread = Omit<typeof threads.$inferSelect, "valueId">;
/** A summary as stored. */
export type ThreadSummary = typeof threadSummaries.$inferSelect;

/** Verbs over threads. */
export type ThreadStore = ReturnType<typeof threadStore>;

const DELETE_BATCH = 200;
/** The limit of summaries of one thread; above it the oldest is deleted. */
const SUMMARIES_MAX = 8;
/** Maximum number of threads in a list. */
const LIST_MAX = 200;

/** One statement decides. */
const ROW = { sees: "row" } as const;

/** Builds the verbs. */
export function threadStore(store: Store) {
  return { ...threadWriting(store), ...threadReading(store), ...summaryVerbs(store), ...threadItemVerbs(store) };
}

function ownThread({ accountId, kind, threadId }: ThreadName): SQL | undefined {
  return and(eq(threads.accountId, accountId), eq(threads.kind, kind), eq(threads.threadId, threadId));
}

function threadReading(store: Store) {
  const { db, clock } = store;
  const values = largeValueStore(store);
  return {
    /** An account's thread. */
    async findThread(name: ThreadName): Promise<Thread | undefined> {
      return readWhole(
        async () =>
          db
            .select()
            .from(threads)
            .where(and(ownThread(name), gt(threads.expiresAtMs, clock.now())))
            .get(),
        async ({ valueId, ...row }) => {
          const state = await values.read({ inRow: row.state, valueId });
          return state && { ...row, state };
        },
      );
    },

    /** An account's threads, latest first, without content. */
    async listThreads(accountId: string, kind: Thread["kind"], limit = LIST_MAX): Promise<ThreadOverview[]> {
      return db
        .select({
          threadId: threads.threadId,
          model: threads.model,
          messages: threads.messages,
          tokens: threads.tokens,
          bytes: THREAD_BYTES,
          createdAtMs: threads.createdAtMs,
          updatedAtMs: threads.updatedAtMs,
        })
        .from(threads)
        .where(and(eq(threads.accountId, accountId), eq(threads.kind, kind), gt(threads.expiresAtMs, clock.now())))
        .orderBy(desc(threads.updatedAtMs), desc(byBytes(threads.threadId)))
        .limit(Math.min(limit, LIST_MAX))
        .all();
    },
  };
}

function threadWriting(store: Store) {
  const { db, clock, statement } = store;
  const values = largeValueStore(store);
  const deleteOld = statement(
    `DELETE FROM threads WHERE (account_id, kind, thread_id) IN
       (SELECT account_id, kind, thread_id FROM threads WHERE expires_at <= ? LIMIT ?)`,
  );
  return {
    /** Stores the thread's state, replacing the last one. */
    async saveThread(thread: Omit<Thread, "createdAtMs" | "updatedAtMs">): Promise<void> {
      requireStorable({ threadId: thread.threadId, model: thread.model });
      const nowMs = clock.now();
      const { inRow: state, valueId } = await values.place(thread.accountId, thread.state);
      const row = { ...thread, state, valueId, updatedAtMs: nowMs };
      await once(
        store,
        function* (isRepeated): Work<void> {
          yield* step(() =>
            db
              .insert(threads)
              .values({ ...row, createdAtMs: nowMs })
              .onConflictDoUpdate({
                target: [threads.accountId, threads.kind, threads.threadId],
                set: row,
                // Meanwhile a later request may have stored its own.
                ...(isRepeated ? { setWhere: lte(threads.updatedAtMs, nowMs) } : {}),
              })
              .run(),
          );
        },
        ROW,
      );
    },

    /** Replaces the content of a thread and keeps its items; false if there is no such thread. */
    async changeThread(name: ThreadName, change: Pick<Thread, "state" | "expiresAtMs">): Promise<boolean> {
      const { inRow: state, valueId } = await values.place(name.accountId, change.state);
      const set = { ...change, state, valueId, updatedAtMs: clock.now() };
      const found = await once(
        store,
        function* (): Work<boolean> {
          const there = and(ownThread(name), gt(threads.expiresAtMs, clock.now()));
          const changed = yield* step(() =>
            db.update(threads).set(set).where(there).returning({ id: threads.threadId }).all(),
          );
          return changed.length > 0;
        },
        ROW,
      );
      // An earlier attempt took effect, or found no thread.
      if (found !== undefined) return found;
      return (await db.select({ id: threads.threadId }).from(threads).where(ownThread(name)).get()) !== undefined;
    },

    /** Deletes a thread with its summaries; false when there is none. */
    async deleteThread(name: ThreadName): Promise<boolean> {
      return (await db.delete(threads).where(ownThread(name)).returning({ id: threads.threadId }).all()).length > 0;
    },

    /** Deletes a batch of the expired threads; returns how many, 0 when none is left. */
    async deleteExpiredThreads(): Promise<number> {
      return (await deleteOld.run([clock.now(), DELETE_BATCH])).changes;
    },
  };
}

function summaryVerbs(store: Store) {
  const { db } = store;
  const summaryOf = ({ accountId, kind, threadId }: ThreadName) =>
    and(
      eq(threadSummaries.accountId, accountId),
      eq(threadSummaries.kind, kind),
      eq(threadSummaries.threadId, threadId),
    );
  return {
    /** Stores a new or changed summary of a stored thread; above the limit the oldest one is deleted. */
    async saveSummary(summary: ThreadSummary): Promise<void> {
      await once(store, function* (): Work<void> {
        yield* step(() =>
          db
            .insert(threadSummaries)
            .values(summary)
            .onConflictDoUpdate({
              target: [threadSummaries.accountId, threadSummaries.kind, threadSummaries.threadId, threadSummaries.id],
              set: { tokens: summary.tokens, state: summary.state },
            })
            .run(),
        );
        const old = yield* step(() =>
          db
            .select({ id: threadSummaries.id })
            .from(threadSummaries)
            .where(summaryOf(summary))
            .orderBy(desc(threadSummaries.createdAtMs), desc(byBytes(threadSummaries.id)))
            .offset(SUMMARIES_MAX)
            .limit(DELETE_BATCH)
            .all(),
        );
        for (const { id } of old) {
          const one = and(summaryOf(summary), eq(threadSummaries.id, id));
          yield* step(() => db.delete(threadSummaries).where(one).run());
        }
      });
    },

    /** Deletes a thread's summaries; returns how many. */
    async deleteSummaries(name: ThreadName): Promise<number> {
      const gone = await db.delete(threadSummaries).where(summaryOf(name)).returning({ id: threadSummaries.id }).all();
      return gone.length;
    },

    /** A thread's summaries, oldest first. */
    async summariesOf(name: ThreadName): Promise<ThreadSummary[]> {
      return db
        .select()
        .from(threadSummaries)
        .where(summaryOf(name))
        .orderBy(asc(threadSummaries.createdAtMs), asc(byBytes(threadSummaries.id)))
        .all();
    },
  };
}

/** A thread without content. */
export type ThreadOverview = Omit<Thread, "accountId" | "kind" | "state" | "expiresAtMs"> & {
  /** Its sealed size, with its items and summaries. */
  readonly bytes: number;
};
