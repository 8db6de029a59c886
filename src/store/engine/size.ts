// How much room the database takes.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DATABASE_FILE, type Store } from "./open.ts";

/** In bytes: the file, what of it is free for new rows, and the write-ahead log beside it. */
interface DatabaseSize {
  readonly bytes: number;
  readonly freeBytes: number;
  readonly logBytes: number;
}

/** Looks now; reads a few numbers and no rows. */
export async function databaseSize({ sqlite, dataDir }: Pick<Store, "sqlite" | "dataDir">): Promise<DatabaseSize> {
  const pragma = (name: string) => sqlite.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
  const page = pragma("page_size");
  const log = await stat(join(dataDir, `${DATABASE_FILE}-wal`)).catch(() => undefined);
  return { bytes: pragma("page_count") * page, freeBytes: pragma("freelist_count") * page, logBytes: log?.size ?? 0 };
}
