// The gateway's own secrets, created on first use. With SQLite they are in data_dir/secrets.json (mode 0600), the only
// place in the data directory with unencrypted secrets, so that it can be protected and excluded from what is shared.
// With PostgreSQL they are in a table, for all nodes.

import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomText } from "../base/ids.ts";
import { isSqlite, type SqliteStore } from "./engine/open.ts";
import { areSecretsNoted, noteSecrets } from "./engine/secrets-note.ts";
import type { Store } from "./engine/store.ts";
import { StoreError } from "./engine/store-error.ts";

/** File name within the data directory. */
export const SECRETS_FILE = "secrets.json";

/** The stored secrets. */
export const SECRET_NAMES = [
  "jwt_secret",
  "jwt_ring",
  "account_codes",
  "pseudonym_salt",
  "setup_token",
  "compaction",
  "webhooks",
  "end_users",
] as const;

/** The name of a secret. */
export type SecretName = (typeof SECRET_NAMES)[number];

/** Verbs over secrets. */
export type SecretStore = ReturnType<typeof secretStore>;

/** 48 of 62 characters: 285 bits. */
const SECRET_CHARS = 48;

/** Builds the verbs. */
export function secretStore(store: Store): SecretVerbs {
  return isSqlite(store) ? secretsInFile(store) : secretsInTable(store);
}

interface SecretVerbs {
  /** The secret with this name, created if there is none. */
  secret(name: SecretName): Promise<string>;
  /** The secret with this name; undefined if there is none. */
  findSecret(name: SecretName): Promise<string | undefined>;
  /** Stores a secret that was created elsewhere. */
  putSecret(name: SecretName, value: string): Promise<void>;
  /** Deletes a secret. */
  dropSecret(name: SecretName): Promise<void>;
}

function secretsInTable({ statement }: Store): SecretVerbs {
  const find = statement<{ value: string }>("SELECT value FROM secrets WHERE name = ?");
  const make = statement("INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING");
  const put = statement(
    "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const drop = statement("DELETE FROM secrets WHERE name = ?");
  const findSecret = async (name: SecretName) => (await find.get([name]))?.value;
  return {
    findSecret,
    async secret(name) {
      const kept = await findSecret(name);
      if (kept !== undefined) return kept;
      // If several nodes start together, the first one creates the secret and the others read it.
      await make.run([name, randomText(SECRET_CHARS)]);
      const made = await findSecret(name);
      if (made === undefined) throw new StoreError(`The secret ${name} was created but cannot be read back.`);
      return made;
    },
    putSecret: async (name, value) => void (await put.run([name, value])),
    dropSecret: async (name) => void (await drop.run([name])),
  };
}

/** The file with the secrets; undefined if none was made yet. Throws if it went astray: new ones would sign out everybody. */
export function secretsPath(store: SqliteStore): string | undefined {
  const path = join(store.dataDir, SECRETS_FILE);
  if (existsSync(path)) return path;
  if (!areSecretsNoted(store)) return undefined;
  // Another process that starts may have made it between the two questions: it notes that after the file is there.
  if (existsSync(path)) return path;
  throw new StoreError(
    `${path} is missing: put it back from a backup, since it opens what is encrypted in the database. To go on without it, which signs everybody out, write {} into it.`,
  );
}

function secretsInFile(store: SqliteStore): SecretVerbs {
  const path = join(store.dataDir, SECRETS_FILE);
  // The database's write lock also protects the file.
  const alone = <T>(work: () => T): T => store.sqlite.transaction(work).immediate();

  const read = (): Record<string, string> => {
    if (secretsPath(store) === undefined) return {};
    try {
      return JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    } catch (error) {
      // The secrets are never replaced with new ones, since that would sign out everybody without a message.
      throw new StoreError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  const write = (secrets: Readonly<Record<string, string>>): void => {
    const part = `${path}.part`;
    const file = openSync(part, "w", 0o600);
    try {
      // A file left over from a crash would keep its mode.
      chmodSync(part, 0o600);
      writeSync(file, `${JSON.stringify(secrets, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
    noteSecrets(store);
  };

  return {
    async secret(name: SecretName): Promise<string> {
      const kept = read()[name];
      if (kept !== undefined) {
        // An older version did not.
        noteSecrets(store);
        return kept;
      }
      // If two processes start together, only one of them creates the secret.
      return alone(() => {
        const secrets = read();
        const known = secrets[name];
        if (known !== undefined) return known;
        const made = randomText(SECRET_CHARS);
        write({ ...secrets, [name]: made });
        return made;
      });
    },

    async findSecret(name: SecretName): Promise<string | undefined> {
      return read()[name];
    },

    async putSecret(name: SecretName, value: string): Promise<void> {
      alone(() => write({ ...read(), [name]: value }));
    },

    async dropSecret(name: SecretName): Promise<void> {
      alone(() => {
        const { [name]: dropped, ...rest } = read();
        if (dropped !== undefined) write(rest);
      });
    },
  };
}
