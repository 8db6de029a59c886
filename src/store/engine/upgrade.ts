// Upgrades the database of an older version, after a complete backup. The migrations are applied together or not at
// all, so the older version can still open its database if the upgrade is interrupted.

import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { VERSION } from "../../base/version.ts";
import { DATABASE_FILE, openForUpgrade } from "./open.ts";
import { isServing } from "./serve-lock.ts";
import { StoreError } from "./store-error.ts";

/** The folder for the backups, in the data directory. */
const BACKUPS_DIR = "backups";
const BACKUPS_KEPT = 3;

/** The result of an upgrade. */
export interface Upgrade {
  /** The names of the applied migrations. */
  readonly applied: readonly string[];
  /** The path of the backup: the database before the upgrade, with secrets and uploads. */
  readonly backup: string;
}

/**
 * Upgrades the database of a data directory; undefined if there is none or nothing to do. `lockHeld`: the caller holds the
 * serve lock. Throws StoreError if another server uses the database or the backup cannot be written.
 */
export async function upgradeStore(options: {
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly lockHeld?: boolean;
}): Promise<Upgrade | undefined> {
  const { dataDir, clock = systemClock, lockHeld = false } = options;
  if (!existsSync(join(dataDir, DATABASE_FILE))) return undefined;
  const { store, pending, migrate } = openForUpgrade({ dataDir, clock });
  try {
    if (pending.length === 0) return undefined;
    if (!lockHeld && isServing(dataDir))
      throw new StoreError("A server of an older version is running on this data directory. Stop it first.");
    const folder = join(dataDir, BACKUPS_DIR);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const backup = join(folder, `pre-${VERSION}.tar`);
    const { writeBackup } = await import("./backup.ts");
    await writeBackup(store, backup);
    await removeOld(folder);
    return { applied: migrate(), backup };
  } finally {
    store.close();
  }
}

/** Deletes all but the newest backups. */
async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("pre-") && name.endsWith(".tar"));
  const files = await Promise.all(
    names.map(async (name) => ({ name, writtenMs: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = files.toSorted((a, b) => b.writtenMs - a.writtenMs).slice(BACKUPS_KEPT);
  for (const { name } of old) await rm(join(folder, name), { force: true });
}
