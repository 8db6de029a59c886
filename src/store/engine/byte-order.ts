// Orders text by its bytes, whatever collation the database has. Every comparison (greater or less) and every sort of text
// uses it, so that two engines page through the same rows in the same order.

import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A text column to sort by, or to compare with `lt` and `gt`, by bytes. */
export function byBytes(column: SQLiteColumn): SQL {
  // SQLite's default, stated explicitly; an index over the column is still used.
  return sql`${column} COLLATE BINARY`;
}
