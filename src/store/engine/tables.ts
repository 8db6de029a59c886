// The tables and their columns, read from the schema: for code that handles all tables, such as copying a store.

import { getTableName, is, Table } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import * as access from "../access/schema.ts";
import * as decisions from "../decisions/schema.ts";
import * as main from "../schema.ts";
import * as work from "../work/schema.ts";

/** A table. */
export interface TableFacts {
  readonly name: string;
  readonly columns: readonly ColumnFacts[];
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** Whether the key is a number that the database generates. */
  readonly numbered: boolean;
  /** The tables that its rows refer to. */
  readonly refersTo: readonly string[];
}

/** A column. */
export interface ColumnFacts {
  readonly name: string;
  readonly kind: "text" | "number" | "truth" | "bytes";
}

/** Every table, each after the tables that it refers to. */
export const TABLES: readonly TableFacts[] = inOrder(
  Object.values({ ...main, ...access, ...work, ...decisions })
    .filter((table) => is(table, Table))
    .map((table) => factsOf(table as SQLiteTable)),
);

function factsOf(table: SQLiteTable): TableFacts {
  const { columns, primaryKeys, foreignKeys } = getTableConfig(table);
  const own = columns.filter(({ primary }) => primary);
  return {
    name: getTableName(table),
    columns: columns.map((column) => ({ name: column.name, kind: kindOf(column.dataType, column.getSQLType()) })),
    key: (primaryKeys[0]?.columns ?? own).map(({ name }) => name),
    numbered: own[0]?.getSQLType() === "integer",
    refersTo: foreignKeys.map((one) => getTableName(one.reference().foreignTable)),
  };
}

function kindOf(dataType: string, sqlType: string): ColumnFacts["kind"] {
  if (dataType === "boolean") return "truth";
  return sqlType === "text" ? "text" : sqlType === "blob" ? "bytes" : "number";
}

function inOrder(tables: readonly TableFacts[]): TableFacts[] {
  const unsorted = new Set(tables);
  const sorted: TableFacts[] = [];
  while (unsorted.size > 0) {
    const waiting = new Set([...unsorted].map(({ name }) => name));
    const ready = [...unsorted].filter(({ name, refersTo }) =>
      refersTo.every((one) => one === name || !waiting.has(one)),
    );
    if (ready.length === 0) throw new Error("tables refer to each other in a circle");
    for (const table of ready) {
      sorted.push(table);
      unsorted.delete(table);
    }
  }
  return sorted;
}
