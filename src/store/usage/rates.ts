// The rate limiter's windows as last saved, so that a restart does not reset them.

import { and, eq, gte, isNotNull, lt } from "drizzle-orm";
import { projects } from "../access/schema.ts";
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
    /**
     * Returns the rate windows saved at or after a time, and deletes older ones. The window of a project with a limit consists of
     * those of its keys.
     */
    async loadRateWindows(sinceMs: number): Promise<RateWindow[]> {
      await db.delete(rateWindows).where(lt(rateWindows.savedAtMs, sinceMs)).run();
      const rows = await db
        .select({ keyId: rateWindows.keyId, timesMs: rateWindows.timesMs, projectId: projects.id })
        .from(rateWindows)
        .innerJoin(apiKeys, eq(apiKeys.id, rateWindows.keyId))
        .leftJoin(projects, and(eq(projects.id, apiKeys.projectId), isNotNull(projects.rpm)))
        .where(gte(rateWindows.savedAtMs, sinceMs))
        .all();
      const ofProjects = Map.groupBy(rows, ({ projectId }) => projectId);
      ofProjects.delete(null);
      return [
        ...rows.map(({ keyId, timesMs }) => ({ keyId, timesMs })),
        ...[...ofProjects].map(([id, keys]) => ({
          keyId: id ?? "",
          timesMs: keys.flatMap(({ timesMs }) => timesMs).sort((a, b) => a - b),
        })),
      ];
    },
  };
}
