// The gateway's own secrets, made on first use and kept in data_dir/secrets.json (0600): the one place in the data
// directory that holds secrets in the clear, so that it can be guarded and left out of what is shared.

import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomText } from "../base/ids.ts";
import type { Store } from "./engine/open.ts";
import { StoreError } from "./engine/store-error.ts";

/** File name within the data directory. */
export const SECRETS_FILE = "secrets.json";

/** What is kept. */
export type SecretName = "jwt_secret" | "jwt_ring" | "account_codes" | "pseudonym_salt" | "setup_token" | "compaction";

/** Verbs over secrets. */
export type SecretStore = ReturnType<typeof secretStore>;

/** 48 of 62 characters: 285 bits. */
const SECRET_CHARS = 48;

/** Builds the verbs. */
export function secretStore(store: Store) {
  const path = join(store.dataDir, SECRETS_FILE);

  const read = (): Record<string, string> => {
    if (!existsSync(path)) return {};
    try {
      return JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    } catch (error) {
      // Never replaced by new ones: that would silently log everybody out.
      throw new StoreError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  const write = (secrets: Readonly<Record<string, string>>): void => {
    const part = `${path}.part`;
    const file = openSync(part, "w", 0o600);
    try {
      // A left-over from a crash would keep its own mode.
      chmodSync(part, 0o600);
      writeSync(file, `${JSON.stringify(secrets, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
  };

  return {
    /** The secret under this name, made when there is none. */
    async secret(name: SecretName): Promise<string> {
      const kept = read()[name];
      if (kept !== undefined) return kept;
      // The database's write lock stands in for one on the file: of two processes that start together one makes it.
      return store.transaction(() => {
        const secrets = read();
        const known = secrets[name];
        if (known !== undefined) return known;
        const made = randomText(SECRET_CHARS);
        write({ ...secrets, [name]: made });
        return made;
      });
    },

    /** The secret under this name, if it was made. */
    async findSecret(name: SecretName): Promise<string | undefined> {
      return read()[name];
    },

    /** Keeps a secret that came from elsewhere. */
    async putSecret(name: SecretName, value: string): Promise<void> {
      store.transaction(() => write({ ...read(), [name]: value }));
    },

    /** Forgets a secret. */
    async dropSecret(name: SecretName): Promise<void> {
      store.transaction(() => {
        const { [name]: dropped, ...rest } = read();
        if (dropped !== undefined) write(rest);
      });
    },
  };
}
