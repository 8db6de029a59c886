// The pages that jobs find, and the answers of sites that are kept meanwhile.

import { expect } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { claim, entry, expectLost, held, queued, running, takenOver, withPages } from "./job-hands.ts";
import { type Contract, TEXTS } from "./world.ts";

const answer = (asked: string) => ({
  asked,
  url: asked,
  status: 200,
  headers: new Headers({ a: "ä" }),
  body: new Uint8Array([0, 255]),
});

const frontier: Contract<"frontier"> = {
  addFrontier: {
    "basics: only by the one who holds the job": async (world) => {
      const { lost, job } = await takenOver(world);
      await expectLost(world.verbs.frontier.addFrontier(lost, [entry("c")], 9));
      expect(await world.verbs.frontier.addFrontier(job, [entry("c")], 9)).toBe(1);
    },
    "concurrency: each address once, and no more than the limit": async (world) => {
      await running(world);
      const job = await held(world);
      const other = await world.again();
      const entries = ["a", "b", "c"].map((key) => entry(key));
      const all = await Promise.all([world.verbs, other].map((own) => own.frontier.addFrontier(job, entries, 2)));
      expect(all.sort()).toEqual([0, 2]);
      await expectLost(world.verbs.frontier.addFrontier({ ...job, id: "gone" }, entries, 9));
    },
    "text: spellings are told apart by their bytes": async (world) => {
      await running(world);
      const job = await held(world);
      const entries = [...TEXTS, "a", "A", "ä", "a\u0308"].map((key) => entry(key));
      expect(await world.verbs.frontier.addFrontier(job, entries, 99)).toBe(entries.length);
    },
  },
  appendFrontier: {
    "basics: while the job has not ended, whoever works on it": async (world) => {
      const accountId = await queued(world);
      const append = (key: string) => world.verbs.frontier.appendFrontier("j", [entry(key)], 9);
      expect([await append("a"), await append("a")]).toEqual([1, 0]);
      await claim(world.verbs, "me");
      expect(await append("b")).toBe(1);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      expect(await append("c")).toBeUndefined();
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 2, taken: 0, done: 0 });
    },
  },
  takeFrontier: {
    "basics: only by the one who holds the job": async (world) => {
      const { accountId, lost, job } = await takenOver(world);
      await expectLost(world.verbs.frontier.takeFrontier(lost, 9));
      expect((await world.verbs.frontier.takeFrontier(job, 9)).map(({ urlKey }) => urlKey)).toEqual(["b"]);
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      await expectLost(world.verbs.frontier.takeFrontier(job, 9));
    },
    "order: by depth, then as they were found": async (world) => {
      await running(world);
      const job = await held(world);
      await world.verbs.frontier.addFrontier(job, [entry("z", 1), entry("a", 2), entry("b", 1), entry("Z", 0)], 9);
      const taken = [
        ...(await world.verbs.frontier.takeFrontier(job, 2)),
        ...(await world.verbs.frontier.takeFrontier(job, 9)),
      ];
      expect(taken.map(({ urlKey }) => urlKey)).toEqual(["Z", "z", "b", "a"]);
    },
    "concurrency: each by one": async (world) => {
      await running(world);
      const job = await held(world);
      const other = await world.again();
      await world.verbs.frontier.addFrontier(
        job,
        ["a", "b", "c", "d"].map((key) => entry(key)),
        9,
      );
      const all = await Promise.all([world.verbs, other, world.verbs].map((own) => own.frontier.takeFrontier(job, 2)));
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
      const { lost, job } = await takenOver(world);
      await expectLost(world.verbs.frontier.resetFrontier(lost));
      expect(await world.verbs.frontier.resetFrontier(job)).toBe(1);
    },
    "basics: what was taken and is not done": async (world) => {
      await running(world);
      const job = await held(world);
      await world.verbs.frontier.addFrontier(
        job,
        ["a", "b", "c"].map((key) => entry(key)),
        9,
      );
      await world.verbs.frontier.takeFrontier(job, 2);
      await world.verbs.frontier.saveVisit(job, { urlKey: "a", frontierMax: 9 });
      expect(await world.verbs.frontier.resetFrontier(job)).toBe(1);
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 2, taken: 0, done: 1 });
    },
  },
  saveVisit: {
    "basics: only by the one who holds the job": async (world) => {
      const { accountId, lost, job } = await takenOver(world);
      const page = { url: "a", failed: false, body: {} };
      const visit = { urlKey: "a", page, links: [entry("c")], progress: { n: 1 }, frontierMax: 9 };
      await expectLost(world.verbs.frontier.saveVisit(lost, visit));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 0, failed: 0 });
      expect(await world.verbs.frontier.countFrontier("j")).toEqual({ waiting: 1, taken: 1, done: 0 });
      expect((await world.verbs.jobs.findJob("crawl", accountId, "j"))?.progress).toEqual({});
      expect(await world.verbs.frontier.saveVisit(job, visit)).toBe(1);
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 1, failed: 0 });
    },
    "concurrency: many visits of the one who holds the job": async (world) => {
      const { job } = await takenOver(world);
      const other = await world.again();
      const save = (own: Verbs, url: string) =>
        own.frontier.saveVisit(job, {
          ...{ urlKey: url, page: { url, failed: false, body: {} }, progress: { url }, frontierMax: 9 },
        });
      await Promise.all(["a", "b", "c", "d", "e"].map((url, n) => save(n % 2 ? world.verbs : other, url)));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 5, failed: 0 });
    },
    "concurrency: pages of many visits are all there, in one order": async (world) => {
      await running(world);
      const job = await held(world);
      const other = await world.again();
      const save = (own: Verbs, url: string) =>
        own.frontier.saveVisit(job, {
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
      const job = await held(world);
      await world.verbs.accounts.deleteAccount(accountId);
      const page = { url: "b", failed: false, body: {} };
      await expectLost(world.verbs.frontier.saveVisit(job, { urlKey: "b", page, frontierMax: 9 }));
      expect(await world.verbs.frontier.countPages("j")).toEqual({ pages: 0, failed: 0 });
    },
    "basics: the links that are new, what its site answered, and how far the job is": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      await world.verbs.frontier.addFrontier(job, [entry("a"), entry("b")], 9);
      await world.verbs.answers.keepAnswer(job, "a", answer("u"));
      const visit = {
        urlKey: "a",
        links: [entry("b"), entry("c")],
        aliases: [entry("twin")],
        progress: { n: 1 },
        frontierMax: 9,
      };
      expect(await world.verbs.frontier.saveVisit(job, visit)).toBe(1);
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
      const job = await held(world);
      const page = { url: "http://x/ä", failed: false, body: { texts: [...TEXTS, "a\u0000b"] } };
      await world.verbs.frontier.saveVisit(job, { urlKey: "a", page, frontierMax: 9 });
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
      const { lost, job } = await takenOver(world);
      expect(await world.verbs.answers.keepAnswer(lost, "a", answer("u"))).toBe(false);
      expect(await world.verbs.answers.keepAnswer(job, "a", answer("u"))).toBe(true);
    },
    "concurrency: what was asked is kept once; of a job that runs only": async (world) => {
      expect(await world.verbs.answers.keepAnswer(await held(world), "a", answer("u"))).toBe(false);
      await running(world);
      const job = await held(world);
      const other = await world.again();
      const all = await Promise.all([world.verbs, other].map((own) => own.answers.keepAnswer(job, "a", answer("u"))));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  listAnswers: {
    "order: by the bytes of what was asked": async (world) => {
      await running(world);
      const job = await held(world);
      for (const asked of ["z", "A", "ä"]) await world.verbs.answers.keepAnswer(job, "a", answer(asked));
      const [first, ...rest] = await world.verbs.answers.listAnswers("j", "a");
      expect([first?.asked, ...rest.map(({ asked }) => asked)]).toEqual(["A", "z", "ä"]);
      expect([[...(first?.body ?? [])], first?.headers.get("a")]).toEqual([[0, 255], "ä"]);
    },
    "cascade: they go when the job ends": async (world) => {
      const accountId = await running(world);
      const job = await held(world);
      await world.verbs.answers.keepAnswer(job, "a", answer("u"));
      await world.verbs.jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 5 });
      expect(await world.verbs.answers.listAnswers("j", "a")).toEqual([]);
    },
  },
};

/** Cases of the verbs over the pages of jobs. */
export const frontierContract = { frontier, answers };
