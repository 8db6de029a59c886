// The rate limiter's windows as last saved, so that a restart does not reset them.

import { type Store, steps } from "../engine/store.ts";

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
  const { clock } = store;
  // The key is selected, so that a key that was deleted meanwhile does not make the others fail.
  const save = store.statement(
    `INSERT INTO rate_windows (key_id, times_ms, saved_at) SELECT id, ?, ? FROM api_keys WHERE id = ?
     ON CONFLICT (key_id) DO UPDATE SET times_ms = excluded.times_ms, saved_at = excluded.saved_at`,
  );
  // In plain SQL, since every start waits for them.
  const forget = store.statement("DELETE FROM rate_windows WHERE saved_at < ?");
  const load = store.statement<{ keyId: string; timesMs: string; projectId: string | null }>(
    `SELECT rate_windows.key_id AS "keyId", rate_windows.times_ms AS "timesMs", projects.id AS "projectId" FROM rate_windows
     INNER JOIN api_keys ON api_keys.id = rate_windows.key_id
     LEFT JOIN projects ON projects.id = api_keys.project_id AND projects.rpm IS NOT NULL
     WHERE rate_windows.saved_at >= ?`,
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
      await forget.run([sinceMs]);
      const rows = (await load.all([sinceMs])).map(({ keyId, timesMs, projectId }) => ({
        ...{ keyId, projectId },
        timesMs: JSON.parse(timesMs) as number[],
      }));
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
