// Kept answers: they expire, go with their account and key, and the oldest give way.

import { expect } from "bun:test";
import type { Contract, World } from "./world.ts";

const HOUR_MS = 3_600_000;

async function holder({ verbs, account }: World, name?: string) {
  const accountId = await account(name);
  const { id: keyId } = await verbs.keys.createKey({ accountId, name: "k" });
  return { accountId, keyId };
}

const answer = (
  world: World,
  own: { accountId: string; keyId: string },
  key: string,
  more: { model?: string; text?: string } = {},
) => ({
  ...own,
  key,
  model: more.model ?? "m",
  content: Buffer.from(more.text ?? `sealed ${key}`),
  expiresAtMs: world.clock.now() + HOUR_MS,
});

const textOf = async ({ verbs }: World, key: string) => {
  const found = await verbs.cachedAnswers.findCachedAnswer(key);
  return found && Buffer.from(found.content).toString();
};

const cachedAnswers: Contract<"cachedAnswers"> = {
  findCachedAnswer: {
    "basics: with the time at which it was kept; undefined if there is none": async (world) => {
      const own = await holder(world);
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "a"));
      const keptAtMs = world.clock.now();
      world.clock.advance(5000);
      expect(await textOf(world, "a")).toBe("sealed a");
      expect((await world.verbs.cachedAnswers.findCachedAnswer("a"))?.createdAtMs).toBe(keptAtMs);
      expect(await textOf(world, "b")).toBeUndefined();
    },
    "time: not from its expiry on": async (world) => {
      const own = await holder(world);
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "a"));
      world.clock.advance(HOUR_MS - 1);
      expect(await textOf(world, "a")).toBe("sealed a");
      world.clock.advance(1);
      expect(await textOf(world, "a")).toBeUndefined();
    },
    "cascade: not after its key was revoked or its account deleted": async (world) => {
      const [own, other] = [await holder(world), await holder(world, "other")];
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "a"));
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, other, "b"));
      await world.verbs.keys.revokeKey(own.keyId);
      expect(await textOf(world, "a")).toBeUndefined();
      await world.verbs.accounts.deleteAccount(other.accountId);
      expect(await textOf(world, "b")).toBeUndefined();
      expect(await world.verbs.cachedAnswers.clearCache()).toBe(1);
    },
  },
  keepCachedAnswer: {
    "concurrency: the last one of a key holds": async (world) => {
      const own = await holder(world);
      const other = await world.again();
      const keep = [world.verbs, other].map((verbs) => verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "a")));
      expect(await Promise.all(keep)).toEqual([true, true]);
      await other.cachedAnswers.keepCachedAnswer(answer(world, own, "a", { text: "newer" }));
      expect(await textOf(world, "a")).toBe("newer");
      expect(await other.cachedAnswers.clearCache()).toBe(1);
    },
    "cascade: nothing for a key that is revoked, gone or of another account": async (world) => {
      const [own, other] = [await holder(world), await holder(world, "other")];
      const keep = (one: typeof own) => world.verbs.cachedAnswers.keepCachedAnswer(answer(world, one, "a"));
      expect(await keep({ accountId: own.accountId, keyId: other.keyId })).toBe(false);
      expect(await keep({ accountId: own.accountId, keyId: "none" })).toBe(false);
      await world.verbs.keys.revokeKey(own.keyId);
      expect(await keep(own)).toBe(false);
    },
  },
  cachedBytes: {
    "basics: the sum of all": async (world) => {
      expect(await world.verbs.cachedAnswers.cachedBytes()).toBe(0);
      const own = await holder(world);
      for (const text of ["1234", "é"]) {
        await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, text, { text }));
      }
      expect(await world.verbs.cachedAnswers.cachedBytes()).toBe(6);
    },
  },
  deleteOldestCached: {
    "time: a batch of the oldest, until none is left": async (world) => {
      const own = await holder(world);
      for (let n = 0; n < 501; n++) {
        world.clock.advance(1);
        await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, `k${n}`, { text: "12" }));
      }
      expect(await world.verbs.cachedAnswers.deleteOldestCached()).toBe(1000);
      expect(await textOf(world, "k500")).toBe("12");
      expect(await world.verbs.cachedAnswers.deleteOldestCached()).toBe(2);
      expect(await world.verbs.cachedAnswers.deleteOldestCached()).toBe(0);
    },
  },
  clearCache: {
    "basics: all, or those of a model": async (world) => {
      const own = await holder(world);
      for (const [key, model] of [
        ["a", "m"],
        ["b", "n"],
        ["c", "n"],
      ] as const) {
        await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, key, { model }));
      }
      expect(await world.verbs.cachedAnswers.clearCache("n")).toBe(2);
      expect(await textOf(world, "a")).toBe("sealed a");
      expect(await world.verbs.cachedAnswers.clearCache()).toBe(1);
    },
  },
  deleteExpiredCached: {
    "time: those that have expired": async (world) => {
      const own = await holder(world);
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "a"));
      world.clock.advance(HOUR_MS / 2);
      await world.verbs.cachedAnswers.keepCachedAnswer(answer(world, own, "b"));
      expect(await world.verbs.cachedAnswers.deleteExpiredCached()).toBe(0);
      world.clock.advance(HOUR_MS / 2);
      expect(await world.verbs.cachedAnswers.deleteExpiredCached()).toBe(1);
      expect(await textOf(world, "b")).toBe("sealed b");
    },
  },
};

/** Its cases. */
export const cachedAnswersContract = { cachedAnswers };
