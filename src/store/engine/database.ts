// Opens the database that the configuration names: SQLite in the data directory, or PostgreSQL where there is a URL. What
// PostgreSQL needs is loaded when it is used, so that a program on SQLite starts as fast as without it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { DATABASE_FILE, openStore } from "./open.ts";
import type { Store } from "./store.ts";
import { upgradeStore } from "./upgrade.ts";

/** Where a database is; a configuration says so. */
export interface DatabasePlace {
  readonly dataDir: string;
  readonly database: { readonly url: string };
}

/** How it is opened. */
export interface DatabaseOptions {
  readonly clock?: Clock;
  /** False: throws when there is no database yet instead of making one. */
  readonly create?: boolean;
  /** SQLite: how long a write waits for another process's; the thread is blocked meanwhile. */
  readonly busyTimeoutMs?: number;
  /** PostgreSQL: what this program is called among those that share the database. */
  readonly node?: string;
}

/** Opens it, upgraded where an older version made it. Throws StoreError when it cannot be used. */
export async function openDatabase(place: DatabasePlace, options: DatabaseOptions = {}): Promise<Store> {
  const { dataDir, database } = place;
  if (database.url !== "") {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ ...options, url: database.url, dataDir });
  }
  await upgradeStore({ dataDir });
  return openStore({ ...options, dataDir });
}

/** Whether there is a database to look into; of PostgreSQL only opening it tells. */
export function maybeDatabase({ dataDir, database }: DatabasePlace): boolean {
  return database.url !== "" || existsSync(join(dataDir, DATABASE_FILE));
}
