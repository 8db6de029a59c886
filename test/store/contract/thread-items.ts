// The items of conversations that the gateway keeps.

import { expect } from "bun:test";
import type { Contract, World } from "./world.ts";

const NAME = { kind: "conversation" as const, threadId: "c" };

/** A conversation, and functions that fill it. */
async function conversation(world: World, own = world.verbs) {
  const name = { ...NAME, accountId: await world.account() };
  const expiresAtMs = world.clock.now() + 1000;
  const row = { model: "m", messages: 0, tokens: 0, state: Buffer.from("state"), expiresAtMs };
  await own.threads.saveThread({ ...name, ...row });
  const append = (ids: readonly string[], by = own) =>
    by.threads.appendItems(name, ids.map(item), { expiresAtMs: world.clock.now() + 1000 });
  const ids = async (order: "asc" | "desc", after?: string, limit = 100) =>
    (await own.threads.listItems(name, { order, after, limit, bytesMax: 1000 }))?.items.map(({ id }) => id);
  return { name, append, ids };
}
const item = (id: string) => ({ id, otherId: `other-${id}`, bytes: 10, state: Buffer.from([0, ...Buffer.from(id)]) });

type Verb = "changeThread" | "appendItems" | "listItems" | "itemsOf" | "findItem" | "deleteItem";

/** The cases. */
export const threadItems: Pick<Contract<"threads">, Verb> = {
  changeThread: {
    "basics: other words, the same items; none for what is not there": async (world) => {
      const { name, append, ids } = await conversation(world);
      await append(["a"]);
      const change = { state: Buffer.from("new"), expiresAtMs: world.clock.now() + 5000 };
      expect(await world.verbs.threads.changeThread(name, change)).toBe(true);
      const found = await world.verbs.threads.findThread(name);
      expect(found).toMatchObject({ messages: 1, expiresAtMs: change.expiresAtMs });
      expect([found?.state.toString(), await ids("asc")]).toEqual(["new", ["a"]]);
      expect(await world.verbs.threads.changeThread({ ...name, threadId: "x" }, change)).toBe(false);
    },
  },
  appendItems: {
    "concurrency: all of one, then all of the other, under ids that are nobody's yet": async (world) => {
      const other = await world.again();
      const { append, ids } = await conversation(world);
      await Promise.all([append(["a", "b"]), append(["c", "d"], other)]);
      expect(await append(["a", "e"], other)).toEqual(["other-a", "e"]);
      const listed = await ids("asc");
      expect(listed?.slice(4)).toEqual(["other-a", "e"]);
      expect(["a,b,c,d", "c,d,a,b"]).toContain(String(listed?.slice(0, 4)));
    },
    "cascade: with its conversation, and with its account": async (world) => {
      const { name, append } = await conversation(world);
      await append(["a"]);
      expect((await world.verbs.storage.storageOf(name.accountId)).usedBytes).toBe(
        "c".length + "state".length + 3 + 1024 + 256,
      );
      await world.verbs.threads.deleteThread(name);
      expect((await world.verbs.storage.storageOf(name.accountId)).usedBytes).toBe(0);
      expect(await append(["b"])).toBeUndefined();
    },
    "time: the conversation lives on from its last item": async (world) => {
      const { name, append } = await conversation(world);
      world.clock.advance(900);
      expect(await append(["a"])).toEqual(["a"]);
      world.clock.advance(900);
      expect((await world.verbs.threads.findThread(name))?.messages).toBe(1);
      world.clock.advance(100);
      expect(await append(["b"])).toBeUndefined();
    },
  },
  listItems: {
    "order: as they came, from either end": async (world) => {
      const { append, ids } = await conversation(world);
      await append(["b", "Z"]);
      await append(["a"]);
      expect(await ids("asc")).toEqual(["b", "Z", "a"]);
      expect(await ids("desc")).toEqual(["a", "Z", "b"]);
    },
    "paging: beyond an item, which may not be unknown": async (world) => {
      const { append, ids } = await conversation(world);
      await append(["1", "2", "3", "4"]);
      expect(await ids("asc", "2", 1)).toEqual(["3"]);
      expect(await ids("desc", "2")).toEqual(["1"]);
      expect(await ids("asc", "x")).toBeUndefined();
    },
    "basics: no more than may be read, but for the first": async (world) => {
      const { name, append } = await conversation(world);
      await append(["1", "2", "3"]);
      for (const [bytesMax, listed] of [
        [5, 1],
        [29, 2],
        [30, 3],
      ] as const) {
        const page = await world.verbs.threads.listItems(name, { order: "asc", limit: 3, bytesMax });
        expect([page?.items.length, page?.hasMore]).toEqual([listed, listed < 3]);
      }
    },
  },
  itemsOf: {
    "basics: all of them, or none where they are too many": async (world) => {
      const { name, append } = await conversation(world);
      await append(["a", "b"]);
      const { threads } = world.verbs;
      expect((await threads.itemsOf(name, { bytesMax: 20 }))?.map(({ state }) => [...state])).toEqual([
        [0, 97],
        [0, 98],
      ]);
      expect(await threads.itemsOf(name, { bytesMax: 19 })).toBeUndefined();
      expect(await threads.itemsOf({ ...name, accountId: "other" }, { bytesMax: 20 })).toEqual([]);
    },
  },
  findItem: {
    "basics: by its id, of its conversation": async (world) => {
      const { name, append } = await conversation(world);
      await append(["a"]);
      expect((await world.verbs.threads.findItem(name, "a"))?.state.length).toBe(2);
      expect(await world.verbs.threads.findItem(name, "A")).toBeUndefined();
      expect(await world.verbs.threads.findItem({ ...name, accountId: "other" }, "a")).toBeUndefined();
    },
  },
  deleteItem: {
    "concurrency: once; the others keep their places": async (world) => {
      const other = await world.again();
      const { name, append, ids } = await conversation(world);
      await append(["a", "b", "c"]);
      const gone = await Promise.all([world.verbs, other].map((own) => own.threads.deleteItem(name, "b")));
      expect(gone.sort()).toEqual([false, true]);
      await append(["d"]);
      expect(await ids("asc")).toEqual(["a", "c", "d"]);
      expect((await world.verbs.threads.findThread(name))?.messages).toBe(3);
    },
  },
};
