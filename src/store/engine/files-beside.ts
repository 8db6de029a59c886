// The files and folders in the data directory other than the database.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DATABASE_FILE } from "./open.ts";
import type { Store } from "./store.ts";

/** A file or folder of the data directory. */
interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  /** The number of files in a folder; 1 for a file. */
  readonly files: number;
}

/** The limit of files that are counted in one folder. */
const FILES_COUNTED_MAX = 10_000;

/** The files and folders in the data directory other than the database, the largest first. */
export async function filesBeside({ dataDir }: Pick<Store, "dataDir">): Promise<StoredFile[]> {
  const names = (await readdir(dataDir)).filter((name) => !name.startsWith(DATABASE_FILE) && !name.includes(".lock"));
  const contents = await Promise.all(
    names.map(async (name) => {
      const path = join(dataDir, name);
      const found = await stat(path).catch(() => undefined);
      if (found?.isDirectory() !== true) return { name, bytes: found?.size ?? 0, files: 1 };
      const within = (await readdir(path, { recursive: true })).slice(0, FILES_COUNTED_MAX);
      const sizes = await Promise.all(within.map((one) => stat(join(path, one)).catch(() => undefined)));
      const files = sizes.filter((one) => one?.isFile() === true);
      return { name: `${name}/`, bytes: files.reduce((sum, one) => sum + (one?.size ?? 0), 0), files: files.length };
    }),
  );
  return contents.filter(({ files }) => files > 0).sort((a, b) => b.bytes - a.bytes);
}
