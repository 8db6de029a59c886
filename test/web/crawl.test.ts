import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { crawl, ended, pathsOf, poll, startCrawl, webConfig } from "./support.ts";

let site: FakeSite;
let other: FakeSite;
let app: TestApp;

const redirect = (to: string) => () => new Response(null, { status: 301, headers: { location: to } });
const canonical = (href: string) => `<link rel="canonical" href="${href}">`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

beforeAll(async () => {
  other = startFakeSite({ "/": page("Other") });
  site = startFakeSite({
    // A small site with every kind of address that must not count as a separate page.
    "/": page("Home", [
      "/a",
      "/b/",
      "/c?y=2&x=1",
      "/away",
      "/old",
      "/bad",
      "/secret",
      "/photo.jpg",
      "/paper.pdf",
      `${other.url}/`,
    ]),
    "/a": page("A", ["/a#part", "/a/", "/a?utm_source=mail", "/A1", "/?fbclid=1", "/b"]),
    "/a/": redirect("/a"),
    "/b/": page("B", ["/c?x=1&y=2", "/b-print"]),
    "/b-print": page("B to print", [], canonical("/b/")),
    "/c": page("C", ["/a;jsessionid=77", "/c?x=1&y=2&PHPSESSID=9"]),
    "/A1": page("A1"),
    "/old": redirect("/new"),
    "/new": page("New"),
    "/away": redirect(`${other.url}/`),
    "/bad": () => html("oops", { status: 500 }),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /secret"),
    "/secret": page("Secret"),
    // Depths: /d → 1 → 2 → 3.
    "/d": page("D", ["/d/1"]),
    "/d/1": page("D1", ["/d/2"]),
    "/d/2": page("D2", ["/d/3"]),
    "/d/3": page("D3"),
    // Only the links in the navigation lead to further pages.
    "/nav": `<html><head><title>Nav</title></head><body><nav><a href="/nav/1">one</a></nav><main><h1>Nav</h1><p>Text that is
      long enough to be the main content of this page, without any link in it at all.</p></main><footer><a href="/nav/2">two</a>
      </footer></body></html>`,
    "/nav/1": page("Nav 1"),
    "/nav/2": page("Nav 2"),
    // Pages for patterns.
    "/p": page("P", ["/p/x/1", "/p/x/2", "/p/y/1", "/p/x/deep/er"]),
    "/p/x/1": page("PX1", ["/p/x/3"]),
    "/p/x/2": page("PX2"),
    "/p/x/3": page("PX3"),
    "/p/y/1": page("PY1"),
    "/p/x/deep/er": page("PXD"),
    // A calendar whose pages never end.
    "/cal": page("Calendar", ["/cal/0"]),
    // A page with enough links for tests of paging and limits.
    "/wide": page(
      "Wide",
      numbers(12).map((n) => `/wide/${n}`),
    ),
    "/dead": () => html("gone", { status: 503 }),
    "/lists": page("Lists", ["/lists/1", "/lists/2"]),
    "/lists/1": page("L1", [], canonical("/lists")),
    "/lists/2": page("L2", [], canonical("/")),
  });
  for (const n of numbers(12)) site.set(`/wide/${n}`, page(`Wide ${n}`));
  for (const n of numbers(60)) site.set(`/cal/${n}`, page(`Day ${n}`, [`/cal/${n + 1}`, `/cal/${n}?view=week`]));
  app = await startTestApp({ config: webConfig([site.host, other.host]) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await other.stop();
});

const at = (path: string) => site.url + path;

describe("a crawl", () => {
  test("returns each page of the site once", async () => {
    const from = site.hits.length;
    const result = await crawl(app, { url: at("/"), limit: 50 });
    expect(result).toMatchObject({ success: true, status: "completed", url: at("/") });
    expect(pathsOf(result)).toEqual(["/", "/A1", "/a", "/b/", "/c", "/new"]);
    expect(result.data.find(({ metadata }) => metadata.title === "A")).toMatchObject({
      markdown: expect.stringContaining("This is the page about A"),
      metadata: { sourceURL: at("/a"), statusCode: 200 },
    });
    expect(result.errors.map(({ url, code }) => [new URL(url).pathname, code]).sort()).toEqual([
      ["/away", "scrape_failed"],
      ["/bad", "scrape_upstream_error"],
      ["/secret", "scrape_failed"],
    ]);
    for (const { message } of result.errors) expect(message).not.toBe("");
    expect([result.completed, result.total, result.creditsUsed]).toEqual([9, 9, 8]);
    expect(result.expiresAt).toBe(result.expires_at);
    expect(Date.parse(result.expires_at)).toBeGreaterThan(Date.parse(result.created_at));
    // A page that is linked by several spellings is fetched once. Pages that robots.txt forbids and files are never fetched.
    const hits = site.hits.slice(from);
    expect(hits.filter((hit) => /^\/(?:a|b|c)\b/.test(hit)).sort()).toEqual(["/a", "/b-print", "/b/", "/c?y=2&x=1"]);
    expect(hits.filter((hit) => /secret|photo|paper/.test(hit))).toEqual([]);
  });

  test("takes its formats from the request, or from scrapeOptions", async () => {
    const own = await crawl(app, { url: at("/d/3"), formats: ["html", "links"] });
    expect(Object.keys(own.data[0] ?? {}).sort()).toEqual(["html", "links", "metadata"]);
    const nested = await crawl(app, {
      url: at("/nav"),
      limit: 1,
      scrapeOptions: { formats: ["links"], onlyMainContent: false },
    });
    expect(nested.data[0]?.links).toEqual([at("/nav/1"), at("/nav/2")]);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["depth 1", { max_depth: 1 }, ["/d", "/d/1"]],
    ["depth 2, in camelCase", { maxDepth: 2 }, ["/d", "/d/1", "/d/2"]],
    ["no depth limit", {}, ["/d", "/d/1", "/d/2", "/d/3"]],
  ])("%s", async (_, extra, paths) => {
    expect(pathsOf(await crawl(app, { url: at("/d"), ...extra }))).toEqual(paths);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["include", { include_paths: ["/p/x/*"] }, ["/p/x/1", "/p/x/2", "/p/x/3"]],
    ["include without a slash", { includePaths: ["p/x/**"] }, ["/p/x/1", "/p/x/2", "/p/x/3", "/p/x/deep/er"]],
    ["include with the root", { include_paths: ["/p", "/p/y/*"] }, ["/p", "/p/y/1"]],
    ["exclude", { exclude_paths: ["/p/x/**"] }, ["/p", "/p/y/1"]],
    ["exclude wins", { include_paths: ["/p/**"], excludePaths: ["**/1"] }, ["/p/x/2", "/p/x/deep/er"]],
    ["whole addresses", { include_paths: ["http://*/p/y/*"] }, ["/p/y/1"]],
  ])("%s", async (_, extra, paths) => {
    const from = site.hits.length;
    const result = await crawl(app, { url: at("/p"), ...extra });
    expect(pathsOf(result)).toEqual(paths);
    // Unwanted pages are not fetched. Only the root is always fetched, for its links.
    const fetched = new Set(site.hits.slice(from).filter((hit) => hit !== "/robots.txt"));
    expect([...fetched].sort()).toEqual([...new Set(["/p", ...paths])].sort());
  });

  test("follows links in the parts that it removes", async () => {
    const result = await crawl(app, { url: at("/nav") });
    expect(pathsOf(result)).toEqual(["/nav", "/nav/1", "/nav/2"]);
    expect(result.data[0]?.markdown).not.toContain("one");
  });

  test("limit counts fetched pages, the nearest ones first", async () => {
    const from = site.hits.length;
    const result = await crawl(app, { url: at("/wide"), limit: 4 });
    expect(pathsOf(result)).toHaveLength(4);
    expect(result.data[0]?.metadata.sourceURL).toBe(at("/wide"));
    expect(site.hits.slice(from).filter((hit) => hit.startsWith("/wide"))).toHaveLength(4);
    expect([result.completed, result.total]).toEqual([4, 4]);
    expect((await crawl(app, { url: at("/wide") })).completed).toBe(10);
  });

  test("a site without end ends at the limit", async () => {
    const result = await crawl(app, { url: at("/cal"), limit: 20 });
    expect([result.status, result.completed]).toEqual(["completed", 20]);
  });

  test("a canonical address unites two pages, but not a whole site", async () => {
    expect(pathsOf(await crawl(app, { url: at("/lists") }))).toEqual(["/lists", "/lists/2"]);
  });

  test("a crawl whose root redirects stays on the site of the target", async () => {
    const front = startFakeSite({ "/": redirect(`${site.url}/d/2`) });
    await app.reconfigure(webConfig([site.host, other.host, front.host]));
    expect(pathsOf(await crawl(app, { url: `${front.url}/` }))).toEqual(["/d/2", "/d/3"]);
    await front.stop();
  });

  test("the data is divided into pages", async () => {
    const id = await startCrawl(app, { url: at("/wide"), limit: 7 });
    const all = await ended(app, id);
    expect(all.next).toBeUndefined();
    const seen: string[] = [];
    let next: string | undefined = `${app.url}/v1/crawl/${id}?limit=3`;
    while (next !== undefined) {
      const part = await poll(app, id, new URL(next).search);
      expect(part.data.length).toBeLessThanOrEqual(3);
      seen.push(...part.data.map(({ metadata }) => metadata.sourceURL));
      next = part.next;
    }
    expect(seen).toEqual(all.data.map(({ metadata }) => metadata.sourceURL));
    expect((await poll(app, id, "?skip=6")).data).toHaveLength(1);
    expect((await poll(app, id, "?offset=7")).data).toEqual([]);
    for (const query of ["?limit=0", "?limit=x", "?offset=-1", "?limit=101"])
      expect((await app.call(`/v1/crawl/${id}${query}`)).status).toBe(400);
  });
});

describe("failures", () => {
  test("a root that cannot be fetched fails the job", async () => {
    const result = await crawl(app, { url: at("/dead") });
    expect(result).toMatchObject({ success: true, status: "failed", data: [], error: expect.stringContaining("503") });
    const unknown = await crawl(app, { url: "http://nothing.invalid/" });
    expect([unknown.status, unknown.errors[0]?.code]).toEqual(["failed", "scrape_upstream_error"]);
  });

  test("the hard limit fails it and keeps the pages", async () => {
    site.set("/hang", page("Hang", ["/hang/on"]));
    site.set(
      "/hang/on",
      (request) => new Promise((done) => request.signal.addEventListener("abort", () => done(html("")))),
    );
    const clock = new FakeClock(Date.parse("2030-01-01T00:00:00Z"));
    const own = await startTestApp({ config: webConfig([site.host], { job_timeout: "1h" }), clock });
    const id = await startCrawl(own, { url: at("/hang") });
    while ((await poll(own, id)).completed < 1) await Bun.sleep(10);
    // The timer uses the machine's clock. After a restart, the program sets it to the remaining time.
    clock.advance(3_600_000);
    await own.restart();
    const result = await ended(own, id);
    expect([result.status, pathsOf(result)]).toEqual(["failed", ["/hang"]]);
    await own.stop();
  });

  test.each<[string, Record<string, unknown>, string, string | null]>([
    ["no url", { url: undefined }, "invalid_request", "url"],
    ["a private root", { url: "http://127.0.0.1:1234/" }, "url_not_allowed", "url"],
    ["limit 0", { limit: 0 }, "invalid_request", "limit"],
    ["limit 101", { limit: 101 }, "invalid_request", "limit"],
    ["max_depth 0", { max_depth: 0 }, "invalid_request", "max_depth"],
    ["max_depth 11", { max_depth: 11 }, "invalid_request", "max_depth"],
    ["maxDepth as text", { maxDepth: "2" }, "invalid_request", "maxDepth"],
    ["a format", { formats: ["x"] }, "invalid_request", "formats[0]"],
    ["include_paths as text", { include_paths: "/a" }, "invalid_request", "include_paths"],
    ["an exclude that is no text", { exclude_paths: ["/a", 1] }, "invalid_request", "exclude_paths[1]"],
    ["an empty pattern", { includePaths: [""] }, "invalid_request", "includePaths[0]"],
    ["too many patterns", { exclude_paths: numbers(101).map(String) }, "invalid_request", "exclude_paths"],
  ])("refuses %s", async (_, body, code, param) => {
    const response = await app.post("/v1/crawl", { url: at("/"), ...body });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: object }).error).toMatchObject({ code, param });
  });
});

describe("the lifecycle of a crawl", () => {
  test("polls while it runs; cancelling keeps the pages and is final", async () => {
    const gate = Promise.withResolvers<void>();
    site.set("/held", page("Held", ["/held/1", "/held/2"]));
    site.set("/held/1", page("Held 1"));
    site.set("/held/2", async () => {
      await gate.promise;
      return html(page("Held 2"));
    });
    const id = await startCrawl(app, { url: at("/held") });
    await site.asked("/held/2");
    let running = await poll(app, id);
    while (running.completed < 2) running = await poll(app, id);
    expect(running).toMatchObject({ status: "scraping", total: 3, completed: 2 });
    const cancel = async () => {
      const response = await app.call(`/v1/crawl/${id}`, { method: "DELETE" });
      return [response.status, await response.json()];
    };
    expect(await cancel()).toEqual([200, { success: true, status: "cancelled", id, job_id: id }]);
    gate.resolve();
    expect(await cancel()).toEqual([200, { success: true, status: "cancelled", id, job_id: id }]);
    const result = await poll(app, id);
    expect(result.status).toBe("cancelled");
    expect(pathsOf(result)).toEqual(["/held", "/held/1"]);
    const done = await startCrawl(app, { url: at("/d/3") });
    await ended(app, done);
    const response = await app.call(`/v1/crawl/${done}`, { method: "DELETE" });
    expect(await response.json()).toMatchObject({ success: true, status: "completed" });
  });

  test("only its account can see it, and unknown jobs are answered with 404", async () => {
    const id = await startCrawl(app, { url: at("/d/3") });
    const store = await app.openStore();
    const stranger = await accountStore(store).createAccount({
      username: "eve",
      email: "eve@example.com",
      tier: "premium",
    });
    if ("refused" in stranger) throw new Error(stranger.refused);
    const { key } = await keyStore(store).createKey({ accountId: stranger.id, name: "eve" });
    await store.close();
    const asks: [string, Record<string, string>][] = [
      [id, { authorization: `Bearer ${key}` }],
      ["crawl_unknown", {}],
    ];
    for (const [job, headers] of asks) {
      for (const method of ["GET", "DELETE"]) {
        const response = await app.call(`/v1/crawl/${job}`, { method, headers });
        expect(response.status).toBe(404);
        expect(((await response.json()) as { error: object }).error).toMatchObject({ code: "crawl_job_not_found" });
        expect(response.headers.get("x-ratelimit-limit")).toBeNull();
      }
    }
    expect((await ended(app, id)).status).toBe("completed");
    expect((await fetch(`${app.url}/v1/crawl/${id}`)).status).toBe(401);
  });

  test("a crawl is deleted as soon as its time to live has passed", async () => {
    const clock = new FakeClock(Date.parse("2030-01-01T00:00:00Z"));
    const own = await startTestApp({ config: webConfig([site.host], { job_ttl: "1h" }), clock });
    const id = await startCrawl(own, { url: at("/d/3") });
    const done = await ended(own, id);
    expect(done.expires_at).toBe("2030-01-01T01:00:00.000Z");
    clock.advance(3_599_999);
    expect((await own.call(`/v1/crawl/${id}`)).status).toBe(200);
    clock.advance(1);
    expect((await own.call(`/v1/crawl/${id}`)).status).toBe(404);
    await own.stop();
  });

  test("a restart continues where it stopped, and loads nothing again", async () => {
    const quick = numbers(6).map((n) => `/again/${n}`);
    site.set("/again", page("Again", [...quick, "/again/slow"]));
    for (const path of quick) site.set(path, page(path));
    let gate = Promise.withResolvers<void>();
    site.set("/again/slow", async (request) => {
      request.signal.addEventListener("abort", () => gate.resolve());
      await gate.promise;
      return html(page("Slow", ["/again/last"]));
    });
    site.set("/again/last", page("Last"));
    const own = await startTestApp({ config: webConfig([site.host]) });
    const id = await startCrawl(own, { url: at("/again"), limit: 50 });
    while ((await poll(own, id)).completed < 7) await Bun.sleep(10);
    const restarted = own.restart();
    await site.asked("/again/slow");
    gate.resolve();
    await restarted;
    gate = Promise.withResolvers<void>();
    gate.resolve();
    const result = await ended(own, id);
    expect(pathsOf(result)).toEqual(["/again", ...quick, "/again/last", "/again/slow"].sort());
    for (const path of ["/again", ...quick, "/again/slow", "/again/last"])
      expect([path, site.count(path)]).toEqual([path, 1]);
    expect([result.completed, result.creditsUsed]).toEqual([9, 9]);
    await own.stop();
  });
});
