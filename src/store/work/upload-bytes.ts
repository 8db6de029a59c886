// The bytes of uploaded files. With SQLite they are in the data directory under uploads/ACCOUNT/ID, readable only by
// the owner of the process. With PostgreSQL they are in the database, so that every node can read them.

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Store, step, type Work } from "../engine/store.ts";

/** Stores the bytes of files. */
export interface UploadBytes {
  /** Stores a file's bytes and its row, both or neither. */
  add(file: FileName, content: Uint8Array, row: () => unknown): Promise<void>;
  read(file: FileName): Promise<Uint8Array | undefined>;
  /** Called after the row is deleted. */
  drop(file: FileName): Promise<void>;
  /** Called after an account is deleted. */
  dropAll(accountId: string): Promise<void>;
}

interface FileName {
  readonly accountId: string;
  readonly id: string;
}

/** Name of the folder of uploads within the data directory. */
export const UPLOADS_DIR = "uploads";

/** The number of bytes in one row. A statement contains them as text of twice this length. */
const CHUNK_BYTES = 1024 * 1024;

/** Stores bytes in the way that the store's engine needs. */
export function uploadBytes(store: Store): UploadBytes {
  return store.engine === "sqlite" ? inFiles(store) : inChunks(store);
}

function inFiles({ dataDir }: Store): UploadBytes {
  const directoryOf = (accountId: string) => join(dataDir, UPLOADS_DIR, accountId);
  return {
    async add({ accountId, id }, content, row) {
      await mkdir(directoryOf(accountId), { recursive: true, mode: 0o700 });
      const path = join(directoryOf(accountId), id);
      try {
        await writeFile(`${path}.part`, content, { mode: 0o600 });
        await rename(`${path}.part`, path);
        await row();
      } catch (error) {
        await rm(`${path}.part`, { force: true });
        await rm(path, { force: true });
        throw error;
      }
    },
    async read({ accountId, id }) {
      const file = Bun.file(join(directoryOf(accountId), id));
      return (await file.exists()) ? file.bytes() : undefined;
    },
    drop: ({ accountId, id }) => rm(join(directoryOf(accountId), id), { force: true }),
    dropAll: (accountId) => rm(directoryOf(accountId), { recursive: true, force: true }),
  };
}

function inChunks(store: Store): UploadBytes {
  const insert = store.statement("INSERT INTO file_chunks (file_id, seq, content) VALUES (?, ?, ?)");
  const select = store.statement<{ content: Uint8Array }>(
    "SELECT content FROM file_chunks WHERE file_id = ? AND seq = ?",
  );
  return {
    async add({ id }, content, row) {
      await store.transaction(
        function* (): Work<void> {
          yield* step(row);
          for (let seq = 0; seq * CHUNK_BYTES < content.byteLength; seq++) {
            const part = content.subarray(seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES);
            yield* step(() => insert.run([id, seq, part]));
          }
        },
        { sees: "row" },
      );
    },
    async read({ id }) {
      const parts: Uint8Array[] = [];
      for (;;) {
        const row = await select.get([id, parts.length]);
        if (row === null) return Buffer.concat(parts);
        parts.push(row.content);
      }
    },
    // The chunks are deleted together with the row.
    drop: async () => undefined,
    dropAll: async () => undefined,
  };
}
