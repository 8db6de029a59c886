// A server killed in the middle of a crawl, and the next one on the same data: real processes.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../src/store/accounts.ts";
import { keyStore } from "../../src/store/keys.ts";
import { openStore } from "../../src/store/open.ts";
import { html, page, startFakeSite } from "../support/fake-site.ts";
import { type Poll, pathsOf } from "./support.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const folder = mkdtempSync(join(tmpdir(), "sallyport-kill-"));
const dataDir = join(folder, "data");

const leaves = Array.from({ length: 24 }, (_, index) => `/leaf/${index}`);
const HELD = ["/branch/1", "/leaf/20"];
const gate = Promise.withResolvers<void>();
const held = (text: string) => async () => {
  await gate.promise;
  return html(text);
};
const site = startFakeSite({
  "/": page("Root", ["/branch/0", "/branch/1", "/branch/2"]),
  "/branch/0": page("B0", leaves.slice(0, 8)),
  "/branch/1": held(page("B1", leaves.slice(8, 16))),
  "/branch/2": page("B2", leaves.slice(16)),
  ...Object.fromEntries(leaves.map((path) => [path, page(path, ["/", "/leaf/0"])])),
  "/leaf/20": held(page("/leaf/20")),
});

async function serve() {
  const child = Bun.spawn(
    [process.execPath, MAIN, "serve", "--port", "0", "--data-dir", dataDir, "--config", join(folder, "c.yaml")],
    { cwd: folder, env: { PATH: process.env["PATH"] ?? "", HOME: folder }, stdout: "pipe", stderr: "ignore" },
  );
  const { value } = await child.stdout.getReader().read();
  return { child, url: /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "" };
}

let server: Awaited<ReturnType<typeof serve>>;
afterAll(async () => {
  gate.resolve();
  server.child.kill("SIGKILL");
  await server.child.exited;
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("no page is lost or fetched twice", async () => {
  const store = openStore({ dataDir });
  const account = await accountStore(store).createAccount({ username: "k", email: "k@example.com", tier: "premium" });
  if ("refused" in account) throw new Error(account.refused);
  const { key } = await keyStore(store).createKey({ accountId: account.id, name: "k" });
  store.close();
  await Bun.write(join(folder, "c.yaml"), JSON.stringify({ web: { allow_hosts: [site.host], render: "never" } }));
  server = await serve();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const started = await fetch(`${server.url}/v1/crawl`, {
    method: "POST",
    headers,
    body: JSON.stringify({ url: site.url, limit: 100 }),
  });
  const { id } = (await started.json()) as { id: string };
  const poll = async () => (await (await fetch(`${server.url}/v1/crawl/${id}`, { headers })).json()) as Poll;
  // Two pages are under way and everything else that can be known is done: now it dies.
  await Promise.all(HELD.map((path) => site.asked(path)));
  let before = await poll();
  while (before.completed < 18) before = await poll();
  server.child.kill("SIGKILL");
  await server.child.exited;
  gate.resolve();

  server = await serve();
  let after = await poll();
  expect(pathsOf(after)).toEqual(expect.arrayContaining(pathsOf(before)));
  while (after.status === "scraping") {
    await Bun.sleep(20);
    after = await poll();
  }
  expect(after.status).toBe("completed");
  const all = ["/", "/branch/0", "/branch/1", "/branch/2", ...leaves];
  expect(pathsOf(after)).toEqual(all.sort());
  expect([after.completed, after.total, after.creditsUsed]).toEqual([28, 28, 28]);
  // What was under way had to be asked for again; what was done was not.
  const times = all.map((path) => [path, site.count(path)]);
  expect(times).toEqual(all.map((path) => [path, HELD.includes(path) ? 2 : 1]));
}, 30_000);
