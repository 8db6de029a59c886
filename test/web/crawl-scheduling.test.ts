// How several crawls on one machine, and several pages of one host, are scheduled.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { ended, poll, startCrawl, webConfig } from "./support.ts";

const LEAVES = Array.from({ length: 40 }, (_, index) => `/${index}`);

/** A site that counts how many of its pages are requested at the same time, and takes some time to answer each of them. */
function slowSite(robots = ""): FakeSite & { most(): number; starts: number[] } {
  let open = 0;
  let most = 0;
  const starts: number[] = [];
  const leaf = (path: string) => async () => {
    starts.push(performance.now());
    open += 1;
    most = Math.max(most, open);
    await Bun.sleep(10);
    open -= 1;
    return html(page(path));
  };
  const site = startFakeSite({
    "/": page("Root", LEAVES),
    "/robots.txt": () => new Response(robots),
    ...Object.fromEntries(LEAVES.map((path) => [path, leaf(path)])),
  });
  return Object.assign(site, { most: () => most, starts });
}

let sites: ReturnType<typeof slowSite>[];
let app: TestApp;
beforeAll(async () => {
  const slow = "User-agent: *\nCrawl-delay: 0.1";
  sites = [slowSite(), slowSite(), slowSite(slow), slowSite(), slowSite(slow), slowSite(), slowSite()];
  app = await startTestApp({
    config: webConfig(
      sites.map(({ host }) => host),
      { concurrency: 4 },
    ),
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all(sites.map((site) => site.stop()));
});

test("a crawl loads few pages of one host at the same time, and a second crawl gets its share", async () => {
  const [first, second] = sites as unknown as [FakeSite, FakeSite];
  const one = await startCrawl(app, { url: first.url, limit: 41 });
  await first.asked("/0");
  const two = await startCrawl(app, { url: second.url, limit: 41 });
  const order: string[] = [];
  await Promise.all([
    ended(app, one).then(() => order.push("one")),
    second.asked("/0").then(() => order.push("second began")),
    ended(app, two).then(() => order.push("two")),
  ]);
  // The second crawl did not wait until the first one had ended.
  expect(order[0]).toBe("second began");
  for (const site of sites.slice(0, 2)) expect(site.most()).toBeLessThanOrEqual(4);
});

test("requests to a host are separated by its crawl-delay", async () => {
  const site = sites[2] as ReturnType<typeof slowSite>;
  const began = performance.now();
  await ended(app, await startCrawl(app, { url: site.url, limit: 6 }));
  // The root page and five others. However busy the machine is, the last one cannot start before five delays have passed.
  expect(site.starts).toHaveLength(5);
  expect(Math.max(...site.starts) - began).toBeGreaterThan(490);
});

test("all crawls and scrapes together load few pages of one host at the same time", async () => {
  const site = sites[3] as ReturnType<typeof slowSite>;
  const crawls = [1, 2, 3].map(async (n) => ended(app, await startCrawl(app, { url: `${site.url}/?${n}`, limit: 30 })));
  const scrapes = LEAVES.slice(0, 12).map(
    async (path) => (await app.post("/v1/scrape", { url: site.url + path })).status,
  );
  expect(new Set(await Promise.all(scrapes))).toEqual(new Set([200]));
  for (const { status, completed } of await Promise.all(crawls)) expect([status, completed]).toEqual(["completed", 30]);
  expect(site.starts.length).toBeGreaterThan(3 * 29);
  expect(site.most()).toBeLessThanOrEqual(4);
});

test("a host's crawl-delay also applies between a crawl and scrapes", async () => {
  const site = sites[4] as ReturnType<typeof slowSite>;
  const began = performance.now();
  const id = await startCrawl(app, { url: site.url, limit: 3 });
  await Promise.all(LEAVES.slice(10, 13).map((path) => app.post("/v1/scrape", { url: site.url + path })));
  await ended(app, id);
  expect(site.starts).toHaveLength(5);
  expect(Math.max(...site.starts) - began).toBeGreaterThan(490);
});

test("a large crawl delays neither a small one nor a scrape", async () => {
  const [site, quick] = [sites[5], sites[6]] as [FakeSite, FakeSite];
  // Pages are answered one at a time, when the test says so. The result therefore does not depend on the speed of anything.
  const held: (() => void)[] = [];
  for (const path of LEAVES)
    site.set(path, async () => {
      await new Promise<void>((done) => held.push(done));
      return html(page(path));
    });
  site.set("/wanted", page("Wanted"));
  const large = await startCrawl(app, { url: site.url, limit: 41 });
  while (held.length < 4) await Bun.sleep(5);
  // The large crawl has all its places and all places of its host.
  expect([await gauge("sallyport_jobs", "running"), await gauge("sallyport_jobs", "waiting")]).toEqual([1, 0]);
  expect([await gauge("sallyport_job_pages", "running"), await waiting()]).toEqual([4, 0]);
  expect(await gauge("sallyport_conversions", "waiting")).toBe(0);
  const answered: string[] = [];
  const scrape = app.post("/v1/scrape", { url: `${site.url}/wanted` }).then(() => answered.push("scrape"));
  while ((await waiting()) < 1) await Bun.sleep(5);
  const small = startCrawl(app, { url: `${quick.url}/7`, limit: 3 })
    .then((id) => ended(app, id))
    .then(() => answered.push("small"));
  while ((await waiting()) < 2) await Bun.sleep(5);
  held.shift()?.();
  await Promise.all([scrape, small]);
  expect(answered.sort()).toEqual(["scrape", "small"]);
  expect((await poll(app, large)).status).toBe("scraping");
  await app.call(`/v1/crawl/${large}`, { method: "DELETE" });
  for (const done of held) done();
});

/** The number of requests that wait for their turn. */
const waiting = () => gauge("sallyport_job_pages", "waiting");

async function gauge(name: string, state: string): Promise<number> {
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{state="${state}"\\} (\\d+)$`, "m").exec(metrics)?.[1]);
}
