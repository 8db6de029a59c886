// `sallyport backup FILE.tar` and `sallyport restore FILE.tar`.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { type BackupSummary, restoreBackup, writeBackup } from "../store/engine/backup.ts";
import { isSqlite, openStore } from "../store/engine/open.ts";
import type { Store } from "../store/engine/store.ts";
import type { Command } from "./command.ts";
import { failure, printRecord, withStore } from "./workspace.ts";

/** Copies the database, the secrets and the uploads into one file. A server may be running. */
export const backupCommand: Command = {
  summary: "copy the database, secrets and uploads into one file",
  examples: ["sallyport backup sallyport.tar --data-dir /var/lib/sallyport"],
  usage: "FILE.tar [--force]",
  args: [1, 1],
  options: [{ name: "force", summary: "replace an existing file" }],
  details:
    "The copy is a consistent snapshot, even while a server runs. It contains every secret of the gateway: keep it safe.",
  async run(context) {
    const file = context.args[0] ?? "";
    if (existsSync(file) && !context.flags.has("force")) {
      throw failure(`${file} already exists: choose another name, or replace it with --force`);
    }
    const config = context.config();
    const made =
      config.database.url === ""
        ? await withStore(context, { create: false }, (store) => backupOf(store, file))
        : await backupOfPostgres(config, file);
    printRecord(context, { file, ...made });
    return 0;
  },
};

function backupOf(store: Store, file: string): Promise<BackupSummary> {
  if (!isSqlite(store)) throw failure("the database is no file");
  return writeBackup(store, file);
}

/** A snapshot of the database in the form of a data directory. The file is the same for every engine. */
async function backupOfPostgres({ dataDir, database }: Config, file: string): Promise<BackupSummary> {
  const { copyFromPostgres } = await import("../store/engine/postgres/copy.ts");
  return await beside(dataDir, async (own) => {
    await copyFromPostgres({ dataDir: own, url: database.url, told: () => undefined });
    const store = openStore({ dataDir: own, create: false });
    try {
      return await writeBackup(store, file);
    } finally {
      store.close();
    }
  });
}

async function restoreToPostgres(file: string, { dataDir, database }: Config): Promise<BackupSummary> {
  const { copyToPostgres } = await import("../store/engine/postgres/copy.ts");
  return await beside(dataDir, async (own) => {
    const restored = await restoreBackup(file, own);
    await copyToPostgres({ dataDir: own, url: database.url, told: () => undefined });
    return restored;
  });
}

/** Runs `work` with a temporary folder in the data directory, which is deleted afterwards. */
async function beside<T>(dataDir: string, work: (own: string) => Promise<T>): Promise<T> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const own = mkdtempSync(join(dataDir, "backup-"));
  try {
    return await work(own);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Restores a backup into an empty data directory or an empty database. */
export const restoreCommand: Command = {
  summary: "restore a backup into an empty data directory or database",
  examples: ["sallyport restore sallyport.tar --data-dir /tmp/restored"],
  usage: "FILE.tar",
  args: [1, 1],
  async run(context) {
    const config = context.config();
    const [file = ""] = context.args;
    const restored = await (config.database.url === ""
      ? restoreBackup(file, config.dataDir)
      : restoreToPostgres(file, config));
    printRecord(context, { data_dir: config.dataDir, ...restored });
    return 0;
  },
};
