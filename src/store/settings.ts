// Named JSON values that survive a restart.

import { eq, sql } from "drizzle-orm";
import { lazily } from "../base/lazily.ts";
import { type Store, step, type Work } from "./engine/store.ts";
import { settings } from "./schema.ts";

/** The address where the server listens or last listened, as `http://127.0.0.1:8787`; written when it is ready. */
export const LISTENING_SETTING = "listening_url";

/** The last untrusted peer that sent proxy headers, and when. */
export const UNTRUSTED_PROXY_SETTING = "untrusted_proxy";

/** Verbs over the settings table. */
export type SettingsStore = ReturnType<typeof settingsStore>;

/** Builds the verbs. */
export function settingsStore(store: Store) {
  const { db, clock } = store;
  const byName = lazily(() =>
    db
      .select({ value: settings.value })
      .from(settings)
      .where(eq(settings.name, sql.placeholder("name")))
      .prepare(),
  );
  const put = (name: string, value: unknown) => {
    const row = { value, updatedAtMs: clock.now() };
    return db
      .insert(settings)
      .values({ name, ...row })
      .onConflictDoUpdate({ target: settings.name, set: row })
      .run();
  };
  return {
    /** The value under `name`; undefined when there is none. */
    async readSetting(name: string): Promise<unknown> {
      return (await byName().get({ name }))?.value;
    },
    /** Stores a JSON value under `name`. */
    async writeSetting(name: string, value: unknown): Promise<void> {
      await put(name, value);
    },
    /**
     * Replaces the value under `name` by what `change` makes of it, and returns that. Other programs change it before or
     * after, never meanwhile; `change` may be called again.
     */
    async changeSetting<T>(name: string, change: (value: unknown) => T): Promise<T> {
      return store.transaction(function* (): Work<T> {
        const changed = change((yield* step(() => byName().get({ name })))?.value);
        yield* step(() => put(name, changed));
        return changed;
      });
    },
  };
}
