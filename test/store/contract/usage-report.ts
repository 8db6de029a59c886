// The contract of the sums of reports.

import { expect } from "bun:test";
import { dayOf, hourOf, type UsageRecord } from "../../../src/store/usage/record.ts";
import type { ReportQuery, ReportSums } from "../../../src/store/usage/report.ts";
import { UsageWriter } from "../../../src/store/usage/writer.ts";
import { usageRecord } from "../records.ts";
import type { Contract, World } from "./world.ts";

const DAY_MS = 86_400_000;
const AT = 40 * DAY_MS;

async function write({ verbs }: Pick<World, "verbs">, changes: readonly Partial<UsageRecord>[]): Promise<void> {
  const writer = new UsageWriter(verbs.usage);
  for (const change of changes) writer.record(usageRecord({ createdAtMs: AT, ...change }));
  await writer.close();
}

const DAYS = { unit: "day", from: dayOf(AT), to: dayOf(AT) } as const;
const all: Omit<ReportQuery, "by"> = { span: DAYS, perSlot: false, limit: 100 };
const costs = (rows: readonly ReportSums[]) => rows.map(({ name, costMicros }) => [name, costMicros]);

/** Requests of two accounts, two projects and some tags; the costs are powers of two, so that a sum tells what is in it. */
async function mixed(world: World): Promise<[string, string]> {
  const [a, b] = [await world.account("a"), await world.account("b")];
  await write(world, [
    { accountId: a, keyId: "k1", model: "m1", costMicros: 1 },
    { accountId: a, keyId: "k1", model: "m2", costMicros: 2, projectId: "p", tags: ["x", "y"] },
    { accountId: a, keyId: "k2", model: "m1", costMicros: 4, projectId: "q", tags: ["y"] },
    { accountId: b, keyId: "k3", model: "m1", costMicros: 8, projectId: "p", tags: ["x", "x"] },
    { accountId: a, keyId: "k1", model: "m1", costMicros: 16, createdAtMs: AT + DAY_MS, tags: ["x"] },
  ]);
  return [a, b];
}

/** The contract of the verbs of reports. */
export const usageReportContract: Pick<Contract<"usage">, "sumsBy" | "classesOf"> = {
  sumsBy: {
    "basics: by each property, of an account, a project, a model and keys": async (world) => {
      const [a] = await mixed(world);
      const by = (query: Partial<ReportQuery>) => world.verbs.usage.sumsBy({ ...all, ...query }).then(costs);
      expect(await by({})).toEqual([["", 15]]);
      expect(await by({ accountId: a })).toEqual([["", 7]]);
      expect(await by({ projectId: "p" })).toEqual([["", 10]]);
      expect(await by({ accountId: "nobody" })).toEqual([]);
      expect(await by({ by: "model" })).toEqual([
        ["m1", 13],
        ["m2", 2],
      ]);
      expect(await by({ by: "key", accountId: a })).toEqual([
        ["k1", 3],
        ["k2", 4],
      ]);
      expect(await by({ by: "project" })).toEqual([
        ["p", 10],
        ["q", 4],
      ]);
      expect(await by({ by: "project", projectId: "q" })).toEqual([["q", 4]]);
      expect(await by({ by: "tag" })).toEqual([
        ["x", 10],
        ["y", 6],
      ]);
      expect(await by({ by: "tag", accountId: a, model: "m1" })).toEqual([["y", 4]]);
      expect(await by({ by: "model", projectId: "p", keyIds: ["k3"] })).toEqual([["m1", 8]]);
      expect(await by({ by: "model", keyIds: [] })).toEqual([]);
    },
    "order: by slot, then by name; both ends are in": async (world) => {
      await mixed(world);
      for (const unit of ["hour", "day"] as const) {
        const at = unit === "day" ? dayOf : hourOf;
        const span = { unit, from: at(AT), to: at(AT + DAY_MS) };
        const rows = await world.verbs.usage.sumsBy({ ...all, span, by: "tag", perSlot: true });
        expect(rows.map(({ start, name, costMicros }) => [start, name, costMicros])).toEqual([
          [at(AT), "x", 10],
          [at(AT), "y", 6],
          [at(AT + DAY_MS), "x", 16],
        ]);
        expect(await world.verbs.usage.sumsBy({ ...all, span, perSlot: true })).toHaveLength(2);
      }
      expect(costs(await world.verbs.usage.sumsBy({ ...all, by: "tag", limit: 1 }))).toEqual([["x", 10]]);
    },
    "basics: the tags of a project are those of its slots, keys and models, in a span of any length": async (world) => {
      await mixed(world);
      const { sumsBy } = world.verbs.usage;
      for (const unit of ["hour", "day"] as const) {
        const at = unit === "day" ? dayOf : hourOf;
        const ofProject = (query: Partial<ReportQuery>) =>
          sumsBy({ ...all, projectId: "p", span: { unit, from: 0, to: 1e6 }, ...query }).then(costs);
        // The key went on without the project.
        expect(await ofProject({ by: "tag" })).toEqual([
          ["x", 10],
          ["y", 2],
        ]);
        expect(await ofProject({ by: "tag", keyIds: ["k3"] })).toEqual([["x", 8]]);
        expect(await ofProject({})).toEqual([["", 10]]);
        for (const by of ["tag", "model"] as const)
          expect(await ofProject({ by, span: { unit, from: 0, to: at(AT) - 1 } })).toEqual([]);
      }
    },
    "basics: calls without a price are counted apart": async (world) => {
      const accountId = await world.account();
      await write(world, [
        { accountId, costMicros: 0, unpriced: true, tags: ["x"] },
        { accountId, costMicros: 3 },
      ]);
      const [total] = await world.verbs.usage.sumsBy({ ...all, accountId });
      const [tagged] = await world.verbs.usage.sumsBy({ ...all, accountId, by: "tag" });
      expect([total, tagged].map((sums) => [sums?.requests, sums?.unpriced, sums?.costMicros])).toEqual([
        [2, 1, 3],
        [1, 1, 0],
      ]);
    },
    "basics: beyond a thousand different tags of a day they share one sum": async (world) => {
      const accountId = await world.account();
      const tags = Array.from({ length: 1003 }, (_, at) => [`tag ${at}`]);
      await write(
        world,
        tags.map((tags) => ({ accountId, tags })),
      );
      const rows = await world.verbs.usage.sumsBy({ ...all, accountId, by: "tag", limit: 2000 });
      expect([rows.length, rows[0]?.name, rows[0]?.requests]).toEqual([1001, "(other tags)", 3]);
    },
    "basics: a deleted account's projects keep their sums, its tags are gone": async (world) => {
      const [a] = await mixed(world);
      await world.verbs.accounts.deleteAccount(a);
      expect(costs(await world.verbs.usage.sumsBy({ ...all, by: "project" }))).toEqual([
        ["p", 10],
        ["q", 4],
      ]);
      expect(costs(await world.verbs.usage.sumsBy({ ...all, by: "tag" }))).toEqual([["x", 8]]);
      expect(costs(await world.verbs.usage.sumsBy({ ...all, projectId: "p", by: "key" }))).toEqual([
        ["", 2],
        ["k3", 8],
      ]);
    },
  },
  classesOf: {
    "order: by provider, model, service tier and class, of all accounts": async (world) => {
      const accountId = await world.account();
      const classes = (amount: number, costMicros?: number) => [{ name: "input", amount, costMicros }];
      await write(world, [
        { accountId, provider: "b", upstreamModel: "m", classes: classes(5, 1) },
        { accountId, provider: "b", upstreamModel: "m", classes: classes(7, 2), service: "flex" },
        { accountId, keyId: "other", provider: "b", upstreamModel: "m", classes: classes(3) },
        {
          accountId,
          provider: "a",
          upstreamModel: "m",
          classes: [...classes(1, 1), { name: "output", amount: 2, costMicros: 9 }],
        },
        { accountId, provider: "a", upstreamModel: "m", classes: classes(1, 1), createdAtMs: AT + DAY_MS },
      ]);
      const day = dayOf(AT);
      const rows = await world.verbs.usage.classesOf({ fromDay: day, toDay: day });
      expect(rows.map((row) => Object.values(row))).toEqual([
        ["a", "m", "", "input", 1, 0, 1],
        ["a", "m", "", "output", 2, 0, 9],
        ["b", "m", "", "input", 8, 3, 1],
        ["b", "m", "flex", "input", 7, 0, 2],
      ]);
      expect((await world.verbs.usage.classesOf({ fromDay: day, toDay: day + 1 }))[0]?.amount).toBe(2);
    },
  },
};
