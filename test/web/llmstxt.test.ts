// llms.txt, row by row: parameters, limits, states, errors, and the ownership of jobs.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { startAcme } from "./llmstxt-site.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let app: TestApp;
const gate = Promise.withResolvers<void>();

beforeAll(async () => {
  site = startAcme({
    "/held": async () => {
      await gate.promise;
      return html(page("Held"));
    },
    "/down": () => html("no", { status: 500 }),
    "/refused": () => html("no", { status: 403 }),
    "/picture": () => new Response("PNG", { headers: { "content-type": "image/png" } }),
    "/inward": () => Response.redirect("http://10.0.0.1/"),
  });
  app = await startTestApp({ config: webConfig([site.host]) });
});
afterAll(async () => {
  gate.resolve();
  await app.stop();
  await site.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: an answer is any JSON.
type Answer = Record<string, any>;

async function ask(body: Record<string, unknown>): Promise<{ status: number; json: Answer }> {
  const response = await app.post("/v1/llmstxt", body);
  return { status: response.status, json: (await response.json()) as Answer };
}

async function poll(id: string, method = "GET"): Promise<{ status: number; json: Answer }> {
  const response = await app.call(`/v1/llmstxt/${id}`, { method });
  return { status: response.status, json: (await response.json()) as Answer };
}

const linksOf = (text: string) =>
  [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, url]) => new URL(url as string).pathname);

describe("an answer in time", () => {
  test("contains the file, its job and its cost", async () => {
    const { status, json } = await ask({ url: site.url });
    expect([status, json.success, json.status]).toEqual([200, true, "completed"]);
    expect(json.job_id).toMatch(/^llmstxt_[0-9a-f]{32}$/);
    expect(json.id).toBe(json.job_id);
    expect(json.llmstxt).toStartWith("# Acme\n\n> Widgets that turn, for machines of every size.\n");
    expect(json.data).toEqual({ llmstxt: json.llmstxt });
    expect("llmsfulltxt" in json).toBe(false);
    expect([json.total, json.completed, json.creditsUsed]).toEqual([10, 10, 10]);
    expect(new Date(json.expires_at).getTime()).toBeGreaterThan(new Date(json.created_at).getTime());
    expect(json.expiresAt).toBe(json.expires_at);
    expect((await poll(json.id)).json).toEqual(json);
  });

  test("lists at most ten pages by default, the important ones first", async () => {
    const links = linksOf((await ask({ url: site.url })).json.llmstxt);
    expect(links).toHaveLength(10);
    expect(links).toEqual(expect.arrayContaining(["/", "/product", "/pricing", "/docs/start", "/blog/turning"]));
    const all = linksOf((await ask({ url: site.url, max_urls: 100 })).json.llmstxt);
    expect(all).toHaveLength(12);
    // They come last, however high their priority in the sitemap is.
    expect(all.slice(-3).sort()).toEqual(["/blog/tag/news", "/login", "/privacy-policy"]);
    expect(linksOf((await ask({ url: site.url, max_urls: 1 })).json.llmstxt)).toEqual(["/"]);
  });

  test("contains the text of each page under its heading on request", async () => {
    const { json } = await ask({ url: site.url, max_urls: 4, show_full_text: true });
    expect(json.data).toEqual({ llmstxt: json.llmstxt, llmsfulltxt: json.llmsfulltxt });
    const headings = [...String(json.llmsfulltxt).matchAll(/^## (.*)\n\nSource: <(.*)>$/gm)].map(([, title, url]) => [
      title,
      url,
    ]);
    expect(headings).toHaveLength(4);
    expect(headings).toContainEqual(["Getting started", `${site.url}/docs/start`]);
    expect(json.llmsfulltxt).toContain("### Install\n\n```\n# a comment\nnpm i turner\n```");
  });

  test("accepts the names of Firecrawl's clients, and unknown fields", async () => {
    const { status, json } = await ask({
      url: site.url,
      maxUrls: 2,
      showFullText: true,
      origin: "x",
      integration: "y",
    });
    expect([status, linksOf(json.llmstxt).length, typeof json.data.llmsfulltxt]).toEqual([200, 2, "string"]);
  });
});

test("the same site gives the same file", async () => {
  const bodies = Array.from({ length: 4 }, () => ask({ url: site.url, max_urls: 9, show_full_text: true }));
  const texts = (await Promise.all(bodies)).map(({ json }) => [json.llmstxt, json.llmsfulltxt]);
  for (const text of texts) expect(text).toEqual(texts[0] as string[]);
});

test.each([
  [{}, "url"],
  [{ url: "nonsense" }, "url"],
  [{ url: 7 }, "url"],
  [{ url: "https://example.com/", max_urls: 0 }, "max_urls"],
  [{ url: "https://example.com/", max_urls: 101 }, "max_urls"],
  [{ url: "https://example.com/", max_urls: 1.5 }, "max_urls"],
  [{ url: "https://example.com/", maxUrls: "10" }, "maxUrls"],
  [{ url: "https://example.com/", show_full_text: "yes" }, "show_full_text"],
  [{ url: "https://example.com/", timeout_seconds: 9 }, "timeout_seconds"],
  [{ url: "https://example.com/", timeout_seconds: 121 }, "timeout_seconds"],
])("%j is refused by its field", async (body, param) => {
  const { status, json } = await ask(body);
  expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_request", param]);
});

test.each([
  ["/down", 502, "llmstxt_upstream_error"],
  ["/refused", 422, "scrape_failed"],
  ["/picture", 422, "scrape_failed"],
  ["/inward", 400, "url_not_allowed"],
])("a root that cannot be read: %s", async (path, expected, code) => {
  const alone = startFakeSite({});
  try {
    await app.reconfigure(webConfig([site.host, alone.host]));
    alone.set("/", (request) => fetch(site.url + path, { redirect: "manual", headers: request.headers }));
    const { status, json } = await ask({ url: `${alone.url}/` });
    expect([status, json.error.code, typeof json.error.message]).toEqual([expected, code, "string"]);
    // Later, polling returns the same error.
    const later = await poll(json.job_id);
    expect([later.status, later.json]).toMatchObject([
      200,
      { success: false, status: "failed", error: json.error.message, error_code: code },
    ]);
    expect("data" in later.json).toBe(false);
  } finally {
    await alone.stop();
  }
});

test("a private address is refused at once", async () => {
  const { status, json } = await ask({ url: "http://169.254.169.254/latest" });
  expect([status, json.error.code, json.error.param, json.job_id]).toEqual([400, "url_not_allowed", "url", undefined]);
});

test("a job that takes longer than its caller waits continues, reports its progress, and can be cancelled", async () => {
  const held = startFakeSite({ "/": page("Slow", ["/a", "/held"]), "/a": page("A") });
  held.set("/held", async () => {
    await gate.promise;
    return html(page("Held"));
  });
  try {
    await app.reconfigure(webConfig([held.host, site.host]));
    const asked = ask({ url: held.url, timeout_seconds: 10 });
    await held.asked("/held");
    const { status, json } = await asked;
    expect([status, json.success, json.status]).toEqual([200, true, "processing"]);
    expect("llmstxt" in json || "data" in json).toBe(false);
    expect([json.stage, json.total, json.completed]).toEqual(["reading", 3, 2]);
    expect((await poll(json.id)).json).toMatchObject({ success: true, status: "processing", stage: "reading" });
    const ended = await poll(json.id, "DELETE");
    expect([ended.status, ended.json]).toEqual([
      200,
      { success: true, job_id: json.id, id: json.id, status: "cancelled" },
    ]);
    expect((await poll(json.id)).json.status).toBe("cancelled");
  } finally {
    await held.stop();
  }
}, 30_000);

test("deleting a finished job does not change it", async () => {
  const { json } = await ask({ url: site.url, max_urls: 1 });
  expect((await poll(json.id, "DELETE")).json).toMatchObject({ success: true, status: "completed" });
  expect((await poll(json.id)).json.llmstxt).toBe(json.llmstxt);
});

test("a job belongs to its account, and unknown ones are 404", async () => {
  const { json } = await ask({ url: site.url, max_urls: 1 });
  const store = await app.openStore();
  const eve = await accountStore(store).createAccount({ username: "eve", email: "eve@example.com", tier: "premium" });
  if ("refused" in eve) throw new Error(eve.refused);
  const { key: stranger } = await keyStore(store).createKey({ accountId: eve.id, name: "eve" });
  await store.close();
  for (const [id, key] of [
    [json.id, stranger],
    ["llmstxt_00000000000000000000000000000000", app.key],
    ["x", app.key],
  ])
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(`${app.url}/v1/llmstxt/${id}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      const { error } = (await response.json()) as Answer;
      expect([response.status, error.code]).toEqual([404, "llmstxt_job_not_found"]);
    }
  const response = await app.call(`/v1/crawl/${json.id}`);
  expect(response.status).toBe(404);
});

test("a job is deleted as soon as its time to live has passed", async () => {
  const clock = new FakeClock(Date.parse("2030-01-01T00:00:00Z"));
  const own = await startTestApp({ config: webConfig([site.host], { job_ttl: "1h" }), clock });
  try {
    const response = await own.post("/v1/llmstxt", { url: site.url, max_urls: 1 });
    const { id, expires_at } = (await response.json()) as Answer;
    expect(expires_at).toBe("2030-01-01T01:00:00.000Z");
    clock.advance(3_599_999);
    expect((await own.call(`/v1/llmstxt/${id}`)).status).toBe(200);
    clock.advance(1);
    expect((await own.call(`/v1/llmstxt/${id}`)).status).toBe(404);
  } finally {
    await own.stop();
  }
});
