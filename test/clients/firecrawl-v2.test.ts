// Firecrawl's current client (the v2 API) against the running program; only its address is changed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "firecrawl";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { type Program, startProgram } from "../support/program.ts";

// Each step waits for an event, however busy the machine is; the limits only end a wait that would last forever.

let site: FakeSite;
let app: Program;
let client: Firecrawl;

beforeAll(async () => {
  site = startFakeSite({
    "/": page("Home", ["/a", "/b", "/hidden/x"]),
    "/a": page("A", ["/a/1"]),
    "/a/1": page("A1"),
    "/b": page("B"),
    "/hidden/x": page("X"),
    "/bad": () => html("no", { status: 500 }),
  });
  app = await startProgram({ web: { allow_hosts: [site.host], render: "never" } });
  client = new Firecrawl({ apiKey: app.key, apiUrl: app.url });
}, 900_000);
afterAll(async () => {
  await app.stop();
  await site.stop();
});

test("scrape", async () => {
  const found = await client.scrape(`${site.url}/a`, { formats: ["markdown", "links", "rawHtml"], timeout: 300_000 });
  expect(found.markdown).toContain("This is the page about A");
  expect(found.links).toEqual([`${site.url}/a/1`]);
  expect(found.rawHtml).toStartWith("<!doctype html>");
  expect(found.metadata).toMatchObject({ title: "A", sourceURL: `${site.url}/a`, statusCode: 200 });
}, 900_000);

test("a failure has a message and is not retried", async () => {
  await expect(client.scrape(`${site.url}/a`, { formats: ["smoke" as "markdown"] })).rejects.toThrow(
    /formats\[0\] must/,
  );
  const before = site.count("/bad");
  await expect(client.scrape(`${site.url}/bad`)).rejects.toThrow("The server answered 500.");
  // The gateway repeats the request to the site; the client does not, although it would after a 502.
  expect(site.count("/bad") - before).toBeLessThanOrEqual(3);
}, 900_000);

const paths = (pages: readonly { metadata?: { sourceURL?: string } }[]) =>
  pages.map(({ metadata }) => new URL(metadata?.sourceURL ?? "").pathname).sort();

test("crawl, its paging, its errors and its cancellation", async () => {
  const found = await client.crawl(site.url, {
    limit: 10,
    maxDiscoveryDepth: 3,
    excludePaths: ["^/hidden/"],
    scrapeOptions: { formats: ["markdown", { type: "attributes", selectors: [{ selector: "h1", attribute: "id" }] }] },
    pollInterval: 1,
  });
  expect([found.status, found.total, found.completed]).toEqual(["completed", 4, 4]);
  expect(paths(found.data)).toEqual(["/", "/a", "/a/1", "/b"]);
  expect(found.data[0]?.attributes).toEqual([{ selector: "h1", attribute: "id", values: [] }]);
  const started = await client.startCrawl(`${site.url}/`, { limit: 100 });
  expect(started.url).toBe(`${app.url}/v2/crawl/${started.id}`);
  const { crawls } = await client.getActiveCrawls();
  expect(crawls.every(({ url }) => url === `${site.url}/`)).toBe(true);
  for (;;) {
    const status = await client.getCrawlStatus(started.id);
    if (status.status !== "scraping") break;
    await Bun.sleep(20);
  }
  const page = await fetch(`${app.url}/v2/crawl/${started.id}?limit=2`, {
    headers: { authorization: `Bearer ${app.key}` },
  });
  const first = (await page.json()) as { data: unknown[]; next: string };
  expect([first.data.length, first.next]).toEqual([2, `${app.url}/v2/crawl/${started.id}?skip=2&limit=2`]);
  expect(await client.getCrawlErrors(started.id)).toEqual({ errors: [], robotsBlocked: [] });
  // The job has ended already.
  expect(await client.cancelCrawl(started.id)).toBe(false);
  await expect(client.getCrawlStatus("crawl_unknown")).rejects.toThrow("There is no crawl with this id");
}, 900_000);

test("batchScrape, what is no address, and pages that are added", async () => {
  const found = await client.batchScrape([`${site.url}/a`, "no address", `${site.url}/b`, `${site.url}/bad`], {
    options: { formats: ["markdown", "links"] },
    ignoreInvalidURLs: true,
    pollInterval: 1,
  });
  expect([found.status, found.total, found.completed]).toEqual(["completed", 3, 3]);
  expect(paths(found.data)).toEqual(["/a", "/b"]);
  expect((await client.getBatchScrapeErrors(found.id as string)).errors).toMatchObject([
    { url: `${site.url}/bad`, code: "scrape_upstream_error", error: "The server answered 500." },
  ]);
  const started = await client.startBatchScrape([`${site.url}/a`, "no address"], { ignoreInvalidURLs: true });
  expect(started.invalidURLs).toEqual(["no address"]);
  await expect(client.startBatchScrape([`${site.url}/b`], { appendToId: found.id as string })).rejects.toThrow(
    "has ended",
  );
  await client.cancelBatchScrape(started.id);
}, 900_000);

test("what is asked of the account", async () => {
  expect((await client.getCreditUsage()).remainingCredits).toBeGreaterThan(0);
  expect((await client.getTokenUsage()).remainingTokens).toBeGreaterThan(0);
  expect(await client.getConcurrency()).toMatchObject({ maxConcurrency: 8 });
  expect(await client.getQueueStatus()).toMatchObject({ success: true, maxConcurrency: 8 });
  expect(await client.getCreditUsageHistorical()).toMatchObject({ periods: [] });
  expect(await client.getTokenUsageHistorical()).toMatchObject({ periods: [] });
}, 900_000);

test("what only the hosted service has says so in words", async () => {
  await expect(client.startAgent({ prompt: "Find it." })).rejects.toThrow("does not exist here");
}, 900_000);

test("the options of a crawl from a prompt are the defaults, which a warning says", async () => {
  const { warning, ...options } = await client.crawlParamsPreview(site.url, "All posts");
  expect(warning).toBeString();
  expect(options).toMatchObject({ url: site.url });
}, 900_000);

test("the watcher gets the documents of a job and its end", async () => {
  const { id } = await client.startCrawl(site.url, { limit: 4, excludePaths: ["^/hidden/"] });
  const watcher = client.watcher(id, { kind: "crawl" });
  const seen: { metadata?: { sourceURL?: string } }[] = [];
  watcher.on("document", (document) => seen.push(document));
  const failed = Promise.withResolvers<never>();
  watcher.on("error", (error) => failed.reject(new Error(JSON.stringify(error))));
  const done = new Promise<{ status: string }>((resolve) => watcher.on("done", resolve));
  await Promise.race([watcher.start(), failed.promise]);
  expect((await done).status).toBe("completed");
  expect(paths(seen)).toEqual(["/", "/a", "/a/1", "/b"]);
  watcher.close();
}, 900_000);
