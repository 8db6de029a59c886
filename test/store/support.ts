// A new database in a temporary directory that is deleted with the test.

import { onTestFinished } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "../../src/base/clock.ts";
import { openStore, type SqliteStore as Store } from "../../src/store/engine/open.ts";
import { placeNewDatabase } from "../support/new-database.ts";

const cleanups: (() => void)[] = [];

/**
 * Functions that run when the current test ends, the last one first, so that databases are closed before their
 * directories are deleted.
 */
function atEnd(cleanup: () => void): void {
  cleanups.push(cleanup);
  // Not `afterEach`: in a module that several test files import, it applies only to the first of them.
  onTestFinished(() => {
    for (const each of cleanups.splice(0).reverse()) each();
  });
}

/** A directory that is deleted after the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-store-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A database and its clock. */
export function freshStore(): { store: Store; clock: FakeClock; dataDir: string } {
  const dataDir = join(tempDir(), "data");
  const clock = new FakeClock();
  placeNewDatabase(dataDir);
  const store = openStore({ dataDir, clock });
  atEnd(() => store.close());
  return { store, clock, dataDir };
}

/** Another connection to the same database, as another process has. */
export function secondStore(first: Store): Store {
  const store = openStore({ dataDir: first.dataDir, clock: first.clock, busyTimeoutMs: 100 });
  atEnd(() => store.close());
  return store;
}

export { usageRecord } from "./records.ts";
