// An account's own jobs in the dashboard's API: what the account sees, what others do not see, and downloads.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "../web/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

type Json = Record<string, unknown>;

const LINKS = Array.from({ length: 3 }, (_, n) => `<a href="/page-${n}">page ${n}</a>`).join(" ");
const page = (title: string, text: string) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>${text} ${"Words that fill a page. ".repeat(20)}</p></main>`;

let site: FakeSite;
let app: AccountsApp;
let holder: DashboardClient;
let other: DashboardClient;
let boss: DashboardClient;
let key: string;
let stalled: ReturnType<typeof Promise.withResolvers<void>>;

beforeAll(async () => {
  stalled = Promise.withResolvers();
  site = startFakeSite({
    "/": page("Home", LINKS),
    "/page-0": page("Nought", "ä&lt;b&gt;"),
    "/page-1": page("One", "one"),
    "/page-2": () => new Response("no", { status: 500 }),
    "/stalled": async () => {
      await stalled.promise;
      return new Response(page("Late", "late"), { headers: { "content-type": "text/html" } });
    },
  });
  app = await startAccountsApp({ config: webConfig([site.host]) });
  const signedIn = async (name: string, more = {}) => {
    await app.addAccount(name, more);
    const client = dashboardClient(app);
    await client.post("/login", { username_or_email: name, password: PASSWORD });
    return client;
  };
  holder = await signedIn("holder");
  other = await signedIn("other");
  boss = await signedIn("boss", { admin: true });
  key = (await holder.post("/keys", { name: "k" })).json.key;
});
afterAll(async () => {
  stalled.resolve();
  await app.stop();
  await site.stop();
});

const start = async (path: string, body: Json): Promise<string> =>
  (await app.ask("POST", path, { as: key, body })).json.job_id;

/** The job, once it has reached a state. */
async function reached(id: string, state: string): Promise<Json & { pages: Json[]; errors: Json[] }> {
  for (;;) {
    const { json } = await holder.get(`/jobs/${id}`);
    if (json.state === state) return json;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function bytes(
  client: DashboardClient,
  path: string,
): Promise<{ status: number; headers: Headers; body: Uint8Array }> {
  const response = await fetch(`${app.app.url}/dashboard/api${path}`, { headers: { cookie: client.cookie } });
  return { status: response.status, headers: response.headers, body: await response.bytes() };
}

test("a crawl is listed, opened page by page, and taken away as JSON and as files", async () => {
  const id = await start("/v1/crawl", { url: `${site.url}/`, limit: 4 });
  const job = await reached(id, "completed");
  expect(job).toMatchObject({ kind: "crawl", url: `${site.url}/`, urls: 1, failed_pages: 1, completed: 4, total: 4 });
  expect(job.errors).toMatchObject([{ url: `${site.url}/page-2`, code: "scrape_upstream_error" }]);
  expect(job["input"]).toMatchObject({ limit: 4 });
  expect((await holder.get("/jobs")).json.data.map(({ id }: Json) => id)).toEqual([id]);

  const at = job.pages.findIndex(({ url }) => url === `${site.url}/page-0`);
  const opened = (await holder.get(`/jobs/${id}/pages/${at}`)).json;
  expect([opened.url, opened.failed, opened.markdown]).toEqual([
    `${site.url}/page-0`,
    false,
    expect.stringContaining("# Nought"),
  ]);
  expect(opened).not.toHaveProperty("keys");

  const whole = await bytes(holder, `/jobs/${id}/download`);
  expect(whole.headers.get("content-disposition")).toBe(`attachment; filename="${id}.json"`);
  const json = JSON.parse(new TextDecoder().decode(whole.body));
  const { data, errors, status } = (await app.ask("GET", `/v1/crawl/${id}`, { as: key })).json;
  expect([json.data, json.errors, json.status]).toEqual([data, errors, status]);

  const zip = await bytes(holder, `/jobs/${id}/download?format=zip`);
  expect(zip.headers.get("content-type")).toBe("application/zip");
  const files = unzipSync(zip.body);
  expect(Object.keys(files).sort()).toEqual(["index.md", "page-0.md", "page-1.md"]);
  const decoded = new TextDecoder().decode(files["page-0.md"]);
  expect(decoded).toStartWith(`<!-- ${site.url}/page-0 -->`);
  expect(decoded).toContain("ä");
});

test("an llms.txt gives its files, and a job without pages an answer that is whole", async () => {
  const id = await start("/v1/llmstxt", { url: `${site.url}/`, max_urls: 3, show_full_text: true });
  const job = await reached(id, "completed");
  expect(job["result"]).toMatchObject({ llmstxt: expect.stringContaining("# "), llmsfulltxt: expect.any(String) });
  const files = unzipSync((await bytes(holder, `/jobs/${id}/download?format=zip`)).body);
  expect(Object.keys(files).sort()).toEqual(["llms-full.txt", "llms.txt"]);

  const dead = await start("/v1/crawl", { url: `${site.url}/page-2`, limit: 1 });
  expect((await reached(dead, "failed"))["error"]).toMatchObject({ code: "crawl_upstream_error" });
  const { body } = await bytes(holder, `/jobs/${dead}/download`);
  expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({
    status: "failed",
    data: [],
    error_code: "crawl_upstream_error",
  });
  expect(Object.keys(unzipSync((await bytes(holder, `/jobs/${dead}/download?format=zip`)).body))).toEqual([]);
});

test("only its owner or an operator can cancel a running job", async () => {
  const [mine, theirs] = [
    await start("/v1/crawl", { url: `${site.url}/stalled` }),
    await start("/v1/crawl", { url: `${site.url}/stalled?again` }),
  ];
  await reached(mine, "running");
  for (const path of [
    `/jobs/${mine}`,
    `/jobs/${mine}/pages/0`,
    `/jobs/${mine}/download`,
    `/jobs/${mine}/download?format=zip`,
  ]) {
    const { status, json } = await other.get(path);
    expect([path, status, json.error.code]).toEqual([path, 404, "job_not_found"]);
  }
  expect((await other.delete(`/jobs/${mine}`)).status).toBe(404);
  expect((await other.get("/jobs")).json.data).toEqual([]);
  expect((await holder.get("/admin/jobs")).status).toBe(404);
  expect((await holder.delete(`/admin/jobs/${mine}`)).status).toBe(404);

  const open = (await boss.get("/admin/jobs")).json.data as Json[];
  expect(open.map(({ id }) => id).sort()).toEqual([mine, theirs].sort());
  for (const row of open) {
    expect(row).toMatchObject({ kind: "crawl", username: "holder" });
    // Operators must not see which pages a person reads.
    expect(JSON.stringify(row)).not.toContain(site.host);
  }
  expect((await holder.delete(`/jobs/${mine}`)).json).toEqual({ success: true });
  expect((await boss.delete(`/admin/jobs/${theirs}`)).json).toEqual({ success: true });
  await reached(mine, "cancelled");
  await reached(theirs, "cancelled");
  expect((await boss.get("/admin/jobs")).json.data).toEqual([]);
  expect((await boss.get("/events")).json.data[0]).toMatchObject({ event: "job_cancelled", detail: { job: theirs } });
  expect((await boss.delete("/admin/jobs/none")).json.error.code).toBe("job_not_found");
});

test("an invalid request is 400, and an expired job does not exist", async () => {
  for (const before of ["1", "x.y", "1.", `1.${"a".repeat(65)}`, "1234567890123456.a"]) {
    expect([before, (await holder.get(`/jobs?before=${before}`)).json.error?.param]).toEqual([before, "before"]);
  }
  const [{ id }] = (await holder.get("/jobs")).json.data;
  expect((await holder.get(`/jobs/${id}/download?format=tar`)).json.error.param).toBe("format");
  for (const index of ["-1", "1e3", "1000000", "999999"]) {
    expect((await holder.get(`/jobs/${id}/pages/${index}`)).json.error.code).toBe("job_not_found");
  }
  app.clock.advance(25 * 3_600_000);
  expect((await holder.get(`/jobs/${id}`)).json.error.code).toBe("job_not_found");
  expect((await holder.get("/jobs")).json).toEqual({ data: [], next: null });
});
