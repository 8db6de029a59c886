// `sallyport migrate-database`: moves a whole store from SQLite to PostgreSQL, or back.

import type { Command } from "./command.ts";
import { UsageError } from "./failure.ts";
import { printRecord } from "./workspace.ts";

/** Copies the store, compares the copy, and leaves the source unchanged. */
export const migrateDatabaseCommand: Command = {
  summary: "copy everything from SQLite to PostgreSQL, or back",
  examples: ["sallyport migrate-database --to postgres://sallyport:PASSWORD@127.0.0.1/sallyport"],
  usage: "--to URL | --from URL",
  options: [
    { name: "to", value: "URL", summary: "copy the data directory into this empty database" },
    { name: "from", value: "URL", summary: "copy this database into a data directory that has none" },
  ],
  details:
    "Copies accounts, keys, usage, jobs, files, secrets and the rest, and compares counts and sums. Stop the servers first. A copy that was interrupted goes on when the command is run again. The source stays as it is; afterwards set database.url, or remove it.",
  async run(context) {
    const [to, from] = [context.flags.text("to"), context.flags.text("from")];
    const url = to ?? from;
    if (url === undefined || (to !== undefined && from !== undefined))
      throw new UsageError("expected either --to URL or --from URL");
    if (!URL.canParse(url) || !/^postgres(?:ql)?:$/.test(new URL(url).protocol))
      throw new UsageError(
        `--${to === undefined ? "from" : "to"}: expected a URL such as postgres://user:password@host/name`,
      );
    const { copyFromPostgres, copyToPostgres } = await import("../store/engine/postgres/copy.ts");
    const copy = to === undefined ? copyFromPostgres : copyToPostgres;
    const { dataDir } = context.config();
    const told = (table: string, rows: number) => context.err(`${table.padEnd(20)}  ${rows}\n`);
    const summary = await copy({ dataDir, url, told });
    printRecord(context, { data_dir: dataDir, ...summary });
    return 0;
  },
};
