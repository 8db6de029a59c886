// Allows one server for each data directory. The lock is an exclusive SQLite transaction on a separate file. The
// operating system releases it when the process ends for any reason, so no lock is ever stale.

import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./store-error.ts";

const LOCK_FILE = "sallyport.lock";

// An unreferenced connection is closed by the garbage collector, and its lock with it.
const held = new Set<Database>();

/** The lock that a running server holds. */
export interface ServeLock {
  release(): void;
}

// A process that only checks holds the lock for a moment. A server that starts meanwhile must not mistake it for
// another server.
const WAIT_MS = 300;

/** Takes the lock of `dataDir`, which must exist; throws StoreError when another server holds it. */
export function acquireServeLock(dataDir: string): ServeLock {
  const lock = tryLock(dataDir, WAIT_MS);
  if (lock === undefined) {
    throw new StoreError(
      `Another server is running on the data directory ${dataDir}. Stop it, or choose another directory with --data-dir.`,
    );
  }
  return lock;
}

/** Whether a server runs on `dataDir`. */
export function isServing(dataDir: string): boolean {
  if (!existsSync(join(dataDir, LOCK_FILE))) return false;
  const lock = tryLock(dataDir, 0);
  lock?.release();
  return lock === undefined;
}

function tryLock(dataDir: string, waitMs: number): ServeLock | undefined {
  const path = join(dataDir, LOCK_FILE);
  closeSync(openSync(path, "a", 0o600));
  const sqlite = new Database(path, { create: true, strict: true });
  try {
    sqlite.run(`PRAGMA busy_timeout = ${waitMs}`);
    sqlite.run("BEGIN EXCLUSIVE");
  } catch (error) {
    sqlite.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    return undefined;
  }
  held.add(sqlite);
  return {
    release: () => {
      held.delete(sqlite);
      sqlite.run("ROLLBACK");
      sqlite.close();
    },
  };
}
