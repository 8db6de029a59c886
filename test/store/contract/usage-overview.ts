// The figures of an overview, by slot and model or key, and from single rows.

import { expect } from "bun:test";
import { dayOf, hourOf, type UsageRecord, UsageTally } from "../../../src/store/usage/record.ts";
import type { Verbs } from "../../../src/store/verbs.ts";
import { usageRecord } from "../records.ts";
import { BY_BYTES, type Contract, type World } from "./world.ts";

const HOUR_MS = 3_600_000;

async function write(verbs: Verbs, changes: readonly Partial<UsageRecord>[]): Promise<void> {
  const tally = new UsageTally();
  const rows = changes.map((change) => ({ record: usageRecord(change), uid: crypto.randomUUID(), repeats: 1 }));
  for (const { record } of rows) tally.add(record);
  await verbs.usage.writeUsage({ id: crypto.randomUUID(), rows, sums: [...tally.values()] });
}

/** One request of each model and key, in no particular order, and one request an hour earlier. */
async function ofEvery({ verbs, account, clock }: World) {
  const [accountId, atMs] = [await account(), clock.now()];
  await write(
    verbs,
    BY_BYTES.toReversed().map((name) => ({ accountId, model: name, keyId: name, createdAtMs: atMs })),
  );
  await write(verbs, [{ accountId, model: "z", keyId: "z", status: 500, errorCode: "x", createdAtMs: atMs - HOUR_MS }]);
  return { accountId, hour: hourOf(atMs), day: dayOf(atMs) };
}

/** The cases of the verbs over overviews. */
export const usageOverviewContract: Pick<Contract<"usage">, "sumsBySlot" | "latencyBySlot" | "recentRows"> = {
  sumsBySlot: {
    "order: by slot, then by the bytes of the model or key": async (world) => {
      const { accountId, hour, day } = await ofEvery(world);
      const { usage } = world.verbs;
      for (const by of ["model", "keyId"] as const) {
        const rows = await usage.sumsBySlot({ unit: "hour", from: hour - 1, to: hour }, by, accountId);
        expect(rows.map(({ start, name }) => [start, name])).toEqual([
          [hour - 1, "z"],
          ...BY_BYTES.map((name) => [hour, name]),
        ]);
        expect(rows[0]).toMatchObject({ requests: 1, errors: 1, inputTokens: 10 });
      }
      const everybody = await usage.sumsBySlot({ unit: "hour", from: hour, to: hour }, "model");
      expect(everybody.map(({ name }) => name)).toEqual(BY_BYTES);
      const days = await usage.sumsBySlot({ unit: "day", from: day - 1, to: day }, "model", accountId);
      expect(days.reduce((sum, { requests }) => sum + requests, 0)).toBe(BY_BYTES.length + 1);
      expect(await usage.sumsBySlot({ unit: "day", from: day - 1, to: day }, "model", "nobody")).toEqual([]);
    },
  },
  latencyBySlot: {
    "order: by slot, then by the bytes of the model or key": async (world) => {
      const { accountId, hour } = await ofEvery(world);
      const { usage } = world.verbs;
      const slots = { unit: "hour", from: hour - 1, to: hour } as const;
      for (const by of ["model", "keyId"] as const) {
        const rows = (await usage.latencyBySlot(slots, by, accountId)).filter(({ requests }) => requests > 0);
        expect(rows.map(({ start, name, statusClass }) => [start, name, statusClass])).toEqual([
          [hour - 1, "z", 5],
          ...BY_BYTES.map((name) => [hour, name, 2]),
        ]);
      }
      expect(await usage.latencyBySlot(slots, "model")).toEqual(await usage.latencyBySlot(slots, "model", accountId));
      expect(await usage.latencyBySlot(slots, "model", "nobody")).toEqual([]);
    },
  },
  recentRows: {
    "paging: the newest first, each once": async ({ verbs, account }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      await write(verbs, [{ accountId, model: "1" }, { accountId: other }, { accountId, model: "2" }]);
      const [first, ...rest] = await verbs.usage.recentRows({ accountId, limit: 1 });
      expect([first?.model, first?.requests, rest.length]).toEqual(["2", 1, 0]);
      const next = await verbs.usage.recentRows({ accountId, beforeId: first!.id, limit: 9 });
      expect(next.map(({ model }) => model)).toEqual(["1"]);
      expect(await verbs.usage.recentRows({ limit: 9 })).toHaveLength(3);
    },
  },
};
