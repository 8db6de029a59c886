// The rate limiter's windows as last saved, so that a restart does not reset them.

import { eq, gte, lt } from "drizzle-orm";
import { type Store, steps } from "../engine/store.ts";
import { apiKeys, rateWindows } from "../schema.ts";

/** The request times of one key. */
export interface RateWindow {
  readonly keyId: string;
  /** Milliseconds since the epoch, oldest first. */
  readonly timesMs: number[];
}

/** Verbs over saved rate windows. */
export type RateStore = ReturnType<typeof rateStore>;

/** Builds the verbs. */
export function rateStore(store: Store) {
  const { db, clock } = store;
  // The key is selected, so that a key that was deleted meanwhile does not make the others fail.
  const save = store.statement(
    `INSERT INTO rate_windows (key_id, times_ms, saved_at) SELECT id, ?, ? FROM api_keys WHERE id = ?
     ON CONFLICT (key_id) DO UPDATE SET times_ms = excluded.times_ms, saved_at = excluded.saved_at`,
  );
  return {
    /** Replaces the windows of these keys, in one transaction. */
    async saveRateWindows(windows: Iterable<RateWindow>): Promise<void> {
      const nowMs = clock.now();
      const saves = [...windows].map(
        ({ keyId, timesMs }) =>
          () =>
            save.run([JSON.stringify(timesMs), nowMs, keyId]),
      );
      await store.transaction(() => steps(saves), { sees: "row" });
    },
    /** Returns the rate windows saved at or after a time, and deletes older ones. */
    async loadRateWindows(sinceMs: number): Promise<RateWindow[]> {
      await db.delete(rateWindows).where(lt(rateWindows.savedAtMs, sinceMs)).run();
      return db
        .select({ keyId: rateWindows.keyId, timesMs: rateWindows.timesMs })
        .from(rateWindows)
        .innerJoin(apiKeys, eq(apiKeys.id, rateWindows.keyId))
        .where(gte(rateWindows.savedAtMs, sinceMs))
        .all();
    },
  };
}
