// Debugging of keys: for some minutes the messages of a key's requests are recorded, those of the client and those of
// the providers. The records are limited in number and size and are deleted afterwards. A key with `no_store` cannot be
// debugged.

import { and, asc, eq, gt, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import { storable } from "../../base/storable.ts";
import { type Store, step } from "../engine/store.ts";
import { apiKeys, debugRecords } from "../schema.ts";

/** The recorded messages of one request. */
export interface DebugRecord {
  readonly keyId: string;
  readonly requestId: string;
  /** JSON, without secrets. */
  readonly record: string;
}

/** Verbs over the debugging of keys. */
export type KeyDebugStore = ReturnType<typeof keyDebugStore>;

/** The limits for each key: the number of its recorded requests, and their total size. */
export const DEBUG_REQUESTS_MAX = 200;
export const DEBUG_BYTES_MAX = 50 * 1024 * 1024;
const REQUEST_ID_CHARS = 200;

/** Builds the verbs. */
export function keyDebugStore(store: Store) {
  return { ...settingDebug(store), ...keepingRecords(store) };
}

function settingDebug(store: Store) {
  const { db, clock } = store;
  return {
    /**
     * Sets the time until which a live key is debugged; null ends debugging. Earlier records are deleted in both cases.
     * `no_store`: the content of the key's requests must not be stored.
     */
    async setKeyDebug(keyId: string, untilMs: number | null): Promise<"set" | "no_key" | "no_store"> {
      return await store.transaction(function* () {
        const live = and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs));
        const key = yield* step(() => db.select({ noStore: apiKeys.noStore }).from(apiKeys).where(live).get());
        if (key === undefined) return "no_key";
        if (key.noStore && untilMs !== null) return "no_store";
        yield* step(() => db.update(apiKeys).set({ debugUntilMs: untilMs }).where(eq(apiKeys.id, keyId)).run());
        yield* step(() => db.delete(debugRecords).where(eq(debugRecords.keyId, keyId)).run());
        return "set";
      });
    },

    /** Deletes the records of keys whose debugging has ended; returns the number of deleted records. */
    async deleteEndedDebug(): Promise<number> {
      const ended = or(isNull(apiKeys.debugUntilMs), lte(apiKeys.debugUntilMs, clock.now()));
      const theirs = sql`${debugRecords.keyId} IN (SELECT ${apiKeys.id} FROM ${apiKeys} WHERE ${ended})`;
      const gone = await db.delete(debugRecords).where(theirs).returning({ id: debugRecords.id }).all();
      await db
        .update(apiKeys)
        .set({ debugUntilMs: null })
        .where(and(isNotNull(apiKeys.debugUntilMs), lte(apiKeys.debugUntilMs, clock.now())))
        .run();
      return gone.length;
    },
  };
}

function keepingRecords(store: Store) {
  const { db, clock, statement } = store;
  const add = statement(
    "INSERT INTO debug_records (key_id, request_id, record, bytes, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const isOn = () => gt(apiKeys.debugUntilMs, clock.now());
  return {
    /** Stores the record of a request; false if the key is not being debugged or a limit is reached. */
    async addDebugRecord(
      { keyId, requestId, record }: DebugRecord,
      {
        requestsMax = DEBUG_REQUESTS_MAX,
        bytesMax = DEBUG_BYTES_MAX,
      }: { requestsMax?: number; bytesMax?: number } = {},
    ): Promise<boolean> {
      const bytes = Buffer.byteLength(record);
      return await store.transaction(function* () {
        const key = yield* step(() =>
          db
            .select({ id: apiKeys.id })
            .from(apiKeys)
            .where(and(eq(apiKeys.id, keyId), isOn()))
            .get(),
        );
        if (key === undefined) return false;
        const kept = yield* step(() =>
          db
            .select({
              requests: sql<number>`COUNT(*)`.mapWith(Number),
              bytes: sql<number>`COALESCE(SUM(${debugRecords.bytes}), 0)`.mapWith(Number),
            })
            .from(debugRecords)
            .where(eq(debugRecords.keyId, keyId))
            .get(),
        );
        const { requests = 0, bytes: taken = 0 } = kept ?? {};
        if (requests >= requestsMax || taken + bytes > bytesMax) return false;
        const id = storable(requestId.slice(0, REQUEST_ID_CHARS));
        yield* step(() => add.run([keyId, id, record, bytes, clock.now()]));
        return true;
      });
    },

    /** The records of requests with this id, oldest first; empty if the key is not being debugged. */
    async listDebugRecords(keyId: string, requestId: string): Promise<string[]> {
      const rows = await db
        .select({ record: debugRecords.record })
        .from(debugRecords)
        .innerJoin(apiKeys, eq(apiKeys.id, debugRecords.keyId))
        .where(and(eq(debugRecords.keyId, keyId), eq(debugRecords.requestId, requestId), isOn()))
        .orderBy(asc(debugRecords.id))
        .all();
      return rows.map(({ record }) => record);
    },
  };
}
