// A server that is killed during crawls, and its successor with the same data. Both are real processes.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { programCommand } from "../support/source-program.ts";
import { type Poll, pathsOf } from "./support.ts";

// Each step waits for an event, however busy the machine is; the limits only end a wait that would last forever.
const folder = mkdtempSync(join(tmpdir(), "sallyport-kill-"));
const dataDir = join(folder, "data");

const leaves = Array.from({ length: 24 }, (_, index) => `/leaf/${index}`);
const HELD = ["/branch/1", "/leaf/20"];
const gate = Promise.withResolvers<void>();
const again = Promise.withResolvers<void>();
const held = (text: string) => async () => {
  await gate.promise;
  return html(text);
};
/** A page that is small but keeps a thread busy for a good while. */
const heavy = (title: string) => page(title).replace("</main>", `<p>${"<b>x</b><i>y</i> ".repeat(12_000)}</p></main>`);
const heavies = Array.from({ length: 4 }, (_, index) => `/heavy/${index}`);
const small = Array.from({ length: 40 }, (_, index) => `/small/${index}`);

const many = Array.from({ length: 29 }, (_, index) => `/many/${index}`);

let site: FakeSite;
let key: string;
let server: Awaited<ReturnType<typeof serve>> | undefined;

beforeAll(async () => {
  site = startFakeSite({
    "/": page("Root", ["/branch/0", "/branch/1", "/branch/2"]),
    "/branch/0": page("B0", leaves.slice(0, 8)),
    "/branch/1": held(page("B1", leaves.slice(8, 16))),
    "/branch/2": page("B2", leaves.slice(16)),
    ...Object.fromEntries(leaves.map((path) => [path, page(path, ["/", "/leaf/0"])])),
    "/leaf/20": held(page("/leaf/20")),
    "/heavy": page("Heavy", heavies),
    ...Object.fromEntries(heavies.map((path) => [path, heavy(path)])),
    "/small": page("Small", small),
    "/many": page("Many", many),
    ...Object.fromEntries(many.map((path) => [path, page(path)])),
    ...Object.fromEntries(
      small.map((path, index) => [
        path,
        async () => {
          await Bun.sleep((index * 7) % 23);
          return html(page(path));
        },
      ]),
    ),
  });
  const store = openStore({ dataDir });
  const account = await accountStore(store).createAccount({ username: "k", email: "k@example.com", tier: "premium" });
  if ("refused" in account) throw new Error(account.refused);
  key = (await keyStore(store).createKey({ accountId: account.id, name: "k" })).key;
  store.close();
  await Bun.write(join(folder, "c.yaml"), JSON.stringify({ web: { allow_hosts: [site.host], render: "never" } }));
});
afterAll(async () => {
  gate.resolve();
  again.resolve();
  await kill();
  await site.stop();
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

/** Starts the server if it is not running. */
const running = async () => {
  server ??= await serve();
};

async function kill(): Promise<void> {
  server?.child.kill("SIGKILL");
  await server?.child.exited;
  server = undefined;
}

const headers = () => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });
async function start(path: string): Promise<string> {
  const body = JSON.stringify({ url: site.url + path, limit: 100 });
  const started = await fetch(`${server?.url}/v1/crawl`, { method: "POST", headers: headers(), body });
  return ((await started.json()) as { id: string }).id;
}
const poll = async (id: string) =>
  (await (await fetch(`${server?.url}/v1/crawl/${id}`, { headers: headers() })).json()) as Poll;
async function end(id: string): Promise<Poll> {
  for (;;) {
    const answer = await poll(id);
    if (answer.status !== "scraping") return answer;
    await Bun.sleep(20);
  }
}

/** The paths of the answers and pages in the database, and of the pages in progress. */
function stored(id: string): Record<"answers" | "pages" | "taken", string[]> {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  const paths = (sql: string) =>
    db
      .query<{ url: string }, [string]>(sql)
      .all(id)
      .map(({ url }) => new URL(url).pathname);
  const answers = paths("SELECT asked AS url FROM job_answers WHERE job_id = ?");
  const pages = paths("SELECT url FROM job_pages WHERE job_id = ?");
  const taken = paths("SELECT url FROM job_frontier WHERE job_id = ? AND state = 'taken'");
  db.close();
  return { answers, pages, taken };
}

test("no page is lost, and answered pages are not requested again", async () => {
  await running();
  const id = await start("/");
  // The server is killed while two pages are in progress and all others are done.
  await Promise.all(HELD.map((path) => site.asked(path)));
  let before = await poll(id);
  while (before.completed < 18) before = await poll(id);
  await kill();
  gate.resolve();

  server = await serve();
  expect(pathsOf(await poll(id))).toEqual(expect.arrayContaining(pathsOf(before)));
  const after = await end(id);
  expect(after.status).toBe("completed");
  const all = ["/", "/branch/0", "/branch/1", "/branch/2", ...leaves];
  expect(pathsOf(after)).toEqual(all.sort());
  expect([after.completed, after.total, after.creditsUsed]).toEqual([28, 28, 28]);
  // Pages without an answer are requested again. Finished pages are not.
  const times = all.map((path) => [path, site.count(path)]);
  expect(times).toEqual(all.map((path) => [path, HELD.includes(path) ? 2 : 1]));
}, 900_000);

test("pages whose conversion was interrupted are converted again, but not loaded again", async () => {
  await running();
  const id = await start("/heavy");
  while (stored(id).answers.length < 4) await Bun.sleep(1);
  await kill();
  const { answers } = stored(id);
  // The server was killed in the intended phase.
  expect(answers.length).toBeGreaterThan(0);

  server = await serve();
  const after = await end(id);
  expect([after.status, after.errors]).toEqual(["completed", []]);
  expect(pathsOf(after)).toEqual(["/heavy", ...heavies]);
  expect([after.completed, after.creditsUsed]).toEqual([5, 5]);
  for (const path of answers) expect([path, site.count(path)]).toEqual([path, 1]);
  expect(stored(id).answers).toEqual([]);
}, 900_000);

test("after repeated kills, it returns each page once, and requests only unanswered pages twice", async () => {
  const all = ["/small", ...small];
  const most = new Map(all.map((path) => [path, 1]));
  const hits = () => site.hits.filter((path) => path.startsWith("/small"));
  await running();
  const id = await start("/small");
  for (const deathAt of [3, 14, 27]) {
    while (hits().length < deathAt) await Bun.sleep(1);
    await Bun.sleep(Math.random() * 15);
    await kill();
    const { answers, taken } = stored(id);
    for (const path of taken) if (!answers.includes(path)) most.set(path, (most.get(path) ?? 0) + 1);
    server = await serve();
  }
  const after = await end(id);
  expect([after.status, after.errors]).toEqual(["completed", []]);
  expect(pathsOf(after)).toEqual(all.sort());
  expect(all.filter((path) => site.count(path) < 1 || site.count(path) > (most.get(path) ?? 0))).toEqual([]);
}, 900_000);

test("an llms.txt of 30 pages loads only the missing ones, and equals that of an undisturbed run", async () => {
  const body = JSON.stringify({ url: `${site.url}/many`, max_urls: 30, show_full_text: true, timeout_seconds: 120 });
  const ask = () => fetch(`${server?.url}/v1/llmstxt`, { method: "POST", headers: headers(), body });
  await running();
  const undisturbed = (await (await ask()).json()) as Record<string, string | number>;
  expect([undisturbed["status"], undisturbed["completed"]]).toEqual(["completed", 30]);
  site.hits.length = 0;
  site.set("/many/7", async () => {
    await again.promise;
    return html(page("/many/7"));
  });
  const lost = ask().catch(() => undefined);
  await site.asked("/many/7");
  const newest = () => {
    const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
    const id = db.query<{ id: string }, []>("SELECT id FROM jobs ORDER BY created_at DESC, id DESC LIMIT 1").get()?.id;
    db.close();
    return id ?? "";
  };
  const id = newest();
  while (stored(id).pages.length < 29) await Bun.sleep(5);
  await kill();
  await lost;
  again.resolve();

  server = await serve();
  for (;;) {
    const answer = await fetch(`${server.url}/v1/llmstxt/${id}`, { headers: headers() });
    const job = (await answer.json()) as Record<string, unknown>;
    if (job["status"] === "processing") {
      await Bun.sleep(20);
      continue;
    }
    expect([job["status"], job["completed"], job["creditsUsed"]]).toEqual(["completed", 30, 30]);
    expect([job["llmstxt"], job["llmsfulltxt"]]).toEqual([undisturbed["llmstxt"], undisturbed["llmsfulltxt"]]);
    break;
  }
  const times = ["/many", ...many].map((path) => [path, site.count(path)]);
  expect(times).toEqual(["/many", ...many].map((path) => [path, path === "/many/7" ? 2 : 1]));
}, 900_000);
