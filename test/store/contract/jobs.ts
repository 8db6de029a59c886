// Jobs, the pages that they find, and the responses of sites that are stored meanwhile.

import { expect } from "bun:test";
import { claim, entry, held, queued, running } from "./job-hands.ts";
import { jobLists } from "./job-lists.ts";
import { type Contract, TEXTS } from "./world.ts";

const jobs: Contract<"jobs"> = {
  createJob: {
    "concurrency: an id is made once": async (world) => {
      const accountId = await world.account();
      const other = await world.again();
      const all = await Promise.allSettled([
        queued(world, "j", accountId),
        queued({ ...world, verbs: other }, "j", accountId),
      ]);
      expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    },
    "text: its input comes back": async (world) => {
      const accountId = await queued(world);
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.input).toEqual({ texts: TEXTS });
    },
  },
  findJob: {
    "time: until its time to live ends": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      await world.verbs.jobs.finishJob(job, { state: "completed", ttlMs: 5 });
      world.clock.advance(4);
      expect(await world.verbs.jobs.findJob("crawl", accountId, "j")).toMatchObject({ state: "completed" });
      expect(await world.verbs.jobs.findJob("extract", accountId, "j")).toBeUndefined();
      expect(await world.verbs.jobs.findJob("crawl", "other", "j")).toBeUndefined();
      world.clock.advance(1);
      expect(await world.verbs.jobs.findJob("crawl", accountId, "j")).toBeUndefined();
    },
  },
  claimJob: {
    "concurrency: each by one": async (world) => {
      const accountId = await world.account();
      for (const id of ["a", "b"]) await queued(world, id, accountId);
      const other = await world.again();
      const all = await Promise.all([1, 2, 3, 4].map((n) => claim(n % 2 ? world.verbs : other, `o${n}`)));
      expect(all.flatMap((job) => job?.id ?? []).sort()).toEqual(["a", "b"]);
    },
    "order: the oldest of the account with the fewest, equals by bytes": async (world) => {
      const [ann, bob] = [await world.account("ann"), await world.account("bob")];
      for (const id of ["b", "B", "a"]) await queued(world, id, ann);
      world.clock.advance(1);
      await queued(world, "late", bob);
      const ids: (string | undefined)[] = [];
      for (let n = 0; n < 5; n++) ids.push((await claim(world.verbs, "o"))?.id);
      expect(ids).toEqual(["B", "late", "a", "b", undefined]);
    },
    "time: one that is reserved by its owner, and by others after a minute": async (world) => {
      const accountId = await world.account();
      const one = { kind: "crawl", accountId, input: {}, deadlineAtMs: world.clock.now() + 1000, reservedFor: "me" };
      for (const id of ["a", "b"]) await world.verbs.jobs.createJob({ ...one, id });
      expect(await claim(world.verbs, "you")).toBeUndefined();
      expect((await claim(world.verbs, "me"))?.id).toBe("a");
      world.clock.advance(60_000);
      await claim(world.verbs, "you");
      expect((await claim(world.verbs, "you"))?.id).toBe("b");
    },
    "time: again when its lease ends": async (world) => {
      await running(world);
      world.clock.advance(99);
      expect(await claim(world.verbs, "other")).toBeUndefined();
      world.clock.advance(1);
      expect((await claim(world.verbs, "other"))?.owner).toBe("other");
    },
  },
  renewJob: {
    "concurrency: its owner's only": async (world) => {
      await running(world);
      const job = await held(world);
      const other = await world.again();
      expect(
        await Promise.all([world.verbs.jobs.renewJob(job, 9), other.jobs.renewJob({ ...job, lease: "none" }, 9)]),
      ).toEqual([true, false]);
    },
  },
  heldJobs: {
    "basics: of one owner, while its claims hold": async (world) => {
      await running(world);
      const job = await held(world);
      expect(await world.verbs.jobs.heldJobs("me")).toEqual([job]);
      expect(await world.verbs.jobs.heldJobs("you")).toEqual([]);
      await world.verbs.jobs.finishJob(job, { state: "completed", ttlMs: 5 });
      expect(await world.verbs.jobs.heldJobs("me")).toEqual([]);
    },
  },
  releaseJob: {
    "basics: the claim that holds": async (world) => {
      await running(world);
      const job = await held(world);
      expect(await world.verbs.jobs.releaseJob({ ...job, lease: "none" })).toBe(false);
      expect(await world.verbs.jobs.releaseJob(job)).toBe(true);
      expect(await world.verbs.jobs.releaseJob(job)).toBe(false);
      expect((await claim(world.verbs, "you"))?.id).toBe("j");
    },
  },
  releaseJobs: {
    "basics: all of one owner": async (world) => {
      await running(world);
      expect(await world.verbs.jobs.releaseJobs("you")).toBe(0);
      expect(await world.verbs.jobs.releaseJobs("me")).toBe(1);
      expect((await claim(world.verbs, "you"))?.id).toBe("j");
    },
  },
  saveProgress: {
    "concurrency: by who holds the lease": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      const other = await world.again();
      expect(await world.verbs.jobs.saveProgress(job, { n: 1 })).toBe(true);
      expect(await other.jobs.saveProgress({ ...job, lease: "none" }, { n: 2 })).toBe(false);
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.progress).toEqual({ n: 1 });
    },
  },
  finishJob: {
    "concurrency: once": async (world) => {
      await running(world);
      const job = await held(world);
      const other = await world.again();
      const end = { state: "completed", ttlMs: 5 } as const;
      const all = await Promise.all([world.verbs, other].map((own) => own.jobs.finishJob(job, end)));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  cancelJob: {
    "concurrency: what has ended stays as it is": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      const other = await world.again();
      const cancel = { kind: "crawl", accountId, id: "j", ttlMs: 5 };
      const [finished, cancelled] = await Promise.all([
        world.verbs.jobs.finishJob(job, { state: "completed", ttlMs: 5 }),
        other.jobs.cancelJob(cancel),
      ]);
      expect(cancelled?.state).toBe(finished ? "completed" : "cancelled");
      expect(await world.verbs.jobs.cancelJob({ ...cancel, accountId: "other" })).toBeUndefined();
    },
  },
  countOpenJobs: {
    "basics: of one account": async (world) => {
      const accountId = await running(world);
      await queued(world, "k", accountId);
      expect(await world.verbs.jobs.countOpenJobs(accountId)).toBe(2);
      expect(await world.verbs.jobs.countOpenJobs("other")).toBe(0);
    },
  },
  countQueued: {
    "basics: those that nobody has taken up": async (world) => {
      const accountId = await running(world);
      expect(await world.verbs.jobs.countQueued()).toBe(0);
      await queued(world, "k", accountId);
      expect(await world.verbs.jobs.countQueued()).toBe(1);
    },
  },
  ...jobLists,
  deleteExpiredJobs: {
    "time: with all that they hold": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      await world.verbs.frontier.addFrontier(job, [entry("a")], 9);
      await world.verbs.frontier.saveVisit(job, {
        urlKey: "a",
        page: { url: "a", failed: false, body: {} },
        frontierMax: 9,
      });
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      world.clock.advance(4);
      expect(await world.verbs.jobs.deleteExpiredJobs()).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.jobs.deleteExpiredJobs()).toBe(1);
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 0, failed: 0 });
      expect((await world.verbs.storage.storageOf(accountId)).usedBytes).toBe(0);
    },
  },
};

/** The cases of the verbs over jobs. */
export const jobsContract = { jobs };
