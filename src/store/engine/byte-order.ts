// How text is ordered: by its bytes, whatever the database's own idea of an alphabet is. Every comparison of text for
// greater or less, and every sorting of it, goes through here, so that two engines page through the same rows in the same
// order.

import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A text column as something to sort by, or to compare with `lt` and `gt`, by bytes. */
export function byBytes(column: SQLiteColumn): SQL {
  // SQLite's default, said aloud: an index over the column still serves it.
  return sql`${column} COLLATE BINARY`;
}
