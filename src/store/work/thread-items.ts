// The items of conversations that the gateway keeps. The items of a request are appended together or not at all, in the
// order in which requests end, so that concurrent requests neither lose nor mix items.

import { and, asc, between, desc, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import { uuid } from "../../base/ids.ts";
import { lazily } from "../../base/lazily.ts";
import { type MaybePromise, type Store, step, type Work } from "../engine/store.ts";
import { requireStorable } from "../values.ts";
import { largeValueStore, type PlacedValue } from "./large-values.ts";
import { threadItems, threads } from "./schema.ts";
import type { ThreadName } from "./thread-name.ts";

/** An item as stored. */
export type ThreadItem = Pick<typeof threadItems.$inferSelect, "seq" | "id" | "bytes" | "state">;

/** An item to append; `otherId` is used if the thread already has an item with its id. */
export interface NewThreadItem {
  readonly id: string;
  readonly otherId: string;
  /** Its uncompressed length. */
  readonly bytes: number;
  readonly state: Buffer;
}

/** Selects items. `bytesMax` limits their uncompressed size, except for the first one. */
export interface ItemList {
  readonly order: "asc" | "desc";
  /** Only items after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

/** An item as its row. */
type Row = ThreadItem & { readonly valueId: string | null };

const columns = lazily(() => ({
  ...{ seq: threadItems.seq, id: threadItems.id, bytes: threadItems.bytes },
  ...{ state: threadItems.state, valueId: threadItems.valueId },
}));

/** Builds the verbs. */
export function threadItemVerbs(store: Store) {
  return { ...itemWriting(store), ...itemReading(store) };
}

function ownThread({ accountId, kind, threadId }: ThreadName): SQL | undefined {
  return and(eq(threads.accountId, accountId), eq(threads.kind, kind), eq(threads.threadId, threadId));
}

function ofThread({ accountId, kind, threadId }: ThreadName): SQL | undefined {
  return and(eq(threadItems.accountId, accountId), eq(threadItems.kind, kind), eq(threadItems.threadId, threadId));
}

function itemFinder({ db }: Store) {
  return (name: ThreadName, id: string): MaybePromise<Row | undefined> =>
    db
      .select(columns())
      .from(threadItems)
      .where(and(ofThread(name), eq(threadItems.id, id)))
      .get();
}

/** Reads the content of items. One that was deleted meanwhile is left out. */
function wholeItems(store: Store) {
  const values = largeValueStore(store);
  return async (rows: readonly Row[]): Promise<ThreadItem[]> => {
    const items: ThreadItem[] = [];
    for (const { valueId, ...row } of rows) {
      const state = valueId === null ? row.state : await values.read({ inRow: row.state, valueId });
      if (state !== undefined) items.push({ ...row, state });
    }
    return items;
  };
}

function itemWriting(store: Store) {
  const { db, clock } = store;
  const values = largeValueStore(store);
  const find = itemFinder(store);
  /** The ids of items that an attempt has appended whose answer was lost. */
  function* appended(name: ThreadName, items: readonly NewThreadItem[]): Work<string[]> {
    const ids: string[] = [];
    for (const { id, otherId } of items)
      ids.push((yield* step(() => find(name, otherId))) === undefined ? id : otherId);
    return ids;
  }
  return {
    /** Appends items and returns their ids; undefined if the thread no longer exists. */
    async appendItems(
      name: ThreadName,
      items: readonly NewThreadItem[],
      change: { expiresAtMs: number; model?: string; tokens?: number },
    ): Promise<string[] | undefined> {
      for (const { id, otherId } of items) requireStorable({ id, otherId });
      const placed: (NewThreadItem & PlacedValue)[] = [];
      for (const item of items) placed.push({ ...item, ...(await values.place(name.accountId, item.state)) });
      const batch = uuid();
      return store.transaction(
        function* (): Work<string[] | undefined> {
          const isFirst = yield* step(() => store.isFirst(batch));
          if (!isFirst) return yield* appended(name, items);
          const [found] = yield* step(() =>
            db
              .update(threads)
              .set({ ...change, messages: sql`${threads.messages} + ${items.length}`, updatedAtMs: clock.now() })
              .where(and(ownThread(name), gt(threads.expiresAtMs, clock.now())))
              .returning({ id: threads.threadId })
              .all(),
          );
          if (found === undefined) return undefined;
          const last = yield* step(() =>
            db
              .select({ seq: threadItems.seq })
              .from(threadItems)
              .where(ofThread(name))
              .orderBy(desc(threadItems.seq))
              .limit(1)
              .get(),
          );
          let seq = (last?.seq ?? -1) + 1;
          const ids: string[] = [];
          for (const { id: wanted, otherId, bytes, inRow: state, valueId } of placed) {
            const id = (yield* step(() => find(name, wanted))) === undefined ? wanted : otherId;
            const row = { ...name, seq: seq++, id, bytes, state, valueId };
            yield* step(() => db.insert(threadItems).values(row).run());
            ids.push(id);
          }
          return ids;
        },
        { isRepeatable: true },
      );
    },

    /** Deletes an item of a thread; false when there is none. */
    async deleteItem(name: ThreadName, id: string): Promise<boolean> {
      return store.transaction(function* (): Work<boolean> {
        const item = and(ofThread(name), eq(threadItems.id, id));
        const gone = yield* step(() => db.delete(threadItems).where(item).returning({ id: threadItems.id }).all());
        if (gone.length === 0) return false;
        const set = { messages: sql`${threads.messages} - 1`, updatedAtMs: clock.now() };
        yield* step(() => db.update(threads).set(set).where(ownThread(name)).run());
        return true;
      });
    },
  };
}

function itemReading(store: Store) {
  const { db } = store;
  const find = itemFinder(store);
  const whole = wholeItems(store);
  return {
    /** The items of a thread from its start or its end, or after an item; undefined if it has no such item. */
    async listItems(
      name: ThreadName,
      { order, after, limit, bytesMax }: ItemList,
    ): Promise<{ items: ThreadItem[]; hasMore: boolean } | undefined> {
      const from = after === undefined ? undefined : await find(name, after);
      if (after !== undefined && from === undefined) return undefined;
      const towards = order === "asc" ? asc(threadItems.seq) : desc(threadItems.seq);
      const beyond = from && (order === "asc" ? gt(threadItems.seq, from.seq) : lt(threadItems.seq, from.seq));
      const sizes = await db
        .select({ seq: threadItems.seq, bytes: threadItems.bytes })
        .from(threadItems)
        .where(and(ofThread(name), beyond))
        .orderBy(towards)
        .limit(limit + 1)
        .all();
      let left = bytesMax;
      const listed = sizes.slice(0, limit).filter(({ bytes }, at) => {
        left -= bytes;
        return at === 0 || left >= 0;
      });
      const [first, last] = [listed[0], listed.at(-1)];
      if (first === undefined || last === undefined) return { items: [], hasMore: false };
      const within = between(threadItems.seq, Math.min(first.seq, last.seq), Math.max(first.seq, last.seq));
      const items = await db
        .select(columns())
        .from(threadItems)
        .where(and(ofThread(name), within))
        .orderBy(towards)
        .all();
      return { items: await whole(items), hasMore: sizes.length > items.length };
    },

    /** All items of a thread in order; undefined if they exceed the size limit. */
    async itemsOf(name: ThreadName, { bytesMax }: { bytesMax: number }): Promise<ThreadItem[] | undefined> {
      const sum = await db
        .select({ bytes: sql<number>`COALESCE(SUM(${threadItems.bytes}), 0)` })
        .from(threadItems)
        .where(ofThread(name))
        .get();
      if ((sum?.bytes ?? 0) > bytesMax) return undefined;
      return whole(
        await db.select(columns()).from(threadItems).where(ofThread(name)).orderBy(asc(threadItems.seq)).all(),
      );
    },

    /** An item of a thread. */
    async findItem(name: ThreadName, id: string): Promise<ThreadItem | undefined> {
      const row = await find(name, id);
      return row && (await whole([row]))[0];
    },
  };
}
