// The stored sum of an account's storage is correct after any change of its rows, and the quota is enforced.

import { expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { MIGRATIONS } from "../../src/store/engine/migrate.ts";
import type { SqliteStore as Store } from "../../src/store/engine/open.ts";
import { fileStore } from "../../src/store/work/files.ts";
import { frontierStore } from "../../src/store/work/frontier.ts";
import { jobStore } from "../../src/store/work/jobs.ts";
import { responseStore } from "../../src/store/work/responses.ts";
import { storageStore } from "../../src/store/work/storage.ts";
import { threadStore } from "../../src/store/work/threads.ts";
import { freshStore } from "./support.ts";

const LIMIT = 10_000;

async function setUp(limit = LIMIT) {
  const { store, clock } = freshStore();
  const add = async (name: string) => {
    const made = await accountStore(store).createAccount({ username: name, email: `${name}@x.example`, tier: "free" });
    if ("refused" in made) throw new Error(made.refused);
    return made.id;
  };
  const parts = {
    responses: responseStore(store),
    threads: threadStore(store),
    files: fileStore(store),
    jobs: jobStore(store),
    frontier: frontierStore(store),
    storage: storageStore(store, () => limit),
  };
  return { store, clock, ann: await add("ann"), bob: await add("bob"), ...parts };
}
type Parts = Awaited<ReturnType<typeof setUp>>;

/** The sum, computed from all rows. */
function trueSum(store: Store, accountId: string): number {
  const sums = [
    "SELECT SUM(octet_length(input) + octet_length(body)) FROM responses WHERE account_id = $a",
    "SELECT SUM(octet_length(thread_id) + octet_length(state) + 1024) FROM threads WHERE account_id = $a",
    "SELECT SUM(octet_length(state)) FROM thread_summaries WHERE account_id = $a",
    "SELECT SUM(octet_length(id) + octet_length(state) + 256) FROM thread_items WHERE account_id = $a",
    "SELECT SUM(bytes) FROM files WHERE account_id = $a",
    `SELECT SUM(octet_length(input) + octet_length(progress) + IFNULL(octet_length(result), 0) + IFNULL(octet_length(error), 0))
     FROM jobs WHERE account_id = $a`,
    `SELECT SUM(octet_length(p.url) + octet_length(p.body)) FROM job_pages p JOIN jobs ON jobs.id = job_id WHERE account_id = $a`,
    `SELECT SUM(octet_length(f.url) + octet_length(f.url_key)) FROM job_frontier f JOIN jobs ON jobs.id = job_id WHERE account_id = $a`,
  ];
  return sums.reduce((sum, query) => {
    const row = store.sqlite.query<Record<string, number | null>, { a: string }>(query).get({ a: accountId });
    return sum + (Object.values(row ?? {})[0] ?? 0);
  }, 0);
}

const saveResponse = ({ responses, clock }: Parts, accountId: string, id: string, chars: number, lifeMs = 60_000) =>
  responses.saveResponse({
    ...{ id, accountId, model: "m", previousId: null, provider: null, upstreamId: null, body: {} },
    ...{ input: ["ü".repeat(chars)], expiresAtMs: clock.now() + lifeMs },
  });
const saveThread = ({ threads, clock }: Parts, accountId: string, threadId: string, chars: number, lifeMs = 60_000) =>
  threads.saveThread({
    ...{ accountId, kind: "thread", threadId, model: "m", messages: 1, tokens: 1 },
    ...{ state: Buffer.alloc(chars), expiresAtMs: clock.now() + lifeMs },
  });
const saveSummary = ({ threads }: Parts, accountId: string, threadId: string, bytes: number) =>
  threads.saveSummary({
    ...{ accountId, kind: "thread", threadId, id: "s", tokens: 1, state: Buffer.alloc(bytes), createdAtMs: 1 },
  });
const addItem = ({ threads, clock }: Parts, accountId: string, threadId: string, id: string) =>
  threads.appendItems(
    { accountId, kind: "thread", threadId },
    [{ id, otherId: `${id}-other`, bytes: 1, state: Buffer.alloc(70) }],
    { expiresAtMs: clock.now() + (threadId === "t2" ? 10 : 60_000) },
  );
const saveFile = ({ files }: Parts, accountId: string, id: string, bytes: number) =>
  files.createFile({ id, accountId, filename: "f", purpose: "vision", mediaType: "image/png" }, new Uint8Array(bytes));
const page = (url: string, chars: number) => ({ url, failed: false, body: { markdown: "ß".repeat(chars) } });
const entry = (url: string) => ({ urlKey: url, url, depth: 1 });
const held = async ({ jobs }: Parts, who: string) => {
  const id = `job-${who}`;
  return { id, lease: (await jobs.findJob("crawl", who, id))?.lease ?? "none" };
};
const own = (accountId: string) => ({ kind: "crawl", accountId, id: `job-${accountId}` });

const STEPS: readonly [string, (parts: Parts, accountId: string) => Promise<unknown>][] = [
  ["a response", (parts, who) => saveResponse(parts, who, `r1-${who}`, 100)],
  ["a response that expires", (parts, who) => saveResponse(parts, who, `r2-${who}`, 200, 10)],
  ["a thread", (parts, who) => saveThread(parts, who, "t1", 50)],
  ["the thread grown", (parts, who) => saveThread(parts, who, "t1", 500)],
  ["a thread that expires", (parts, who) => saveThread(parts, who, "t2", 70, 10)],
  ["a file", (parts, who) => saveFile(parts, who, `file-1-${who}`, 300)],
  ["another file", (parts, who) => saveFile(parts, who, `file-2-${who}`, 400)],
  ["a file deleted", ({ files }, who) => files.deleteFile(who, `file-1-${who}`)],
  ["a job", ({ jobs, clock }, who) => jobs.createJob({ ...own(who), input: { url: "ü" }, deadlineAtMs: clock.now() })],
  ["it is taken up", ({ jobs }) => jobs.claimJob({ owner: "o", leaseMs: 1, kinds: ["crawl"] })],
  [
    "its links",
    async (parts, who) => parts.frontier.addFrontier(await held(parts, who), ["a", "ö", "a"].map(entry), 10),
  ],
  [
    "a visit",
    async (parts, who) =>
      parts.frontier.saveVisit(await held(parts, who), {
        ...{ urlKey: "a", page: page("a", 30), links: ["b", "a"].map(entry), frontierMax: 10, progress: { n: 1 } },
        aliases: [entry("c")],
      }),
  ],
  [
    "its end",
    async (parts, who) =>
      parts.jobs.finishJob(await held(parts, who), { state: "completed", result: { a: 1 }, ttlMs: 10 }),
  ],
  ["a summary", (parts, who) => saveSummary(parts, who, "t1", 60)],
  ["the summary grown", (parts, who) => saveSummary(parts, who, "t1", 90)],
  ["a summary of what expires", (parts, who) => saveSummary(parts, who, "t2", 80)],
  ["items", (parts, who) => Promise.all(["i1", "i2"].map((id) => addItem(parts, who, "t1", id)))],
  ["an item of what expires", (parts, who) => addItem(parts, who, "t2", "i3")],
  [
    "an item deleted",
    ({ threads }, who) => threads.deleteItem({ accountId: who, kind: "thread", threadId: "t1" }, "i1"),
  ],
  ["a response deleted", ({ responses }, who) => responses.deleteResponse(who, `r1-${who}`)],
  [
    "what has expired is swept",
    async ({ responses, threads, jobs, clock }) => {
      clock.advance(20);
      const swept = [
        await responses.deleteExpiredResponses(),
        await threads.deleteExpiredThreads(),
        await jobs.deleteExpiredJobs(),
      ];
      expect(swept.every((rows) => rows > 0)).toBe(true);
    },
  ],
];

test("the sum is the true one after every change, for each account", async () => {
  const parts = await setUp();
  const { store, storage, ann, bob } = parts;
  const isTrue = async (step: string) => {
    for (const who of [ann, bob]) {
      const { usedBytes } = await storage.storageOf(who);
      expect([step, usedBytes]).toEqual([step, trueSum(store, who)]);
    }
  };
  for (const [step, change] of STEPS.slice(0, -1)) {
    await change(parts, ann);
    await isTrue(step);
  }
  for (const [, change] of STEPS.slice(0, -1)) await change(parts, bob);
  await isTrue("bob's too");
  expect((await storage.storageOf(ann)).usedBytes).toBeGreaterThan(1000);
  await STEPS.at(-1)?.[1](parts, ann);
  await isTrue("the sweep");
  await accountStore(store).deleteAccount(bob);
  expect(await storage.storageOf(bob)).toEqual({ usedBytes: 0, limitBytes: LIMIT });
  await isTrue("bob is gone");
});

test("an upgrade counts what is there", async () => {
  const parts = await setUp();
  const { store, storage, ann } = parts;
  for (const [, change] of STEPS.slice(0, 12)) await change(parts, ann);
  const before = (await storage.storageOf(ann)).usedBytes;
  // The migration's statements run again over the rows and must give the same sum.
  const step =
    MIGRATIONS.find(({ name }) => name === "0006_account_storage")?.sql.split("--> statement-breakpoint") ?? [];
  const backfill = step.filter((sql) => /^\s*(UPDATE jobs|INSERT INTO account_storage)/.test(sql));
  const rows = MIGRATIONS.find(({ name }) => name === "0016_thread_rows")
    ?.sql.split("--> statement-breakpoint")
    .at(-1);
  backfill.push(rows ?? "");
  expect(backfill).toHaveLength(3);
  store.sqlite.run("DELETE FROM account_storage");
  for (const sql of backfill) store.sqlite.run(sql);
  expect((await storage.storageOf(ann)).usedBytes).toBe(before);
});

test("the oldest responses and threads make room, of the account that needs it alone", async () => {
  const limit = LIMIT + 4 * 1024;
  const parts = await setUp(limit);
  const { responses, threads, storage, clock, ann, bob } = parts;
  await saveResponse(parts, bob, "bobs", 1000);
  for (const at of [1, 2, 3, 4]) {
    clock.advance(1);
    await saveResponse(parts, ann, `r${at}`, 1000);
    await saveThread(parts, ann, `t${at}`, 500);
  }
  const left = async () => {
    const ids = ["r1", "r2", "r3", "r4", "r5"];
    const found = await Promise.all(ids.map((id) => responses.findResponse(ann, id)));
    return ids.filter((_, at) => found[at] !== undefined);
  };
  expect(await storage.makeRoom(ann, 0)).toBe(true);
  expect(await left()).toEqual(["r2", "r3", "r4"]);
  clock.advance(1);
  await saveThread(parts, ann, "t1", 500);
  await saveResponse(parts, ann, "r5", 1000);
  expect(await storage.makeRoom(ann, 0)).toBe(true);
  expect(await left()).toEqual(["r3", "r4", "r5"]);
  // The age of a thread is that of its last change.
  expect(await threads.findThread({ accountId: ann, kind: "thread", threadId: "t1" })).toBeDefined();
  expect(await responses.findResponse(bob, "bobs")).toBeDefined();
  expect((await storage.storageOf(ann)).usedBytes).toBeLessThanOrEqual(limit);
});

test("threads and items without content count, since their number is not limited", async () => {
  const parts = await setUp();
  for (let n = 0; n < 20; n++) await saveThread(parts, parts.ann, `t${n}`, 0);
  await addItem(parts, parts.ann, "t0", "i0");
  expect((await parts.storage.storageOf(parts.ann)).usedBytes).toBeGreaterThan(20 * 1024 + 256);
  expect(await parts.storage.makeRoom(parts.ann, 0)).toBe(true);
  const kept = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      parts.threads.findThread({ accountId: parts.ann, kind: "thread", threadId: `t${n}` }),
    ),
  );
  expect(kept.filter((thread) => thread !== undefined)).toHaveLength(9);
});

test("of claims made at once as many are granted as fit; texts go only where that helps", async () => {
  const parts = await setUp();
  const { responses, storage, ann } = parts;
  await saveResponse(parts, ann, "old", 1000);
  expect(await storage.claim(ann, LIMIT + 1)).toBeUndefined();
  await saveFile(parts, ann, "file-1", 5000);
  expect(await storage.claim(ann, 6000)).toBeUndefined();
  expect(await responses.findResponse(ann, "old")).toBeDefined();
  const claims = await Promise.all(Array.from({ length: 16 }, () => storage.claim(ann, 1000)));
  const granted = claims.filter((release) => release !== undefined);
  expect(granted).toHaveLength(5);
  expect(await responses.findResponse(ann, "old")).toBeUndefined();
  expect(await storage.claim(ann, 1)).toBeUndefined();
  granted[0]?.();
  expect(await storage.claim(ann, 1000)).toBeDefined();
});

/** A store whose reads of prepared statements return late, with what they had read. */
function readingLate(store: Store, whenRead: () => Promise<void>): Store {
  const late = <T extends object>(builder: T): T =>
    new Proxy(builder, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          const result: unknown = member.apply(target, given);
          if (name !== "get") return typeof result === "object" && result !== null ? late(result) : result;
          return whenRead().then(() => result);
        };
      },
    });
  return Object.assign(Object.create(store) as Store, { db: late(store.db) });
}

test("what is stored while the sum is read counts, although its reservation has ended", async () => {
  const { store, ann, files } = await setUp();
  let meanwhile: (() => Promise<void>) | undefined;
  const slow = readingLate(store, async () => {
    const work = meanwhile;
    meanwhile = undefined;
    await work?.();
  });
  const { claim } = storageStore(slow, () => 10);
  const first = await claim(ann, 6);
  meanwhile = async () => {
    const file = { id: "f", accountId: ann, filename: "f", mediaType: "text/plain", purpose: "user_data" };
    await files.createFile(file, new Uint8Array(6));
    first?.();
  };
  expect(await claim(ann, 6)).toBeUndefined();
  expect(await claim(ann, 4)).toBeDefined();
});
