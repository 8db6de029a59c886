import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { VERSION } from "../../src/base/version.ts";
import { MIGRATIONS, type Migration, migrate } from "../../src/store/engine/migrate.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { tempDir } from "./support.ts";

const STORE = join(import.meta.dir, "../../src/store");

/** SQLite's description of all tables, without the order of columns and the wording of the SQL. */
function shapeOf(sqlite: Database): Record<string, unknown> {
  const tables = sqlite
    .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '_migrations'")
    .all() as { name: string }[];
  const all = (sql: string) => sqlite.query(sql).all() as Record<string, unknown>[];
  const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      {
        columns: sorted(all(`PRAGMA table_info("${name}")`).map(({ cid: _, ...column }) => column)),
        foreignKeys: sorted(all(`PRAGMA foreign_key_list("${name}")`).map(({ id: _, seq: __, ...key }) => key)),
        indexes: sorted(
          all(`SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '${name}' AND sql IS NOT NULL`),
        ),
      },
    ]),
  );
}

async function freshFromSchema(): Promise<Database> {
  const schema: Record<string, unknown> = {};
  for (const file of new Glob("**/schema.ts").scanSync(STORE)) {
    Object.assign(schema, await import(join(STORE, file)));
  }
  expect(Object.keys(schema).length).toBeGreaterThan(5);
  const empty = await generateSQLiteDrizzleJson({});
  const statements = await generateSQLiteMigration(empty, await generateSQLiteDrizzleJson(schema));
  const sqlite = new Database(":memory:");
  for (const statement of statements) sqlite.run(statement);
  return sqlite;
}

test("the migrations make exactly what the schema says", async () => {
  const migrated = new Database(":memory:");
  migrate(migrated, 0);
  expect(shapeOf(migrated)).toEqual(shapeOf(await freshFromSchema()));
});

test("a difference between migrations and schema is seen", async () => {
  const migrated = new Database(":memory:");
  migrate(migrated, 0);
  migrated.run("ALTER TABLE accounts ADD COLUMN stray text");
  expect(shapeOf(migrated)).not.toEqual(shapeOf(await freshFromSchema()));
});

test("every migration file is listed, in order", () => {
  const files = readdirSync(join(STORE, "migrations")).filter((name) => name.endsWith(".sql"));
  expect(MIGRATIONS.map((step) => `${step.name}.sql`)).toEqual(files.sort());
});

test("only the newest migration has a snapshot: `bun run migration` deletes the others", () => {
  const snapshots = readdirSync(join(STORE, "migrations/meta")).filter((name) => name.endsWith("_snapshot.json"));
  const newest = MIGRATIONS.at(-1)?.name.slice(0, 4);
  expect(snapshots).toEqual([`${newest}_snapshot.json`]);
});

test("steps are applied once and in order", () => {
  const sqlite = new Database(":memory:");
  const steps: Migration[] = [
    { name: "0", sql: "CREATE TABLE a (x); --> statement-breakpoint\nCREATE TABLE b (x)" },
    { name: "1", sql: "ALTER TABLE b ADD COLUMN y" },
  ];
  expect(migrate(sqlite, 0, steps.slice(0, 1))).toEqual(["0"]);
  expect(migrate(sqlite, 0, steps)).toEqual(["1"]);
  expect(migrate(sqlite, 0, steps)).toEqual([]);
});

test("a step that fails is undone whole", () => {
  const sqlite = new Database(":memory:");
  expect(() => migrate(sqlite, 0, [{ name: "0", sql: "CREATE TABLE a (x); CREATE TABLE a (x)" }])).toThrow(
    "already exists",
  );
  expect(sqlite.query("SELECT name FROM sqlite_master WHERE name = 'a'").all()).toEqual([]);
  expect(migrate(sqlite, 0, [{ name: "0", sql: "CREATE TABLE a (x)" }])).toEqual(["0"]);
});

test("a step that rebuilds a table keeps the rows that point to it; one that orphans rows is refused", () => {
  const sqlite = new Database(":memory:");
  sqlite.run("PRAGMA foreign_keys = ON");
  const first: Migration = {
    name: "0",
    sql: "CREATE TABLE p (id TEXT PRIMARY KEY); CREATE TABLE c (p TEXT REFERENCES p(id) ON DELETE CASCADE); INSERT INTO p VALUES ('1'); INSERT INTO c VALUES ('1')",
  };
  const rebuild: Migration = {
    name: "1",
    sql: "CREATE TABLE n (id TEXT PRIMARY KEY, x); INSERT INTO n (id) SELECT id FROM p; DROP TABLE p; ALTER TABLE n RENAME TO p",
  };
  migrate(sqlite, 0, [first, rebuild]);
  expect(sqlite.query("SELECT count(*) AS n FROM c").get()).toEqual({ n: 1 });
  const orphaning: Migration = { name: "2", sql: "DELETE FROM p" };
  expect(() => migrate(sqlite, 0, [first, rebuild, orphaning])).toThrow("orphaned");
  expect(sqlite.query("SELECT count(*) AS n FROM p").get()).toEqual({ n: 1 });
  expect(sqlite.query("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
});

test("a database of a newer program is refused", () => {
  const dataDir = tempDir();
  const store = openStore({ dataDir });
  store.sqlite.run("INSERT INTO _migrations (name, applied_at) VALUES ('9999_future', 0)");
  store.close();
  expect(() => openStore({ dataDir })).toThrow(/newer version .* Start that version, or restore a backup/);
});

test("the version that applied a migration is kept, and named where it is needed", () => {
  const sqlite = new Database(":memory:");
  const [first, second] = [0, 1].map((at) => ({ name: `${at}`, sql: `CREATE TABLE t${at} (x)` })) as [
    Migration,
    Migration,
  ];
  // As a program made the table that did not write down its version.
  sqlite.run("CREATE TABLE _migrations (name TEXT PRIMARY KEY NOT NULL, applied_at INTEGER NOT NULL)");
  sqlite.run("INSERT INTO _migrations VALUES ('0', 0)");
  expect(migrate(sqlite, 0, [first, second])).toEqual(["1"]);
  expect(sqlite.query("SELECT version FROM _migrations ORDER BY name").all()).toEqual([
    { version: null },
    { version: VERSION },
  ]);
  expect(() => migrate(sqlite, 0, [first])).toThrow(
    `made by a newer version of Sallyport (${VERSION} or newer; it has migration 1). Start that version`,
  );
});

test("processes that start together migrate once", async () => {
  const dataDir = join(tempDir(), "data");
  const script = `const { openStore } = await import(${JSON.stringify(join(STORE, "engine/open.ts"))}); openStore({ dataDir: ${JSON.stringify(dataDir)} }).close();`;
  const runs = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", script], { stderr: "inherit" }));
  expect(await Promise.all(runs.map((run) => run.exited))).toEqual([0, 0, 0, 0]);
});
