import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let bare: FakeSite;
let large: FakeSite;
let app: TestApp;

const xml = (text: string | Uint8Array<ArrayBuffer>) => () =>
  new Response(text, { headers: { "content-type": "application/xml" } });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const urls = (...locs: string[]) => `<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join("")}</urlset>`;

beforeAll(async () => {
  site = startFakeSite({
    "/": page("Home", ["/linked", "/a#x", "https://elsewhere.example/y"]),
    "/robots.txt": () => new Response(`User-agent: *\nAllow: /\nSitemap: ${site.url}/index.xml`),
    "/index.xml": () =>
      xml(
        `<sitemapindex><sitemap><loc>${site.url}/one.xml.gz</loc></sitemap><sitemap><loc>${site.url}/gone.xml</loc></sitemap>
        <sitemap><loc>${site.url}/broken.xml</loc></sitemap></sitemapindex>`,
      )(),
    "/one.xml.gz": () => xml(Bun.gzipSync(urls(`${site.url}/a`, `${site.url}/a/`, `${site.url}/b?x=1&amp;y=2`)))(),
    "/broken.xml": () => xml(`<urlset><url><loc>${site.url}/broken</loc><url><loc>https://elsewhere.example/z</loc>`)(),
    "/sitemap.xml": () => xml(urls(`${site.url}/c`, `${site.url}/Docs/intro`))(),
  });
  bare = startFakeSite({ "/": page("Bare", ["/x", "/y", "/x/"]), "/only": () => html("no", { status: 500 }) });
  large = startFakeSite({ "/": page("Large", ["/linked"]) });
  app = await startTestApp({ config: webConfig([site.host, bare.host, large.host]) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await bare.stop();
  await large.stop();
});

interface Answer {
  success: boolean;
  links: string[];
  total: number;
  error: { code: string; param: string | null };
}
const map = async (body: Record<string, unknown>): Promise<Answer & { status: number }> => {
  const response = await app.post("/v1/map", body);
  return { status: response.status, ...((await response.json()) as Answer) };
};
const paths = ({ links }: Answer) => links.map((link) => link.replace(/^https?:\/\/[^/]+/, ""));

describe("POST /v1/map", () => {
  test("sitemaps of all kinds and the root's links, each page of the site once", async () => {
    const from = site.hits.length;
    const answer = await map({ url: site.url });
    expect(answer.success).toBe(true);
    expect(paths(answer).sort()).toEqual(["/", "/Docs/intro", "/a", "/b?x=1&y=2", "/broken", "/c", "/linked"]);
    expect(answer.total).toBe(7);
    // Only sitemaps, robots.txt and the root are fetched.
    expect(site.hits.slice(from).filter((hit) => !/\.(?:xml|gz|txt)$/.test(hit))).toEqual(["/"]);
  });

  test("a sitemap that a site names at another host of the operator's is not loaded", async () => {
    const from = bare.hits.length;
    site.set("/robots.txt", () => new Response(`Sitemap: ${bare.url}/named.xml\nSitemap: ${site.url}/away.xml`));
    site.set(
      "/away.xml",
      () => new Response(null, { status: 302, headers: { location: `${bare.url}/redirected.xml` } }),
    );
    await app.reconfigure(webConfig([site.host, bare.host, large.host], { user_agent: "Another/1.0" }));
    expect((await map({ url: site.url })).success).toBe(true);
    expect(site.hits).toContain("/away.xml");
    expect(bare.hits.slice(from)).toEqual([]);
    site.set("/robots.txt", () => new Response(`User-agent: *\nAllow: /\nSitemap: ${site.url}/index.xml`));
    await app.reconfigure(webConfig([site.host, bare.host, large.host]));
  });

  test("without sitemaps the root's links", async () => {
    expect(paths(await map({ url: `${bare.url}/` }))).toEqual(["/", "/x", "/y"]);
  });

  test("search keeps addresses that contain the text literally", async () => {
    expect(paths(await map({ url: site.url, search: "Docs" }))).toEqual(["/Docs/intro"]);
    expect(paths(await map({ url: site.url, search: "docs" }))).toEqual([]);
    expect((await map({ url: site.url, search: site.host })).total).toBe(7);
  });

  test("when sitemaps suffice the root is not fetched", async () => {
    const from = site.hits.length;
    const answer = await map({ url: site.url, limit: 3, ignoreSitemap: false, origin: "js-sdk" });
    expect([answer.total, answer.links.length]).toEqual([3, 3]);
    expect(site.hits.slice(from)).not.toContain("/");
  });

  test("large sitemaps are read in a thread", async () => {
    const listed = numbers(4000).map((n) => `${large.url}/page/${n}?x=1&amp;y=2`);
    large.set("/sitemap.xml", xml(Bun.gzipSync(urls(...listed))));
    const answer = await map({ url: `${large.url}/` });
    expect(answer.total).toBe(4002);
    expect(paths(answer).slice(0, 3)).toEqual(["/", "/page/0?x=1&y=2", "/page/1?x=1&y=2"]);
    // A sitemap of maximum size that contains only opening tags.
    large.set("/sitemap.xml", xml("<a>".repeat(500_000)));
    expect(paths(await map({ url: `${large.url}/` }))).toEqual(["/", "/linked"]);
  });

  test("robots.txt also applies to sitemaps, even to those that it names", async () => {
    const [home, host] = [startFakeSite({}), startFakeSite({})];
    const sitemap = (path: string) => () => xml(urls(`${home.url}/of${path}`))();
    const redirect = (path: string) => () => new Response(null, { status: 302, headers: { location: path } });
    for (const path of ["/sitemap.xml", "/closed/named.xml", "/closed/listed.xml", "/closed/led.xml", "/open.xml"])
      home.set(path, sitemap(path));
    home.set("/", page("Home", ["/linked"]));
    home.set("/leads.xml", redirect("/closed/led.xml"));
    home.set("/index.xml", () =>
      xml(`<sitemapindex><sitemap><loc>${home.url}/closed/listed.xml</loc></sitemap></sitemapindex>`)(),
    );
    for (const path of ["/kept.xml", "/given.xml"]) host.set(path, sitemap(path));
    host.set("/robots.txt", () => new Response("User-agent: *\nDisallow: /kept.xml"));
    const named = ["/closed/named.xml", "/leads.xml", "/index.xml", "/open.xml"].map((path) => home.url + path);
    named.push(`${host.url}/kept.xml`, `${host.url}/given.xml`);
    const rules = "User-agent: *\nDisallow: /closed/\nDisallow: /sitemap.xml\n";
    home.set("/robots.txt", () => new Response(rules + named.map((url) => `Sitemap: ${url}\n`).join("")));
    const answers: string[][] = [];
    for (const respect_robots of [true, false]) {
      const own = await startTestApp({
        config: { web: { allow_private_networks: true, render: "never", respect_robots } },
      });
      const mapped = await own.post("/v1/map", { url: `${home.url}/` });
      answers.push(paths((await mapped.json()) as Answer).sort());
      if (respect_robots)
        expect([...home.hits, ...host.hits].filter((hit) => /closed|sitemap|kept/.test(hit))).toEqual([]);
      await own.stop();
    }
    expect(answers).toEqual([
      ["/", "/linked", "/of/given.xml", "/of/open.xml"],
      [
        "/",
        "/linked",
        "/of/closed/led.xml",
        "/of/closed/listed.xml",
        "/of/closed/named.xml",
        "/of/given.xml",
        "/of/kept.xml",
        "/of/open.xml",
        "/of/sitemap.xml",
      ],
    ]);
    await home.stop();
    await host.stop();
  });

  test("if the root is not a page, the map contains only the root", async () => {
    bare.set("/file", () => new Response("%PDF-1.4", { headers: { "content-type": "application/pdf" } }));
    expect(paths(await map({ url: `${bare.url}/file` }))).toEqual(["/file"]);
  });

  test("if the root cannot be read, the sitemaps are still used", async () => {
    site.set("/", () => html("no", { status: 500 }));
    expect((await map({ url: site.url })).total).toBe(6);
    site.set("/", page("Home", ["/linked"]));
  });

  test.each<[string, Record<string, unknown>, number, string, string | null]>([
    ["no url", {}, 400, "invalid_request", "url"],
    ["a private root", { url: "http://10.0.0.1/" }, 400, "url_not_allowed", "url"],
    ["limit 0", { url: "U", limit: 0 }, 400, "invalid_request", "limit"],
    ["limit 5001", { url: "U", limit: 5001 }, 400, "invalid_request", "limit"],
    ["limit 1.5", { url: "U", limit: 1.5 }, 400, "invalid_request", "limit"],
    ["search of another type", { url: "U", search: 1 }, 400, "invalid_request", "search"],
    ["an unknown host", { url: "http://nothing.invalid/" }, 502, "map_upstream_error", null],
    ["a broken root", { url: "B" }, 502, "map_upstream_error", null],
  ])("%s", async (_, body, status, code, param) => {
    const url = { U: site.url, B: `${bare.url}/only` }[String(body["url"])] ?? body["url"];
    const answer = await map({ ...body, ...(url === undefined ? {} : { url }) });
    expect(answer.status).toBe(status);
    expect(answer.error).toMatchObject({ code, param });
  });
});

describe("a site that hangs", () => {
  const never = () => new Promise<Response>(() => undefined);
  const none = () => new Response("no", { status: 404 });
  let silent: FakeSite;
  let own: TestApp;
  beforeAll(async () => {
    silent = startFakeSite({ "/robots.txt": none });
    own = await startTestApp({ config: webConfig([silent.host]) });
  });
  afterAll(async () => {
    await own.stop();
    await silent.stop();
  });
  const ask = async (timeout_ms: number) => {
    const response = await own.post("/v1/map", { url: `${silent.url}/`, timeout_ms });
    return { status: response.status, ...((await response.json()) as Answer) };
  };

  test("with its sitemap and its root gives an answer when the request's time is over", async () => {
    silent.set("/sitemap.xml", never);
    silent.set("/", never);
    // Both were requested and neither is ever answered. Only the request's own timeout ends it.
    const [answer] = await Promise.all([ask(1500), silent.asked("/sitemap.xml"), silent.asked("/")]);
    expect([answer.status, answer.error.code]).toEqual([504, "map_timeout"]);
  });

  test("with its sitemap only has the links of its root", async () => {
    silent.set("/sitemap.xml", never);
    silent.set("/", page("Home", ["/linked"]));
    const [answer] = await Promise.all([ask(4000), silent.asked("/sitemap.xml")]);
    expect(answer.success).toBe(true);
    expect(paths(answer)).toEqual(["/", "/linked"]);
  });

  test("with its root only has what its sitemap lists", async () => {
    silent.set("/sitemap.xml", xml(urls(`${silent.url}/a`, `${silent.url}/b`)));
    silent.set("/", never);
    const [answer] = await Promise.all([ask(1500), silent.asked("/")]);
    expect(answer.success).toBe(true);
    expect(paths(answer)).toEqual(["/", "/a", "/b"]);
  });

  test("is no longer loaded when the client disconnects", async () => {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    silent.set("/sitemap.xml", none);
    silent.set("/", (request) => {
      request.signal.addEventListener("abort", () => left.resolve());
      asked.resolve();
      return never();
    });
    const gone = new AbortController();
    const answer = own.call("/v1/map", {
      method: "POST",
      body: JSON.stringify({ url: `${silent.url}/`, timeout_ms: 60_000 }),
      headers: { "content-type": "application/json" },
      signal: gone.signal,
    });
    await asked.promise;
    gone.abort();
    expect(
      await answer.then(
        () => "answered",
        () => "gone",
      ),
    ).toBe("gone");
    await left.promise;
  });
});
