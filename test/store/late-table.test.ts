// A late table is the table that `sqliteTable` makes, made when it is first used.

import { expect, test } from "bun:test";
import { eq, getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { getTableConfig, index, integer, SQLiteTable, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { lateTable } from "../../src/store/late-table.ts";

const columns = () => ({ id: text("id").primaryKey(), count: integer("count").notNull().default(3) });
const db = drizzle(async () => ({ rows: [] }));

/** A table with a function that says how often its columns were made. */
function counted() {
  let made = 0;
  const table = lateTable(
    "things",
    () => {
      made++;
      return columns();
    },
    (t) => [index("things_count").on(t.count)],
  );
  return { table, made: () => made };
}

/** Ways to use a table first. Each has what `sqliteTable` would give. */
const USES: Readonly<Record<string, (table: ReturnType<typeof counted>["table"]) => unknown>> = {
  "a column": (table) => table.count.name,
  "its columns": (table) => Object.keys(getTableColumns(table)),
  "its name": (table) => getTableName(table),
  "whether it has a member": (table) => ["count" in table, "amount" in table],
  "what is missing": (table) => Reflect.get(table, "amount"),
  "a destructured column": ({ id }) => [id.name, id.primary],
  "a query": (table) => db.select().from(table).where(eq(table.id, "a")).toSQL(),
  "a query that names no column": (table) => db.select().from(table).toSQL(),
  "an insert": (table) => db.insert(table).values({ id: "a" }).toSQL(),
  "an update": (table) => db.update(table).set({ count: 4 }).toSQL(),
  "a deletion": (table) => db.delete(table).toSQL(),
  "its indexes": (table) => getTableConfig(table).indexes.map(({ config }) => config.name),
};

for (const [name, use] of Object.entries(USES)) {
  test(`used first by ${name}`, () => {
    const { table, made } = counted();
    const plain = sqliteTable("things", columns(), (t) => [index("things_count").on(t.count)]);
    expect(made()).toBe(0);
    expect(use(table)).toEqual(use(plain));
    expect(made()).toBe(1);
    // And again, by the same and by all others.
    for (const other of Object.values(USES)) expect(other(table)).toEqual(other(plain));
    expect(made()).toBe(1);
    expect(Object.getPrototypeOf(table)).toBe(SQLiteTable.prototype);
    expect(Reflect.ownKeys(table).map(String)).toEqual(Reflect.ownKeys(plain).map(String));
  });
}

test("what it is can be asked before its columns are made", () => {
  const { table, made } = counted();
  expect(table).toBeInstanceOf(SQLiteTable);
  expect(is(table, Table)).toBe(true);
  expect(made()).toBe(0);
});
