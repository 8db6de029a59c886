// Lists of jobs for display: an account's own jobs, and the unfinished jobs of all accounts.

import { expect } from "bun:test";
import { queued, running, withPages } from "./job-hands.ts";
import type { Contract } from "./world.ts";

/** The cases of the verbs of lists. */
export const jobLists: Pick<Contract<"jobs">, "listJobs" | "findListedJob" | "listOpenJobs" | "findJobOwner"> = {
  listJobs: {
    "order: latest first, equals by bytes; each once": async (world) => {
      const accountId = await world.account();
      for (const id of ["b", "B", "a"]) await queued(world, id, accountId);
      world.clock.advance(1);
      await queued(world, "late", accountId);
      const ids: string[] = [];
      let before: { createdAtMs: number; id: string } | undefined;
      for (;;) {
        const page = await world.verbs.jobs.listJobs(accountId, { ...(before && { before }), limit: 2 });
        ids.push(...page.map(({ id }) => id));
        before = page.at(-1);
        if (page.length === 0) break;
      }
      expect(ids).toEqual(["late", "b", "a", "B"]);
      expect(await world.verbs.jobs.listJobs("other", { limit: 9 })).toEqual([]);
    },
    "time: until their time to live ends": async (world) => {
      const accountId = await running(world);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      expect(await world.verbs.jobs.listJobs(accountId, { limit: 9 })).toHaveLength(1);
      world.clock.advance(5);
      expect(await world.verbs.jobs.listJobs(accountId, { limit: 9 })).toEqual([]);
    },
  },
  findListedJob: {
    "basics: an account's own, with what failed of it": async (world) => {
      const accountId = await withPages(world, ["a", "b", "c"]);
      expect(await world.verbs.jobs.findListedJob(accountId, "j")).toMatchObject({ kind: "crawl", failedPages: 1 });
      expect(await world.verbs.jobs.findListedJob("other", "j")).toBeUndefined();
    },
    "time: until its time to live ends": async (world) => {
      const accountId = await running(world);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      world.clock.advance(5);
      expect(await world.verbs.jobs.findListedJob(accountId, "j")).toBeUndefined();
    },
  },
  listOpenJobs: {
    "order: everybody's that have not ended, latest first": async (world) => {
      const [ann, bob] = [await world.account("ann"), await world.account("bob")];
      for (const [id, owner] of [
        ["a", ann],
        ["b", bob],
        ["c", bob],
      ] as const)
        await queued(world, id, owner);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId: bob, id: "b", ttlMs: 5 });
      const open = async (limit: number) =>
        (await world.verbs.jobs.listOpenJobs(limit)).map(({ id, username }) => [id, username]);
      expect(await open(9)).toEqual([
        ["c", "bob"],
        ["a", "ann"],
      ]);
      expect(await open(1)).toEqual([["c", "bob"]]);
    },
  },
  findJobOwner: {
    "time: until its time to live ends": async (world) => {
      const accountId = await running(world);
      expect(await world.verbs.jobs.findJobOwner("j")).toEqual({ kind: "crawl", accountId });
      expect(await world.verbs.jobs.findJobOwner("k")).toBeUndefined();
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      world.clock.advance(5);
      expect(await world.verbs.jobs.findJobOwner("j")).toBeUndefined();
    },
  },
};
