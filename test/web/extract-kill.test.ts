// A server that is killed during extractions, and its successor with the same data. Both are real processes.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { programCommand } from "../support/source-program.ts";
import { honest, linesPage, modelConfig, type ScriptedModel, startModel } from "./extract-script.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-extract-kill-"));
const dataDir = join(folder, "data");
const paths = Array.from({ length: 30 }, (_, index) => `/item/${index}`);
/** One extraction accepts fewer than 30 addresses. */
const halves = [paths.slice(0, 15), paths.slice(15)];

let site: FakeSite;
let model: ScriptedModel;
let key: string;
let server: Awaited<ReturnType<typeof serve>> | undefined;

beforeAll(async () => {
  site = startFakeSite(Object.fromEntries(paths.map((path) => [path, linesPage(path, [`Item: number ${path}`])])));
  model = startModel(async (asked) => {
    await Bun.sleep(Math.random() * 20);
    return honest(asked);
  });
  const store = openStore({ dataDir });
  const account = await accountStore(store).createAccount({ username: "k", email: "k@example.com", tier: "premium" });
  if ("refused" in account) throw new Error(account.refused);
  key = (await keyStore(store).createKey({ accountId: account.id, name: "k" })).key;
  store.close();
  const config = { web: { allow_hosts: [site.host], render: "never" }, ...modelConfig(model) };
  await Bun.write(join(folder, "c.yaml"), JSON.stringify(config));
});
afterAll(async () => {
  await kill();
  await site.stop();
  await model.upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function serve() {
  const child = Bun.spawn(
    [...programCommand(), "serve", "--port", "0", "--data-dir", dataDir, "--config", join(folder, "c.yaml")],
    { cwd: folder, env: { PATH: process.env["PATH"] ?? "", HOME: folder }, stdout: "pipe", stderr: "ignore" },
  );
  const { value } = await child.stdout.getReader().read();
  return { child, url: /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "" };
}

async function kill(): Promise<void> {
  server?.child.kill("SIGKILL");
  await server?.child.exited;
}

const headers = () => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });

const SCHEMA = { type: "object", properties: { item: { type: "array", items: { type: "string" } } } };

/** The answer is never received, because the server is killed first. */
function start(half: readonly string[]): void {
  const urls = half.map((path) => site.url + path);
  const body = JSON.stringify({ urls, prompt: "Every item.", schema: SCHEMA });
  fetch(`${server?.url}/v1/extract`, { method: "POST", headers: headers(), body }).catch(() => undefined);
}

async function ended(id: string): Promise<{ status: string; data: { item: string[] } | null; warnings?: string[] }> {
  for (;;) {
    const response = await fetch(`${server?.url}/v1/extract/${id}`, { headers: headers() });
    const answer = (await response.json()) as { status: string; data: { item: string[] } | null };
    if (answer.status !== "processing") return answer;
    await Bun.sleep(20);
  }
}

function read<T>(sql: string): T[] {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  const rows = db.query<T, []>(sql).all();
  db.close();
  return rows;
}

/** The paths whose answers are stored in the database. */
function answered(): string[] {
  const urls = read<{ url: string }>(
    "SELECT url FROM job_pages UNION SELECT url FROM job_answers WHERE asked LIKE 'model %'",
  );
  return urls.map(({ url }) => new URL(url).pathname);
}

test("after repeated kills, no page is lost, and only unanswered questions are asked twice", async () => {
  server = await serve();
  for (const half of halves) start(half);
  // A job whose request was not taken yet would be lost with the first kill.
  while (read("SELECT id FROM jobs").length < halves.length) await Bun.sleep(1);
  const most = new Map(paths.map((path) => [path, 1]));
  for (const deathAt of [4, 13, 24]) {
    while (model.asked.length < deathAt) await Bun.sleep(1);
    await Bun.sleep(Math.random() * 15);
    await kill();
    const known = answered();
    for (const path of model.paths()) if (!known.includes(path)) most.set(path, (most.get(path) ?? 0) + 1);
    server = await serve();
  }
  const ids = read<{ id: string }>("SELECT id FROM jobs ORDER BY created_at, id").map(({ id }) => id);
  expect(ids).toHaveLength(2);
  const results = await Promise.all(ids.map(ended));
  expect(results.map(({ status, warnings }) => [status, warnings])).toEqual([
    ["completed", []],
    ["completed", []],
  ]);
  const items = results.flatMap(({ data }) => data?.item ?? []);
  expect(items.sort()).toEqual(paths.map((path) => `number ${path}`).sort());
  const asked = model.paths();
  const times = (path: string) => asked.filter((one) => one === path).length;
  const often = new Set(asked.filter((path) => times(path) > (most.get(path) ?? 0)));
  expect([...often]).toEqual([]);
  // No answer is charged twice.
  const [paid] = read<{ calls: number }>("SELECT COUNT(*) AS calls FROM usage WHERE endpoint = '/v1/extract'");
  expect(paid?.calls).toBeLessThanOrEqual(asked.length);
  // Nothing is stored that is no longer needed.
  expect(read("SELECT url FROM job_answers")).toEqual([]);
}, 120_000);
