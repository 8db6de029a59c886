// How much an account may keep here. The sum is kept by triggers of the database (migration 0006); here it is held to the
// limit: of responses and threads the oldest go, and what a client asks to keep is refused when that makes no room.
import { setImmediate as nextTurn } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import type { Store } from "../engine/open.ts";
import { accountStorage } from "./schema.ts";

/** Verbs over what an account keeps. */
export type StorageStore = ReturnType<typeof storageStore>;

/** Deleted at once; others run between two batches. */
const BATCH = 50;

/** Builds the verbs, once for a program: what is claimed is known to the one that gave it. */
export function storageStore(store: Store, limitBytes: () => number) {
  const { db, sqlite } = store;
  const sum = db
    .select({ bytes: accountStorage.bytes })
    .from(accountStorage)
    .where(eq(accountStorage.accountId, sql.placeholder("accountId")))
    .prepare();
  const oldest = sqlite.query<
    { kind: "response" | "thread"; at: number; name: number; bytes: number },
    [string, string]
  >(
    `SELECT * FROM (
       SELECT 'response' AS kind, created_at AS at, rowid AS name, octet_length(input) + octet_length(body) AS bytes
       FROM responses WHERE account_id = ? ORDER BY rowid LIMIT ${BATCH})
     UNION ALL SELECT * FROM (
       SELECT 'thread', updated_at, rowid, octet_length(thread_id) + octet_length(state)
       FROM threads WHERE account_id = ? ORDER BY updated_at LIMIT ${BATCH})
     ORDER BY at LIMIT ${BATCH}`,
  );
  const lasting = sqlite.query<{ bytes: number }, [string, string]>(
    `SELECT (SELECT COALESCE(SUM(bytes), 0) FROM files WHERE account_id = ?)
       + (SELECT COALESCE(SUM(octet_length(input) + octet_length(progress) + COALESCE(octet_length(result), 0)
            + COALESCE(octet_length(error), 0) + held_bytes), 0) FROM jobs WHERE account_id = ?) AS bytes`,
  );
  const drop = {
    response: sqlite.query("DELETE FROM responses WHERE rowid = ?"),
    thread: sqlite.query("DELETE FROM threads WHERE rowid = ?"),
  };
  const claimed = new Map<string, number>();
  const used = (accountId: string) => (sum.get({ accountId })?.bytes ?? 0) + (claimed.get(accountId) ?? 0);

  /** Deletes old texts until `bytes` more have room; false when nothing is left to delete and they have none. */
  const makeRoom = async (accountId: string, bytes: number): Promise<boolean> => {
    for (;;) {
      let excess = used(accountId) + bytes - limitBytes();
      if (excess <= 0) return true;
      const old = oldest.all(accountId, accountId);
      if (old.length === 0) return false;
      store.transaction(() => {
        for (const { kind, name, bytes: size } of old) {
          if (excess <= 0) break;
          drop[kind].run(name);
          excess -= size;
        }
      });
      await nextTurn();
    }
  };

  return {
    /** What an account keeps, and how much it may. */
    async storageOf(accountId: string): Promise<{ readonly usedBytes: number; readonly limitBytes: number }> {
      return { usedBytes: sum.get({ accountId })?.bytes ?? 0, limitBytes: limitBytes() };
    },

    makeRoom,

    /**
     * Sets room aside for what is about to be stored, so that of many at once no more are stored than fit. Gives what ends
     * the claim, for when the row is written or will not be; undefined when there is no room.
     */
    async claim(accountId: string, bytes: number): Promise<(() => void) | undefined> {
      // Looked at again after each wait: others may have taken the room that was made.
      while (used(accountId) + bytes > limitBytes()) {
        const stays = (lasting.get(accountId, accountId)?.bytes ?? 0) + (claimed.get(accountId) ?? 0);
        // Where it would not fit without the texts either, none of them has to go for it.
        if (stays + bytes > limitBytes() || !(await makeRoom(accountId, bytes))) return undefined;
      }
      claimed.set(accountId, (claimed.get(accountId) ?? 0) + bytes);
      return () => {
        const left = (claimed.get(accountId) ?? 0) - bytes;
        if (left > 0) claimed.set(accountId, left);
        else claimed.delete(accountId);
      };
    },
  };
}
