import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { Upkeep } from "../../src/store/engine/upkeep.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { storeSweeps } from "../../src/store/sweeps.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { alertStore } from "../../src/store/work/alerts.ts";
import { cachedAnswerStore } from "../../src/store/work/cached-answers.ts";
import { jobStore } from "../../src/store/work/jobs.ts";
import { largeValueStore } from "../../src/store/work/large-values.ts";
import { responseStore } from "../../src/store/work/responses.ts";
import { threadStore } from "../../src/store/work/threads.ts";
import { freshStore, usageRecord } from "./support.ts";

test("each sweep runs until nothing is left, and one that fails does not stop the others", async () => {
  const { store } = freshStore();
  const left = { a: 3, b: 2 };
  const errors: unknown[] = [];
  const boom = new Error("boom");
  const upkeep = new Upkeep(store, {
    sweeps: [
      async () => (left.a > 0 ? left.a-- : 0),
      async () => {
        throw boom;
      },
      async () => (left.b > 0 ? left.b-- : 0),
    ],
    onError: (error) => errors.push(error),
  });
  await upkeep.run();
  expect(left).toEqual({ a: 0, b: 0 });
  expect(errors).toEqual([boom]);
});

test("the log is emptied and pages that were freed go back to the file system", async () => {
  const { store, dataDir } = freshStore();
  const settings = settingsStore(store);
  await settings.writeSetting("big", "x".repeat(4_000_000));
  store.checkpoint();
  const full = statSync(join(dataDir, "sallyport.db")).size;
  await settings.writeSetting("big", "");
  await new Upkeep(store, { sweeps: [], freePagesKept: 100 }).run();
  expect(statSync(join(dataDir, "sallyport.db-wal")).size).toBe(0);
  expect(statSync(join(dataDir, "sallyport.db")).size).toBeLessThan(full - 3_000_000);
  expect(store.integrityCheck()).toEqual([]);
});

test("upkeep runs repeatedly by itself, and stops when asked, also in the middle of a run", async () => {
  const { store } = freshStore();
  let rounds = 0;
  const { promise: third, resolve } = Promise.withResolvers<void>();
  const upkeep = new Upkeep(store, {
    intervalMs: 1,
    sweeps: [
      async () => {
        rounds += 1;
        if (rounds === 3) resolve();
        // From the third round on, there is always more to delete.
        return rounds < 3 ? 0 : 1;
      },
    ],
  });
  upkeep.start();
  await third;
  await upkeep.stop();
  const at = rounds;
  upkeep.start();
  await new Promise((done) => setTimeout(done, 5));
  expect(rounds).toBe(at);
});

test("every table with an end is swept, and nothing before its end", async () => {
  const { store, clock } = freshStore();
  const account = await accountStore(store).createAccount({ username: "ann", email: "a@x.example", tier: "free" });
  const accountId = (account as Account).id;
  const expiresAtMs = clock.now() + 1000;
  const writer = new UsageWriter(usageStore(store));
  writer.record(usageRecord({ accountId, createdAtMs: clock.now() }));
  await writer.close();
  const sessions = sessionStore(store);
  await sessions.createSession({ accountId, refreshHash: "r", expiresAtMs, userAgent: "", address: "" });
  const codes = codeStore(store);
  await codes.putVerificationCode({ accountId, codeHash: "c", expiresAtMs, gapMs: 0 });
  await codes.issueTicket({ kind: "oauth_state", hash: "t", expiresAtMs });
  await auditStore(store).addAudit({ accountId, event: "e", address: "", userAgent: "" });
  await threadStore(store).saveThread({
    ...{ accountId, kind: "thread", threadId: "t", model: "m", messages: 1, tokens: 1 },
    ...{ state: Buffer.from("x"), expiresAtMs },
  });
  const response = { id: "r", accountId, model: "m", previousId: null, provider: null, upstreamId: null };
  await responseStore(store).saveResponse({ ...response, input: [], body: {}, expiresAtMs });
  const { id: keyId } = await keyStore(store).createKey({ accountId, name: "k" });
  const content = Buffer.from("x");
  await cachedAnswerStore(store).keepCachedAnswer({ key: "k", accountId, keyId, model: "m", content, expiresAtMs });
  const alerts = alertStore(store);
  await alerts.putAlert({ event: "e", accountId: null, body: "{}", targets: ["webhook"], expiresAtMs });
  const claim = await alerts.claimAlert(0);
  if (claim !== undefined) await alerts.settleAlert(claim, null);
  await largeValueStore(store).place(accountId, Buffer.alloc(2_000_000));
  const jobs = jobStore(store);
  await jobs.createJob({ id: "j", kind: "crawl", accountId, input: {}, deadlineAtMs: expiresAtMs });
  await jobs.cancelJob({ kind: "crawl", accountId, id: "j", ttlMs: 1000 });

  // Tables with expiring rows have an index on the time. The oldest priors of decisions go when there are too many.
  const ends = ["created_at", "expires_at"];
  const tables = (
    store.sqlite
      .query("SELECT tbl_name AS name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
      .all() as { name: string; sql: string }[]
  )
    .filter(({ name, sql }) => name !== "decision_priors" && ends.some((column) => sql.endsWith(`(\`${column}\`)`)))
    .map(({ name }) => name);
  expect(new Set(tables).size).toBeGreaterThanOrEqual(8);
  const counts = () =>
    Object.fromEntries(
      ["verification_codes", ...tables].map((name) => [
        name,
        (store.sqlite.query(`SELECT count(*) AS n FROM ${name}`).get() as { n: number }).n,
      ]),
    );
  const kept = { rowsMs: 1000, sumsMs: 0, auditMs: 365 * 86_400_000 };
  const upkeep = new Upkeep(store, { sweeps: storeSweeps(store, () => kept) });
  const before = counts();
  expect(Object.values(before)).not.toContain(0);
  await upkeep.run();
  expect(counts()).toEqual(before);
  clock.advance(366 * 86_400_000);
  await upkeep.run();
  expect(new Set(Object.values(counts()))).toEqual(new Set([0]));

  // Sums of days stay until there is a time for them.
  const days = () => (store.sqlite.query("SELECT count(*) AS n FROM usage_daily").get() as { n: number }).n;
  expect(days()).toBeGreaterThan(0);
  kept.sumsMs = 365 * 86_400_000;
  await upkeep.run();
  expect(days()).toBe(0);
});
