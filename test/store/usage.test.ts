import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { latencyBucket } from "../../src/store/usage/latency.ts";
import { dayOf, hourOf } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { freshStore, secondStore, tempDir, usageRecord } from "./support.ts";

const DAY_MS = 86_400_000;

async function withAccounts(count = 2) {
  const fresh = freshStore();
  const accounts = accountStore(fresh.store);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push(
      ((await accounts.createAccount({ username: `u${i}`, email: `u${i}@x.example`, tier: "free" })) as Account).id,
    );
  }
  return { ...fresh, ids, usage: usageStore(fresh.store) };
}

test("no usage at all is zeros", async () => {
  const { usage } = await withAccounts(0);
  expect(await usage.tokenTotals()).toEqual({
    requests: 0,
    inputTokens: 0,
    outputTokens: 0,
    sinceMs: null,
    updatedAtMs: null,
  });
  expect(await usage.totalsByModel()).toEqual([]);
  expect(await usage.topAccounts()).toEqual([]);
});

test("a request is kept as it was reported", async () => {
  const { store, ids, usage } = await withAccounts();
  const record = usageRecord({
    accountId: ids[0]!,
    requestId: "r".repeat(300),
    errorCode: "provider_timeout",
    status: 504,
    estimated: true,
    stream: true,
    ttfbMs: null,
  });
  const writer = new UsageWriter(usageStore(store));
  writer.record(record);
  await writer.close();
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toEqual([
    {
      ...record,
      id: 1,
      requestId: "r".repeat(200),
      uid: null,
      attempts: null,
      repeats: 1,
      answerId: null,
      ...{ projectId: null, tags: null, runId: null, cacheWriteHourTokens: null, service: null, searches: null },
      unpriced: null,
    },
  ]);
});

test("every roll-up equals the sum of the rows, in whatever batches they are written", async () => {
  const entry = fc.record({
    account: fc.integer({ min: 0, max: 1 }),
    keyId: fc.constantFrom("k1", "k2"),
    model: fc.constantFrom("m1", "m2"),
    day: fc.integer({ min: 0, max: 2 }),
    inputTokens: fc.nat(1_000_000),
    outputTokens: fc.nat(1_000_000),
    failed: fc.boolean(),
    flushAfter: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 30 }), async (entries) => {
      const { store, ids, usage } = await withAccounts();
      const writer = new UsageWriter(usageStore(store), { queueMax: 4 });
      const sum = (rows: typeof entries) => rows.reduce((n, e) => n + e.inputTokens + e.outputTokens, 0);
      for (const { account, keyId, model, day, inputTokens, outputTokens, failed, flushAfter } of entries) {
        const errorCode = failed ? "x" : null;
        writer.record(
          usageRecord({
            accountId: ids[account]!,
            keyId,
            model,
            inputTokens,
            outputTokens,
            errorCode,
            createdAtMs: day * DAY_MS + 5,
          }),
        );
        if (flushAfter) await writer.flush();
      }
      await writer.close();

      const totals = await usage.tokenTotals();
      expect([totals.requests, totals.inputTokens + totals.outputTokens]).toEqual([entries.length, sum(entries)]);
      for (const { model, totalTokens, requests } of await usage.totalsByModel()) {
        const of = entries.filter((e) => e.model === model);
        expect([requests, totalTokens]).toEqual([of.filter((e) => !e.failed).length, sum(of)]);
      }
      for (const { accountId, totalTokens } of await usage.topAccounts()) {
        expect(totalTokens).toBe(sum(entries.filter((e) => ids[e.account] === accountId)));
      }
      for (const [account, id] of ids.entries()) {
        const rows = store.sqlite
          .query<
            { day: number; key: string; model: string; requests: number; errors: number; tokens: number },
            [string]
          >(
            `SELECT day, key_id AS key, model, requests, errors, input_tokens + output_tokens AS tokens
             FROM usage_daily WHERE account_id = ?`,
          )
          .all(id);
        for (const row of rows) {
          const of = entries.filter(
            (e) => e.account === account && e.keyId === row.key && e.model === row.model && e.day === row.day,
          );
          expect([row.requests, row.errors, row.tokens]).toEqual([
            of.length,
            of.filter((e) => e.failed).length,
            sum(of),
          ]);
        }
      }
      store.close();
    }),
    { numRuns: 25 },
  );
}, 60_000);

test("rankings put the most tokens first", async () => {
  const { store, ids, usage } = await withAccounts(3);
  const writer = new UsageWriter(usageStore(store));
  for (const [i, inputTokens] of [5, 50, 20].entries()) {
    writer.record(usageRecord({ accountId: ids[i]!, model: `m${i}`, inputTokens, outputTokens: 1 }));
  }
  await writer.close();
  expect(await usage.topAccounts(2)).toEqual([
    { accountId: ids[1]!, totalTokens: 51 },
    { accountId: ids[2]!, totalTokens: 21 },
  ]);
  expect((await usage.totalsByModel(1)).map((row) => row.model)).toEqual(["m1"]);
});

test("the leaderboard reads an index, not every account", async () => {
  const { store } = await withAccounts(0);
  const plan = store.sqlite
    .query(
      "EXPLAIN QUERY PLAN SELECT account_id FROM usage_accounts ORDER BY input_tokens + output_tokens DESC LIMIT 10",
    )
    .all() as { detail: string }[];
  expect(plan.map((step) => step.detail).join()).toContain("usage_accounts_tokens");
});

test("usage is written after the flush interval without being asked", async () => {
  const { store, ids, usage } = await withAccounts();
  const other = secondStore(store);
  const before = other.changeCounter();
  const writer = new UsageWriter(usageStore(store), { flushMs: 1 });
  writer.record(usageRecord({ accountId: ids[0]! }));
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toEqual([]);
  while (other.changeCounter() === before) await new Promise((resolve) => setImmediate(resolve));
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toHaveLength(1);
  expect(writer.state).toEqual({ queued: 0, rowsWithout: 0, failures: 0 });
});

test("while the database is locked usage waits, beyond the queue it still counts, and nothing is lost", async () => {
  const { store, ids, usage } = await withAccounts();
  const locker = secondStore(store);
  store.sqlite.run("PRAGMA busy_timeout = 0");
  locker.sqlite.run("BEGIN IMMEDIATE");
  const errors: unknown[] = [];
  const writer = new UsageWriter(usageStore(store), { queueMax: 3, onError: (error) => errors.push(error) });
  for (let i = 0; i < 5; i++)
    writer.record(usageRecord({ accountId: ids[0]!, inputTokens: 1, outputTokens: 0, costMicros: 2 }));
  expect(await writer.flush()).toBe(false);
  expect(errors).toHaveLength(1);
  expect(writer.state).toEqual({ queued: 3, rowsWithout: 2, failures: 1 });
  expect(writer.pendingCostMicros("k")).toBe(10);
  locker.sqlite.run("ROLLBACK");
  expect(await writer.close()).toBe(true);
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toHaveLength(3);
  expect(await usage.tokenTotals()).toMatchObject({ requests: 5, inputTokens: 5 });
  expect(await usage.topAccounts()).toEqual([{ accountId: ids[0]!, totalTokens: 5 }]);
  expect(writer.pendingCostMicros("k")).toBe(0);
});

test("a record that cannot be stored does not keep other usage from being written", async () => {
  const { store, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  const odd = { model: "a\u0000b", costMicros: 1.5, inputTokens: Number.NaN, latencyMs: 2.4 };
  writer.record(usageRecord({ accountId: ids[0]!, ...odd }));
  writer.record(usageRecord({ accountId: ids[0]! }));
  expect(await writer.close()).toBe(true);
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toMatchObject([
    { model: "m" },
    { model: "a\ufffdb", costMicros: 2, inputTokens: 0, latencyMs: 2 },
  ]);
  expect(writer.pendingCostMicros(ids[0]!)).toBe(0);
});

test("what comes after close is written at once", async () => {
  const { store, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  await writer.close();
  writer.record(usageRecord({ accountId: ids[0]! }));
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toHaveLength(1);
});

test("a batch larger than one transaction is written whole", async () => {
  const { store, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  for (let i = 0; i < 4500; i++) writer.record(usageRecord({ accountId: ids[i % 2]! }));
  expect(await writer.close()).toBe(true);
  expect((await usage.tokenTotals()).requests).toBe(4500);
});

test("old rows go in steps and their sums stay", async () => {
  const { store, clock, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  for (let i = 0; i < 10; i++) writer.record(usageRecord({ accountId: ids[0]!, createdAtMs: clock.now() + i }));
  await writer.close();
  const before = await usage.tokenTotals();
  expect(await usage.deleteRowsBefore(clock.now() + 8, 5)).toBe(5);
  expect(await usage.deleteRowsBefore(clock.now() + 8, 5)).toBe(3);
  expect(await usage.deleteRowsBefore(clock.now() + 8, 5)).toBe(0);
  expect((await usage.listLog({ accountId: ids[0]! })).rows).toHaveLength(2);
  expect(await usage.tokenTotals()).toEqual(before);
});

test("rows of a time to come do not keep old ones", async () => {
  const { store, clock, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  const day = clock.now();
  for (const createdAtMs of [day + 400 * DAY_MS, day + 400 * DAY_MS, day, day + 1])
    writer.record(usageRecord({ accountId: ids[0]!, createdAtMs }));
  await writer.close();
  clock.advance(90 * DAY_MS);
  expect(await usage.deleteRowsBefore(clock.now() - 30 * DAY_MS, 2)).toBe(2);
  expect(await usage.deleteRowsBefore(clock.now() - 30 * DAY_MS, 2)).toBe(0);
});

test("requests are paged newest first", async () => {
  const { store, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  for (let i = 0; i < 5; i++) writer.record(usageRecord({ accountId: ids[i % 2]!, requestId: `r${i}` }));
  await writer.close();
  const page = (await usage.listLog({ accountId: ids[0]! }, { limit: 2 })).rows;
  expect(page.map((row) => row.requestId)).toEqual(["r4", "r2"]);
  expect(
    (await usage.listLog({ accountId: ids[0]! }, { beforeId: page[1]!.id })).rows.map((row) => row.requestId),
  ).toEqual(["r0"]);
});

test("days are counted in UTC", () => {
  expect(dayOf(DAY_MS - 1)).toBe(0);
  expect(dayOf(DAY_MS)).toBe(1);
});

/**
 * Many more iterations of the writer's loop than there are between two flushes: about a second if nothing else takes
 * time.
 */
const SECOND_TURNS = 400;

test("kill -9 while writing loses at most what came since the last flush and leaves the file sound", async () => {
  const dataDir = join(tempDir(), "data");
  const src = join(import.meta.dir, "../../src/store");
  const script = `
    const { openStore } = await import(${JSON.stringify(join(src, "engine/open.ts"))});
    const { UsageWriter } = await import(${JSON.stringify(join(src, "usage/writer.ts"))});
    const { usageStore } = await import(${JSON.stringify(join(src, "usage/usage.ts"))});
    const { usageRecord } = await import(${JSON.stringify(join(import.meta.dir, "records.ts"))});
    const store = openStore({ dataDir: ${JSON.stringify(dataDir)} });
    const writer = new UsageWriter(usageStore(store), { flushMs: 20 });
    let n = 0;
    setInterval(() => {
      for (let i = 0; i < 20; i++) { n += 1; writer.record(usageRecord({ createdAtMs: Date.now() })); }
      console.log(n);
    }, 1);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  onTestFinished(() => child.kill("SIGKILL"));
  const sent: number[] = [];
  let text = "";
  for await (const chunk of child.stdout) {
    const lines = (text + new TextDecoder().decode(chunk)).split("\n");
    text = lines.pop() ?? "";
    sent.push(...lines.map(Number));
    if (sent.length > 2 * SECOND_TURNS) child.kill("SIGKILL");
  }
  await child.exited;
  const store = openStore({ dataDir, create: false });
  expect(store.integrityCheck()).toEqual([]);
  const { requests } = await usageStore(store).tokenTotals();
  const sentBefore = sent.at(-SECOND_TURNS) ?? 0;
  expect(requests).toBeGreaterThanOrEqual(sentBefore);
  expect(sentBefore).toBeGreaterThan(0);
  store.close();
}, 60_000);

test("failures beyond sixty a minute and key share one row, and every one of them counts", async () => {
  const { store, ids, usage, clock } = await withAccounts();
  const accountId = ids[0]!;
  const at = Math.floor(clock.now() / 60_000) * 60_000;
  const failure = (keyId: string, createdAtMs: number) =>
    usageRecord({ accountId, keyId, status: 429, errorCode: "rate_limit_exceeded", model: "", createdAtMs });
  const writer = new UsageWriter(usageStore(store));
  for (let i = 0; i < 100; i++) writer.record(failure("k", at));
  await writer.flush();
  for (let i = 0; i < 100; i++) writer.record(failure("k", at + 1));
  writer.record(failure("other", at));
  writer.record(usageRecord({ accountId, keyId: "k", createdAtMs: at }));
  writer.record(failure("k", at + 60_000));
  await writer.close();
  const rows = (await usage.listLog({ accountId: accountId }, { limit: 1000 })).rows;
  expect(rows.filter(({ repeats }) => repeats > 1).map(({ keyId, repeats }) => [keyId, repeats])).toEqual([["k", 140]]);
  expect(rows).toHaveLength(60 + 1 + 1 + 1 + 1);
  const day = dayOf(at);
  const [total] = await usage.sumsBySlot({ unit: "day", from: day, to: day + 1 }, "keyId", accountId);
  expect(total).toMatchObject({ name: "k", requests: 202, errors: 201 });
});

test("what the client stopped is a request and no error, and a failed call within a request is none of its own", async () => {
  const { store, ids, usage } = await withAccounts();
  const accountId = ids[0]!;
  const writer = new UsageWriter(usageStore(store));
  writer.record(usageRecord({ accountId, errorCode: "client_gone", latencyMs: 400 }));
  writer.record(usageRecord({ accountId, status: 502, errorCode: "provider_unavailable", isCall: true }));
  writer.record(usageRecord({ accountId, latencyMs: 100, ttfbMs: 20 }));
  await writer.close();
  const createdAtMs = usageRecord().createdAtMs;
  const day = dayOf(createdAtMs);
  const sums = { requests: 2, errors: 0, inputTokens: 30 };
  expect(await usage.sumsByDayAndModel(accountId, { fromDay: day, toDay: day })).toMatchObject([sums]);
  const hour = hourOf(createdAtMs);
  expect(await usage.sumsBySlot({ unit: "hour", from: hour, to: hour }, "model", accountId)).toMatchObject([
    { start: hour, name: "m", ...sums },
  ]);
  const byClass = await usage.latencyByModel({ unit: "hour", from: hour, to: hour }, accountId);
  expect(
    byClass.map(({ statusClass, bucket, requests, firstBytes }) => [statusClass, bucket, requests, firstBytes]),
  ).toEqual([
    [0, latencyBucket(3), 0, 1],
    [0, latencyBucket(400), 1, 0],
    [2, latencyBucket(20), 0, 1],
    [2, latencyBucket(100), 1, 0],
  ]);
  expect(await usage.latencyByModel({ unit: "day", from: day, to: day })).toEqual(byClass);
});

test("a deleted account's hours and histograms stay, without an account", async () => {
  const { store, ids, usage } = await withAccounts();
  const writer = new UsageWriter(usageStore(store));
  for (const accountId of ids) writer.record(usageRecord({ accountId }));
  await writer.close();
  const hour = hourOf(usageRecord().createdAtMs);
  const span = { unit: "hour", from: hour, to: hour } as const;
  const before = await usage.latencyByModel(span);
  for (const id of ids) await accountStore(store).deleteAccount(id);
  expect(await usage.latencyByModel(span)).toEqual(before);
  expect(await usage.sumsBySlot({ unit: "hour", from: hour, to: hour }, "model", "")).toMatchObject([{ requests: 2 }]);
  expect(await usage.sumsBySlot({ unit: "hour", from: hour, to: hour }, "model", ids[0]!)).toEqual([]);
});
