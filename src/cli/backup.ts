// `sallyport backup FILE.tar` and `sallyport restore FILE.tar`.

import { existsSync } from "node:fs";
import { restoreBackup, writeBackup } from "../store/engine/backup.ts";
import { isSqlite } from "../store/engine/open.ts";
import type { Command } from "./command.ts";
import { failure, printRecord, withStore } from "./workspace.ts";

/** Copies the database, the secrets and the uploads into one file, also beside a running server. */
export const backupCommand: Command = {
  summary: "copy the database, secrets and uploads into one file",
  usage: "FILE.tar [--force]",
  args: [1, 1],
  options: [{ name: "force", summary: "replace a file of that name" }],
  details:
    "The copy is a consistent snapshot, even while a server runs. It contains every secret of the gateway: keep it safe.",
  async run(context) {
    const file = context.args[0] ?? "";
    if (existsSync(file) && !context.flags.has("force")) {
      throw failure(`${file} already exists: choose another name, or replace it with --force`);
    }
    const made = await withStore(context, { create: false }, async (store) => {
      if (!isSqlite(store)) throw failure("a database on PostgreSQL is copied with pg_dump");
      return writeBackup(store, file);
    });
    printRecord(context, { file, ...made });
    return 0;
  },
};

/** Puts a backup into an empty data directory. */
export const restoreCommand: Command = {
  summary: "put a backup into an empty data directory",
  usage: "FILE.tar",
  args: [1, 1],
  async run(context) {
    const { dataDir } = context.config();
    const restored = await restoreBackup(context.args[0] ?? "", dataDir);
    printRecord(context, { data_dir: dataDir, ...restored });
    return 0;
  },
};
