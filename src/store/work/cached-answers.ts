// Answers of models that are given again to equal requests. They are sealed by the gateway, so here they are opaque bytes.

import { and, asc, eq, inArray, type SQL } from "drizzle-orm";
import type { Store } from "../engine/store.ts";
import { cachedAnswers } from "./schema.ts";

/** An answer as it is stored. */
export type CachedAnswer = Omit<typeof cachedAnswers.$inferSelect, "bytes" | "createdAtMs">;

/** Verbs over kept answers. */
export type CachedAnswerStore = ReturnType<typeof cachedAnswerStore>;

const DELETE_BATCH = 500;

/** Builds the verbs. */
export function cachedAnswerStore(store: Store) {
  const { db, clock, statement } = store;
  const find = statement<{ content: Uint8Array; created_at: number | bigint }>(
    `SELECT answer.content, answer.created_at FROM cached_answers AS answer JOIN api_keys AS own ON own.id = answer.key_id
     WHERE answer.key = ? AND answer.expires_at > ? AND own.revoked_at IS NULL`,
  );
  // Nothing is stored for an account or a key that was deleted meanwhile.
  const keep = statement(
    `INSERT INTO cached_answers (key, account_id, key_id, model, content, bytes, created_at, expires_at)
     SELECT $key, account_id, id, $model, $content, $bytes, $createdAt, $expiresAt FROM api_keys
     WHERE id = $keyId AND account_id = $accountId AND revoked_at IS NULL
     ON CONFLICT (key) DO UPDATE SET account_id = excluded.account_id, key_id = excluded.key_id, content = excluded.content,
       bytes = excluded.bytes, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  );
  const sum = statement<{ bytes: number | bigint }>("SELECT COALESCE(SUM(bytes), 0) AS bytes FROM cached_answers");
  const deleteOld = statement(
    "DELETE FROM cached_answers WHERE key IN (SELECT key FROM cached_answers WHERE expires_at <= ? LIMIT ?)",
  );
  const deleteBatch = async (which: SQL | undefined) => {
    const oldest = db
      .select({ key: cachedAnswers.key })
      .from(cachedAnswers)
      .where(which)
      .orderBy(asc(cachedAnswers.createdAtMs))
      .limit(DELETE_BATCH);
    return await db
      .delete(cachedAnswers)
      .where(inArray(cachedAnswers.key, oldest))
      .returning({ bytes: cachedAnswers.bytes })
      .all();
  };
  return {
    /** The answer under this key, with the time at which it was kept. Those of a revoked key are not found. */
    async findCachedAnswer(key: string): Promise<{ content: Uint8Array; createdAtMs: number } | undefined> {
      const row = await find.get([key, clock.now()]);
      return row === null ? undefined : { content: row.content, createdAtMs: Number(row.created_at) };
    },

    /** Keeps an answer in place of an earlier one; false if its key no longer exists. */
    async keepCachedAnswer({ expiresAtMs, content, ...answer }: CachedAnswer): Promise<boolean> {
      const bytes = content.byteLength;
      return (
        (await keep.run({ ...answer, content, bytes, createdAt: clock.now(), expiresAt: expiresAtMs })).changes > 0
      );
    },

    /** The size of all kept answers. */
    async cachedBytes(): Promise<number> {
      return Number((await sum.get())?.bytes ?? 0);
    },

    /** Deletes a batch of the oldest answers; returns their size, 0 when none is left. */
    async deleteOldestCached(): Promise<number> {
      return (await deleteBatch(undefined)).reduce((bytes, row) => bytes + row.bytes, 0);
    },

    /** Deletes all answers, or those of one model; returns their number. */
    async clearCache(model?: string): Promise<number> {
      const which = model === undefined ? undefined : and(eq(cachedAnswers.model, model));
      let count = 0;
      for (;;) {
        const { length } = await deleteBatch(which);
        if (length === 0) return count;
        count += length;
      }
    },

    /** Deletes a batch of the expired answers; returns how many, 0 when none is left. */
    async deleteExpiredCached(): Promise<number> {
      return (await deleteOld.run([clock.now(), DELETE_BATCH])).changes;
    },
  };
}
