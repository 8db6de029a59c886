// Crawls that are designed to be slow: untrusted input (links of a page, patterns of a request) only occupies a thread, and the
// work ends with its job.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import type { RunningJob } from "../../src/jobs/kind.ts";
import { createConverter } from "../../src/pages/convert/convert.ts";
import { siteLinks } from "../../src/pages/convert/site-links.ts";
import type { LoadPage } from "../../src/pages/load.ts";
import { createHostScheduler } from "../../src/pages/schedule/host-scheduler.ts";
import { crawlKind } from "../../src/web/crawl.ts";
import { LOCAL_JOB, memoryCrawlStore } from "../../src/web/memory-crawl-store.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, page, startFakeSite } from "../support/fake-site.ts";
import { cpuMs } from "../support/real-time.ts";
import { ended, startCrawl, webConfig } from "./support.ts";

/** Patterns that nearly match, in as many ways as possible. */
const PATTERNS = Array.from({ length: 100 }, () => `/${"**a".repeat(14)}b0`);
const links = Array.from({ length: 500 }, (_, index) => `/${"a".repeat(1900)}${index}`);
const task = {
  links: links.map((path) => `http://site.example${path}`).join("\n"),
  own: ["http://site.example/"],
  sites: ["site.example"],
  includes: [],
  excludes: PATTERNS,
  documents: false,
};

let site: FakeSite;
let app: TestApp;
const converter = createConverter(1);

beforeAll(async () => {
  site = startFakeSite({ "/": page("Root", links) });
  app = await startTestApp({ config: webConfig([site.host]) });
});
afterAll(async () => {
  converter.close();
  await app.stop();
  await site.stop();
});

test("others are answered while a crawl holds many long links against many patterns", async () => {
  const id = await startCrawl(app, { url: `${site.url}/`, limit: 1, exclude_paths: PATTERNS });
  const done = ended(app, id);
  let answered = 0;
  let isDone = false;
  void done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    expect((await app.call("/livez")).status).toBe(200);
    answered += 1;
  }
  expect((await done).status).toBe("completed");
  // When the patterns were matched on the event loop, hardly any request was answered for 20 seconds.
  expect(answered).toBeGreaterThan(20);
}, 60_000);

test.each([
  ["**", `/${"**a".repeat(14)}b0`],
  ["*", `/${"*a".repeat(14)}b0`],
  ["?", `/**${"?a".repeat(14)}b0`],
  ["text", `/**${"a".repeat(450)}b`],
])(
  "comparing has an end for patterns made of %s",
  (_, pattern) => {
    expect(cpuMs(() => siteLinks({ ...task, excludes: Array.from({ length: 100 }, () => pattern) }))).toBeLessThan(
      15_000,
    );
  },
  60_000,
);

test("a crawl whose frontier is full compares no more links", async () => {
  const most: (number | undefined)[] = [];
  const found = Array.from({ length: 1000 }, (_, index) => `site.example/${index}`).join("\n");
  const picked = { keys: found, urls: found.replace(/^/gm, "http://"), isOwnWanted: true };
  const load: LoadPage = async ({ url, pickAt }) => {
    most.push(pickAt?.(url).most);
    const metadata = { title: url, description: "", language: "" };
    return { url, status: 200, rendered: false, markdown: url, allLinks: "", picked, metadata, needsScript: undefined };
  };
  const clock = new FakeClock();
  const places = { jobs: () => 4, singles: () => 4, browser: () => 1 };
  const crawls = crawlKind({
    load,
    store: memoryCrawlStore(() => undefined),
    fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    scheduler: createHostScheduler(clock, places),
    claimOf: async () => ({ host: "site.example", delayMs: 0 }),
    pickLinks: converter.pickLinks,
    robots: { rulesFor: () => Promise.reject(new Error("Robots are not asked.")) },
    settings: () => ({ respectRobots: false }),
    problem: () => undefined,
  });
  const input = { url: "http://site.example/", limit: 4, maxDepth: null, includePaths: [], excludePaths: PATTERNS };
  const shape = { formats: ["markdown"], onlyMainContent: true, fullPage: false, documents: false };
  const job = {
    ...LOCAL_JOB,
    kind: "crawl",
    input: { ...input, ...shape },
    progress: {},
    attempts: 1,
    deadlineAtMs: 0,
  };
  const winding = new AbortController().signal;
  const saveProgress = async () => undefined;
  await crawls.run({ ...job, winding, saveProgress } as unknown as RunningJob, winding);
  expect(most).toEqual([1000, 0, 0, 0]);
});

test("an aborted job stops comparing at once", async () => {
  const abort = new AbortController();
  const picking = converter.pickLinks(task, { account: "", timeoutMs: 60_000, signal: abort.signal });
  abort.abort(new Error("cancelled"));
  await expect(picking).rejects.toThrow("cancelled");
  expect(converter.load()).toEqual({ running: 0, waiting: 0 });
});

test("a single page does not wait for the pages of jobs", async () => {
  const abort = new AbortController();
  const picking = converter.pickLinks(task, { account: "", timeoutMs: 60_000, signal: abort.signal, later: true });
  const html = { kind: "html", bytes: Buffer.from("<p>Words of a page."), contentType: null } as const;
  const options = { url: "http://site.example/", onlyMainContent: false, markdown: true, html: false, links: false };
  await converter.convert({ ...html, options }, { account: "", timeoutMs: 20_000 });
  expect(converter.load()).toEqual({ running: 1, waiting: 0 });
  abort.abort(new Error("cancelled"));
  await expect(picking).rejects.toThrow("cancelled");
});

test("selects links that are on the site, wanted and new, and says whether the page itself is wanted", () => {
  const { keys, urls, isOwnWanted } = siteLinks({
    ...task,
    links: ["/a#x", "/a/", "/b", "/no", "/c.png"].map((path) => `http://site.example${path}`).join("\n"),
    excludes: ["/no"],
    own: ["http://site.example/no"],
  });
  expect(keys.split("\n")).toEqual(["site.example/a", "site.example/b"]);
  expect(urls.split("\n")).toEqual(["http://site.example/a", "http://site.example/b"]);
  expect(isOwnWanted).toBe(false);
});
