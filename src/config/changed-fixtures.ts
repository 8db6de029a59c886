// What is read at the start only. Loaded at the first reload.

import type { Config } from "./schema.ts";

/** The keys that changed but need a restart. */
export function changedFixtures(before: Config, after: Config): string[] {
  const fixtures = {
    "server.host": (c: Config) => c.server.host,
    "server.port": (c: Config) => c.server.port,
    // The files of a certificate are read again; whether there is one is decided at the start.
    "server.tls": (c: Config) => c.server.tls.cert !== "",
    "net.ca_file": (c: Config) => c.net.caFile,
    "log.file": (c: Config) => c.log.file,
    data_dir: (c: Config) => c.dataDir,
    "database.url": (c: Config) => c.database.url,
    "node.name": (c: Config) => c.node.name,
  };
  return Object.entries(fixtures)
    .filter(([, of]) => of(before) !== of(after))
    .map(([key]) => key);
}
