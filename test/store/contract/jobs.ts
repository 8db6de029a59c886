// Jobs, the pages that they find, and the responses of sites that are stored meanwhile.

import { expect } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { claim, entry, expectLost, queued, running, takenOver, withPages } from "./job-hands.ts";
import { jobLists } from "./job-lists.ts";
import { type Contract, TEXTS } from "./world.ts";

const answer = (asked: string) => ({
  asked,
  url: asked,
  status: 200,
  headers: new Headers({ a: "ä" }),
  body: new Uint8Array([0, 255]),
});

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
      await world.verbs.jobs.finishJob("j", "me", { state: "completed", ttlMs: 5 });
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
      const other = await world.again();
      expect(await Promise.all([world.verbs.jobs.renewJob("j", "me", 9), other.jobs.renewJob("j", "you", 9)])).toEqual([
        true,
        false,
      ]);
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
      const other = await world.again();
      expect(await world.verbs.jobs.saveProgress("j", "me", { n: 1 })).toBe(true);
      expect(await other.jobs.saveProgress("j", "you", { n: 2 })).toBe(false);
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.progress).toEqual({ n: 1 });
    },
  },
  finishJob: {
    "concurrency: once": async (world) => {
      await running(world);
      const other = await world.again();
      const end = { state: "completed", ttlMs: 5 } as const;
      const all = await Promise.all([world.verbs, other].map((own) => own.jobs.finishJob("j", "me", end)));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  cancelJob: {
    "concurrency: what has ended stays as it is": async (world) => {
      const accountId = await running(world);
      const other = await world.again();
      const cancel = { kind: "crawl", accountId, id: "j", ttlMs: 5 };
      const [finished, cancelled] = await Promise.all([
        world.verbs.jobs.finishJob("j", "me", { state: "completed", ttlMs: 5 }),
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
      await world.verbs.frontier.addFrontier("j", [entry("a")], 9);
      await world.verbs.frontier.saveVisit("j", {
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

const frontier: Contract<"frontier"> = {
  addFrontier: {
    "basics: only by the one who holds the job": async (world) => {
      await takenOver(world);
      await expectLost(world.verbs.frontier.addFrontier("j", [entry("c")], 9, "me"));
      expect(await world.verbs.frontier.addFrontier("j", [entry("c")], 9, "you")).toBe(1);
    },
    "concurrency: each address once, and no more than the limit": async (world) => {
      await running(world);
      const other = await world.again();
      const entries = ["a", "b", "c"].map((key) => entry(key));
      const all = await Promise.all([world.verbs, other].map((own) => own.frontier.addFrontier("j", entries, 2)));
      expect(all.sort()).toEqual([0, 2]);
      expect(await world.verbs.frontier.addFrontier("gone", entries, 9)).toBe(0);
    },
    "text: spellings are told apart by their bytes": async (world) => {
      await running(world);
      const entries = [...TEXTS, "a", "A", "ä", "a\u0308"].map((key) => entry(key));
      expect(await world.verbs.frontier.addFrontier("j", entries, 99)).toBe(entries.length);
    },
  },
  takeFrontier: {
    "basics: only by the one who holds the job": async (world) => {
      const accountId = await takenOver(world);
      await expectLost(world.verbs.frontier.takeFrontier("j", 9, "me"));
      expect((await world.verbs.frontier.takeFrontier("j", 9, "you")).map(({ urlKey }) => urlKey)).toEqual(["b"]);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      await expectLost(world.verbs.frontier.takeFrontier("j", 9, "you"));
    },
    "order: by depth, then as they were found": async (world) => {
      await running(world);
      await world.verbs.frontier.addFrontier("j", [entry("z", 1), entry("a", 2), entry("b", 1), entry("Z", 0)], 9);
      const taken = [
        ...(await world.verbs.frontier.takeFrontier("j", 2)),
        ...(await world.verbs.frontier.takeFrontier("j", 9)),
      ];
      expect(taken.map(({ urlKey }) => urlKey)).toEqual(["Z", "z", "b", "a"]);
    },
    "concurrency: each by one": async (world) => {
      await running(world);
      const other = await world.again();
      await world.verbs.frontier.addFrontier(
        "j",
        ["a", "b", "c", "d"].map((key) => entry(key)),
        9,
      );
      const all = await Promise.all([world.verbs, other, world.verbs].map((own) => own.frontier.takeFrontier("j", 2)));
      expect(
        all
          .flat()
          .map(({ urlKey }) => urlKey)
          .sort(),
      ).toEqual(["a", "b", "c", "d"]);
    },
  },
  resetFrontier: {
    "basics: only by the one who holds the job": async (world) => {
      await takenOver(world);
      await expectLost(world.verbs.frontier.resetFrontier("j", "me"));
      expect(await world.verbs.frontier.resetFrontier("j", "you")).toBe(1);
    },
    "basics: what was taken and is not done": async (world) => {
      await running(world);
      await world.verbs.frontier.addFrontier(
        "j",
        ["a", "b", "c"].map((key) => entry(key)),
        9,
      );
      await world.verbs.frontier.takeFrontier("j", 2);
      await world.verbs.frontier.saveVisit("j", { urlKey: "a", frontierMax: 9 });
      expect(await world.verbs.frontier.resetFrontier("j")).toBe(1);
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 2, taken: 0, done: 1 });
    },
  },
  saveVisit: {
    "basics: only by the one who holds the job": async (world) => {
      const accountId = await takenOver(world);
      const page = { url: "a", failed: false, body: {} };
      const visit = { urlKey: "a", page, links: [entry("c")], progress: { n: 1 }, frontierMax: 9 };
      await expectLost(world.verbs.frontier.saveVisit("j", visit, "me"));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 0, failed: 0 });
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 1, taken: 1, done: 0 });
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.progress).toEqual({});
      expect(await world.verbs.frontier.saveVisit("j", visit, "you")).toBe(1);
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 1, failed: 0 });
    },
    "concurrency: many visits of the one who holds the job": async (world) => {
      await takenOver(world);
      const other = await world.again();
      const save = (own: Verbs, url: string) =>
        own.frontier.saveVisit(
          "j",
          { urlKey: url, page: { url, failed: false, body: {} }, progress: { url }, frontierMax: 9 },
          "you",
        );
      await Promise.all(["a", "b", "c", "d", "e"].map((url, n) => save(n % 2 ? world.verbs : other, url)));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 5, failed: 0 });
    },
    "concurrency: pages of many visits are all there, in one order": async (world) => {
      await running(world);
      const other = await world.again();
      const save = (own: Verbs, url: string) =>
        own.frontier.saveVisit("j", {
          urlKey: url,
          page: { url, failed: false, body: {} },
          links: [entry(`l-${url}`)],
          frontierMax: 9,
        });
      await Promise.all(["a", "b", "c", "d"].map((url, n) => save(n % 2 ? world.verbs : other, url)));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 4, failed: 0 });
      expect((await world.verbs.frontier.countFrontier("j")).waiting).toBe(4);
    },
    "cascade: nothing for a job that is gone, and all of it goes with its account": async (world) => {
      const accountId = await withPages(world, ["a"]);
      await world.verbs.accounts.deleteAccount(accountId);
      expect(
        await world.verbs.frontier.saveVisit("j", {
          urlKey: "b",
          page: { url: "b", failed: false, body: {} },
          frontierMax: 9,
        }),
      ).toBe(0);
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 0, failed: 0 });
    },
    "basics: the links that are new, what its site answered, and how far the job is": async (world) => {
      const accountId = await running(world);
      await world.verbs.frontier.addFrontier("j", [entry("a"), entry("b")], 9);
      await world.verbs.answers.keepAnswer("j", "a", answer("u"));
      const visit = {
        urlKey: "a",
        links: [entry("b"), entry("c")],
        aliases: [entry("twin")],
        progress: { n: 1 },
        frontierMax: 9,
      };
      expect(await world.verbs.frontier.saveVisit("j", visit)).toBe(1);
      expect(await world.verbs.answers.listAnswers("j", "a")).toEqual([]);
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.progress).toEqual({ n: 1 });
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 2, taken: 0, done: 2 });
    },
  },
  countFrontier: {
    "basics: none where there is none": async (world) => {
      expect(await world.verbs.frontier.countFrontier("none")).toEqual({ waiting: 0, taken: 0, done: 0 });
    },
  },
  countPages: {
    "basics: all, and those that failed": async (world) => {
      await withPages(world, ["a", "b", "c"]);
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 3, failed: 1 });
    },
  },
  listPages: {
    "order: as they came": async (world) => {
      await withPages(world, ["z", "A", "m"]);
      expect((await world.verbs.frontier.listPages("j")).map(({ url }) => url)).toEqual(["z", "A", "m"]);
    },
    "paging: by number and by bytes": async (world) => {
      await withPages(world, ["a", "b", "c", "d", "e"]);
      const urls = async (window: object) => (await world.verbs.frontier.listPages("j", window)).map(({ url }) => url);
      expect(await urls({ failed: false, offset: 1, limit: 1 })).toEqual(["c"]);
      expect(await urls({ failed: false, bytesMax: 1 })).toEqual(["a"]);
      const bytes = Buffer.byteLength(JSON.stringify({ text: "é", keys: ["key-a"] }));
      expect(await urls({ failed: false, bytesMax: 2 * bytes })).toEqual(["a", "c"]);
      expect(await urls({ failed: false, bytesMax: 2 * bytes - 1 })).toEqual(["a"]);
      expect(await urls({ failed: true })).toEqual(["b", "d"]);
    },
    "text: any page comes back, NUL too": async (world) => {
      await running(world);
      const page = { url: "http://x/ä", failed: false, body: { texts: [...TEXTS, "a\u0000b"] } };
      await world.verbs.frontier.saveVisit("j", { urlKey: "a", page, frontierMax: 9 });
      expect(await world.verbs.frontier.listPages("j")).toEqual([page]);
    },
  },
  listPageHeads: {
    "order: as they came, measured in bytes": async (world) => {
      await withPages(world, ["b", "a"]);
      const bytes = Buffer.byteLength(JSON.stringify({ text: "é", keys: ["key-b"] }));
      expect(await world.verbs.frontier.listPageHeads("j")).toEqual([
        { url: "b", failed: false, bytes },
        { url: "a", failed: true, bytes },
      ]);
    },
  },
  listPageKeys: {
    "order: as their pages came, without failed ones": async (world) => {
      await withPages(world, ["z", "A", "m"]);
      expect(await world.verbs.frontier.listPageKeys("j")).toEqual(["key-z", "key-m"]);
    },
  },
};

const answers: Contract<"answers"> = {
  keepAnswer: {
    "basics: only by the one who holds the job": async (world) => {
      await takenOver(world);
      expect(await world.verbs.answers.keepAnswer("j", "a", answer("u"), "me")).toBe(false);
      expect(await world.verbs.answers.keepAnswer("j", "a", answer("u"), "you")).toBe(true);
    },
    "concurrency: what was asked is kept once; of a job that runs only": async (world) => {
      expect(await world.verbs.answers.keepAnswer("j", "a", answer("u"))).toBe(false);
      await running(world);
      const other = await world.again();
      const all = await Promise.all([world.verbs, other].map((own) => own.answers.keepAnswer("j", "a", answer("u"))));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  listAnswers: {
    "order: by the bytes of what was asked": async (world) => {
      await running(world);
      for (const asked of ["z", "A", "ä"]) await world.verbs.answers.keepAnswer("j", "a", answer(asked));
      const [first, ...rest] = await world.verbs.answers.listAnswers("j", "a");
      expect([first?.asked, ...rest.map(({ asked }) => asked)]).toEqual(["A", "z", "ä"]);
      expect([[...(first?.body ?? [])], first?.headers.get("a")]).toEqual([[0, 255], "ä"]);
    },
    "cascade: they go when the job ends": async (world) => {
      const accountId = await running(world);
      await world.verbs.answers.keepAnswer("j", "a", answer("u"));
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      expect(await world.verbs.answers.listAnswers("j", "a")).toEqual([]);
    },
  },
};

/** The cases of the verbs over jobs. */
export const jobsContract = { jobs, frontier, answers };
