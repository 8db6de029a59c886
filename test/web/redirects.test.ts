// Pages that redirect to another host: requests to that host are scheduled too, and its robots.txt applies.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { crawl, pathsOf, webConfig } from "./support.ts";

let from: FakeSite;
let to: FakeSite;
let app: TestApp;
const redirect = (path: string) => () =>
  new Response(null, { status: 302, headers: { location: path.startsWith("/") ? path : `${to.url}/${path}` } });

beforeAll(async () => {
  from = startFakeSite({
    "/": page("Root", ["/away", "/away-closed", "/other"]),
    "/away": redirect("open"),
    "/away-closed": redirect("closed"),
    "/through": redirect("back"),
    "/round": redirect("/round"),
    "/other": page("Other"),
    "/home": page("Home"),
  });
  to = startFakeSite({
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed\nDisallow: /back"),
    "/open": page("Open"),
    "/closed": page("Closed"),
    "/back": () => new Response(null, { status: 302, headers: { location: `${from.url}/home` } }),
  });
  app = await startTestApp({ config: webConfig([from.host, to.host]) });
});
afterAll(async () => {
  await app.stop();
  await from.stop();
  await to.stop();
});

const scrape = async (url: string, body: Record<string, unknown> = {}, on = app) => {
  const response = await on.post("/v1/scrape", { url, ...body });
  const answer = (await response.json()) as {
    data?: { markdown: string; metadata: { sourceURL: string } };
    error?: { code: string; message: string };
  };
  return { status: response.status, ...answer };
};

test("a forbidden page of another host is not loaded, nor is its redirect target", async () => {
  const counts = () => [to.count("/closed"), to.count("/back"), from.count("/home")];
  const before = counts();
  expect((await scrape(`${from.url}/away`)).data?.metadata.sourceURL).toBe(`${to.url}/open`);
  for (const path of ["/away-closed", "/through"]) {
    const { status, error } = await scrape(from.url + path);
    expect([status, error?.code]).toEqual([422, "scrape_failed"]);
    expect(error?.message).toContain("robots.txt");
  }
  expect(counts()).toEqual(before);
  const result = await crawl(app, { url: `${from.url}/` });
  expect(result.errors.map(({ url }) => new URL(url).pathname)).toContain("/away-closed");
  expect(pathsOf(result)).toContain("/other");
  expect(counts()).toEqual(before);
});

test("the request to the other host waits for its turn, and the first host's place is free meanwhile", async () => {
  const held: (() => void)[] = [];
  const hold = async () => {
    await new Promise<void>((done) => held.push(done));
    return html(page("Held"));
  };
  for (const n of [1, 2, 3, 4]) to.set(`/held/${n}`, hold);
  const before = to.count("/open");
  const holding = [1, 2, 3, 4].map((n) => scrape(`${to.url}/held/${n}`));
  while (held.length < 4) await Bun.sleep(2);
  // Five requests wait for the host that has no free place.
  const asked = from.count("/away");
  const waiting = Array.from({ length: 5 }, () => scrape(`${from.url}/away`));
  while (from.count("/away") < asked + 5) await Bun.sleep(2);
  // All places of the host that redirected them are free.
  expect((await scrape(`${from.url}/other`)).status).toBe(200);
  expect(to.count("/open")).toBe(before);
  held.pop()?.();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(to.count("/open")).toBe(before + 5);
  for (const done of held) done();
  await Promise.all(holding);
});

test("the wait counts towards the page's time limit", async () => {
  const slow = startFakeSite({
    "/robots.txt": () => new Response("User-agent: *\nCrawl-delay: 30"),
    "/": page("Slow"),
    "/again": page("Again"),
  });
  const own = await startTestApp({ config: webConfig([from.host, slow.host]) });
  from.set("/slow", () => new Response(null, { status: 302, headers: { location: `${slow.url}/again` } }));
  expect((await scrape(`${slow.url}/`, {}, own)).status).toBe(200);
  const { status, error } = await scrape(`${from.url}/slow`, { timeout_ms: 1000 }, own);
  expect([status, error?.code, slow.count("/again")]).toEqual([504, "scrape_timeout", 0]);
  await own.stop();
  await slow.stop();
});

test.skipIf(CHROMIUM === undefined)(
  "a page whose script leads to a forbidden one is refused, unless it was a page without its script",
  async () => {
    const closedBefore = to.count("/closed");
    const [always, auto] = await Promise.all(
      ["always", "auto"].map((render) => startTestApp({ config: webConfig([from.host, to.host], { render }) })),
    );
    // The page has enough text. A page that only redirects is followed without a browser too.
    const text = `<p>${"A page with words of its own. ".repeat(10)}</p>`;
    const leading = (path: string) => page("Leading", [], `${text}<script>location.href = "${to.url}${path}"</script>`);
    from.set("/script-open", leading("/open"));
    from.set("/script-closed", leading("/closed"));
    const open = await scrape(`${from.url}/script-open`, {}, always);
    expect(open.data?.metadata.sourceURL).toBe(`${to.url}/open`);
    const closed = await scrape(`${from.url}/script-closed`, {}, always);
    expect([closed.status, closed.error?.code]).toEqual([422, "scrape_failed"]);
    expect((await scrape(`${from.url}/script-closed`, {}, auto)).data?.markdown).toContain("about Leading");
    from.set("/only-closed", page("", [], `<script>location.href = "${to.url}/closed"</script>`));
    expect((await scrape(`${from.url}/only-closed`, {}, auto)).error?.code).toBe("scrape_failed");
    expect(to.count("/closed")).toBe(closedBefore);
    // A redirect by the server is followed before permission is checked. The page that it leads to is not returned.
    let asked = 0;
    from.set("/turns", () => (asked++ === 0 ? html(page("First")) : redirect("closed")()));
    const turned = await scrape(`${from.url}/turns`, {}, always);
    expect([turned.status, turned.error?.code]).toEqual([422, "scrape_failed"]);
    await always?.stop();
    await auto?.stop();
  },
  60_000,
);
