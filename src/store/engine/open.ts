// Opens the SQLite database of a data directory. It is created and migrated if needed, readable only by its owner, and
// may be shared with other processes. Only this room speaks SQL.

import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { type Clock, systemClock } from "../../base/clock.ts";
import { lazily } from "../../base/lazily.ts";
import { unwritable } from "../../base/unwritable.ts";
import { MIGRATIONS, migrate, pendingSteps } from "./migrate.ts";
import type { DatabaseSize, Statement, Statements, Store, Values, Work } from "./store.ts";
import { OlderDatabase, StoreError } from "./store-error.ts";

/** File name of the database within the data directory. */
export const DATABASE_FILE = "sallyport.db";

/** How long a write waits for another process. */
const BUSY_TIMEOUT_MS = 5000;

/** How the database is opened. */
export interface StoreOptions {
  readonly dataDir: string;
  readonly clock?: Clock;
  /** How long a write waits for another process; bun:sqlite blocks the thread meanwhile. */
  readonly busyTimeoutMs?: number;
  /** False: throws if there is no database yet, instead of creating one. */
  readonly create?: boolean;
}

/** An open database in a file. */
export interface SqliteStore extends Store {
  readonly sqlite: Database;
  /** The problems that SQLite finds in the file, empty for a sound database. Reads the whole file. */
  integrityCheck(): string[];
  /** Truncates the log and closes the database; a second call does nothing. */
  close(): void;
}

/** Whether the store is a SQLite database. */
export function isSqlite(store: Store): store is SqliteStore {
  return store.engine === "sqlite";
}

/**
 * Opens (and by default creates) the database in `dataDir`. Throws StoreError if it cannot be used, and `OlderDatabase` if it was
 * created by an older version: call `upgradeStore` first.
 */
export function openStore(options: StoreOptions): SqliteStore {
  const { dataDir, clock = systemClock, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const path = join(dataDir, DATABASE_FILE);
  if (options.create === false && !existsSync(path))
    throw new StoreError(
      `No database in ${dataDir} yet. Run \`sallyport up\` or \`sallyport init\`, or pass --data-dir.`,
    );
  const sqlite = openFile(path, dataDir);
  try {
    setPragmas(sqlite, busyTimeoutMs);
    const pending = pendingSteps(sqlite);
    // A new database has no data to back up.
    if (pending.length === MIGRATIONS.length) migrate(sqlite, clock.now());
    else if (pending.length > 0)
      throw new OlderDatabase(
        `The database ${path} was created by an older version of Sallyport and is not upgraded yet.`,
      );
  } catch (error) {
    sqlite.close();
    throw unusable(path, error);
  }
  return storeOf(sqlite, { dataDir, clock, busyTimeoutMs });
}

/** A database that an older version may have made, and its missing migrations. */
export interface UpgradableStore {
  readonly store: SqliteStore;
  readonly pending: readonly string[];
  /** Applies the missing migrations and returns their names. */
  migrate(): string[];
}

/**
 * Opens the database in `dataDir` without migrating it. A new one has no pending migrations: `openStore` creates it.
 */
export function openForUpgrade(options: Required<Pick<StoreOptions, "dataDir" | "clock">>): UpgradableStore {
  const { dataDir, clock } = options;
  const path = join(dataDir, DATABASE_FILE);
  const sqlite = openFile(path, dataDir);
  try {
    setPragmas(sqlite, BUSY_TIMEOUT_MS);
    const pending = pendingSteps(sqlite);
    return {
      store: storeOf(sqlite, { dataDir, clock, busyTimeoutMs: BUSY_TIMEOUT_MS }),
      pending: pending.length === MIGRATIONS.length ? [] : pending,
      migrate: () => migrate(sqlite, clock.now()),
    };
  } catch (error) {
    sqlite.close();
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(`The database ${path} cannot be used: ${unwritable(error)}`, { cause: error });
}

function openFile(path: string, dataDir: string): Database {
  try {
    makePrivateDirectory(dataDir);
    // Created here first: SQLite would apply the umask. Its -wal and -shm files copy the mode of the database.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    return new Database(path, { create: true, strict: true });
  } catch (error) {
    throw new StoreError(`Cannot open ${path}: ${unwritable(error)}`, { cause: error });
  }
}

/** Makes the directory readable by its owner only, unless it holds files that are not ours. */
function makePrivateDirectory(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) return;
  const entries = readdirSync(path);
  if (entries.length === 0 || entries.includes(DATABASE_FILE)) chmodSync(path, 0o700);
}

function setPragmas(sqlite: Database, busyTimeoutMs: number): void {
  // Set first, so that every later statement waits for another process instead of failing.
  sqlite.run(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`);
  // Allows returning free pages to the file system in small steps; only has an effect before the first table.
  sqlite.run("PRAGMA auto_vacuum = INCREMENTAL");
  // Readers and the writer do not block each other, and a commit is one append.
  sqlite.run("PRAGMA journal_mode = WAL");
  // With WAL, a killed process loses nothing, and a power failure at most the last commits, never consistency; FULL would
  // cost a disk flush per commit.
  sqlite.run("PRAGMA synchronous = NORMAL");
  // Twice the default, so half as many flushes: each checkpoint waits for the disk. A longer one would delay requests.
  sqlite.run("PRAGMA wal_autocheckpoint = 2000");
  // Off by default in SQLite; deleting an account relies on cascades.
  sqlite.run("PRAGMA foreign_keys = ON");
  // Sorting must not leave copies of rows in /tmp.
  sqlite.run("PRAGMA temp_store = MEMORY");
  // 16 MB of pages: keys and sessions stay in memory, idle RSS stays small.
  sqlite.run("PRAGMA cache_size = -16000");
  // After a checkpoint the log is truncated to 16 MiB instead of keeping its largest size forever.
  sqlite.run("PRAGMA journal_size_limit = 16777216");
  // Overwrites deleted sessions, codes and texts in the file where that costs nothing extra.
  sqlite.run("PRAGMA secure_delete = FAST");
}

function storeOf(sqlite: Database, options: Required<Omit<StoreOptions, "create">>): SqliteStore {
  const { dataDir, clock, busyTimeoutMs } = options;
  const dataVersion = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  const anyRow = sqlite.query("SELECT 1 FROM _migrations LIMIT 1");
  let closed = false;
  const checkpoint = (): boolean => {
    // With the default timeout it would wait for readers and block the event loop.
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      const row = sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get();
      return row?.busy === 0;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`);
    }
  };
  // The verbs accept both immediate results and promises, and SQLite's results are immediate.
  const db = drizzle(sqlite) as unknown as Statements;
  return {
    engine: "sqlite",
    dataDir,
    clock,
    sqlite,
    db,
    repeatable: db,
    statement: (text) => statementOf(sqlite, text),
    transaction: (work) => sqlite.transaction(() => runNow(work(1))).immediate(),
    isFirst: () => true,
    // SQLite has one writer at a time, so no rows need to be locked.
    takingRows: "",
    tidy: ({ freePagesKept }) => vacuum(sqlite, freePagesKept),
    size: () => sizeOf(sqlite, dataDir),
    whenJobEnds: () => undefined,
    changeCounter: () => dataVersion.get()?.data_version ?? 0,
    compareClock: async () => undefined,
    ping: async () => void anyRow.get(),
    checkpoint,
    integrityCheck: () => {
      const rows = sqlite.query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)").all();
      return rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
    },
    close: () => {
      if (closed) return;
      closed = true;
      checkpoint();
      sqlite.close();
    },
  };
}

/** Runs the steps of a transaction one after the other. */
function runNow<T>(work: Work<T>): T {
  let turn = work.next();
  while (!turn.done) {
    const { value } = turn;
    if (typeof value === "function") turn = work.next(value());
    else {
      for (const run of value) run();
      turn = work.next();
    }
  }
  return turn.value;
}

function statementOf<Row>(sqlite: Database, text: string): Statement<Row> {
  const prepared = lazily(() => sqlite.query<Row, (string | number)[]>(text));
  // Named values are passed as one argument, others as one argument each.
  const bound = (values: Values = []) => (Array.isArray(values) ? values : [values]) as (string | number)[];
  return {
    get: (values) => prepared().get(...bound(values)),
    all: (values) => prepared().all(...bound(values)),
    run: (values) => prepared().run(...bound(values)),
  };
}

/** The number of free pages that one call returns to the file system, 4 KiB each. */
const VACUUM_PAGES = 256;

/** Returns free pages to the file system if there are many; returns their number. */
function vacuum(sqlite: Database, freePagesKept: number): number {
  const free = () => sqlite.query<{ freelist_count: number }, []>("PRAGMA freelist_count").get()?.freelist_count ?? 0;
  const before = free();
  // Free pages are reused for new rows, so only a large number of them is worth the writes.
  if (before <= freePagesKept) return 0;
  // Each row that is read returns one page, so all rows are read.
  sqlite.query(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`).all();
  return before - free();
}

/** Measures the size now, without reading rows. */
async function sizeOf(sqlite: Database, dataDir: string): Promise<DatabaseSize> {
  const pragma = (name: string) => sqlite.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
  const page = pragma("page_size");
  const log = await stat(join(dataDir, `${DATABASE_FILE}-wal`)).catch(() => undefined);
  return { bytes: pragma("page_count") * page, freeBytes: pragma("freelist_count") * page, logBytes: log?.size ?? 0 };
}
