// Copies a whole store from one engine to the other, table by table in small batches. Each batch notes its progress in
// the transaction that writes it, so that an interrupted copy can be continued. At the end, row counts and sums of both
// stores are compared.

import type { Bound } from "./store.ts";
import { StoreError } from "./store-error.ts";
import { type ColumnFacts, TABLES, type TableFacts } from "./tables.ts";

/** The store that is read. */
export interface CopySource {
  /** The rows of a query, as lists of values. */
  read(text: string, values: readonly Bound[]): Promise<readonly (readonly unknown[])[]>;
}

/** The empty store that is written. Its triggers and generated ids are inactive until the copy is complete. */
export interface CopyTarget extends CopySource {
  /** Runs a statement for each list of values, and then `note`, in one transaction. */
  write(text: string, rows: readonly (readonly Bound[])[], note: CopyNote): Promise<void>;
  /** The noted progress of each table. */
  notes(): Promise<ReadonlyMap<string, CopyNote>>;
}

/** The progress of a table. */
export interface CopyNote {
  readonly table: string;
  /** The key of the last row that was copied. */
  readonly last: readonly Bound[];
}

/** The sums of a copy. */
export interface CopySummary {
  readonly tables: number;
  readonly rows: number;
}

/** The number of rows in a batch. Tables with texts or bytes of any size have smaller batches. */
const BATCH = 500;
const LARGE_BATCH = 20;
const LARGE = new Set([
  "responses",
  "threads",
  "thread_summaries",
  "thread_items",
  "jobs",
  "job_pages",
  "job_answers",
  "debug_records",
  "large_value_parts",
]);
/** Columns are summed modulo this number: sums of times over millions of rows would exceed exact integers. */
const REST = 1_000_003;

/** Copies every table; `told` is called after each one is compared. Throws StoreError if the copy differs. */
export async function copyTables(
  source: CopySource,
  target: CopyTarget,
  told: (table: string, rows: number) => void,
): Promise<CopySummary> {
  const notes = await target.notes();
  for (const table of TABLES) {
    try {
      await copyTable(table, source, target, notes.get(table.name)?.last);
    } catch (error) {
      throw new StoreError(`The copy stopped in the table ${table.name}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  let rows = 0;
  for (const table of TABLES) {
    const text = figuresOf(table);
    const [[was], [is]] = [await source.read(text, []), await target.read(text, [])];
    const [before, after] = [(was ?? []).map(Number), (is ?? []).map(Number)];
    if (before.join() !== after.join())
      throw new StoreError(
        `The table ${table.name} differs after the copy: ${before.join(", ")} there, ${after.join(", ")} here. Was it written to meanwhile?`,
      );
    rows += before[0] ?? 0;
    told(table.name, before[0] ?? 0);
  }
  return { tables: TABLES.length, rows };
}

async function copyTable(
  table: TableFacts,
  source: CopySource,
  target: CopyTarget,
  from: readonly Bound[] | undefined,
): Promise<void> {
  const { name, key, columns } = table;
  const names = columns.map((column) => quoted(column.name));
  const marks = columns.map(() => "?").join(", ");
  const insert = `INSERT INTO ${quoted(name)} (${names.join(", ")}) VALUES (${marks})`;
  const at = key.map((column) => columns.findIndex((one) => one.name === column));
  const keys = key.map(quoted).join(", ");
  const limit = LARGE.has(name) ? LARGE_BATCH : BATCH;
  let last = from;
  for (;;) {
    const beyond = last === undefined ? "" : ` WHERE (${keys}) > (${key.map(() => "?").join(", ")})`;
    const text = `SELECT ${names.join(", ")} FROM ${quoted(name)}${beyond} ORDER BY ${keys} LIMIT ${limit}`;
    const rows = (await source.read(text, last ?? [])) as Bound[][];
    const final = rows.at(-1);
    if (final === undefined) return;
    last = at.map((index) => final[index] as Bound);
    await target.write(insert, rows, { table: name, last });
  }
}

/** A query for the number of rows and a sum for each column. */
function figuresOf({ name, columns }: TableFacts): string {
  return `SELECT COUNT(*), ${columns.map(sumOf).join(", ")} FROM ${quoted(name)}`;
}

function sumOf({ name, kind }: ColumnFacts): string {
  const column = quoted(name);
  if (kind === "truth") return `COALESCE(SUM(CASE WHEN ${column} THEN 1 ELSE 0 END), 0)`;
  return `COALESCE(SUM(${kind === "number" ? `${column} % ${REST}` : `octet_length(${column})`}), 0)`;
}

function quoted(name: string): string {
  return `"${name}"`;
}
