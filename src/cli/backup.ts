// `sallyport backup FILE.tar` and `sallyport restore FILE.tar`.
import { restoreBackup, writeBackup } from "../store/backup.ts";
import type { Command } from "./command.ts";
import { printRecord, withStore } from "./workspace.ts";

/** Copies the database, the secrets and the uploads into one file, also beside a running server. */
export const backup: Command = {
  summary: "copy the database, secrets and uploads into one file",
  usage: "FILE.tar",
  args: [1, 1],
  details: "The copy is of one moment, also while a server runs. It holds every secret of the gateway: keep it safe.",
  async run(context) {
    const file = context.args[0] ?? "";
    const made = await withStore(context, { create: false }, (store) => writeBackup(store, file));
    printRecord(context, { file, ...made });
    return 0;
  },
};

/** Puts a backup into an empty data directory. */
export const restore: Command = {
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
