// Reads the sums of all accounts a thousand rows at a time. SQLite answers on the event loop, where half a million sums would take
// a second at once.

import { and, asc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";

/** A slice takes a few milliseconds, also where each row is a group of its own. */
const SLICE_ROWS = 1000;

/** What is read in slices. */
export interface SlicedSums<Row> {
  readonly table: SQLiteTable;
  /** The columns of the table's primary key from the slot on. */
  readonly keys: readonly SQLiteColumn[];
  /** The value of the column of the key before the slot, where there is one. */
  readonly ofUnit?: SQL | undefined;
  /** The first slot and the last one. */
  readonly from: number;
  readonly to: number;
  /** Reads the sums of some of the rows: all of them at once with `limit`, or of a slice. */
  read(where: SQL | undefined, limit: number | undefined): Promise<Row[]>;
  /** The members that name a group, in the order by which groups are sorted; all others are added up. */
  readonly groups: readonly (keyof Row & string)[];
  /** How many groups are wanted. */
  readonly limit?: number | undefined;
}

/** The sums by group, in order. */
export async function sumsInSlices<Row extends object>(
  { db, engine }: Pick<Store, "db" | "engine">,
  { table, keys, ofUnit, from, to, read, groups, limit }: SlicedSums<Row>,
): Promise<Row[]> {
  const slot = keys[0] as SQLiteColumn;
  const [first, end] = [sql`${slot} >= ${from}`, sql`${slot} < ${to + 1}`];
  // PostgreSQL works elsewhere.
  if (engine !== "sqlite") return read(and(ofUnit, first, end), limit);
  const columns = sql.join([...keys], sql`, `);
  const row = Object.fromEntries(keys.map((key, at) => [`k${at}`, key]));
  const order = keys.map((key) => asc(key.dataType === "string" ? byBytes(key) : key));
  const merged = new MergedSums<Row>(groups, limit);
  // With two conditions for one bound, SQLite would search the index by the looser one.
  for (let start = first; ; ) {
    const ends = db
      .select(row)
      .from(table)
      .where(and(ofUnit, start, end))
      .orderBy(...order);
    const last = await ends
      .limit(1)
      .offset(SLICE_ROWS - 1)
      .get();
    // Most tables are small.
    if (last === undefined && start === first) return read(and(ofUnit, first, end), limit);
    const values = last && sql`(${sql.join(Object.values(last).map(bound), sql`, `)})`;
    merged.add(await read(and(ofUnit, start, values === undefined ? end : sql`(${columns}) <= ${values}`), undefined));
    if (values === undefined) return merged.sorted();
    start = sql`(${columns}) > ${values}`;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const bound = (value: unknown): SQLWrapper => sql`${value}`;

/** Sums of slices, added up by group. */
class MergedSums<Row extends object> {
  readonly #groups: readonly (keyof Row & string)[];
  readonly #limit: number;
  #rows = new Map<string, Row>();
  /** The last group that is wanted; what comes after it cannot be wanted any more. */
  #last: Row | undefined;

  constructor(groups: readonly (keyof Row & string)[], limit = Number.POSITIVE_INFINITY) {
    this.#groups = groups;
    this.#limit = limit;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      if (this.#last !== undefined && this.#compare(row, this.#last) > 0) continue;
      const id = this.#groups.map((name) => row[name]).join("\0");
      const known = this.#rows.get(id) as Record<string, unknown> | undefined;
      if (known === undefined) this.#rows.set(id, row);
      else
        for (const [name, amount] of Object.entries(row))
          if (!(this.#groups as readonly string[]).includes(name)) known[name] = (known[name] as number) + amount;
    }
    if (this.#rows.size <= 2 * this.#limit) return;
    const kept = this.sorted();
    this.#last = kept.at(-1);
    this.#rows = new Map(kept.map((row) => [this.#groups.map((name) => row[name]).join("\0"), row]));
  }

  sorted(): Row[] {
    const rows = [...this.#rows.values()].sort((a, b) => this.#compare(a, b));
    return rows.length > this.#limit ? rows.slice(0, this.#limit) : rows;
  }

  #compare(a: Row, b: Row): number {
    for (const name of this.#groups) {
      const order = compared(a[name], b[name]);
      if (order !== 0) return order;
    }
    return 0;
  }
}

/** The order of two numbers, or of two texts by their bytes. */
function compared(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [String(a), String(b)];
  if (one === other) return 0;
  // Only above the surrogates the order of UTF-16 is another one.
  if (/[\ud800-\uffff]/.test(one + other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
