// Backups: one tar file with a consistent copy of the database, the secrets and the uploaded files, which can be made
// while a server runs; and the restore into an empty data directory. A backup gets its name only when it is complete,
// and a failed restore leaves the directory empty.

import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Header, type Pack, pack } from "tar-stream";
import { systemClock } from "../../base/clock.ts";
import { isoTime } from "../../base/iso-time.ts";
import { unwritable } from "../../base/unwritable.ts";
import { SECRETS_FILE, secretsPath } from "../secrets.ts";
import { UPLOADS_DIR } from "../work/upload-bytes.ts";
import { DATABASE_FILE, openForUpgrade, type SqliteStore as Store } from "./open.ts";
import { StoreError } from "./store-error.ts";

/** The content of a backup. */
export interface BackupSummary {
  readonly bytes: number;
  /** Number of uploaded files. */
  readonly uploads: number;
}

/** The first entry of every backup, so that any other tar file is refused before anything is written. */
const MANIFEST_FILE = "sallyport-backup.json";
const FORMAT = 1;
const MANIFEST_BYTES_MAX = 64 * 1024;
/** Files that a new file system may have in its root directory. */
const IGNORED = new Set(["lost+found"]);

/** Writes a backup of an open database's data directory to `path`, replacing an existing file. */
export async function writeBackup(store: Store, path: string): Promise<BackupSummary> {
  const target = resolve(path);
  const part = `${target}.${randomUUID()}.part`;
  const copy = `${part}.db`;
  try {
    // SQLite accepts an empty file as the target. Creating it here makes it private from the start.
    await (await open(copy, "wx", 0o600)).close();
    store.sqlite.query("VACUUM INTO ?").run(copy);
    const entries = await entriesOf(store, copy);
    const archive = pack();
    const written = pipeline(archive, createWriteStream(part, { flags: "wx", mode: 0o600 }));
    await Promise.all([written, addEntries(archive, entries)]);
    await sync(part);
    await rename(part, target);
    return { bytes: (await stat(target)).size, uploads: entries.uploads.length };
  } catch (error) {
    if ((error as { code?: string }).code === undefined) throw error;
    throw new StoreError(`The backup ${path} cannot be written: ${unwritable(error)}`, { cause: error });
  } finally {
    await rm(part, { force: true });
    for (const suffix of ["", "-journal", "-wal", "-shm"]) await rm(copy + suffix, { force: true });
  }
}

/** Restores a backup into a data directory that is empty or does not exist. */
export async function restoreBackup(path: string, dataDir: string): Promise<BackupSummary> {
  if (!existsSync(path)) throw new StoreError(`There is no file ${path}.`);
  const existed = existsSync(dataDir);
  const found = existed ? (await readdir(dataDir)).filter((name) => !IGNORED.has(name)) : [];
  if (found.length > 0) {
    const named = found.sort().slice(0, NAMED_MAX).join(", ");
    throw new StoreError(
      `The data directory ${dataDir} is not empty: it contains ${named}${found.length > NAMED_MAX ? " and more" : ""}.`,
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    const uploads = await unpack(path, dataDir);
    // Renamed only when everything is written, so that a partial file is never mistaken for a database.
    await rename(join(dataDir, `${DATABASE_FILE}.part`), join(dataDir, DATABASE_FILE));
    checkRestored(dataDir);
    return { bytes: (await stat(path)).size, uploads };
  } catch (error) {
    for (const name of await readdir(dataDir)) {
      if (!IGNORED.has(name)) await rm(join(dataDir, name), { recursive: true, force: true });
    }
    if (!existed) await rm(dataDir, { recursive: true, force: true });
    if (error instanceof StoreError) throw error;
    throw new StoreError(`The backup ${path} cannot be restored: ${(error as Error).message}`, { cause: error });
  }
}

/** How many of the things in a directory a message names. */
const NAMED_MAX = 5;

interface Entries {
  readonly database: string;
  readonly secrets: string | undefined;
  readonly uploads: readonly { readonly name: string; readonly path: string }[];
  readonly createdAtMs: number;
}

/** The uploads in the copied database. Later changes are not part of the snapshot. */
async function entriesOf(store: Store, copy: string): Promise<Entries> {
  const database = new Database(copy, { readonly: true, strict: true });
  // The first schema had no uploads. Its databases are backed up before their upgrade, too.
  const hasFiles = database.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'files'").get() !== null;
  const rows = hasFiles ? database.query("SELECT account_id, id FROM files ORDER BY account_id, id").all() : [];
  database.close();
  const uploads = (rows as { account_id: string; id: string }[])
    .map(({ account_id, id }) => ({
      name: `${UPLOADS_DIR}/${account_id}/${id}`,
      path: join(store.dataDir, UPLOADS_DIR, account_id, id),
    }))
    // The file was deleted after the database was copied.
    .filter(({ path }) => existsSync(path));
  return {
    database: copy,
    secrets: secretsPath(store),
    uploads,
    createdAtMs: store.clock.now(),
  };
}

async function addEntries(archive: Pack, entries: Entries): Promise<void> {
  try {
    const { createdAtMs, secrets, uploads } = entries;
    const manifest = JSON.stringify({ format: FORMAT, created_at: isoTime(createdAtMs) });
    archive.entry({ name: MANIFEST_FILE, mode: 0o600 }, manifest);
    await addFile(archive, DATABASE_FILE, entries.database);
    if (secrets !== undefined) await addFile(archive, SECRETS_FILE, secrets);
    for (const { name, path } of uploads) await addFile(archive, name, path);
    archive.finalize();
  } catch (error) {
    archive.destroy(error as Error);
    throw error;
  }
}

async function addFile(archive: Pack, name: string, path: string): Promise<void> {
  const { size } = await stat(path);
  const { promise, resolve: done, reject } = Promise.withResolvers<void>();
  const settle = (error?: Error | null) => (error ? reject(error) : done());
  if (size === 0) archive.entry({ name, mode: 0o600 }, "", settle);
  else {
    // A tar header states the size in advance, so exactly that many bytes are written.
    createReadStream(path, { end: size - 1 })
      .on("error", reject)
      .pipe(archive.entry({ name, size, mode: 0o600 }, settle));
  }
  await promise;
}

/** Writes the entries into the directory; returns the number of uploads. */
async function unpack(path: string, dataDir: string): Promise<number> {
  const archive = extract();
  const read = pipeline(createReadStream(path), archive);
  let seen = 0;
  let hasDatabase = false;
  let uploads = 0;
  const entries = (async () => {
    for await (const entry of archive) {
      if (seen === 0) await checkManifest(entry.header, entry);
      else if (entry.header.type === "directory") entry.resume();
      else {
        const target = targetOf(entry.header, dataDir);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await pipeline(Readable.from(entry), createWriteStream(target, { flags: "wx", mode: 0o600 }));
        if (entry.header.name === DATABASE_FILE) hasDatabase = true;
        else if (entry.header.name !== SECRETS_FILE) uploads += 1;
      }
      seen += 1;
    }
  })();
  const [, failed] = await Promise.allSettled([read, entries]);
  if (failed.status === "rejected") throw failed.reason;
  await read;
  if (!hasDatabase) throw new StoreError(`${path} is not a Sallyport backup.`);
  return uploads;
}

async function checkManifest(header: Header, content: AsyncIterable<unknown>): Promise<void> {
  if (header.name !== MANIFEST_FILE || header.size > MANIFEST_BYTES_MAX)
    throw new StoreError("This is not a Sallyport backup.");
  const text = Buffer.concat((await Array.fromAsync(content)) as Uint8Array[]).toString("utf8");
  const { format } = JSON.parse(text) as { format?: unknown };
  if (format !== FORMAT)
    throw new StoreError(`This backup has format ${format}; this version of Sallyport reads ${FORMAT}.`);
}

/**
 * The path of an entry. Only the names of a backup's files are accepted, so that no entry is written outside the
 * directory.
 */
function targetOf({ name, type }: Header, dataDir: string): string {
  if (type === "file") {
    if (name === DATABASE_FILE) return join(dataDir, `${DATABASE_FILE}.part`);
    if (name === SECRETS_FILE) return join(dataDir, SECRETS_FILE);
    if (new RegExp(`^${UPLOADS_DIR}/[0-9A-Za-z_-]+/[0-9A-Za-z_-]+$`).test(name)) return join(dataDir, name);
  }
  throw new StoreError(`The backup contains an unexpected entry: ${JSON.stringify(name)}.`);
}

function checkRestored(dataDir: string): void {
  // The database stays as it is: the next start upgrades it if an older version made it.
  const { store } = openForUpgrade({ dataDir, clock: systemClock });
  try {
    const problems = store.integrityCheck();
    if (problems.length > 0) throw new StoreError(`The backup's database is damaged: ${problems[0]}`);
  } finally {
    store.close();
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
