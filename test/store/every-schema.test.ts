// A database of every schema since the first is upgraded with its rows, also after the upgrade was killed.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS, migrate } from "../../src/store/engine/migrate.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { upgradeStore } from "../../src/store/engine/upgrade.ts";
import { tempDir } from "./support.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
}

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const tablesOf = (sqlite: Database) =>
  (
    sqlite
      .query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '_migrations'",
      )
      .all() as { name: string }[]
  ).map(({ name }) => name);

/** A row in every table, each of the least that its columns ask for; references point to the first row of their table. */
function fill(sqlite: Database): Rows {
  const rows: Record<string, Record<string, unknown>> = {};
  const tables = tablesOf(sqlite);
  const add = (table: string): void => {
    if (rows[table] !== undefined) return;
    // Some tables are filled by triggers of others.
    const filled = sqlite.query(`SELECT * FROM "${table}"`).get() as Record<string, unknown> | null;
    if (filled !== null) {
      rows[table] = filled;
      return;
    }
    const keys = sqlite.query(`PRAGMA foreign_key_list("${table}")`).all() as {
      table: string;
      from: string;
      to: string;
    }[];
    for (const { table: other } of keys) if (other !== table) add(other);
    const row: Record<string, unknown> = {};
    for (const column of sqlite.query(`PRAGMA table_info("${table}")`).all() as Column[]) {
      const key = keys.find(({ from }) => from === column.name);
      if (key !== undefined && key.table !== table) row[column.name] = rows[key.table]?.[key.to];
      else if (column.notnull === 1 || column.pk > 0) row[column.name] = leastOf(column, table);
    }
    const names = Object.keys(row);
    sqlite
      .query(`INSERT INTO "${table}" (${names.map((n) => `"${n}"`).join()}) VALUES (${names.map(() => "?").join()})`)
      .run(...(Object.values(row) as string[]));
    rows[table] = row;
  };
  for (const table of tables) add(table);
  const first = (table: string) => sqlite.query(`SELECT * FROM "${table}"`).get() as Record<string, unknown>;
  return Object.fromEntries(tables.map((table) => [table, first(table)]));
}

function leastOf({ name, type }: Column, table: string): unknown {
  if (/int|real|num/i.test(type)) return 1;
  if (/blob/i.test(type)) return new Uint8Array([1]);
  return `${table}.${name}`;
}

/** A data directory whose database has the first `count` migrations and a row in every table. */
function made(count: number): { dataDir: string; rows: Rows } {
  const dataDir = join(tempDir(), "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const sqlite = new Database(join(dataDir, DATABASE_FILE), { create: true });
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA foreign_keys = ON");
  migrate(sqlite, 0, MIGRATIONS.slice(0, count));
  const rows = fill(sqlite);
  sqlite.close();
  return { dataDir, rows };
}

function counts(dataDir: string): Record<string, number> {
  const sqlite = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  const all = tablesOf(sqlite).map((table) => {
    const { n } = sqlite.query(`SELECT count(*) AS n FROM "${table}"`).get() as { n: number };
    return [table, n] as const;
  });
  sqlite.close();
  return Object.fromEntries(all);
}

/** Counted anew by migrations. */
const SUMS = "account_storage";
/** Threads of the time before summaries could not be read by what came after, and were dropped. */
const isDropped = (table: string, count: number) =>
  table === "threads" && count <= MIGRATIONS.findIndex(({ name }) => name === "0008_thread_summaries");

const OLDER = MIGRATIONS.slice(0, -1).map(({ name }, at) => [name, at + 1] as const);

test.each(OLDER)("the rows of a database that ends with %s are kept", async (_, count) => {
  const { dataDir, rows } = made(count);
  const before = counts(dataDir);
  expect(Object.keys(before).length).toBeGreaterThan(0);
  expect((await upgradeStore({ dataDir }))?.applied).toEqual(MIGRATIONS.slice(count).map(({ name }) => name));
  const store = openStore({ dataDir });
  try {
    for (const [table, row] of Object.entries(rows)) {
      const found = store.sqlite.query(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[];
      if (isDropped(table, count)) {
        expect([table, found.length]).toEqual([table, 0]);
        continue;
      }
      const now = found[0] ?? {};
      const isKept = (name: string) => name in now && (table !== SUMS || name === "account_id");
      const kept = Object.fromEntries(Object.entries(row).filter(([name]) => isKept(name)));
      expect([table, found.length, now]).toEqual([table, 1, { ...now, ...kept }]);
      expect(Object.keys(kept).length).toBeGreaterThan(0);
    }
  } finally {
    store.close();
  }
});

test("an upgrade that was killed in the middle leaves the old database, which is upgraded later", async () => {
  const count = MIGRATIONS.length - 3;
  const { dataDir } = made(count);
  const before = counts(dataDir);
  const engine = join(import.meta.dir, "../../src/store/engine");
  // Every migration but the last is applied when the process is killed within the transaction.
  const program = `
    import { Database } from "bun:sqlite";
    import { MIGRATIONS, migrate } from ${JSON.stringify(join(engine, "migrate.ts"))};
    const sqlite = new Database(${JSON.stringify(join(dataDir, DATABASE_FILE))});
    const last = { name: "9999_killed", get sql() { process.kill(process.pid, "SIGKILL"); return ""; } };
    migrate(sqlite, 0, [...MIGRATIONS, last]);`;
  const killed = Bun.spawnSync([process.execPath, "-e", program], { stderr: "pipe" });
  expect([killed.signalCode, killed.stderr.toString()]).toEqual(["SIGKILL", ""]);
  const sqlite = new Database(join(dataDir, DATABASE_FILE));
  expect(migrate(sqlite, 0, MIGRATIONS.slice(0, count))).toEqual([]);
  expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  sqlite.close();
  expect(counts(dataDir)).toEqual(before);
  expect((await upgradeStore({ dataDir }))?.applied).toHaveLength(3);
  openStore({ dataDir }).close();
});
