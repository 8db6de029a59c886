// The size of a thread with everything that belongs to it.

import { type SQL, sql } from "drizzle-orm";

/** Bytes of a thread in a query on `threads`: its own, its summaries' and its items'. */
export const THREAD_BYTES: SQL<number> = sql<number>`octet_length(threads.thread_id) + octet_length(threads.state)
  + ${sizeWithin("thread_summaries")} + ${sizeWithin("thread_items")}`;

/** A table's bytes for the current thread; with qualified names, as the columns of a single-table query are unqualified. */
function sizeWithin(table: "thread_items" | "thread_summaries"): SQL {
  return sql.raw(`COALESCE((SELECT SUM(octet_length(part.state)) FROM ${table} AS part WHERE part.account_id = threads.account_id
    AND part.kind = threads.kind AND part.thread_id = threads.thread_id), 0)`);
}
