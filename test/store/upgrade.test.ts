// Upgrades the database of an older version: what is kept, and what prevents an upgrade.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../src/base/version.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { restoreBackup } from "../../src/store/engine/backup.ts";
import { MIGRATIONS, migrate } from "../../src/store/engine/migrate.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { acquireServeLock } from "../../src/store/engine/serve-lock.ts";
import { upgradeStore } from "../../src/store/engine/upgrade.ts";
import { tempDir } from "./support.ts";

const LAST = MIGRATIONS.at(-1)!.name;

/** A data directory with one account, as the version before the last migration left it. */
function older(): string {
  const dataDir = join(tempDir(), "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const sqlite = new Database(join(dataDir, DATABASE_FILE), { create: true });
  migrate(sqlite, 0, MIGRATIONS.slice(0, -1));
  sqlite.run(
    `INSERT INTO accounts (id, username, username_key, email, email_key, email_verified, tier, admin, created_at)
     VALUES ('a', 'ann', 'ann', 'ann@x.example', 'ann@x.example', 1, 'free', 0, 0)`,
  );
  sqlite.close();
  return dataDir;
}

function appliedSteps(path: string): string[] {
  const sqlite = new Database(path, { readonly: true });
  const rows = sqlite.query("SELECT name FROM _migrations ORDER BY name").all() as { name: string }[];
  sqlite.close();
  return rows.map(({ name }) => name);
}

test("an upgrade backs everything up first; the backup opens in the older version and in this one", async () => {
  const dataDir = older();
  expect(() => openStore({ dataDir })).toThrow("not upgraded yet");
  const backup = join(dataDir, "backups", `pre-${VERSION}.tar`);
  expect(await upgradeStore({ dataDir })).toEqual({ applied: [LAST], backup });
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(await upgradeStore({ dataDir })).toBeUndefined();
  const restored = join(tempDir(), "restored");
  await restoreBackup(backup, restored);
  expect(appliedSteps(join(restored, DATABASE_FILE))).not.toContain(LAST);
  await upgradeStore({ dataDir: restored });
  const store = openStore({ dataDir: restored });
  expect((await accountStore(store).findAccountByEmail("ann@x.example"))?.username).toBe("ann");
  store.close();
});

test("three backups are kept, the newest", async () => {
  const dataDir = older();
  mkdirSync(join(dataDir, "backups"));
  for (const [at, name] of ["pre-0.0.1.tar", "pre-0.0.2.tar", "pre-0.0.3.tar", "mine.tar"].entries()) {
    writeFileSync(join(dataDir, "backups", name), "");
    utimesSync(join(dataDir, "backups", name), at + 1, at + 1);
  }
  await upgradeStore({ dataDir });
  expect(readdirSync(join(dataDir, "backups")).sort()).toEqual(
    ["mine.tar", "pre-0.0.2.tar", "pre-0.0.3.tar", `pre-${VERSION}.tar`].sort(),
  );
});

test("a server of the older version on the directory is not migrated under its feet", async () => {
  const dataDir = older();
  const lock = acquireServeLock(dataDir);
  await expect(upgradeStore({ dataDir })).rejects.toThrow("A server of an older version is running");
  expect(appliedSteps(join(dataDir, DATABASE_FILE))).not.toContain(LAST);
  expect((await upgradeStore({ dataDir, lockHeld: true }))?.applied).toEqual([LAST]);
  lock.release();
});

test("no backup, no upgrade", async () => {
  const dataDir = older();
  writeFileSync(join(dataDir, "backups"), "in the way");
  await expect(upgradeStore({ dataDir })).rejects.toThrow();
  expect(appliedSteps(join(dataDir, DATABASE_FILE))).not.toContain(LAST);
});

test("steps are applied together: one that fails leaves the database as the older version knows it", () => {
  const sqlite = new Database(":memory:");
  const steps = [
    { name: "0", sql: "CREATE TABLE a (x)" },
    { name: "1", sql: "CREATE TABLE b (x)" },
    { name: "2", sql: "CREATE TABLE b (x)" },
  ];
  migrate(sqlite, 0, steps.slice(0, 1));
  expect(() => migrate(sqlite, 0, steps)).toThrow("already exists");
  expect(sqlite.query("SELECT name FROM sqlite_master WHERE name = 'b'").all()).toEqual([]);
  expect(migrate(sqlite, 0, steps.slice(0, 2))).toEqual(["1"]);
});
