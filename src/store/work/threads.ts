// The last state of each conversation, for compaction. A thread's name is the client's; it belongs to one account.
import { and, eq, gt } from "drizzle-orm";
import type { Store } from "../engine/open.ts";
import { threads } from "./schema.ts";

/** A thread as stored. `state` is the gateway's own business. */
export type Thread = typeof threads.$inferSelect;

/** Verbs over threads. */
export type ThreadStore = ReturnType<typeof threadStore>;

const DELETE_BATCH = 200;

/** Builds the verbs. */
export function threadStore(store: Store) {
  const { db, clock, sqlite } = store;
  const deleteOld = sqlite.query(
    "DELETE FROM threads WHERE rowid IN (SELECT rowid FROM threads WHERE expires_at <= ? LIMIT ?)",
  );
  const own = (accountId: string, threadId: string) =>
    and(eq(threads.accountId, accountId), eq(threads.threadId, threadId));

  return {
    /** Stores the thread's state in place of the last one. */
    async saveThread(thread: Omit<Thread, "updatedAtMs">): Promise<void> {
      const row = { ...thread, updatedAtMs: clock.now() };
      db.insert(threads)
        .values(row)
        .onConflictDoUpdate({ target: [threads.accountId, threads.threadId], set: row })
        .run();
    },

    /** An account's thread. */
    async findThread(accountId: string, threadId: string): Promise<Thread | undefined> {
      const unexpired = gt(threads.expiresAtMs, clock.now());
      return db
        .select()
        .from(threads)
        .where(and(own(accountId, threadId), unexpired))
        .get();
    },

    /** Deletes some of the expired threads; gives how many, 0 when none is left. */
    async deleteExpiredThreads(): Promise<number> {
      return deleteOld.run(clock.now(), DELETE_BATCH).changes;
    },
  };
}
