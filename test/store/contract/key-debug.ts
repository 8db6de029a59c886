// Debugging of keys: the records are limited, and are deleted when debugging ends.

import { expect } from "bun:test";
import { DEBUG_BYTES_MAX, DEBUG_REQUESTS_MAX } from "../../../src/store/access/key-debug.ts";
import type { Contract, World } from "./world.ts";

const MINUTE_MS = 60_000;

async function debugged({ verbs, account, clock }: World) {
  const { id: keyId } = await verbs.keys.createKey({ accountId: await account(), name: "k" });
  expect(await verbs.keyDebug.setKeyDebug(keyId, clock.now() + MINUTE_MS)).toBe("set");
  return keyId;
}

const keyDebug: Contract<"keyDebug"> = {
  setKeyDebug: {
    "concurrency: the last one holds": async (world) => {
      const keyId = await debugged(world);
      const other = await world.again();
      const untilMs = world.clock.now() + 2 * MINUTE_MS;
      const set = [world.verbs, other].map((verbs) => verbs.keyDebug.setKeyDebug(keyId, untilMs));
      expect(await Promise.all(set)).toEqual(["set", "set"]);
      expect(await other.keys.findLiveKeyById(keyId)).toMatchObject({ debugUntilMs: untilMs });
    },
    "basics: of live keys that keep something; it begins anew": async (world) => {
      const { verbs, account, clock } = world;
      const untilMs = clock.now() + MINUTE_MS;
      expect(await verbs.keyDebug.setKeyDebug("none", untilMs)).toBe("no_key");
      const accountId = await account("other");
      const { id: silent } = await verbs.keys.createKey({ accountId, name: "s", noStore: true });
      expect(await verbs.keyDebug.setKeyDebug(silent, untilMs)).toBe("no_store");
      expect(await verbs.keyDebug.setKeyDebug(silent, null)).toBe("set");
      const keyId = await debugged(world);
      expect(await verbs.keys.findLiveKeyById(keyId)).toMatchObject({ debugUntilMs: untilMs });
      expect(await verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" })).toBe(true);
      expect(await verbs.keyDebug.setKeyDebug(keyId, untilMs)).toBe("set");
      expect(await verbs.keyDebug.listDebugRecords(keyId, "r")).toEqual([]);
      expect(await verbs.keyDebug.setKeyDebug(keyId, null)).toBe("set");
      expect(await verbs.keys.findLiveKeyById(keyId)).toMatchObject({ debugUntilMs: null });
      await verbs.keys.revokeKey(keyId);
      expect(await verbs.keyDebug.setKeyDebug(keyId, untilMs)).toBe("no_key");
    },
  },
  addDebugRecord: {
    "concurrency: no more than fit, of any number at once": async (world) => {
      const keyId = await debugged(world);
      const other = await world.again();
      const add = (verbs: typeof other) =>
        verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" }, { requestsMax: 4 });
      const kept = await Promise.all([world.verbs, other, world.verbs, other, world.verbs, other].map(add));
      expect(kept.filter(Boolean)).toHaveLength(4);
    },
    "basics: so many requests, so many bytes": async (world) => {
      const keyId = await debugged(world);
      const add = (record: string, limits: { requestsMax?: number; bytesMax?: number }) =>
        world.verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record }, limits);
      expect(await add("12345", { bytesMax: 10 })).toBe(true);
      // A letter of two bytes.
      expect(await add("1234é", { bytesMax: 10 })).toBe(false);
      expect(await add("12345", { bytesMax: 10 })).toBe(true);
      expect(await add("", { requestsMax: 3 })).toBe(true);
      expect(await add("", { requestsMax: 3 })).toBe(false);
      expect([DEBUG_REQUESTS_MAX, DEBUG_BYTES_MAX]).toEqual([200, 50 * 1024 * 1024]);
    },
    "time: nothing from the moment that it ends": async (world) => {
      const keyId = await debugged(world);
      world.clock.advance(MINUTE_MS);
      expect(await world.verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" })).toBe(false);
    },
    "cascade: what is kept goes with its account": async (world) => {
      const { verbs } = world;
      const accountId = await world.account("leaving");
      const keyId = await debugged({ ...world, account: async () => accountId });
      expect(await verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" })).toBe(true);
      await verbs.accounts.deleteAccount(accountId);
      expect(await verbs.keyDebug.listDebugRecords(keyId, "r")).toEqual([]);
      expect(await verbs.keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" })).toBe(false);
    },
  },
  listDebugRecords: {
    "order: the earliest first, while it lasts": async (world) => {
      const keyId = await debugged(world);
      const { keyDebug } = world.verbs;
      for (const record of ["2", "1", "3"]) await keyDebug.addDebugRecord({ keyId, requestId: "r", record });
      await keyDebug.addDebugRecord({ keyId, requestId: "other", record: "4" });
      expect(await keyDebug.listDebugRecords(keyId, "r")).toEqual(["2", "1", "3"]);
      expect(await keyDebug.listDebugRecords("none", "r")).toEqual([]);
      world.clock.advance(MINUTE_MS);
      expect(await keyDebug.listDebugRecords(keyId, "r")).toEqual([]);
    },
  },
  deleteEndedDebug: {
    "time: what has ended, once": async (world) => {
      const keyId = await debugged(world);
      const { keyDebug, keys } = world.verbs;
      await keyDebug.addDebugRecord({ keyId, requestId: "r", record: "{}" });
      expect(await keyDebug.deleteEndedDebug()).toBe(0);
      world.clock.advance(MINUTE_MS);
      expect(await keyDebug.deleteEndedDebug()).toBe(1);
      expect(await keyDebug.deleteEndedDebug()).toBe(0);
      expect(await keys.findLiveKeyById(keyId)).toMatchObject({ debugUntilMs: null });
    },
  },
};

/** The cases of the verbs over debugging. */
export const keyDebugContract = { keyDebug };
