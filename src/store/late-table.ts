// Tables whose columns are made when they are first used. A start uses few of them, and making all takes part of its time.

import { SQLiteTable, type SQLiteTableFn, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * A table like that of `sqliteTable`, with a function that returns its columns. Until something of it is read, it is an object without
 * members of its own; from then on it has them all.
 */
export const lateTable = ((name: string, columns: () => Record<string, never>, more?: () => []): SQLiteTable => {
  const fill = (): SQLiteTable => {
    const made = sqliteTable(name, columns, more);
    Object.setPrototypeOf(table, SQLiteTable.prototype);
    return Object.defineProperties(table, Object.getOwnPropertyDescriptors(made));
  };
  // Stands between the empty object and its class, and hears of the first member that is missing.
  const missing = new Proxy<SQLiteTable>(Object.create(SQLiteTable.prototype), {
    get: (_, key): unknown => Reflect.get(fill(), key),
    has: (_, key): boolean => Reflect.has(fill(), key),
  });
  const table: SQLiteTable = Object.create(missing);
  return table;
}) as SQLiteTableFn;
