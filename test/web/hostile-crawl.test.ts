// Crawls that are designed to be slow: untrusted input (links of a page, patterns of a request) only occupies a thread, and the
// work ends with its job.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createConverter } from "../../src/pages/convert/convert.ts";
import { siteLinks } from "../../src/pages/convert/site-links.ts";
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
