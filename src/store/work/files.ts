// Uploaded files: a row and the bytes of each. The row appears only when all bytes are stored.

import { and, desc, eq, lt } from "drizzle-orm";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import { requireStorable } from "../values.ts";
import { files } from "./schema.ts";
import { uploadBytes } from "./upload-bytes.ts";

/** An uploaded file's metadata. */
export type StoredFile = typeof files.$inferSelect;

/** Verbs over uploaded files. */
export type FileStore = ReturnType<typeof fileStore>;

const PAGE_MAX = 10_000;

/** Builds the verbs. */
export function fileStore(store: Store) {
  const { db, clock } = store;
  const own = (accountId: string, id: string) => and(eq(files.id, id), eq(files.accountId, accountId));
  const bytes = uploadBytes(store);
  const find = async (accountId: string, id: string) => db.select().from(files).where(own(accountId, id)).get();

  return {
    /** Stores a file. `id` is generated here, never the client's: it becomes a file name. */
    async createFile(file: Omit<StoredFile, "bytes" | "createdAtMs">, content: Uint8Array): Promise<StoredFile> {
      requireStorable({ filename: file.filename, purpose: file.purpose, mediaType: file.mediaType });
      if (!/^[0-9A-Za-z_-]+$/.test(file.id)) throw new Error(`Not a file id: ${file.id}`);
      const row: StoredFile = { ...file, bytes: content.byteLength, createdAtMs: clock.now() };
      await bytes.add(row, content, () => db.insert(files).values(row).run());
      return row;
    },

    /** An account's file. */
    async findFile(accountId: string, id: string): Promise<StoredFile | undefined> {
      return find(accountId, id);
    },

    /** The bytes of an account's file. */
    async readFile(accountId: string, id: string): Promise<Uint8Array | undefined> {
      return (await find(accountId, id)) === undefined ? undefined : bytes.read({ accountId, id });
    },

    /** An account's files, newest first, older than the file `beforeId`. */
    async listFiles(accountId: string, options: { beforeId?: string; limit?: number } = {}): Promise<StoredFile[]> {
      // Ids sort by creation time.
      const older = options.beforeId === undefined ? undefined : lt(byBytes(files.id), options.beforeId);
      return db
        .select()
        .from(files)
        .where(and(eq(files.accountId, accountId), older))
        .orderBy(desc(byBytes(files.id)))
        .limit(Math.min(options.limit ?? PAGE_MAX, PAGE_MAX))
        .all();
    },

    /** Deletes an account's file; false when there is none. */
    async deleteFile(accountId: string, id: string): Promise<boolean> {
      const deleted = await db.delete(files).where(own(accountId, id)).returning({ id: files.id }).all();
      if (deleted.length === 0) return false;
      await bytes.drop({ accountId, id });
      return true;
    },
  };
}
