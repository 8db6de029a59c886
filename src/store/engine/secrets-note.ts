// A note in a SQLite database that its secrets were made, so that a file of them that went astray is noticed. It stands in the number
// that the file's header has for a program's own use, so it is in every copy of the file, and in no other engine.

import type { SqliteStore } from "./open.ts";

/** Whether the secrets of this database were made. */
export function areSecretsNoted({ sqlite }: SqliteStore): boolean {
  return sqlite.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version === 1;
}

/** Notes that they were. */
export function noteSecrets(store: SqliteStore): void {
  if (!areSecretsNoted(store)) store.sqlite.run("PRAGMA user_version = 1");
}
