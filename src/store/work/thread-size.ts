// The size of a thread, including everything that belongs to it.

import { type SQL, sql } from "drizzle-orm";

/** The large values of the thread itself and of its items. */
const LARGE_VALUES_BYTES =
  sql.raw(`COALESCE((SELECT large.bytes FROM large_values AS large WHERE large.id = threads.value_id), 0)
  + COALESCE((SELECT SUM(large.bytes) FROM thread_items AS part JOIN large_values AS large ON large.id = part.value_id
    WHERE part.account_id = threads.account_id AND part.kind = threads.kind AND part.thread_id = threads.thread_id), 0)`);

/** SQL for the bytes of a thread in a query on `threads`: its own, its summaries' and its items'. */
export const THREAD_BYTES: SQL<number> = sql<number>`octet_length(threads.thread_id) + octet_length(threads.state)
  + ${LARGE_VALUES_BYTES} + ${sizeWithin("thread_summaries")} + ${sizeWithin("thread_items")}`;

/**
 * SQL for what a thread takes of its account's storage. Its row counts 1,024 bytes besides its content and an item's row 256
 * (migration 0016), since requests that make them are not limited: millions of empty ones would fit into a quota of text.
 */
export const THREAD_COST_BYTES: SQL<number> = sql<number>`${THREAD_BYTES} + 1024 + 256 * (SELECT COUNT(*) FROM thread_items AS part
  WHERE part.account_id = threads.account_id AND part.kind = threads.kind AND part.thread_id = threads.thread_id)`;

/**
 * SQL for the bytes of the current thread in a table. Names are qualified, since drizzle does not qualify the columns
 * of a query on a single table.
 */
function sizeWithin(table: "thread_items" | "thread_summaries"): SQL {
  return sql.raw(`COALESCE((SELECT SUM(octet_length(part.state)) FROM ${table} AS part WHERE part.account_id = threads.account_id
    AND part.kind = threads.kind AND part.thread_id = threads.thread_id), 0)`);
}
