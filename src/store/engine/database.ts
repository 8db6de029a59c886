// Opens the configured database: SQLite in the data directory, or PostgreSQL if a URL is set. The code for PostgreSQL
// is loaded only when it is used, so that it does not slow down the start with SQLite.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { DATABASE_FILE, openStore } from "./open.ts";
import type { Store } from "./store.ts";
import { upgradeStore } from "./upgrade.ts";

/** The part of the configuration that names the database. */
export interface DatabasePlace {
  readonly dataDir: string;
  readonly database: { readonly url: string };
}

/** How the database is opened. */
export interface DatabaseOptions {
  readonly clock?: Clock;
  /** If false, throws when there is no database yet, instead of creating one. */
  readonly create?: boolean;
  /** SQLite: how long a write waits for the write of another process. It blocks the thread. */
  readonly busyTimeoutMs?: number;
  /** PostgreSQL: the name of this program among those that share the database. */
  readonly node?: string;
  /** PostgreSQL: called when the server stops answering, with the cause, and when it answers again. */
  readonly reached?: (isUp: boolean, cause?: unknown) => void;
}

/** Opens the database, after an upgrade if an older version made it. Throws StoreError if it cannot be used. */
export async function openDatabase(place: DatabasePlace, options: DatabaseOptions = {}): Promise<Store> {
  const { dataDir, database } = place;
  if (database.url !== "") {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ ...options, url: database.url, dataDir });
  }
  await upgradeStore({ dataDir });
  return openStore({ ...options, dataDir });
}

/** False if there is certainly no database. For PostgreSQL this is known only after opening it. */
export function maybeDatabase({ dataDir, database }: DatabasePlace): boolean {
  return database.url !== "" || existsSync(join(dataDir, DATABASE_FILE));
}
