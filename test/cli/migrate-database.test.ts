import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { runCommandLine } from "../../src/cli/run.ts";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { openPostgres } from "../../src/store/engine/postgres/open.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { secretStore } from "../../src/store/secrets.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { verbsOf } from "../../src/store/verbs.ts";
import { snippetsUnder } from "../docs/snippets.ts";
import { usageRecord } from "../store/records.ts";
import { tempDir } from "../store/support.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { programCommand } from "../support/source-program.ts";
import { FakeTerminal } from "../support/terminal.ts";

const server = HAS_POSTGRES ? await testPostgres() : undefined;
const databases: TestDatabase[] = [];
afterAll(async () => void (await Promise.all(databases.map((one) => one.drop()))));

async function database(): Promise<string> {
  const made = await server!.database();
  databases.push(made);
  return made.url;
}

async function run(env: Record<string, string>, ...argv: string[]) {
  const io = new FakeTerminal();
  const code = await runCommandLine(argv, { version: "0", io, surroundings: { env, cwd: tempDir() } });
  return { code, out: io.stdout, err: io.stderr };
}

/** Adds some data of every kind that has its own table or place. */
async function fill(dataDir: string): Promise<void> {
  const store = openStore({ dataDir });
  const verbs = verbsOf(store, () => 1e9);
  const made = await verbs.accounts.createAccount({ username: "Ännä", email: "a@x.example", tier: "pro", admin: true });
  const { id: accountId } = made as Account;
  const { id: keyId } = await verbs.keys.createKey({ accountId, name: "k", budgetMicros: 5 });
  const facts = { accountId, filename: "f.png", purpose: "vision", mediaType: "image/png" };
  await verbs.files.createFile({ ...facts, id: "file-1" }, crypto.getRandomValues(new Uint8Array(2_500_000)));
  await verbs.files.createFile({ ...facts, id: "file-2" }, new Uint8Array(0));
  await verbs.secrets.secret("jwt_secret");
  await verbs.settings.writeSetting("s", { text: "a\u0000b" });
  const job = await verbs.jobs.createJob({ id: "j", kind: "crawl", accountId, input: {}, deadlineAtMs: 1 });
  await verbs.frontier.appendFrontier(job.id, [{ urlKey: "u", url: "u", depth: 0 }], 10);
  const claimed = await verbs.jobs.claimJob({ owner: "o", leaseMs: 1, kinds: ["crawl"] });
  await verbs.frontier.saveVisit(claimed ?? { id: "none", lease: "none" }, {
    urlKey: "u",
    frontierMax: 10,
    page: { url: "u", failed: true, body: { text: "ü" } },
  });
  await verbs.threads.saveThread({
    ...{ accountId, kind: "thread", threadId: "t", model: "m", messages: 1, tokens: 2, expiresAtMs: 1e15 },
    state: Buffer.from([0, 255, 1]),
  });
  await verbs.decisions.addDecisionVersion({ id: "v", origin: "o", hash: "h", record: {}, metrics: null });
  const writer = new UsageWriter(verbs.usage);
  for (let n = 0; n < 1200; n++) writer.record(usageRecord({ accountId, keyId, costMicros: n }));
  await writer.close();
  store.close();
}

/** Runs the command in a process of its own, and kills that as soon as `when` is true. */
async function killedWhen(when: () => Promise<boolean>, ...argv: string[]): Promise<void> {
  const child = Bun.spawn([...programCommand(), "migrate-database", ...argv], {
    env: { PATH: process.env["PATH"] ?? "", HOME: tempDir() },
    stdio: ["ignore", "ignore", "ignore"],
  });
  while (!(await when()) && child.exitCode === null) await Bun.sleep(1);
  child.kill("SIGKILL");
  expect(await child.exited).not.toBe(0);
}

const countUsage = (sqlite: Database) => sqlite.query<{ n: number }, []>("SELECT COUNT(*) AS n FROM usage").get()?.n;

/** The content of a store that a user would notice. */
async function seen(store: Store) {
  const verbs = verbsOf(store, () => 1e9);
  const [account] = await verbs.accounts.listAccounts();
  const id = account?.id ?? "";
  return {
    account,
    keys: await verbs.keys.listKeys(id),
    totals: await verbs.usage.tokenTotals(),
    requests: (await verbs.usage.listLog({ accountId: id }, { limit: 3 })).rows,
    storage: await verbs.storage.storageOf(id),
    files: await Promise.all(
      ["file-1", "file-2"].map(async (file) => Bun.hash((await verbs.files.readFile(id, file)) ?? "none")),
    ),
    secret: await verbs.secrets.findSecret("jwt_secret"),
    setting: await verbs.settings.readSetting("s"),
    pages: await verbs.frontier.listPages("j"),
    thread: await verbs.threads.findThread({ accountId: id, kind: "thread", threadId: "t" }),
    versions: await verbs.decisions.listDecisionVersions(),
  };
}

describe.skipIf(server === undefined)("migrate-database", () => {
  test("moves a store as the guide says", async () => {
    const [dataDir, url] = [join(tempDir(), "data"), await database()];
    await fill(dataDir);
    const [{ code: line = "" } = {}] = snippetsUnder("guides/postgresql.md", "Moving");
    const [program, ...words] = line.trim().split(" ");
    expect(program).toBe("sallyport");
    const argv = words.map((word) => (word.startsWith("postgres://") ? url : word));
    expect(argv).toContain(url);
    expect(await run({}, ...argv, "--data-dir", dataDir)).toMatchObject({ code: 0 });
  }, 60_000);

  test("takes a whole store to PostgreSQL and back", async () => {
    const [dataDir, back, url] = [join(tempDir(), "data"), join(tempDir(), "back"), await database()];
    await fill(dataDir);
    const original = openStore({ dataDir });
    const before = await seen(original);
    original.close();

    const there = await run({}, "migrate-database", "--to", url, "--data-dir", dataDir, "--json");
    expect(there).toMatchObject({ code: 0 });
    expect(JSON.parse(there.out)).toMatchObject({ uploads: 2 });
    const store = await openPostgres({ url, dataDir });
    expect(await seen(store)).toEqual(before);
    // New rows follow the copied ones, and triggers count again.
    const accountId = before.account?.id ?? "";
    const writer = new UsageWriter(verbsOf(store, () => 1e9).usage);
    writer.record(usageRecord({ accountId, requestId: "after" }));
    expect(await writer.close()).toBe(true);
    expect((await seen(store)).requests[0]).toMatchObject({ requestId: "after" });
    const changed = await seen(store);
    await store.close();

    expect(await run({}, "migrate-database", "--from", url, "--data-dir", back)).toMatchObject({ code: 0 });
    const returned = openStore({ dataDir: back });
    expect(await seen(returned)).toEqual(changed);
    expect(returned.integrityCheck()).toEqual([]);
    returned.close();
  }, 60_000);

  test("goes on where it was stopped, and nothing starts from half a store", async () => {
    const [dataDir, url] = [join(tempDir(), "data"), await database()];
    await fill(dataDir);
    const broken = openStore({ dataDir });
    // A row that PostgreSQL cannot store stops the copy in its table.
    broken.sqlite.run("INSERT INTO decision_aliases VALUES ('a' || char(0), 'v', 0)");
    broken.close();
    const stopped = await run({}, "migrate-database", "--to", url, "--data-dir", dataDir);
    expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining("stopped in the table decision_aliases") });
    await expect(openPostgres({ url, dataDir })).rejects.toThrow("copied in part");
    const mended = openStore({ dataDir });
    mended.sqlite.run("DELETE FROM decision_aliases");
    const before = await seen(mended);
    mended.close();
    expect(await run({}, "migrate-database", "--to", url, "--data-dir", dataDir)).toMatchObject({ code: 0 });
    const store = await openPostgres({ url, dataDir });
    expect(await seen(store)).toEqual(before);
    await store.close();
  }, 60_000);

  test("killed in the middle of either direction, goes on and copies all", async () => {
    const [dataDir, back, url] = [join(tempDir(), "data"), join(tempDir(), "back"), await database()];
    await fill(dataDir);
    const original = openStore({ dataDir });
    // More than is copied before the kill is noticed.
    const columns = original.sqlite
      .query<{ name: string }, []>("SELECT name FROM pragma_table_info('usage') WHERE name NOT IN ('id', 'uid')")
      .all()
      .map(({ name }) => name)
      .join(", ");
    original.sqlite.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
      INSERT INTO usage (${columns}) SELECT ${columns} FROM usage, n`);
    const before = await seen(original);
    const rows = countUsage(original.sqlite);
    original.close();

    const direct = postgres(url, { max: 1, onnotice: () => undefined });
    const isThere = async () =>
      (await direct`SELECT to_regclass('copy_notes') IS NOT NULL AS is`)[0]?.["is"] === true &&
      (await direct`SELECT 1 FROM copy_notes WHERE name = 'usage'`).length > 0;
    await killedWhen(isThere, "--to", url, "--data-dir", dataDir);
    await expect(openPostgres({ url, dataDir })).rejects.toThrow("copied in part");
    expect(await run({}, "migrate-database", "--to", url, "--data-dir", dataDir)).toMatchObject({ code: 0 });
    expect(await direct`SELECT COUNT(*)::INT AS n FROM usage`).toMatchObject([{ n: rows }]);
    await direct.end();
    const store = await openPostgres({ url, dataDir });
    expect(await seen(store)).toEqual(before);
    await store.close();

    const half = join(back, "copying", "sallyport.db");
    const isBack = async () => {
      if (!existsSync(half)) return false;
      const file = new Database(half, { readonly: true });
      try {
        return file.query("SELECT 1 FROM copy_notes WHERE name = 'usage'").get() !== null;
      } catch {
        return false;
      } finally {
        file.close();
      }
    };
    await killedWhen(isBack, "--from", url, "--data-dir", back);
    expect(existsSync(join(back, "sallyport.db"))).toBe(false);
    expect(await run({}, "migrate-database", "--from", url, "--data-dir", back)).toMatchObject({ code: 0 });
    const returned = openStore({ dataDir: back });
    expect([countUsage(returned.sqlite), await seen(returned)]).toEqual([rows, before]);
    expect(returned.integrityCheck()).toEqual([]);
    returned.close();
  }, 90_000);

  test("refuses what is not empty, and wrong addresses", async () => {
    const [dataDir, url] = [join(tempDir(), "data"), await database()];
    await fill(dataDir);
    const store = await openPostgres({ url, dataDir });
    await accountStore(store).createAccount({ username: "b", email: "b@x.example", tier: "free" });
    await store.close();
    const full = await run({}, "migrate-database", "--to", url, "--data-dir", dataDir);
    expect(full).toMatchObject({ code: 1, err: expect.stringContaining("not empty: its table accounts has rows") });
    const there = await run({}, "migrate-database", "--from", url, "--data-dir", dataDir);
    expect(there).toMatchObject({ code: 1, err: expect.stringContaining("already") });
    for (const argv of [[], ["--to", "mysql://x"], ["--to", url, "--from", url]])
      expect(await run({}, "migrate-database", ...argv)).toMatchObject({ code: 2 });
  }, 30_000);

  test("into a data directory is refused before it begins, naming what it would replace", async () => {
    const source = await database();
    await (await openPostgres({ url: source, dataDir: tempDir() })).close();
    for (const name of ["uploads/a/file", "secrets.json", "sallyport.db", "sallyport.db-wal"]) {
      const dataDir = tempDir();
      await Bun.write(join(dataDir, name), "mine");
      const refused = await run({}, "migrate-database", "--data-dir", dataDir, "--from", source);
      const found = name.split("/")[0] ?? "";
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`already contains ${found}, which`) });
      expect(await Bun.file(join(dataDir, name)).text()).toBe("mine");
      expect(existsSync(join(dataDir, "copying"))).toBe(false);
    }
    const empty = tempDir();
    mkdirSync(join(empty, "uploads"));
    expect(await run({}, "migrate-database", "--data-dir", empty, "--from", source)).toMatchObject({ code: 0 });
  }, 60_000);

  test("is refused while another copy into the same database goes on", async () => {
    const [dataDir, target] = [tempDir(), await database()];
    await fill(dataDir);
    const both = await Promise.all(
      [1, 2].map(() => run({}, "migrate-database", "--data-dir", dataDir, "--to", target)),
    );
    const [done, refused] = both.sort((a, b) => a.code - b.code);
    expect(done?.code).toBe(0);
    // The second is refused during the copy, or after it.
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/A copy into that database|is not empty/) });
  }, 60_000);

  test("backup and restore give the same file on either engine", async () => {
    const [dataDir, file, url, other] = [
      join(tempDir(), "data"),
      join(tempDir(), "b.tar"),
      await database(),
      await database(),
    ];
    await fill(dataDir);
    const original = openStore({ dataDir });
    const before = await seen(original);
    const secret = await secretStore(original).findSecret("jwt_secret");
    original.close();
    expect(await run({}, "migrate-database", "--to", url, "--data-dir", dataDir)).toMatchObject({ code: 0 });
    const env = { SALLYPORT_DATABASE_URL: url };
    const saved = await run(env, "backup", file, "--data-dir", join(tempDir(), "node"), "--json");
    expect(saved).toMatchObject({ code: 0 });
    expect(JSON.parse(saved.out)).toMatchObject({ uploads: 2 });

    const plain = join(tempDir(), "plain");
    expect(await run({}, "restore", file, "--data-dir", plain)).toMatchObject({ code: 0 });
    const restored = openStore({ dataDir: plain });
    expect(await seen(restored)).toEqual(before);
    expect(await secretStore(restored).findSecret("jwt_secret")).toBe(secret!);
    restored.close();

    const into = { SALLYPORT_DATABASE_URL: other };
    expect(await run(into, "restore", file, "--data-dir", join(tempDir(), "n"))).toMatchObject({ code: 0 });
    const store = await openPostgres({ url: other, dataDir });
    expect(await seen(store)).toEqual(before);
    expect(await keyStore(store).countLiveKeys([before.account?.id ?? ""])).toEqual(
      new Map([[before.account?.id ?? "", 1]]),
    );
    await store.close();
  }, 60_000);
});
