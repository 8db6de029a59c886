// The storage quota of accounts. Triggers of the database keep the sum (migrations 0006, 0016 and 0017). Here the quota is enforced:
// the oldest responses and threads are deleted, and new data is refused if that does not make enough room.

import { setImmediate as nextTurn } from "node:timers/promises";
import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type MaybePromise, type Store, step } from "../engine/store.ts";
import { accounts } from "../schema.ts";
import { accountStorage, responses, threads } from "./schema.ts";
import { THREAD_COST_BYTES } from "./thread-size.ts";

/** Verbs over an account's storage. */
export type StorageStore = ReturnType<typeof storageStore>;

/** The number of rows deleted in one batch. Other work runs between two batches. */
const BATCH = 50;

/** Builds the verbs, once in each program, since an instance knows only its own reservations. */
export function storageStore(store: Store, limitBytes: () => number) {
  const { db } = store;
  const sum = sumOf(store);
  const lasting = lastingSumOf(store);
  const oldest = oldestTexts(store);
  /** What is reserved; every change makes a new object. */
  const claimed = new Map<string, { readonly bytes: number }>();
  const usedBytes = async (accountId: string) => (await sum().get({ accountId }))?.bytes ?? 0;
  const used = async (accountId: string): Promise<number> => {
    for (;;) {
      const before = claimed.get(accountId);
      const bytes = await usedBytes(accountId);
      // What was stored while the sum was read, and whose reservation has ended, may be missing in both.
      if (claimed.get(accountId) === before) return bytes + (before?.bytes ?? 0);
    }
  };
  const inTurn = turnsByName();

  /** Deletes old texts until `bytes` more fit; false if they still do not fit. */
  const makeRoom = async (accountId: string, bytes: number): Promise<boolean> => {
    for (;;) {
      const excess = (await used(accountId)) + bytes - limitBytes();
      if (excess <= 0) return true;
      const old = await oldest(accountId);
      if (old.length === 0) return false;
      await store.transaction(function* () {
        let left = excess;
        for (const text of old) {
          if (left <= 0) break;
          yield* step(() => text.drop());
          left -= text.bytes;
        }
      });
      await nextTurn();
    }
  };

  return {
    /** How much an account stores, and its limit. */
    async storageOf(accountId: string): Promise<{ readonly usedBytes: number; readonly limitBytes: number }> {
      return { usedBytes: await usedBytes(accountId), limitBytes: limitBytes() };
    },

    /** The accounts that store the most, the largest first. */
    async topStorage(limit: number) {
      return db
        .select({ accountId: accountStorage.accountId, username: accounts.username, bytes: accountStorage.bytes })
        .from(accountStorage)
        .innerJoin(accounts, eq(accounts.id, accountStorage.accountId))
        .where(gt(accountStorage.bytes, 0))
        .orderBy(desc(accountStorage.bytes), asc(byBytes(accountStorage.accountId)))
        .limit(limit)
        .all();
    },

    makeRoom,

    /** Reserves space, so that concurrent requests stay within the quota; undefined if there is none. The result ends it. */
    async claim(accountId: string, bytes: number): Promise<(() => void) | undefined> {
      // One call at a time, so that nothing else is reserved between the check and the reservation.
      return inTurn(accountId, async () => {
        while ((await used(accountId)) + bytes > limitBytes()) {
          const kept = (await lasting.get([accountId, accountId]))?.bytes ?? 0;
          const stays = kept + (claimed.get(accountId)?.bytes ?? 0);
          // If deleting all texts would not make enough room, none is deleted.
          if (stays + bytes > limitBytes() || !(await makeRoom(accountId, bytes))) return undefined;
        }
        claimed.set(accountId, { bytes: (claimed.get(accountId)?.bytes ?? 0) + bytes });
        return () => {
          const left = (claimed.get(accountId)?.bytes ?? 0) - bytes;
          if (left > 0) claimed.set(accountId, { bytes: left });
          else claimed.delete(accountId);
        };
      });
    },
  };
}

/** What an account stores that is not deleted for newer data. */
function lastingSumOf({ statement }: Store) {
  return statement<{ bytes: number }>(
    `SELECT (SELECT COALESCE(SUM(bytes), 0) FROM files WHERE account_id = ?)
       + (SELECT COALESCE(SUM(octet_length(input) + octet_length(progress) + COALESCE(octet_length(result), 0)
            + COALESCE(octet_length(error), 0) + held_bytes), 0) FROM jobs WHERE account_id = ?) AS bytes`,
  );
}

/** What an account stores. */
function sumOf({ db }: Store) {
  return lazily(() =>
    db
      .select({ bytes: accountStorage.bytes })
      .from(accountStorage)
      .where(eq(accountStorage.accountId, sql.placeholder("accountId")))
      .prepare(),
  );
}

/** A response or thread that may be deleted. */
interface OldText {
  readonly atMs: number;
  readonly bytes: number;
  drop(): MaybePromise<unknown>;
}

/** Runs functions with the same name one after the other, in the order of their calls. */
function turnsByName(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(work);
    const ended = mine.catch(() => undefined);
    last.set(name, ended);
    void ended.then(() => last.get(name) === ended && last.delete(name));
    return mine;
  };
}

/** Finds the responses and threads of an account that were written longest ago, oldest first. */
function oldestTexts({ db }: Store): (accountId: string) => Promise<OldText[]> {
  const accountId = sql.placeholder("accountId");
  const oldResponses = lazily(() =>
    db
      .select({
        id: responses.id,
        atMs: responses.createdAtMs,
        bytes: sql<number>`octet_length(responses.input) + octet_length(responses.body)
          + COALESCE((SELECT large.bytes FROM large_values AS large WHERE large.id = responses.value_id), 0)`,
      })
      .from(responses)
      .where(eq(responses.accountId, accountId))
      .orderBy(asc(responses.createdAtMs), asc(byBytes(responses.id)))
      .limit(BATCH)
      .prepare(),
  );
  const oldThreads = lazily(() =>
    db
      .select({
        kind: threads.kind,
        threadId: threads.threadId,
        atMs: threads.updatedAtMs,
        // Its summaries and items are deleted together with it.
        bytes: THREAD_COST_BYTES,
      })
      .from(threads)
      .where(eq(threads.accountId, accountId))
      .orderBy(asc(threads.updatedAtMs), asc(byBytes(threads.threadId)))
      .limit(BATCH)
      .prepare(),
  );
  return async (owner) => {
    const texts: OldText[] = [
      ...(await oldResponses().all({ accountId: owner })).map(({ id, atMs, bytes }) => ({
        atMs,
        bytes,
        drop: () => db.delete(responses).where(eq(responses.id, id)).run(),
      })),
      ...(await oldThreads().all({ accountId: owner })).map(({ kind, threadId, atMs, bytes }) => ({
        atMs,
        bytes,
        drop: () =>
          db
            .delete(threads)
            .where(and(eq(threads.accountId, owner), eq(threads.kind, kind), eq(threads.threadId, threadId)))
            .run(),
      })),
    ];
    return texts.sort((a, b) => a.atMs - b.atMs).slice(0, BATCH);
  };
}
