import { expect, test } from "bun:test";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { answerStore } from "../../src/store/work/answers.ts";
import { type FrontierEntry, frontierStore, type PageWindow } from "../../src/store/work/frontier.ts";
import { JobLost } from "../../src/store/work/job-hold.ts";
import { type HeldJob, jobStore } from "../../src/store/work/jobs.ts";
import { freshStore } from "./support.ts";

const KINDS = ["crawl"];

async function setUp() {
  const fresh = freshStore();
  const account = (await accountStore(fresh.store).createAccount({
    username: "ann",
    email: "a@x.example",
    tier: "free",
  })) as Account;
  const jobs = jobStore(fresh.store);
  const start = (id: string, kind = "crawl") =>
    jobs.createJob({ id, kind, accountId: account.id, input: { url: "u" }, deadlineAtMs: fresh.clock.now() + 1000 });
  const claim = (owner: string) => jobs.claimJob({ owner, leaseMs: 100, kinds: KINDS });
  /** Takes one up that is there. */
  const take = async (owner: string) => {
    const job = await claim(owner);
    if (job === undefined) throw new Error("no job is free");
    return job;
  };
  const begin = async (id: string) => {
    await start(id);
    return take("o");
  };
  return { ...fresh, accountId: account.id, jobs, start, claim, take, begin, frontier: frontierStore(fresh.store) };
}

test("jobs are claimed oldest first, each by one owner, and again when a lease ends", async () => {
  const { clock, jobs, start, claim, take } = await setUp();
  await start("j1");
  clock.advance(1);
  await start("j2");
  await start("other", "extract");
  const claimed = await Promise.all([claim("a"), claim("b"), claim("c")]);
  expect(claimed.map((job) => job?.id)).toEqual(["j1", "j2", undefined]);
  expect(claimed[0]).toMatchObject({ state: "running", owner: "a", input: { url: "u" }, progress: {} });
  const [first, second] = claimed as unknown as [HeldJob, HeldJob];
  clock.advance(99);
  expect(await jobs.renewJob(second, 100)).toBe(true);
  expect(await jobs.renewJob({ ...second, lease: first.lease }, 100)).toBe(false);
  clock.advance(1);
  const again = await take("a");
  expect(again.id).toBe("j1");
  // The program that lost its lease notices it with its next call.
  expect(await jobs.renewJob(first, 100)).toBe(false);
  expect(await jobs.saveProgress(first, { n: 1 })).toBe(false);
  expect(await jobs.finishJob(first, { state: "completed", ttlMs: 10 })).toBe(false);
  expect(await jobs.saveProgress(again, { n: 1 })).toBe(true);
});

test("an account's many jobs do not keep another's from beginning", async () => {
  const { store, clock, jobs, start, claim } = await setUp();
  const eve = (await accountStore(store).createAccount({
    username: "eve",
    email: "eve@x.example",
    tier: "free",
  })) as Account;
  for (const id of ["j1", "j2", "j3"]) {
    await start(id);
    clock.advance(1);
  }
  for (const id of ["e1", "e2"])
    await jobs.createJob({ id, kind: "crawl", accountId: eve.id, input: {}, deadlineAtMs: clock.now() + 1000 });
  const order: (string | undefined)[] = [];
  for (let n = 0; n < 6; n++) order.push((await claim("o"))?.id);
  expect(order).toEqual(["j1", "e1", "j2", "e2", "j3", undefined]);
});

test("a stopping owner's jobs are free at once", async () => {
  const { jobs, start, claim } = await setUp();
  await start("j1");
  await claim("a");
  expect(await jobs.releaseJobs("b")).toBe(0);
  expect(await jobs.releaseJobs("a")).toBe(1);
  expect((await claim("b"))?.id).toBe("j1");
});

test("a job ends once", async () => {
  const { clock, accountId, jobs, start, take } = await setUp();
  await start("j1");
  const job = await take("a");
  expect(await jobs.countOpenJobs(accountId)).toBe(1);
  expect(await jobs.finishJob(job, { state: "completed", result: { ok: 1 }, ttlMs: 50 })).toBe(true);
  expect(await jobs.finishJob(job, { state: "failed", ttlMs: 50 })).toBe(false);
  const cancelled = await jobs.cancelJob({ kind: "crawl", accountId, id: "j1", ttlMs: 50 });
  expect(cancelled).toMatchObject({ state: "completed", result: { ok: 1 }, owner: null, finishedAtMs: clock.now() });
  expect(await jobs.countOpenJobs(accountId)).toBe(0);
});

test("cancelling ends a queued and a running job; only its account's", async () => {
  const { accountId, jobs, start, claim, take } = await setUp();
  await start("j1");
  await start("j2");
  const job = await take("a");
  expect(await jobs.cancelJob({ kind: "crawl", accountId: "other", id: "j1", ttlMs: 50 })).toBeUndefined();
  expect(await jobs.cancelJob({ kind: "extract", accountId, id: "j1", ttlMs: 50 })).toBeUndefined();
  for (const id of ["j1", "j2"]) {
    expect(await jobs.cancelJob({ kind: "crawl", accountId, id, ttlMs: 50 })).toMatchObject({ state: "cancelled" });
  }
  expect(await jobs.renewJob(job, 100)).toBe(false);
  expect(await claim("b")).toBeUndefined();
});

test("past its time to live a job does not exist, swept or not", async () => {
  const { store, clock, accountId, jobs, start, take, frontier } = await setUp();
  await start("j1");
  const job = await take("a");
  await frontier.addFrontier(job, [entry("a")], 10);
  await frontier.saveVisit(job, { urlKey: "a", page: { url: "a", failed: false, body: {} }, frontierMax: 10 });
  await jobs.finishJob(job, { state: "failed", error: { code: "x" }, ttlMs: 50 });
  clock.advance(49);
  expect(await jobs.findJob("crawl", accountId, "j1")).toMatchObject({ error: { code: "x" } });
  expect(await jobs.findJob("extract", accountId, "j1")).toBeUndefined();
  expect(await jobs.findJob("crawl", "other", "j1")).toBeUndefined();
  expect(await jobs.deleteExpiredJobs()).toBe(0);
  clock.advance(1);
  expect(await jobs.findJob("crawl", accountId, "j1")).toBeUndefined();
  expect(await jobs.cancelJob({ kind: "crawl", accountId, id: "j1", ttlMs: 50 })).toBeUndefined();
  expect(await jobs.deleteExpiredJobs()).toBe(1);
  for (const table of ["jobs", "job_pages", "job_frontier"]) {
    expect(store.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
  }
});

const entry = (urlKey: string, depth = 0): FrontierEntry => ({ urlKey, url: `http://${urlKey}/`, depth });

test("the frontier is taken breadth first, every address once", async () => {
  const { begin, frontier } = await setUp();
  const job = await begin("j");
  expect(await frontier.addFrontier(job, [entry("deep", 2), entry("a", 1), entry("b", 1), entry("a", 1)], 10)).toBe(3);
  expect(await frontier.addFrontier(job, [entry("a"), entry("root")], 10)).toBe(1);
  expect((await frontier.takeFrontier(job, 2)).map((e) => e.urlKey)).toEqual(["root", "a"]);
  expect(await frontier.takeFrontier(job, 9)).toEqual([entry("b", 1), entry("deep", 2)]);
  expect(await frontier.takeFrontier(job, 9)).toEqual([]);
  expect(await frontier.countFrontier("j")).toEqual({ waiting: 0, taken: 4, done: 0 });
});

test("the frontier never knows more than its limit", async () => {
  const { begin, frontier } = await setUp();
  const job = await begin("j");
  expect(
    await frontier.addFrontier(
      job,
      ["a", "b", "c"].map((key) => entry(key)),
      2,
    ),
  ).toBe(2);
  expect(await frontier.addFrontier(job, [entry("a"), entry("d")], 3)).toBe(1);
  expect(await frontier.addFrontier(job, [entry("e")], 3)).toBe(0);
  await expect(frontier.addFrontier({ ...job, id: "gone" }, [entry("a")], 3)).rejects.toThrow(JobLost);
});

test("a visit stores its page, its other names and its links together", async () => {
  const { begin, frontier } = await setUp();
  const job = await begin("j");
  await frontier.addFrontier(job, [entry("a"), entry("twin")], 10);
  await frontier.takeFrontier(job, 1);
  const visit = {
    urlKey: "a",
    page: { url: "http://a/", failed: false, body: { markdown: "# A" } },
    aliases: [entry("canonical"), entry("twin")],
    links: [entry("b", 1), entry("canonical", 1), entry("a", 1)],
    frontierMax: 10,
  };
  expect(await frontier.saveVisit(job, visit)).toBe(1);
  expect(await frontier.countFrontier("j")).toEqual({ waiting: 1, taken: 0, done: 3 });
  expect((await frontier.takeFrontier(job, 9)).map((e) => e.urlKey)).toEqual(["b"]);
  await frontier.saveVisit(job, {
    urlKey: "b",
    page: { url: "http://b/", failed: true, body: { code: "x" } },
    frontierMax: 10,
  });
  expect(await frontier.countPages("j")).toEqual({ pages: 2, failed: 1 });
  expect(await frontier.listPages("j", { failed: false })).toEqual([visit.page]);
  expect(await frontier.listPages("j", { offset: 1 })).toMatchObject([{ url: "http://b/" }]);
  expect(await frontier.countPages("none")).toEqual({ pages: 0, failed: 0 });
});

test("pages are listed as far as they are asked for, in bytes too", async () => {
  const { begin, frontier } = await setUp();
  const job = await begin("j");
  const save = (urlKey: string, failed: boolean, body: Record<string, unknown>) =>
    frontier.saveVisit(job, { urlKey, page: { url: urlKey, failed, body }, frontierMax: 9 });
  await save("a", false, { markdown: "x".repeat(1000), keys: ["a", "a2"] });
  await save("b", true, { code: "no" });
  await save("c", false, { markdown: "é".repeat(500) });
  await save("d", false, { markdown: "d", keys: ["d"] });
  const list = async (options: PageWindow) => (await frontier.listPages("j", options)).map(({ url }) => url);
  expect(await list({ failed: false })).toEqual(["a", "c", "d"]);
  expect(await list({ failed: false, bytesMax: 1 })).toEqual(["a"]);
  expect(await list({ failed: false, bytesMax: 2500 })).toEqual(["a", "c", "d"]);
  expect(await list({ failed: false, bytesMax: 2040 })).toEqual(["a"]);
  expect(await list({ failed: false, offset: 1, bytesMax: 1030 })).toEqual(["c"]);
  expect(await list({ failed: false, offset: 1, limit: 1 })).toEqual(["c"]);
  expect(await list({ failed: false, offset: 3 })).toEqual([]);
  expect(await frontier.listPageKeys("j")).toEqual(["a", "a2", "d"]);
});

test("after a restart what was under way is visited again, what was stored is not", async () => {
  const { begin, frontier } = await setUp();
  const job = await begin("j");
  await frontier.addFrontier(job, [entry("a"), entry("b"), entry("c")], 10);
  await frontier.takeFrontier(job, 2);
  await frontier.saveVisit(job, { urlKey: "a", frontierMax: 10 });
  expect(await frontier.resetFrontier(job)).toBe(1);
  expect((await frontier.takeFrontier(job, 9)).map((e) => e.urlKey)).toEqual(["b", "c"]);
});

test("a visit to a deleted job stores nothing", async () => {
  const { store, frontier } = await setUp();
  const visit = { page: { url: "u", failed: false, body: {} }, links: [entry("b")], aliases: [entry("c")] };
  const saved = frontier.saveVisit({ id: "gone", lease: "none" }, { urlKey: "a", ...visit, frontierMax: 9 });
  await expect(saved).rejects.toThrow(JobLost);
  expect(store.sqlite.query("SELECT count(*) AS n FROM job_pages").get()).toEqual({ n: 0 });
});

test("an answer is kept until its page is stored", async () => {
  const { store, start, take, frontier } = await setUp();
  const answers = answerStore(store);
  const body = new TextEncoder().encode("<p>Grüße</p>".repeat(1000));
  const headers = new Headers([
    ["content-type", "text/html"],
    ["set-cookie", "a=1"],
    ["set-cookie", "b=2"],
  ]);
  const answer = { asked: "http://a/", url: "http://a/b", status: 200, headers, body };
  await start("j");
  // A job that no program has claimed stores no responses.
  expect(await answers.keepAnswer({ id: "j", lease: "none" }, "a", answer)).toBe(false);
  const job = await take("o");
  expect(await answers.keepAnswer(job, "a", answer)).toBe(true);
  expect(await answers.keepAnswer(job, "a", { ...answer, asked: "http://a/next", status: 404 })).toBe(true);
  expect(await answers.keepAnswer(job, "b", answer)).toBe(true);
  const [kept, next] = await answers.listAnswers("j", "a");
  expect(kept).toMatchObject({ asked: "http://a/", url: "http://a/b", status: 200 });
  expect(next).toMatchObject({ asked: "http://a/next", status: 404 });
  expect([...(kept?.headers ?? [])]).toEqual([...headers]);
  expect(Buffer.from(kept?.body ?? []).equals(body)).toBe(true);
  await frontier.saveVisit(job, { urlKey: "a", frontierMax: 10 });
  expect(await answers.listAnswers("j", "a")).toEqual([]);
  expect(await answers.listAnswers("j", "b")).toHaveLength(1);
});

test("an answer that is too large to keep is not kept", async () => {
  const { store, start, take } = await setUp();
  const answers = answerStore(store);
  await start("j");
  const job = await take("o");
  const body = crypto.getRandomValues(new Uint8Array(60_000));
  const large = Buffer.concat(Array.from({ length: 40 }, (_, n) => body.map((byte) => byte ^ n)));
  const answer = { asked: "u", url: "u", status: 200, headers: new Headers(), body: new Uint8Array(large) };
  expect(await answers.keepAnswer(job, "a", answer)).toBe(false);
  expect(await answers.listAnswers("j", "a")).toEqual([]);
});

test.each(["finished", "cancelled"])("the answers of a %s job go, the others' stay", async (how) => {
  const { store, accountId, jobs, begin } = await setUp();
  const answers = answerStore(store);
  const answer = { asked: "u", url: "u", status: 200, headers: new Headers(), body: new Uint8Array(3) };
  const [job, other] = [await begin("j"), await begin("k")];
  for (const one of [job, other]) await answers.keepAnswer(one, "a", answer);
  if (how === "finished") await jobs.finishJob(job, { state: "completed", ttlMs: 10 });
  else await jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 10 });
  expect(await answers.listAnswers("j", "a")).toEqual([]);
  expect(await answers.listAnswers("k", "a")).toHaveLength(1);
});
