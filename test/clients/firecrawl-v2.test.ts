// Firecrawl's own client of today (the v2 API) against the running program, unchanged but for its address.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "firecrawl";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { type Program, startProgram } from "../support/program.ts";

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
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

test("scrape", async () => {
  const found = await client.scrape(`${site.url}/a`, { formats: ["markdown", "links", "rawHtml"], timeout: 20_000 });
  expect(found.markdown).toContain("This is the page about A");
  expect(found.links).toEqual([`${site.url}/a/1`]);
  expect(found.rawHtml).toStartWith("<!doctype html>");
  expect(found.metadata).toMatchObject({ title: "A", sourceURL: `${site.url}/a`, statusCode: 200 });
});

test("a failure is told in words, and asked for once", async () => {
  await expect(client.scrape(`${site.url}/a`, { formats: ["smoke" as "markdown"] })).rejects.toThrow(
    /formats\[0\] must/,
  );
  const before = site.count("/bad");
  await expect(client.scrape(`${site.url}/bad`)).rejects.toThrow("The server answered 500.");
  // Tried again politely by the gateway, and not by the client, which would do so after a 502.
  expect(site.count("/bad") - before).toBeLessThanOrEqual(3);
});
