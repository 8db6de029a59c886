// Copies a store between a data directory and PostgreSQL, with the data that SQLite's store keeps beside its file:
// secrets and uploads. A copy that was interrupted is continued; no server starts from an incomplete copy.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { SECRET_NAMES, SECRETS_FILE, secretStore } from "../../secrets.ts";
import { UPLOADS_DIR, uploadBytes } from "../../work/upload-bytes.ts";
import { type CopyNote, type CopySource, type CopySummary, type CopyTarget, copyTables } from "../copy.ts";
import { DATABASE_FILE, openStore, type SqliteStore } from "../open.ts";
import { isServing } from "../serve-lock.ts";
import type { Bound, Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { TABLES } from "../tables.ts";
import { upgradeStore } from "../upgrade.ts";
import { requireNoNode } from "./nodes.ts";
import { openPostgres, type PostgresStore } from "./open.ts";
import type { Query } from "./pool.ts";
import { translated } from "./sql.ts";

/** The source and the target of a copy, and the function that receives its progress. */
export interface CopyPlaces {
  readonly dataDir: string;
  readonly url: string;
  readonly clock?: Clock;
  told(table: string, rows: number): void;
}

/** The sums of a copy. */
export interface WholeCopy extends CopySummary {
  readonly uploads: number;
}

/** The folder of the data directory in which a store is built from PostgreSQL. */
const COPYING_DIR = "copying";

/** What a copy into a data directory puts there. The database comes last, so that without it there is no store. */
const MOVED = [UPLOADS_DIR, SECRETS_FILE, DATABASE_FILE];
/** What SQLite would take for a part of the copied database. */
const BESIDE_DATABASE = [`${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`];
/** The lock of a program that copies into a database. */
const COPY_LOCK = 7_255_019_402;
const LONG = { isLong: true };

/** Copies the store of a data directory into an empty database. */
export async function copyToPostgres({ dataDir, url, clock = systemClock, told }: CopyPlaces): Promise<WholeCopy> {
  if (!existsSync(join(dataDir, DATABASE_FILE))) throw new StoreError(`There is no database in ${dataDir} to copy.`);
  if (isServing(dataDir))
    throw new StoreError(
      `A server is running on ${dataDir}. Stop it first, since it would change the data during the copy.`,
    );
  await upgradeStore({ dataDir, clock });
  const source = openStore({ dataDir, clock, create: false });
  const target = await openPostgres({ url, dataDir, clock, copying: true });
  try {
    return await alone(target, async () => {
      await requireNoNode(target);
      await beginCopy(target);
      const summary = await copyTables(sqliteSource(source), postgresTarget(target), told);
      const uploads = await copyUploads(source, target);
      await copySecrets(source, target);
      await endCopy(target);
      return { ...summary, uploads };
    });
  } finally {
    source.close();
    await target.close();
  }
}

/**
 * Copies a database into a data directory that has none. Others may continue to use the database: the copy is a
 * snapshot of it.
 */
export async function copyFromPostgres({ dataDir, url, clock = systemClock, told }: CopyPlaces): Promise<WholeCopy> {
  requireRoom(dataDir);
  const part = join(dataDir, COPYING_DIR);
  mkdirSync(part, { recursive: true, mode: 0o700 });
  const source = await openPostgres({ url, dataDir, clock, create: false });
  try {
    const target = openStore({ dataDir: part, clock });
    try {
      const triggers = restTriggers(target);
      const summary = await source.pool.transaction(
        "repeatable read read only",
        (query) => copyTables(postgresSource(query), sqliteTarget(target), told),
        LONG,
      );
      for (const trigger of triggers) target.sqlite.run(trigger);
      const uploads = await copyUploads(source, target);
      await copySecrets(source, target);
      target.sqlite.run("DROP TABLE copy_notes");
      target.sqlite.run("DROP TABLE copy_triggers");
      target.close();
      moveUp(part, dataDir);
      return { ...summary, uploads };
    } finally {
      target.close();
    }
  } finally {
    await source.close();
  }
}

/** Throws StoreError if the data directory has anything that the copy would replace. */
function requireRoom(dataDir: string): void {
  const found = [...MOVED, ...BESIDE_DATABASE].filter((name) => isUsed(join(dataDir, name)));
  if (found.length > 0)
    throw new StoreError(
      `${dataDir} already contains ${found.join(", ")}, which the copy would replace. Choose an empty data directory, or move them away.`,
    );
}

/** A folder without anything in it, as a node makes for uploads that arrive, can be replaced. */
function isUsed(path: string): boolean {
  if (!existsSync(path)) return false;
  return !statSync(path).isDirectory() || readdirSync(path).length > 0;
}

/** Runs a copy while no other program copies into the same database. */
async function alone<T>({ pool }: PostgresStore, copy: () => Promise<T>): Promise<T> {
  // The lock lasts as long as its transaction, which holds no other locks.
  return pool.transaction(
    "repeatable read read only",
    async (query) => {
      const { values } = await query(`SELECT pg_try_advisory_xact_lock(${COPY_LOCK})`, []);
      if (values[0]?.[0] !== true)
        throw new StoreError("A copy into that database is going on. Wait until it has ended.");
      return copy();
    },
    LONG,
  );
}

function sqliteSource({ sqlite }: SqliteStore): CopySource {
  return { read: async (text, values) => sqlite.query(text).values(...(values as string[])) };
}

function postgresSource(query: Query): CopySource {
  return { read: async (text, values) => (await query(translated(text).text, values)).values };
}

const NOTE = "INSERT INTO copy_notes (name, last) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = excluded.last";
const NOTES = "SELECT name, last FROM copy_notes";

function notesOf(rows: readonly (readonly unknown[])[]): ReadonlyMap<string, CopyNote> {
  return new Map(
    rows.map(([table, last]) => [
      table as string,
      { table: table as string, last: JSON.parse(last as string) as Bound[] },
    ]),
  );
}

function postgresTarget({ pool }: PostgresStore): CopyTarget {
  const source = postgresSource(pool.query);
  return {
    ...source,
    notes: async () => notesOf(await source.read(NOTES, [])),
    async write(text, rows, { table, last }) {
      const own = translated(text).text;
      await pool.transaction(
        "read committed",
        async (query) => {
          const writes = await Promise.allSettled(rows.map((row) => query(own, row)));
          for (const write of writes) if (write.status === "rejected") throw write.reason;
          await query(translated(NOTE).text, [table, JSON.stringify(last)]);
        },
        LONG,
      );
    },
  };
}

function sqliteTarget(store: SqliteStore): CopyTarget {
  const { sqlite } = store;
  sqlite.run("CREATE TABLE IF NOT EXISTS copy_notes (name TEXT PRIMARY KEY, last TEXT NOT NULL)");
  const source = sqliteSource(store);
  return {
    ...source,
    notes: async () => notesOf(await source.read(NOTES, [])),
    async write(text, rows, { table, last }) {
      const insert = sqlite.query(text);
      const writeAll = sqlite.transaction(() => {
        for (const row of rows) insert.run(...(row as string[]));
        sqlite.query(NOTE).run(table, JSON.stringify(last));
      });
      writeAll.immediate();
    },
  };
}

/**
 * Drops the triggers, which would count copied rows again. Returns the statements that restore them, also after an
 * interruption.
 */
function restTriggers({ sqlite }: SqliteStore): string[] {
  sqlite.run("CREATE TABLE IF NOT EXISTS copy_triggers (name TEXT PRIMARY KEY, made TEXT NOT NULL)");
  sqlite.run(
    "INSERT INTO copy_triggers SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ON CONFLICT (name) DO NOTHING",
  );
  const triggers = sqlite.query<{ name: string; made: string }, []>("SELECT name, made FROM copy_triggers").all();
  for (const { name } of triggers) sqlite.run(`DROP TRIGGER IF EXISTS ${name}`);
  return triggers.map(({ made }) => made);
}

/** Prepares the target, which must be empty except for the rows of an earlier attempt. */
async function beginCopy({ pool }: PostgresStore): Promise<void> {
  await pool.transaction(
    "read committed",
    async (query) => {
      const { values } = await query("SELECT to_regclass('copy_notes') IS NOT NULL", []);
      if (values[0]?.[0] === true) return;
      for (const { name } of TABLES) {
        const { values: rows } = await query(`SELECT 1 FROM "${name}" LIMIT 1`, []);
        if (rows.length > 0)
          throw new StoreError(`The database is not empty: its table ${name} has rows. Choose an empty database.`);
      }
      await query("CREATE TABLE copy_notes (name TEXT PRIMARY KEY, last TEXT NOT NULL)", []);
      for (const { name } of TABLES) await query(`ALTER TABLE "${name}" DISABLE TRIGGER USER`, []);
    },
    LONG,
  );
}

async function endCopy({ pool }: PostgresStore): Promise<void> {
  await pool.transaction(
    "read committed",
    async (query) => {
      for (const { name, numbered } of TABLES) {
        await query(`ALTER TABLE "${name}" ENABLE TRIGGER USER`, []);
        // The ids of new rows continue after the copied ones.
        if (numbered)
          await query(
            `SELECT setval(pg_get_serial_sequence('${name}', 'id'), (SELECT COALESCE(MAX(id), 0) + 1 FROM "${name}"), false)`,
            [],
          );
      }
      await query("DROP TABLE copy_notes", []);
    },
    LONG,
  );
}

/** Files whose bytes have not been copied yet. */
async function copyUploads(source: Store, target: Store): Promise<number> {
  const files = await target
    .statement<{ id: string; account_id: string; bytes: number }>("SELECT id, account_id, bytes FROM files")
    .all();
  const [from, to] = [uploadBytes(source), uploadBytes(target)];
  for (const { id, account_id: accountId, bytes } of files) {
    const file = { id, accountId };
    const content = await from.read(file);
    // The file was deleted after its row was copied, or was missing before.
    if (content?.byteLength !== bytes) continue;
    const there = await to.read(file);
    if (there === undefined || there.byteLength !== content.byteLength) await to.add(file, content, () => undefined);
  }
  return files.length;
}

async function copySecrets(source: Store, target: Store): Promise<void> {
  const [from, to] = [secretStore(source), secretStore(target)];
  for (const name of SECRET_NAMES) {
    const value = await from.findSecret(name);
    if (value !== undefined) await to.putSecret(name, value);
  }
}

/** Moves the complete store to its place. */
function moveUp(part: string, dataDir: string): void {
  for (const name of MOVED) if (existsSync(join(part, name))) renameSync(join(part, name), join(dataDir, name));
  rmSync(part, { recursive: true, force: true });
}
