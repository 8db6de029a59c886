// The operator's settings and the rules of a site, and how crawls, maps and scrapes follow them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findBrowser } from "../../src/pages/browser/browser.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { crawl, ended, pathsOf, poll, startCrawl, webConfig } from "./support.ts";

let site: FakeSite;
let other: FakeSite;
let closed: FakeSite;
let app: TestApp;
const agents = new Set<string | null>();

beforeAll(async () => {
  other = startFakeSite({ "/": page("Other") });
  closed = startFakeSite({ "/": page("Closed", ["/a"]), "/a": page("A") });
  closed.set("/robots.txt", () => new Response("User-agent: *\nDisallow: /"));
  site = startFakeSite({
    "/": (request) => {
      agents.add(request.headers.get("user-agent"));
      return html(
        page("Root", ["/inside", "/to-private", "/data", "/feed.xml", "/list.json", "/picture", `${other.url}/`]),
      );
    },
    "/robots.txt": (request) => {
      agents.add(request.headers.get("user-agent"));
      return new Response("User-agent: OwnBot\nDisallow: /secret\n\nUser-agent: *\nDisallow: /");
    },
    "/inside": page("Inside", [
      `http://127.0.0.2:9/`,
      "mailto:a@b.example",
      "javascript:void(0)",
      "//nothing.invalid/x",
    ]),
    "/to-private": () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/latest" } }),
    "/data": () => Response.json({ answer: 42 }),
    "/list.json": () => Response.json({ list: [1] }),
    "/feed.xml": () =>
      new Response("<rss><channel><item><title>One</title></item></channel></rss>", {
        headers: { "content-type": "text/xml" },
      }),
    "/picture": () => new Response(new Uint8Array([137, 80, 78, 71]), { headers: { "content-type": "image/png" } }),
    "/deep": page("Deep", ["/deep/1"]),
    "/deep/1": page("Deep 1"),
    "/slow-root": (request) => new Promise((done) => request.signal.addEventListener("abort", () => done(html("")))),
  });
  app = await startTestApp({
    config: webConfig([site.host, other.host, closed.host], { user_agent: "OwnBot/3.0 (+https://bot.example)" }),
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([site, other, closed].map((one) => one.stop()));
});

const at = (path: string) => site.url + path;
const failures = ({ errors }: { errors: { url: string; code: string }[] }) =>
  errors.map(({ url, code }) => [new URL(url).pathname, code]).sort();
const call = async (path: string, body: object) => {
  const response = await app.post(path, body);
  return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
};

describe("a crawl", () => {
  test("stays on its site, sends its user agent, and lists the pages that it may not load", async () => {
    const result = await crawl(app, { url: at("/") });
    expect(pathsOf(result)).toEqual(["/", "/inside"]);
    // Addresses that look like JSON or feeds are not loaded. Addresses whose answers turn out not to be pages are reported.
    expect(failures(result)).toEqual([
      ["/data", "scrape_failed"],
      ["/picture", "scrape_failed"],
      ["/to-private", "url_not_allowed"],
    ]);
    for (const { message } of result.errors) expect(message).not.toContain("169.254");
    expect(other.hits).toEqual([]);
    expect([...agents]).toEqual(["OwnBot/3.0 (+https://bot.example)"]);
  });

  test("reads documents on request", async () => {
    const result = await crawl(app, { url: at("/"), documents: true });
    expect(pathsOf(result)).toEqual(["/", "/data", "/feed.xml", "/inside", "/list.json"]);
    expect(result.data.find(({ metadata }) => metadata.sourceURL.endsWith("/data"))?.markdown).toContain(
      '"answer": 42',
    );
    expect(failures(result)).toEqual([
      ["/picture", "scrape_failed"],
      ["/to-private", "url_not_allowed"],
    ]);
  });

  test("shows pages while it runs", async () => {
    const gate = Promise.withResolvers<void>();
    site.set("/while", page("While", ["/while/1"]));
    site.set("/while/1", async () => {
      await gate.promise;
      return html(page("While 1"));
    });
    const id = await startCrawl(app, { url: at("/while") });
    await site.asked("/while/1");
    let running = await poll(app, id);
    while (running.completed < 1) running = await poll(app, id);
    expect([running.status, pathsOf(running), running.total]).toEqual(["scraping", ["/while"], 2]);
    gate.resolve();
    expect(pathsOf(await ended(app, id))).toEqual(["/while", "/while/1"]);
  });

  test.each<[string, () => object, string, string]>([
    ["robots.txt forbids", () => ({ url: `${closed.url}/` }), "scrape_failed", "robots.txt"],
    ["is no page", () => ({ url: at("/picture") }), "scrape_failed", "image/png"],
    ["leads inside", () => ({ url: at("/to-private") }), "url_not_allowed", "address"],
    ["is unknown", () => ({ url: "http://nothing.invalid/" }), "crawl_upstream_error", ""],
    [
      "needs a browser that there is not",
      () => ({ url: at("/deep"), formats: ["screenshot"] }),
      "crawl_unavailable",
      "browser",
    ],
  ])("fails when its root %s", async (_, body, code, text) => {
    const result = (await crawl(app, body() as Record<string, unknown>)) as Awaited<ReturnType<typeof crawl>> & {
      error_code: string;
    };
    expect([result.status, result.error_code, result.data]).toEqual(["failed", code, []]);
    expect(result.error).toContain(text);
    expect(result.errors).toHaveLength(1);
  });

  test("its hard limit has its own error code", async () => {
    const own = await startTestApp({ config: webConfig([site.host], { job_timeout: "1s", respect_robots: false }) });
    expect(await crawl(own, { url: at("/slow-root") })).toMatchObject({
      status: "failed",
      error_code: "crawl_timeout",
    });
    await own.stop();
  });

  test("the number of running crawls of an account is limited", async () => {
    const hanging = startFakeSite({ "/": () => new Promise<Response>(() => undefined) });
    const own = await startTestApp({ config: webConfig([hanging.host]), key: { rpm: 600 } });
    const ids: string[] = [];
    for (let n = 0; n < 100; n++) ids.push(await startCrawl(own, { url: `${hanging.url}/?${n}` }));
    const refused = await own.post("/v1/crawl", { url: hanging.url });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("rate_limit_exceeded");
    await own.call(`/v1/crawl/${ids[0]}`, { method: "DELETE" });
    expect((await own.post("/v1/crawl", { url: hanging.url })).status).toBe(200);
    await hanging.stop();
    await own.stop();
  });
});

test.skipIf(findBrowser("") === undefined)(
  "a page that a browser showed counts twice",
  async () => {
    const own = await startTestApp({ config: webConfig([site.host], { render: "always", respect_robots: false }) });
    const result = await crawl(own, { url: at("/deep"), limit: 1 });
    expect([result.status, result.completed, result.creditsUsed]).toEqual(["completed", 1, 2]);
    await own.stop();
  },
  60_000,
);

describe("robots.txt", () => {
  test("is obeyed by scrapes and maps too", async () => {
    const scraped = await call("/v1/scrape", { url: `${closed.url}/a` });
    expect([scraped.status, scraped.body.error?.code]).toEqual([422, "scrape_failed"]);
    expect(scraped.body.error?.message).toContain("robots.txt");
    const mapped = await call("/v1/map", { url: `${closed.url}/` });
    expect([mapped.status, mapped.body.error?.code]).toEqual([422, "scrape_failed"]);
    expect(closed.hits.filter((hit) => hit !== "/robots.txt")).toEqual([]);
  });

  test("is obeyed even if it is large", async () => {
    const others = Array.from({ length: 2000 }, (_, n) => `Disallow: /nothing/of/the/kind/${n}/*.html`).join("\n");
    const large = startFakeSite({
      "/": page("Root", ["/a", "/b"]),
      "/a": page("A"),
      "/robots.txt": () => new Response(`User-agent: *\n${others}\nDisallow: /b`),
    });
    const own = await startTestApp({ config: webConfig([large.host]) });
    const result = await crawl(own, { url: `${large.url}/` });
    expect([pathsOf(result), result.errors.map(({ url, code }) => [new URL(url).pathname, code])]).toEqual([
      ["/", "/a"],
      [["/b", "scrape_failed"]],
    ]);
    await own.stop();
    await large.stop();
  });

  test("is not loaded if the operator turns it off", async () => {
    const own = await startTestApp({ config: webConfig([closed.host], { respect_robots: false }) });
    const before = closed.count("/robots.txt");
    expect(pathsOf(await crawl(own, { url: `${closed.url}/` }))).toEqual(["/", "/a"]);
    expect((await own.post("/v1/scrape", { url: `${closed.url}/a` })).status).toBe(200);
    expect(closed.count("/robots.txt")).toBe(before);
    await own.stop();
  });
});

test("any two requests to a host are separated by the operator's delay", async () => {
  const starts: number[] = [];
  const beganMs = performance.now();
  const slow = startFakeSite({ "/robots.txt": () => new Response("") });
  const leaf = () => {
    starts.push(performance.now());
    return html(page("Leaf"));
  };
  slow.set("/", page("Root", ["/1", "/2"]));
  for (const path of ["/1", "/2", "/3", "/4"]) slow.set(path, leaf);
  const own = await startTestApp({ config: webConfig([slow.host], { per_host_delay: "80ms" }) });
  const crawled = startCrawl(own, { url: `${slow.url}/` }).then((id) => ended(own, id));
  await Promise.all([crawled, ...["/3", "/4"].map((path) => own.post("/v1/scrape", { url: slow.url + path }))]);
  expect(starts).toHaveLength(4);
  // The root page and four others. However busy the machine is, the last one cannot start before four delays have passed.
  expect(Math.max(...starts) - beganMs).toBeGreaterThan(310);
  await own.stop();
  await slow.stop();
});

test("a map that takes too long", async () => {
  const answer = await call("/v1/map", { url: at("/slow-root"), timeout_ms: 1000 });
  expect([answer.status, answer.body.error?.code]).toEqual([504, "map_timeout"]);
});

test("a map of a site whose robots.txt never arrives", async () => {
  const silent = startFakeSite({ "/robots.txt": () => new Promise<Response>(() => undefined) });
  const own = await startTestApp({ config: webConfig([silent.host]) });
  const answer = await own.post("/v1/map", { url: silent.url, timeout_ms: 1000 });
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
    504,
    "map_timeout",
  ]);
  await own.stop();
  await silent.stop();
});
