// Runs of agents: requests enter the open run of their name, a limit of them is exact, and a run ends by itself.

import { expect } from "bun:test";
import type { UsageRecord } from "../../../src/store/usage/record.ts";
import type { RunEntry } from "../../../src/store/work/runs.ts";
import { usageRecord } from "../records.ts";
import type { Contract, World } from "./world.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const entry = (accountId: string, more: Partial<RunEntry> = {}): RunEntry => ({
  accountId,
  keyId: "key",
  name: "session",
  idleMs: HOUR_MS,
  ageMs: DAY_MS,
  requestsMax: 0,
  isCounted: true,
  ...more,
});

async function entered({ verbs }: World, given: RunEntry) {
  const found = await verbs.runs.enterRun(given);
  if (found === undefined) throw new Error("The account is gone.");
  return found;
}

/** Writes usage of two runs. */
async function spending(world: World) {
  const accountId = await world.account();
  const runId = (await entered(world, entry(accountId))).run.id;
  const other = (await entered(world, entry(accountId, { name: "other" }))).run.id;
  const row = (provider: string, costMicros: number, run: string | undefined, more: Partial<UsageRecord> = {}) => ({
    record: {
      ...usageRecord({ accountId, createdAtMs: world.clock.now() }),
      ...{ provider, upstreamModel: "m", costMicros, inputTokens: 10, outputTokens: 5, cachedTokens: 1 },
      ...(run === undefined ? {} : { runId: run }),
      ...more,
    },
    uid: null,
    repeats: 1,
  });
  const refused = { status: 402, errorCode: "run_limit_reached", inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  const rows = [
    row("a", 10, runId),
    row("b", 5, runId),
    row("a", 1, other),
    row("a", 2, undefined),
    row("a", 20, runId),
  ];
  await world.verbs.usage.writeUsage({ id: "batch", rows: [...rows, row("", 0, runId, refused)], sums: [] });
  return { runId, other };
}

const runs: Contract<"runs"> = {
  enterRun: {
    "basics: requests of a name belong to one run, those of other names and accounts to others": async (world) => {
      const [own, other] = [await world.account(), await world.account("other")];
      const first = await entered(world, entry(own));
      expect(first).toMatchObject({
        isAdmitted: true,
        run: { accountId: own, keyId: "key", admitted: 1, stopped: null },
      });
      expect((await entered(world, entry(own, { isCounted: false }))).run).toMatchObject({
        id: first.run.id,
        admitted: 1,
      });
      expect((await entered(world, entry(own))).run).toMatchObject({ id: first.run.id, admitted: 2 });
      const ids = [entry(own, { name: "another" }), entry(other)].map(
        async (one) => (await entered(world, one)).run.id,
      );
      expect(new Set([first.run.id, ...(await Promise.all(ids))]).size).toBe(3);
    },
    "concurrency: exactly as many as the limit enter one run, whatever the connection": async (world) => {
      const [own, other] = [await world.account(), await world.again()];
      const given = entry(own, { requestsMax: 7 });
      const enter = Array.from({ length: 40 }, (_, at) => (at % 2 ? world.verbs : other).runs.enterRun(given));
      const all = await Promise.all(enter);
      expect(all.filter((one) => one?.isAdmitted)).toHaveLength(7);
      expect(new Set(all.map((one) => one?.run.id)).size).toBe(1);
      expect((await world.verbs.runs.listRuns(own))[0]).toMatchObject({ admitted: 7 });
    },
    "time: a run ends when it was idle for too long, or is too old": async (world) => {
      const own = await world.account();
      const ids: string[] = [];
      for (const passedMs of [0, HOUR_MS - 1, HOUR_MS]) {
        world.clock.advance(passedMs);
        ids.push((await entered(world, entry(own, { requestsMax: 2 }))).run.id);
      }
      expect(ids[1]).toBe(ids[0]!);
      expect(ids[2]).not.toBe(ids[0]!);
      for (let hours = 0; hours < 25; hours++) {
        world.clock.advance(HOUR_MS - 1);
        ids.push((await entered(world, entry(own))).run.id);
      }
      expect(new Set(ids).size).toBe(3);
    },
    "text: any name that a client writes, up to a limit": async (world) => {
      const own = await world.account();
      for (const name of ["a\u0000b", "\ud800", "日本語", "x".repeat(10_000)]) {
        const first = await entered(world, entry(own, { name }));
        expect((await entered(world, entry(own, { name }))).run.id).toBe(first.run.id);
        expect(first.run.name.length).toBeLessThanOrEqual(250);
      }
    },
    "cascade: none for an account that is gone": async (world) => {
      const own = await world.account();
      await entered(world, entry(own));
      await world.verbs.accounts.deleteAccount(own);
      expect(await world.verbs.runs.enterRun(entry(own))).toBeUndefined();
      expect(await world.verbs.runs.listRuns(own)).toEqual([]);
    },
  },
  findRun: {
    "basics: only by its own account": async (world) => {
      const [own, other] = [await world.account(), await world.account("other")];
      const { run } = await entered(world, entry(own));
      expect(await world.verbs.runs.findRun(own, run.id)).toEqual(run);
      expect(await world.verbs.runs.findRun(other, run.id)).toBeUndefined();
    },
  },
  listRuns: {
    "order: those that began last first, a page after the other": async (world) => {
      const own = await world.account();
      const ids: string[] = [];
      for (const name of ["a", "b", "c"]) {
        ids.unshift((await entered(world, entry(own, { name }))).run.id);
      }
      const listed = async (options?: Parameters<typeof world.verbs.runs.listRuns>[1]) =>
        (await world.verbs.runs.listRuns(own, options)).map(({ id }) => id);
      expect(await listed()).toEqual(ids);
      expect(await listed({ limit: 1 })).toEqual(ids.slice(0, 1));
      expect(await listed({ limit: 1, before: ids[1] })).toEqual(ids.slice(2));
    },
  },
  routesOfRuns: {
    "basics: how often each route was called, and what that cost": async (world) => {
      const { runId, other } = await spending(world);
      const routes = await world.verbs.runs.routesOfRuns([runId, other, "none"]);
      expect([...routes].map(([id]) => id).sort()).toEqual([runId, other].sort());
      expect(routes.get(runId)).toEqual([
        { provider: "a", model: "m", calls: 2, costMicros: 30 },
        { provider: "b", model: "m", calls: 1, costMicros: 5 },
      ]);
      expect((await world.verbs.runs.routesOfRuns([])).size).toBe(0);
    },
  },
  listRunCalls: {
    "order: from the beginning of the run": async (world) => {
      const { runId } = await spending(world);
      const costs = async (limit?: number) =>
        (await world.verbs.runs.listRunCalls(runId, limit)).map(({ costMicros }) => costMicros);
      expect([await costs(), await costs(2)]).toEqual([
        [10, 5, 20, 0],
        [10, 5],
      ]);
      // What was refused was no step of it.
      const [run] = (
        await world.verbs.runs.listRuns((await world.verbs.runs.listRunCalls(runId))[0]!.accountId)
      ).filter(({ id }) => id === runId);
      expect(run).toMatchObject({ requests: 3, costMicros: 35, inputTokens: 30, outputTokens: 15, cachedTokens: 3 });
    },
  },
  noteRunStop: {
    "concurrency: a refusal is noted until the next request is let in": async (world) => {
      const own = await world.account();
      const { run } = await entered(world, entry(own));
      const stop = { limit: "usd", most: 500, spent: 600 } as const;
      await Promise.all([world.verbs, await world.again()].map((verbs) => verbs.runs.noteRunStop(run.id, stop)));
      const stopped = { stopped: "usd", stoppedLimit: 500, stoppedSpent: 600 } as const;
      expect(await world.verbs.runs.findRun(own, run.id)).toMatchObject(stopped);
      expect((await entered(world, entry(own))).run.stopped).toBeNull();
    },
  },
  allowRun: {
    "basics: amounts are added, and a run at its limit of requests goes on": async (world) => {
      const own = await world.account();
      const given = entry(own, { requestsMax: 1 });
      const { run } = await entered(world, given);
      expect((await entered(world, given)).isAdmitted).toBe(false);
      const more = { micros: 5, requests: 1 };
      const allowed = { allowedMicros: 5, allowedRequests: 1 };
      expect(await world.verbs.runs.allowRun(own, run.id, more)).toMatchObject(allowed);
      expect((await entered(world, given)).isAdmitted).toBe(true);
      expect((await entered(world, given)).isAdmitted).toBe(false);
      const other = await world.account("other");
      expect(await world.verbs.runs.allowRun(other, run.id, { requests: 5 })).toBeUndefined();
      expect((await entered(world, given)).isAdmitted).toBe(false);
    },
    "concurrency: without an amount, by as much as the limit that was reached": async (world) => {
      const own = await world.account();
      const allowed = async (limit: "usd" | "requests" | "repeats") => {
        const { run } = await entered(world, entry(own, { name: limit }));
        await world.verbs.runs.noteRunStop(run.id, { limit, most: 3, spent: 4 });
        await Promise.all([world.verbs, await world.again()].map((verbs) => verbs.runs.allowRun(own, run.id, {})));
        const after = await world.verbs.runs.findRun(own, run.id);
        return [after?.allowedMicros, after?.allowedRequests, after?.allowedRepeats, after?.stopped];
      };
      expect(await allowed("usd")).toEqual([3, 0, 0, null]);
      expect(await allowed("requests")).toEqual([0, 3, 0, null]);
      expect(await allowed("repeats")).toEqual([0, 0, 4, null]);
    },
  },
  noteRunDropped: {
    "concurrency: counts add up, and each name is kept once": async (world) => {
      const own = await world.account();
      const { run } = await entered(world, entry(own));
      const all = [world.verbs, await world.again(), world.verbs];
      await Promise.all(all.map((verbs) => verbs.runs.noteRunDropped(run.id, { reasoning: 2, names: ["seed"] })));
      await world.verbs.runs.noteRunDropped(run.id, { reasoning: 0, names: ["top_k", "seed"] });
      const noted = { droppedReasoning: 6, dropped: ["seed", "top_k"] };
      expect(await world.verbs.runs.findRun(own, run.id)).toMatchObject(noted);
      await world.verbs.runs.noteRunDropped("none", { reasoning: 1, names: [] });
    },
  },
  deleteRunsBefore: {
    "time: those without a request since then": async (world) => {
      const own = await world.account();
      const old = await entered(world, entry(own, { name: "old" }));
      const atMs = world.clock.now();
      world.clock.advance(1);
      const recent = await entered(world, entry(own, { name: "recent" }));
      expect(await world.verbs.runs.deleteRunsBefore(atMs)).toBe(1);
      expect(await world.verbs.runs.findRun(own, old.run.id)).toBeUndefined();
      expect(await world.verbs.runs.deleteRunsBefore(atMs)).toBe(0);
      expect(await world.verbs.runs.findRun(own, recent.run.id)).toBeDefined();
    },
  },
};

/** The contract of runs. */
export const runsContract = { runs };
