// A new SQLite database as a copy of one: applying all migrations takes several times as long, and hundreds of tests start with it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";

let bytes: Uint8Array | undefined;

/** Puts a database without rows into the directory, as opening the store there for the first time does. */
export function placeNewDatabase(dataDir: string): void {
  bytes ??= made();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, DATABASE_FILE), bytes, { mode: 0o600, flag: "wx" });
}

function made(): Uint8Array {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-new-"));
  try {
    openStore({ dataDir }).close();
    return readFileSync(join(dataDir, DATABASE_FILE));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
