// Debugging of keys: for some minutes what passes for a key's requests is kept, on the client's side and on the providers'. What
// was kept is gone when that ends, is bounded, and is never kept of a key that keeps nothing.

import { and, asc, eq, gt, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import { storable } from "../../base/storable.ts";
import { type Store, step } from "../engine/store.ts";
import { apiKeys, debugRecords } from "../schema.ts";

/** What passed for one request. */
export interface DebugRecord {
  readonly keyId: string;
  readonly requestId: string;
  /** JSON, without secrets. */
  readonly record: string;
}

/** Verbs over what is kept of keys that are being debugged. */
export type KeyDebugStore = ReturnType<typeof keyDebugStore>;

/** Requests of one key that are kept, and the room they take together. */
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
     * Begins to debug a live key until a time, or with null ends it; what was kept before is gone either way. `no_store`: the
     * key keeps nothing.
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

    /** Deletes what is kept of keys whose debugging has ended; returns how many records went. */
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
    /** Keeps what passed for a request; false when the key is not being debugged, or there is no more room. */
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

    /** What passed for requests of this id, the earliest first; nothing once the key is no longer being debugged. */
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
