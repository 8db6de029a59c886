// The number of single pages that may be loaded at the same time.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "./support.ts";

/** The pages of each site that were requested and are not answered yet. */
const held: (() => void)[] = [];
let sites: FakeSite[];
let app: TestApp;

beforeAll(async () => {
  sites = [1, 2, 3, 4].map(() =>
    startFakeSite({
      "/": page("Root"),
      "/held": async () => {
        await new Promise<void>((done) => held.push(done));
        return html(page("Held"));
      },
      "/closed": page("Closed"),
      "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed"),
    }),
  );
  app = await startTestApp({
    config: webConfig(
      sites.map(({ host }) => host),
      { single_concurrency: 2 },
    ),
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all(sites.map((site) => site.stop()));
});

test("scrapes and maps beyond the limit wait, within their time", async () => {
  const [one, two, three, four] = sites as [FakeSite, FakeSite, FakeSite, FakeSite];
  const first = [one, two].map((site) => app.post("/v1/scrape", { url: `${site.url}/held` }));
  while (held.length < 2) await Bun.sleep(2);
  const late = await app.post("/v1/scrape", { url: `${three.url}/`, timeout_ms: 1000 });
  expect([late.status, ((await late.json()) as { error: { code: string } }).error.code]).toEqual([
    504,
    "scrape_timeout",
  ]);
  const lateMap = await app.post("/v1/map", { url: `${three.url}/`, timeout_ms: 1000 });
  expect([lateMap.status, ((await lateMap.json()) as { error: { code: string } }).error.code]).toEqual([
    504,
    "map_timeout",
  ]);
  // A forbidden page is refused without a free place.
  expect((await app.post("/v1/scrape", { url: `${three.url}/closed` })).status).toBe(422);
  const waiting = [
    app.post("/v1/scrape", { url: `${three.url}/` }),
    app.post("/v1/map", { url: `${four.url}/` }),
    app.post("/v1/scrape", { url: `${four.url}/` }),
  ];
  while ((await singles("waiting")) < 3) await Bun.sleep(2);
  expect(await singles("running")).toBe(2);
  expect([three.count("/"), four.count("/"), four.count("/sitemap.xml")]).toEqual([0, 0, 0]);
  held.shift()?.();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
  held.shift()?.();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
});

test("pages that wait for their host do not block others", async () => {
  const [one, two] = sites as [FakeSite, FakeSite];
  await app.reconfigure(
    webConfig(
      sites.map(({ host }) => host),
      { single_concurrency: 6 },
    ),
  );
  const holding = Array.from({ length: 10 }, () => app.post("/v1/scrape", { url: `${one.url}/held` }));
  while (held.length < 4) await Bun.sleep(2);
  expect((await app.post("/v1/scrape", { url: `${two.url}/` })).status).toBe(200);
  const release = setInterval(() => held.shift()?.(), 2);
  expect(new Set((await Promise.all(holding)).map(({ status }) => status))).toEqual(new Set([200]));
  clearInterval(release);
});

async function singles(state: string): Promise<number> {
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  return Number(new RegExp(`^sallyport_single_pages\\{state="${state}"\\} (\\d+)$`, "m").exec(metrics)?.[1]);
}
