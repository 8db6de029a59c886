// Firecrawl's own client (the v1 API) against the running program; only its address is changed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import FirecrawlApp from "@mendable/firecrawl-js";
import { startTestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { type Program, startProgram } from "../support/program.ts";

let site: FakeSite;
let app: Program;
let client: FirecrawlApp;

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
  client = new FirecrawlApp({ apiKey: app.key, apiUrl: app.url });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

const paths = (pages: { metadata?: { sourceURL?: string } }[]) =>
  pages.map(({ metadata }) => new URL(metadata?.sourceURL ?? "").pathname).sort();

test("scrapeUrl", async () => {
  const result = await client.scrapeUrl(`${site.url}/a`, {
    formats: ["markdown", "links", "rawHtml"],
    onlyMainContent: true,
    timeout: 20_000,
    waitFor: 0,
  });
  if (!result.success) throw new Error(result.error);
  expect(result.markdown).toContain("This is the page about A");
  expect(result.links).toEqual([`${site.url}/a/1`]);
  expect(result.metadata).toMatchObject({ title: "A", sourceURL: `${site.url}/a`, statusCode: 200 });
  expect((await client.scrapeUrl(`${site.url}/b`)).success).toBe(true);
  await expect(client.scrapeUrl(`${site.url}/bad`)).rejects.toThrow("502");
});

test("a failure has a message", async () => {
  const wrong = { formats: ["smoke" as "markdown"] };
  await expect(client.scrapeUrl(`${site.url}/a`, wrong)).rejects.toThrow(/Status code: 400. Error: .*formats/);
  await expect(client.crawlUrl(site.url, { limit: -1 }, 0.05)).rejects.toThrow(/400. Error: limit must/);
  // All other clients receive the format of the specification.
  const plain = await fetch(`${app.url}/v1/scrape`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: `${site.url}/a`, ...wrong }),
  });
  expect(await plain.json()).toMatchObject({ error: { code: "invalid_request", type: "invalid_request_error" } });
});

test("the refusal of a key without a plan has a message", async () => {
  const ended = await startTestApp({ tier: "free", account: { trialEndsAtMs: 1 } });
  try {
    const late = new FirecrawlApp({ apiKey: ended.key, apiUrl: ended.url });
    await expect(late.scrapeUrl(`${site.url}/a`)).rejects.toThrow(/Status code: 402. Error: .*trial/i);
  } finally {
    await ended.stop();
  }
});

test("mapUrl", async () => {
  const result = await client.mapUrl(site.url, { search: "/a", limit: 10, ignoreSitemap: true });
  if (!result.success) throw new Error(result.error);
  expect(result.links).toEqual([`${site.url}/a`]);
});

test("crawlUrl", async () => {
  const result = await client.crawlUrl(
    site.url,
    { limit: 10, maxDepth: 3, excludePaths: ["hidden/**"], scrapeOptions: { formats: ["markdown", "links"] } },
    0.05,
  );
  if (!result.success) throw new Error(result.error);
  expect([result.status, result.total, result.completed, result.creditsUsed]).toEqual(["completed", 4, 4, 4]);
  expect(paths(result.data)).toEqual(["/", "/a", "/a/1", "/b"]);
  expect(result.data[0]?.links).toContain(`${site.url}/b`);
});

test("asyncCrawlUrl, checkCrawlStatus with its paging, and cancelCrawl", async () => {
  const started = await client.asyncCrawlUrl(site.url, { limit: 5 });
  if (!started.success || started.id === undefined) throw new Error("the crawl did not start");
  for (;;) {
    const status = await client.checkCrawlStatus(started.id);
    if (!status.success) throw new Error(status.error);
    expect(status.expiresAt.getTime()).toBeGreaterThan(0);
    if (status.status === "completed") break;
  }
  const first = await client.checkCrawlStatus(started.id, false, undefined, 1, 2);
  if (!first.success || first.next === undefined) throw new Error("there is no next page");
  expect(first.data).toHaveLength(2);
  const rest = await client.checkCrawlStatus(started.id, false, first.next);
  if (!rest.success) throw new Error(rest.error);
  expect(rest.data).toHaveLength(2);
  expect(await client.cancelCrawl(started.id)).toMatchObject({ success: true, status: "completed" });
  await expect(client.checkCrawlStatus("crawl_unknown")).rejects.toThrow("404");
});

test.each([
  ["crawlUrlAndWatch", () => client.crawlUrlAndWatch(site.url, { limit: 4, excludePaths: ["hidden/**"] })],
  [
    "batchScrapeUrlsAndWatch",
    () => client.batchScrapeUrlsAndWatch(["", "a", "a/1", "b"].map((at) => `${site.url}/${at}`)),
  ],
] as const)("a job is watched to its end, with each document: %s", async (_name, start) => {
  const watcher = await start();
  const seen: { metadata?: { sourceURL?: string } }[] = [];
  watcher.addEventListener("document", ({ detail }) => void seen.push(detail));
  let ends = 0;
  const { status } = await new Promise<{ status: string }>((resolve, reject) => {
    watcher.addEventListener("done", ({ detail }) => {
      ends++;
      // A second end would follow at once.
      setImmediate(() => resolve(detail));
    });
    watcher.addEventListener("error", ({ detail }) => reject(new Error(detail.error)));
  });
  expect([status, ends, paths(seen)]).toEqual(["completed", 1, ["/", "/a", "/a/1", "/b"]]);
});

test("generateLLMsText", async () => {
  const result = await client.generateLLMsText(site.url, { maxUrls: 3, showFullText: true });
  if (!result.success) throw new Error("error" in result ? result.error : "it failed");
  if (!("data" in result)) throw new Error("there is no data");
  expect([result.status, new Date(result.expiresAt).getTime() > 0]).toEqual(["completed", true]);
  expect(result.data.llmstxt).toStartWith("# Home\n");
  expect(result.data.llmstxt.match(/^- \[/gm)).toHaveLength(3);
  expect(result.data.llmsfulltxt).toContain(`## A\n\nSource: <${site.url}/a>`);
});

test("asyncGenerateLLMsText, checkGenerateLLMsTextStatus, and failures in words", async () => {
  const started = await client.asyncGenerateLLMsText(site.url, { maxUrls: 1 });
  if (!("id" in started)) throw new Error("it did not start");
  const status = await client.checkGenerateLLMsTextStatus(started.id);
  expect(status).toMatchObject({ success: true, status: "completed" });
  expect("data" in status && "llmsfulltxt" in status.data).toBe(false);
  await expect(client.checkGenerateLLMsTextStatus("llmstxt_unknown")).rejects.toThrow("not found");
  await expect(client.generateLLMsText(`${site.url}/bad`)).rejects.toThrow(/502. Error: The server answered 500/);
  await expect(client.generateLLMsText(site.url, { maxUrls: 101 })).rejects.toThrow(/400. Error: maxUrls must/);
});
