// Behaviour that only PostgreSQL has: its tables compared with SQLite's, programs that start or write at the same time,
// and a server that stops. The contract tests the verbs themselves.

import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { projectStore } from "../../src/store/access/projects.ts";
import { sessions } from "../../src/store/access/schema.ts";
import { migrate } from "../../src/store/engine/migrate.ts";
import { joinNodes, liveNodes } from "../../src/store/engine/postgres/nodes.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { UsageTally } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { type HeldJob, jobStore } from "../../src/store/work/jobs.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { usageRecord } from "./records.ts";

const server = HAS_POSTGRES ? await testPostgres() : undefined;
const databases: TestDatabase[] = [];
const open: PostgresStore[] = [];

afterAll(async () => {
  await Promise.all(open.map((store) => store.close()));
  await Promise.all(databases.map((database) => database.drop()));
}, 60_000);

async function database(): Promise<string> {
  const made = await server!.database();
  databases.push(made);
  return made.url;
}

async function connect(url: string): Promise<PostgresStore> {
  const store = await openPostgres({ url, dataDir: tmpdir(), connections: 3 });
  open.push(store);
  return store;
}

const rowsOf = async ({ pool }: PostgresStore, text: string) => (await pool.query(text, [])).values;

describe.skipIf(server === undefined)("PostgreSQL", () => {
  test("has every table, column, index, reference and trigger that SQLite has", async () => {
    const sqlite = new Database(":memory:", { strict: true });
    migrate(sqlite, 0);
    const store = await connect(await database());
    const list = (text: string) =>
      sqlite
        .query(text)
        .values()
        .map((row) => row.join(" "))
        .sort();
    const listed = async (text: string) => (await rowsOf(store, text)).map((row) => row.join(" ")).sort();

    expect(
      await listed(`SELECT table_name, column_name, CASE is_nullable WHEN 'YES' THEN 0 ELSE 1 END
        FROM information_schema.columns WHERE table_schema = 'public'
        AND table_name NOT IN ('_migrations', 'secrets', 'file_chunks', 'nodes', 'done_batches')`),
    ).toEqual(
      list(`SELECT m.name, c.name, c."notnull" OR c.pk > 0 FROM sqlite_master m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> '_migrations'`),
    );
    expect(
      await listed(`SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_pkey'`),
    ).toEqual(list("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"));
    expect(
      await listed(`SELECT r.relname, count(*) FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
        WHERE contype = 'f' AND r.relname <> 'file_chunks' GROUP BY 1`),
    ).toEqual(
      list(
        `SELECT m.name, COUNT(DISTINCT f.id) FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f GROUP BY 1`,
      ),
    );
    expect(await listed(`SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgname NOT LIKE '%_told'`)).toEqual(
      list("SELECT name FROM sqlite_master WHERE type = 'trigger'"),
    );
  });

  test("keeps truths as truths, and text by its bytes", async () => {
    const store = await connect(await database());
    expect(
      await rowsOf(
        store,
        `SELECT DISTINCT data_type FROM information_schema.columns
        WHERE (table_name, column_name) IN (('accounts', 'admin'), ('usage', 'stream'), ('job_pages', 'failed'))`,
      ),
    ).toEqual([["boolean"]]);
    const { columns } = getTableConfig(sessions);
    const texts = columns.filter(({ dataType }) => dataType === "string").length;
    expect(
      await rowsOf(
        store,
        `SELECT count(*) FROM information_schema.columns
        WHERE table_name = 'sessions' AND collation_name = 'C'`,
      ),
    ).toEqual([[texts]]);
  });

  test("is made once by programs that start at once", async () => {
    const url = await database();
    const stores = await Promise.all(Array.from({ length: 4 }, () => connect(url)));
    expect(await accountStore(stores[3]!).countAccounts()).toBe(0);
  });

  test("is refused where a newer version made it", async () => {
    const url = await database();
    const store = await connect(url);
    await store.pool.query("INSERT INTO _migrations (name, applied_at) VALUES ('9999_later', 0)", []);
    await expect(connect(url)).rejects.toThrow("newer version of Sallyport (it has migration 9999_later). Upgrade");
  });

  test("tells others of changes to keys, accounts and projects, not of usage", async () => {
    const url = await database();
    const [one, other] = [await connect(url), await connect(url)];
    const before = other.changeCounter();
    const own = one.changeCounter();
    await usageStore(one).writeUsage({ id: "b", rows: [], sums: [] });
    await accountStore(one).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    while (other.changeCounter() === before) await Bun.sleep(5);
    const [account] = await accountStore(one).listAccounts();
    const { id: keyId } = await keyStore(one).createKey({ accountId: account?.id ?? "", name: "k" });
    while (other.changeCounter() === before + 1) await Bun.sleep(5);
    const record = usageRecord({ accountId: account?.id ?? "", keyId, costMicros: 5 });
    const tally = new UsageTally();
    tally.add(record);
    await usageStore(one).writeUsage({ id: "c", rows: [], sums: [...tally.values()] });
    expect(await keyStore(one).listKeys(account?.id ?? "")).toMatchObject([{ spentMicros: 5 }]);
    // Messages keep their order, so a message about the usage would have arrived before this one.
    await one.pool.query("UPDATE api_keys SET models = '[]' WHERE id = $1", [keyId]);
    while (other.changeCounter() === before + 2) await Bun.sleep(5);
    expect(other.changeCounter()).toBe(before + 3);
    const project = await projectStore(one).createProject(account?.id ?? "", { name: "p" });
    while (other.changeCounter() === before + 3) await Bun.sleep(5);
    await one.pool.query("UPDATE projects SET spent_micros = 1, budget_window_start = 1", []);
    await projectStore(one).updateProject(typeof project === "string" ? "" : project.id, { rpm: 5 });
    while (other.changeCounter() === before + 4) await Bun.sleep(5);
    expect(other.changeCounter()).toBe(before + 5);
    expect(one.changeCounter()).toBe(own);
  });

  test("tells every node which jobs have ended or are gone, and of nothing else", async () => {
    const url = await database();
    const [one, other] = [await connect(url), await connect(url)];
    const heard: string[] = [];
    other.whenJobEnds((id) => heard.push(id));
    const jobs = jobStore(one);
    const made = await accountStore(one).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    const accountId = "id" in made ? made.id : "";
    const kind = "crawl";
    for (const id of ["finished", "released", "cancelled", "deleted"])
      await jobs.createJob({ id, kind, accountId, input: {}, deadlineAtMs: 1e15 });
    const claim = async () => (await jobs.claimJob({ owner: "o", leaseMs: 1000, kinds: [kind] })) as HeldJob;
    const claimed = new Map<string, HeldJob>();
    for (let n = 0; n < 3; n++) {
      const job = await claim();
      claimed.set(job.id, job);
    }
    const of = (id: string) => claimed.get(id) ?? { id, lease: "none" };
    for (const job of claimed.values()) await jobs.saveProgress(job, { n: 1 });
    await jobs.releaseJob(of("released"));
    await jobs.finishJob(of("finished"), { state: "completed", ttlMs: 1000 });
    await jobs.cancelJob({ kind, accountId, id: "cancelled", ttlMs: 1000 });
    await accountStore(one).deleteAccount(accountId);
    while (heard.length < 4) await Bun.sleep(5);
    expect(heard.slice(0, 2)).toEqual(["finished", "cancelled"]);
    expect(heard.slice(2).sort()).toEqual(["deleted", "released"]);
  });

  test("deletes an account whose rows take longer than other statements may", async () => {
    const waitMs = 300;
    const store = await openPostgres({ url: await database(), dataDir: tmpdir(), connections: 2, waitMs });
    open.push(store);
    const verbs = accountStore(store);
    const made = await verbs.createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    const accountId = "id" in made ? made.id : "";
    for (const text of [
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.6); RETURN OLD; END $$",
      "CREATE TRIGGER slow BEFORE DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION slow()",
    ])
      await store.pool.query(text, []);
    expect(await verbs.deleteAccount(accountId)).toBe(true);
  });

  test("takes a claim away when a program that knows no tokens claims the job", async () => {
    const store = await connect(await database());
    const jobs = jobStore(store);
    const made = await accountStore(store).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    const accountId = "id" in made ? made.id : "";
    await jobs.createJob({ id: "j", kind: "crawl", accountId, input: {}, deadlineAtMs: 1e15 });
    const job = (await jobs.claimJob({ owner: "new", leaseMs: 0, kinds: ["crawl"] })) as HeldJob;
    await store.pool.query("UPDATE jobs SET state = 'running', owner = 'old', lease_until = 1 WHERE id = 'j'", []);
    expect([await jobs.saveProgress(job, { late: true }), await jobs.renewJob(job, 1000)]).toEqual([false, false]);
    expect(await jobs.findJob("crawl", accountId, "j")).toMatchObject({ owner: "old", lease: null, progress: {} });
  });

  test("goes by the server's clock, which is compared again", async () => {
    const made = await server!.database();
    databases.push(made);
    const hourMs = 3_600_000;
    await made.setClock(hourMs);
    const store = await connect(made.url);
    const ahead = () => Math.round((store.clock.now() - Date.now()) / 60_000);
    expect(ahead()).toBe(60);
    await made.setClock(-hourMs);
    await store.compareClock();
    expect(ahead()).toBe(-60);
    // A difference that the way of the answer explains changes nothing.
    const difference = () => Math.round((store.clock.now() - performance.now()) / 10);
    const before = difference();
    await made.setClock(20 - hourMs);
    for (let n = 0; n < 5; n++) await store.compareClock();
    expect([before - 1, before, before + 1]).toContain(difference());
  });

  test("writes a batch of usage once, however often it is tried", async () => {
    const store = await connect(await database());
    const tally = new UsageTally();
    const record = usageRecord({ accountId: "" });
    tally.add(record);
    const batch = { id: "batch", rows: [], sums: [...tally.values()] };
    await Promise.all([1, 2, 3].map(() => usageStore(store).writeUsage(batch)));
    expect(await usageStore(store).tokenTotals()).toMatchObject({ requests: 1 });
  });

  test("loses and doubles nothing when the server ends while usage is written", async () => {
    const store = await connect(await database());
    const made = await accountStore(store).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    const accountId = "id" in made ? made.id : "";
    const problems: unknown[] = [];
    const writer = new UsageWriter(usageStore(store), { flushMs: 1, onError: (error) => problems.push(error) });
    const count = 3000;
    const restarted = server!.restart();
    for (let n = 0; n < count; n++) {
      writer.record(usageRecord({ accountId, keyId: "k", requestId: "same" }));
      if (n % 100 === 0) await Bun.sleep(1);
    }
    await restarted;
    while (!(await writer.close())) await Bun.sleep(20);
    expect(await usageStore(store).tokenTotals()).toMatchObject({ requests: count });
    expect(await rowsOf(store, "SELECT count(*) FROM usage")).toEqual([[count]]);
  }, 60_000);
});

describe.skipIf(server === undefined)("a program that stalls within a transaction", () => {
  test("does not hold up the others, and does its work when it goes on", async () => {
    const url = await database();
    const options = { url, dataDir: tmpdir(), connections: 2, idleInTransactionMs: 54_321 };
    const [stalled, other] = await Promise.all([openPostgres(options), connect(url)]);
    open.push(stalled);
    const name = "shared";
    const insert = "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2";
    await other.pool.query(insert, [name, "0"]);
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let tries = 0;
    const limit = "idle_in_transaction_session_timeout";
    const limits: unknown[] = [];
    const writing = stalled.pool.transaction("read committed", async (query) => {
      tries += 1;
      limits.push((await query(`SHOW ${limit}`, [])).values[0]?.[0]);
      await query(insert, [name, "stalled"]);
      // Only the attempt that stalls has a short time: the next one is as slow as this machine.
      if (tries === 1) await query(`SET LOCAL ${limit} = 1`, []);
      reached.resolve();
      await goOn.promise;
      await query(insert, [`${name} too`, "stalled"]);
    });
    await reached.promise;
    // Waits for the row until the server ends the transaction that holds it.
    await other.pool.query(insert, [name, "other"]);
    expect(await rowsOf(other, "SELECT name, value FROM secrets")).toEqual([[name, "other"]]);
    goOn.resolve();
    await writing;
    expect([tries, limits]).toEqual([2, ["54321ms", "54321ms"]]);
    expect(await rowsOf(other, "SELECT name, value FROM secrets ORDER BY name")).toEqual([
      [name, "stalled"],
      [`${name} too`, "stalled"],
    ]);
  }, 60_000);
});

describe.skipIf(server === undefined)("nodes", () => {
  const join = (url: string, name: string, alone = false) => joinNodes({ url, name, alone, problem: () => undefined });

  test("have names of their own, free again when they leave", async () => {
    const url = await database();
    const first = await join(url, "a");
    await expect(join(url, "a")).rejects.toThrow('A node named "a" is already running');
    const second = await join(url, "");
    const third = await join(url, "");
    expect(new Set([first.name, second.name, third.name]).size).toBe(3);
    await first.leave();
    const again = await join(url, "a");
    await Promise.all([again, second, third].map((node) => node.leave()));
  });

  test("without shared limits there is one", async () => {
    const url = await database();
    const only = await join(url, "a", true);
    await expect(join(url, "b", true)).rejects.toThrow("redis.url is empty");
    await expect(join(url, "b", false)).rejects.toThrow("without redis.url");
    await only.leave();
    const shared = await join(url, "b", false);
    await expect(join(url, "a", true)).rejects.toThrow("redis.url is empty");
    await shared.leave();
  });

  test("are listed while they serve", async () => {
    const url = await database();
    const store = await connect(url);
    const node = await join(url, "a");
    await node.appear(store);
    expect(await liveNodes(store)).toMatchObject([{ name: "a" }]);
    await node.leave();
    expect(await liveNodes(store)).toEqual([]);
  });
});
