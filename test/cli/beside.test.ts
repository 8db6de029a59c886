// Commands beside a running server: real processes with one data directory.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/engine/open.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { programCommand } from "../support/source-program.ts";

const cwd = mkdtempSync(join(tmpdir(), "sallyport-beside-"));
const dataDir = join(cwd, "data");
const env = { PATH: process.env["PATH"] ?? "", HOME: cwd };

async function run(...argv: string[]) {
  const child = Bun.spawn([...programCommand(), ...argv], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

const spawnServer = () =>
  Bun.spawn([...programCommand(), "serve", "--port", "0"], { cwd, env, stdout: "pipe", stderr: "ignore" });
let server: ReturnType<typeof spawnServer>;
let url = "";

async function serve(): Promise<void> {
  server = spawnServer();
  const { value } = await server.stdout.getReader().read();
  url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "";
}

const chat = (key: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo-echo", messages: [{ role: "user", content: "hello" }] }),
  });

/** Repeats the request until it has this status; returns the number of pauses of 10 ms. */
async function until(status: number, key: string): Promise<number> {
  for (let pauses = 0; ; pauses++) {
    const response = await chat(key);
    await response.arrayBuffer();
    if (response.status === status) return pauses;
    await Bun.sleep(10);
  }
}

/** The number of such pauses in a second, on an otherwise idle machine. */
const SECOND = 100;

let people = 0;

/** A new account with a key. */
async function makeKey() {
  people += 1;
  const email = `u${people}@x.example`;
  const account = await run("account", "create", "--email", email, "--username", `u${people}`, "--json");
  const key = await run("key", "create", "--account", email, "--name", "n", "--rpm", "100000", "--json");
  expect([account.code, key.code]).toEqual([0, 0]);
  return { email, ...(JSON.parse(key.out) as { id: string; key: string }) };
}

beforeAll(serve);
afterAll(async () => {
  server.kill("SIGKILL");
  await server.exited;
  rmSync(cwd, { recursive: true, force: true });
});

test("a key made beside the server works, and ends within a second of its revocation", async () => {
  const { id, key } = await makeKey();
  expect(await until(200, key)).toBeLessThan(SECOND);
  expect((await run("key", "revoke", "--id", id)).code).toBe(0);
  expect(await until(401, key)).toBeLessThan(SECOND);
});

test("a second server on the data directory exits 1 with one line", async () => {
  const second = await run("serve", "--port", "0");
  expect([second.code, second.out]).toEqual([1, ""]);
  expect(second.err.trimEnd().split("\n")).toEqual([expect.stringContaining("Another server is running")]);
});

test("a killed server loses at most the last second of usage, and its place is free at once", async () => {
  const { key } = await makeKey();
  const total = async (read: () => Promise<{ requests: number }>) => (await read()).requests;
  const stats = () =>
    fetch(`${url}/v1/stats/tokens`).then((response) => response.json() as Promise<{ requests: number }>);
  const queued = async () =>
    ((await (await fetch(`${url}/health`)).json()) as { subsystems: { database: { usage_queued: number } } }).subsystems
      .database.usage_queued;
  const before = await total(stats);
  for (let i = 0; i < 20; i++) await (await chat(key)).arrayBuffer();
  while ((await queued()) > 0) await Bun.sleep(10);
  for (let i = 0; i < 5; i++) await (await chat(key)).arrayBuffer();
  server.kill("SIGKILL");
  await server.exited;
  const store = openStore({ dataDir, create: false });
  expect(store.integrityCheck()).toEqual([]);
  const stored = await total(() => usageStore(store).tokenTotals());
  store.close();
  expect(stored).toBeGreaterThanOrEqual(before + 20);
  await serve();
  expect(await total(stats)).toBe(stored);
});

test("an account deleted beside the server takes its keys along within a second", async () => {
  const { key, email } = await makeKey();
  expect(await until(200, key)).toBeLessThan(SECOND);
  expect((await run("account", "delete", "--email", email, "--yes")).code).toBe(0);
  expect(await until(401, key)).toBeLessThan(SECOND);
});
