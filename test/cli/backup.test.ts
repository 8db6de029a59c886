import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { extract, pack } from "tar-stream";
import { isSetupToken } from "../../src/accounts/setup.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { acquireServeLock } from "../../src/store/engine/serve-lock.ts";
import { secretStore } from "../../src/store/secrets.ts";
import { LISTENING_SETTING, settingsStore } from "../../src/store/settings.ts";
import { fileStore } from "../../src/store/work/files.ts";
import { secondStore, tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

function place() {
  const cwd = tempDir();
  const run = async (...argv: string[]) => {
    const io = new FakeTerminal();
    const code = await runCommandLine(argv, { version: "0", io, surroundings: { env: {}, cwd } });
    return { code, out: io.stdout, err: io.stderr };
  };
  return { cwd, run, dataDir: join(cwd, "data"), at: (name: string) => join(cwd, name) };
}

async function fill(dataDir: string) {
  const store = openStore({ dataDir });
  const made = await accountStore(store).createAccount({ username: "ann", email: "a@x.example", tier: "free" });
  const { id: accountId } = made as Account;
  const facts = { accountId, filename: "f.png", purpose: "vision", mediaType: "image/png" };
  const picture = crypto.getRandomValues(new Uint8Array(60_000));
  await fileStore(store).createFile({ ...facts, id: "file-1" }, picture);
  await fileStore(store).createFile({ ...facts, id: "file-2" }, new Uint8Array(0));
  const secret = await secretStore(store).secret("jwt_secret");
  return { store, accountId, picture, secret };
}

const tar = async (entries: readonly { name: string; type?: "file" | "symlink"; content?: string }[]) => {
  const archive = pack();
  for (const { name, type = "file", content = "" } of entries) {
    if (type === "symlink") archive.entry({ name, type, linkname: "/etc" });
    else archive.entry({ name, type }, content);
  }
  archive.finalize();
  return Buffer.concat(await Array.fromAsync(Readable.from(archive) as AsyncIterable<Uint8Array>));
};
const MANIFEST = { name: "sallyport-backup.json", content: '{"format":1}' };

test("a backup made beside a running server comes back whole in another place", async () => {
  const { run, dataDir, cwd, at } = place();
  const { store, accountId, picture, secret } = await fill(dataDir);
  const lock = acquireServeLock(dataDir);
  const saved = await run("backup", at("b.tar"), "--data-dir", dataDir, "--json");
  expect(saved).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(saved.out)).toEqual({ file: at("b.tar"), bytes: statSync(at("b.tar")).size, uploads: 2 });
  expect(statSync(at("b.tar")).mode & 0o777).toBe(0o600);
  expect(readdirSync(cwd).sort()).toEqual(["b.tar", "data"]);
  // Later changes are not part of the copy.
  await keyStore(store).createKey({ accountId, name: "later" });
  lock.release();
  store.close();

  const target = at("restored");
  const back = await run("restore", at("b.tar"), "--data-dir", target, "--json");
  expect(back).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(back.out)).toMatchObject({ data_dir: target, uploads: 2 });
  const restored = openStore({ dataDir: target, create: false });
  expect(restored.integrityCheck()).toEqual([]);
  expect(await accountStore(restored).findAccount(accountId)).toMatchObject({ email: "a@x.example" });
  expect(await keyStore(restored).listKeys(accountId)).toEqual([]);
  expect(await fileStore(restored).readFile(accountId, "file-1")).toEqual(picture);
  expect(await fileStore(restored).readFile(accountId, "file-2")).toEqual(new Uint8Array(0));
  expect(await secretStore(restored).secret("jwt_secret")).toBe(secret);
  for (const name of ["", "sallyport.db", "secrets.json", `uploads/${accountId}/file-1`]) {
    expect([name, statSync(join(target, name)).mode & 0o077]).toEqual([name, 0]);
  }
  restored.close();
});

test("a copy is of one moment while another connection writes", async () => {
  const { run, dataDir, at } = place();
  const { store } = await fill(dataDir);
  const writer = settingsStore(secondStore(store));
  let writing = true;
  const writes = (async () => {
    // A transaction writes the same number under both names.
    for (let n = 0; writing; n++) {
      store.sqlite.query("INSERT OR REPLACE INTO settings VALUES ('a', ?1, 0), ('b', ?1, 0)").run(String(n));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await writer.writeSetting("c", 1);
  expect((await run("backup", at("b.tar"), "--data-dir", dataDir)).code).toBe(0);
  writing = false;
  await writes;
  store.close();
  await run("restore", at("b.tar"), "--data-dir", at("restored"));
  const restored = openStore({ dataDir: at("restored"), create: false });
  const settings = settingsStore(restored);
  expect(await settings.readSetting("a")).toEqual(await settings.readSetting("b"));
  restored.close();
});

test("a backup is read by any tar", async () => {
  const { run, dataDir, at } = place();
  const { store, accountId } = await fill(dataDir);
  store.close();
  writeFileSync(at("b.tar"), "an older backup");
  const refused = await run("backup", at("b.tar"), "--data-dir", dataDir);
  expect([refused.code, readFileSync(at("b.tar"), "utf8")]).toEqual([1, "an older backup"]);
  expect(refused.err).toContain("--force");
  await run("backup", at("b.tar"), "--force", "--data-dir", dataDir);
  const names: string[] = [];
  const archive = extract();
  const ended = (async () => {
    for await (const entry of archive) {
      names.push(entry.header.name);
      entry.resume();
    }
  })();
  archive.end(readFileSync(at("b.tar")));
  await ended;
  const uploads = ["file-1", "file-2"].map((id) => `uploads/${accountId}/${id}`);
  expect(names).toEqual(["sallyport-backup.json", "sallyport.db", "secrets.json", ...uploads]);
});

test("only an empty directory is restored into", async () => {
  const { run, dataDir, at } = place();
  const { store } = await fill(dataDir);
  store.close();
  await run("backup", at("b.tar"), "--data-dir", dataDir);
  const before = readFileSync(join(dataDir, "sallyport.db"));
  const refused = await run("restore", at("b.tar"), "--data-dir", dataDir);
  expect(refused).toMatchObject({ code: 1, out: "" });
  const found = new RegExp(
    `^sallyport: The data directory ${dataDir} is not empty: it contains sallyport\\.db, .*uploads\\.\n$`,
  );
  expect(refused.err).toMatch(found);
  expect(readFileSync(join(dataDir, "sallyport.db"))).toEqual(before);
  mkdirSync(join(at("mount"), "lost+found"), { recursive: true });
  expect((await run("restore", at("b.tar"), "--data-dir", at("mount"))).code).toBe(0);
});

test.each([
  ["a text file", "not a tar file at all ".repeat(100), /cannot be restored|not a Sallyport backup/],
  ["an empty file", "", /not a Sallyport backup/],
  ["another tar", tar([{ name: "sallyport.db", content: "x" }]), /not a Sallyport backup/],
  ["a later format", tar([{ ...MANIFEST, content: '{"format":2}' }]), /format 2/],
  ["no database", tar([MANIFEST]), /not a Sallyport backup/],
  [
    "a database that is none",
    tar([MANIFEST, { name: "sallyport.db", content: "nonsense ".repeat(900) }]),
    /not a database/,
  ],
  ["a way out", tar([MANIFEST, { name: "uploads/../../evil", content: "x" }]), /unexpected entry/],
  ["an absolute name", tar([MANIFEST, { name: "/tmp/evil", content: "x" }]), /unexpected entry/],
  ["a link", tar([MANIFEST, { name: "uploads", type: "symlink" }]), /unexpected entry/],
  ["a stray file", tar([MANIFEST, { name: "authorized_keys", content: "x" }]), /unexpected entry/],
])("%s is refused in one line and leaves nothing", async (_, content, message) => {
  const { run, cwd, at } = place();
  writeFileSync(at("b.tar"), await content);
  const got = await run("restore", at("b.tar"), "--data-dir", at("data"));
  expect(got.code).toBe(1);
  expect(got.err).toMatch(message);
  expect(got.err.trimEnd().split("\n")).toHaveLength(1);
  expect(readdirSync(cwd)).toEqual(["b.tar"]);
});

test("a backup that was cut short is refused and leaves nothing", async () => {
  const { run, dataDir, at } = place();
  const { store } = await fill(dataDir);
  store.close();
  await run("backup", at("b.tar"), "--data-dir", dataDir);
  const whole = readFileSync(at("b.tar"));
  for (const share of [0.3, 0.9]) {
    writeFileSync(at("cut.tar"), whole.subarray(0, Math.floor(whole.length * share)));
    const got = await run("restore", at("cut.tar"), "--data-dir", at("cut"));
    expect([share, got.code, existsSync(at("cut"))]).toEqual([share, 1, false]);
  }
});

test("what is missing or cannot be written is named", async () => {
  const { run, dataDir, at } = place();
  expect((await run("backup", at("b.tar"), "--data-dir", dataDir)).err).toContain("No database in");
  expect((await run("restore", at("b.tar"), "--data-dir", dataDir)).err).toContain("There is no file");
  const { store } = await fill(dataDir);
  store.close();
  const got = await run("backup", at("no/such/dir/b.tar"), "--data-dir", dataDir);
  expect([got.code, got.err]).toEqual([1, expect.stringContaining("cannot be written: its folder does not exist\n")]);
  expect((await run("backup")).code).toBe(2);
});

test("the setup link is the same until there is an account, and its token opens the first sign-up only", async () => {
  const { run, dataDir, at } = place();
  const { code, out } = await run("setup-link", "--data-dir", dataDir);
  expect(code).toBe(0);
  const token = /^http:\/\/127\.0\.0\.1:8787\/dashboard\/signup\?setup=([0-9A-Za-z]{48})\n$/.exec(out)?.[1] ?? "";
  writeFileSync(at("sallyport.yaml"), "server: { public_url: 'https://ai.example/' }");
  const json = await run("setup-link", "--data-dir", dataDir, "--json");
  expect(JSON.parse(json.out)).toEqual({ url: `https://ai.example/dashboard/signup?setup=${token}` });

  const store = openStore({ dataDir });
  const deps = { ...accountStore(store), ...secretStore(store) };
  expect(await isSetupToken(deps, token)).toBe(true);
  expect(await isSetupToken(deps, `${token}x`)).toBe(false);
  await accountStore(store).createAccount({ username: "ann", email: "a@x.example", tier: "free" });
  expect(await isSetupToken(deps, token)).toBe(false);
  store.close();
  const after = await run("setup-link", "--data-dir", dataDir);
  expect([after.code, after.out]).toEqual([1, ""]);
  expect(after.err).toContain("there is an account already");
});

test("the setup link leads to where a running server listens", async () => {
  const { run, dataDir } = place();
  const store = openStore({ dataDir });
  await settingsStore(store).writeSetting(LISTENING_SETTING, "http://127.0.0.1:4321");
  expect((await run("setup-link", "--data-dir", dataDir)).out).toStartWith("http://127.0.0.1:8787/");
  const lock = acquireServeLock(dataDir);
  expect((await run("setup-link", "--data-dir", dataDir)).out).toStartWith("http://127.0.0.1:4321/dashboard/signup?");
  lock.release();
  store.close();
});
