import { expect, onTestFinished, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/engine/open.ts";
import { acquireServeLock, isServing } from "../../src/store/engine/serve-lock.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { freshStore, secondStore, tempDir } from "./support.ts";

const mode = (path: string) => statSync(path).mode & 0o777;

test("a new data directory and every file of the database are private", async () => {
  const { store, dataDir } = freshStore();
  await settingsStore(store).writeSetting("a", 1);
  expect(mode(dataDir)).toBe(0o700);
  const files = readdirSync(dataDir);
  expect(files.sort()).toEqual(["sallyport.db", "sallyport.db-shm", "sallyport.db-wal"]);
  for (const file of files) expect([file, mode(join(dataDir, file))]).toEqual([file, 0o600]);
});

test("an empty directory is tightened, a directory that holds other things keeps its mode", () => {
  const empty = join(tempDir(), "empty");
  mkdirSync(empty, { mode: 0o755 });
  openStore({ dataDir: empty }).close();
  expect(mode(empty)).toBe(0o700);

  const shared = join(tempDir(), "shared");
  mkdirSync(shared, { mode: 0o755 });
  writeFileSync(join(shared, "other.txt"), "x");
  openStore({ dataDir: shared }).close();
  expect(mode(shared)).toBe(0o755);
});

test("closing leaves everything in the one file", async () => {
  const dataDir = join(tempDir(), "data");
  const store = openStore({ dataDir });
  await settingsStore(store).writeSetting("colour", { name: "blue" });
  store.close();
  const copyDir = tempDir();
  copyFileSync(join(dataDir, "sallyport.db"), join(copyDir, "sallyport.db"));
  const copy = openStore({ dataDir: copyDir, create: false });
  expect(await settingsStore(copy).readSetting("colour")).toEqual({ name: "blue" });
  expect(copy.integrityCheck()).toEqual([]);
  copy.close();
});

test("opening without creating needs a database", () => {
  expect(() => openStore({ dataDir: join(tempDir(), "none"), create: false })).toThrow("No database in");
});

test("a file that is not a database and a directory that cannot be made are named in one line", () => {
  const dir = tempDir();
  writeFileSync(
    join(dir, "sallyport.db"),
    "this is not a database, it is a plain text file of some length\n".repeat(50),
  );
  expect(() => openStore({ dataDir: dir })).toThrow(/sallyport\.db cannot be used: .*not a database/);
  writeFileSync(join(dir, "file"), "");
  expect(() => openStore({ dataDir: join(dir, "file", "data") })).toThrow(/^Cannot open /);
});

test("another connection's commit changes the counter, one's own does not", async () => {
  const { store } = freshStore();
  const other = secondStore(store);
  const before = store.changeCounter();
  await settingsStore(store).writeSetting("own", 1);
  expect(store.changeCounter()).toBe(before);
  await settingsStore(other).writeSetting("theirs", 1);
  expect(store.changeCounter()).not.toBe(before);
});

test("a transaction that throws leaves nothing behind", async () => {
  const { store } = freshStore();
  expect(() =>
    store.transaction(() => {
      store.sqlite.run("INSERT INTO settings VALUES ('x', '1', 0)");
      throw new Error("half-way");
    }),
  ).toThrow("half-way");
  expect(await settingsStore(store).readSetting("x")).toBeUndefined();
});

test("a checkpoint empties the log, and gives up at once while a reader holds it", async () => {
  const { store, dataDir } = freshStore();
  const wal = join(dataDir, "sallyport.db-wal");
  await settingsStore(store).writeSetting("a", 1);
  const reader = secondStore(store);
  reader.sqlite.run("BEGIN");
  reader.sqlite.query("SELECT count(*) FROM settings").get();
  await settingsStore(store).writeSetting("b", 1);
  expect(store.checkpoint()).toBe(false);
  reader.sqlite.run("COMMIT");
  expect(store.checkpoint()).toBe(true);
  expect(statSync(wal).size).toBe(0);
});

test("the integrity check names damage", async () => {
  const { store, dataDir } = freshStore();
  for (let i = 0; i < 200; i++) await settingsStore(store).writeSetting(`name-${i}`, "v".repeat(200));
  store.checkpoint();
  const file = new Uint8Array(await Bun.file(join(dataDir, "sallyport.db")).arrayBuffer());
  const damagedDir = tempDir();
  // The last page belongs to the table that was written last.
  file.fill(0xff, file.length - 4096 + 8, file.length - 3000);
  await Bun.write(join(damagedDir, "sallyport.db"), file);
  const damaged = openStore({ dataDir: damagedDir });
  expect(damaged.integrityCheck().length).toBeGreaterThan(0);
  damaged.sqlite.close();
});

test("only one server holds a data directory, and the next may when it lets go", () => {
  const { dataDir } = freshStore();
  expect(isServing(dataDir)).toBe(false);
  const lock = acquireServeLock(dataDir);
  expect(isServing(dataDir)).toBe(true);
  expect(() => acquireServeLock(dataDir)).toThrow("Another server is running");
  lock.release();
  expect(isServing(dataDir)).toBe(false);
  acquireServeLock(dataDir).release();
});

test("a killed server's lock is free at once, and the database stays usable beside a running one", async () => {
  const { store, dataDir } = freshStore();
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `const { acquireServeLock } = await import(${JSON.stringify(join(import.meta.dir, "../../src/store/engine/serve-lock.ts"))});
       acquireServeLock(${JSON.stringify(dataDir)});
       Bun.gc(true);
       console.log("held"); setInterval(() => {}, 1000);`,
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  onTestFinished(() => child.kill("SIGKILL"));
  const reader = child.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("held\n");
  expect(() => acquireServeLock(dataDir)).toThrow("Another server is running");
  await settingsStore(store).writeSetting("beside", true);
  child.kill("SIGKILL");
  await child.exited;
  acquireServeLock(dataDir).release();
});

test("pragmas hold on the connection", () => {
  const { store } = freshStore();
  const pragma = (name: string) => Object.values(store.sqlite.query(`PRAGMA ${name}`).get() as object)[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("foreign_keys")).toBe(1);
  expect(pragma("synchronous")).toBe(1);
  expect(pragma("auto_vacuum")).toBe(2);
  expect(pragma("busy_timeout")).toBe(5000);
  store.checkpoint();
  expect(pragma("busy_timeout")).toBe(5000);
});
