// A private canary server that nothing may reach: by any spelling of its address, by redirects, by names whose addresses change,
// through pages, sitemaps and robots files, with every web endpoint and in the browser.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { findBrowser } from "../../src/pages/browser/browser.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeDns, startFakeDns } from "../support/fake-dns.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { ended, webConfig } from "./support.ts";

let canary: FakeSite;
let site: FakeSite;
let dns: FakeDns;
let app: TestApp;
let port = "";

const asked = (request: Request) => new URL(request.url).searchParams.get("to") ?? "";
/** UTF-8 bytes in a header, as servers send them. */
const headerText = (text: string) => Buffer.from(text).toString("latin1");
const to = (url: string) => encodeURIComponent(url);

beforeAll(async () => {
  canary = startFakeSite({});
  port = new URL(canary.url).port;
  // Names that are public in the first look-up and private in all later ones, and names that are never public.
  dns = await startFakeDns((name, nth) => {
    if (name.startsWith("turning")) return nth === 0 ? ["93.184.216.34"] : ["127.0.0.1"];
    if (name === "mixed.example") return ["93.184.216.34", "127.0.0.1"];
    return name.endsWith(".example") ? ["127.0.0.1"] : [];
  });
  site = startFakeSite({
    "/": page("Home"),
    "/redirect": (request) => new Response(null, { status: 302, headers: { location: headerText(asked(request)) } }),
    "/refresh": (request) => html(`<meta http-equiv="refresh" content="0; url=${asked(request)}">`),
    "/script": (request) => html(`<script>location.href = ${JSON.stringify(asked(request))}</script>`),
    "/everything": () => html(everything()),
  });
  app = await startTestApp({ config: webConfig([site.host], { dns: [dns.server] }) });
});
afterEach(() => {
  expect(canary.hits).toEqual([]);
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await canary.stop();
  dns.close();
});

/** The canary's address in every possible spelling. */
function spellings(): string[] {
  const hosts = [
    ...[
      "127.0.0.1",
      "127.0.0.1.",
      "127.1",
      "127.0.1",
      "127.00.0.01",
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "0X7F.0.0.1",
    ],
    ...["017700000001", "0177.0.0.1", "0177.0.0.0x1", "00000177.1", "0", "0.0.0.0", "127.255.255.254", "127.0.0.2"],
    ...[
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "ｌｏｃａｌｈｏｓｔ",
      "①②⑦.⓪.⓪.①",
      "127。0。0。1",
      "１２７.０.０.１",
    ],
    ...[
      "%31%32%37.0.0.1",
      "127.0.0.1%2e",
      "%6c%6f%63alhost",
      "[::1]",
      "[::]",
      "[0:0:0:0:0:0:0:1]",
      "[::ffff:127.0.0.1]",
    ],
    ...[
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[::7f00:1]",
      "[::ffff:0:127.0.0.1]",
      "[64:ff9b::127.0.0.1]",
      "[64:ff9b::7f00:1]",
    ],
    ...["[64:ff9b:1::7f00:1]", "[2002:7f00:1::1]", "[2001:0:7f00:1::1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]"],
    ...[
      "inside.example",
      "INSIDE.example.",
      "mixed.example",
      "169.254.169.254",
      "metadata.google.internal",
      "metadata.goog",
    ],
    ...["10.0.0.1", "172.16.0.1", "192.168.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "169.254.0.23"],
  ];
  return [
    ...hosts.map((host) => `http://${host}:${port}/`),
    `http:127.0.0.1:${port}/`,
    `http:\\\\127.0.0.1:${port}\\`,
    `http:////127.0.0.1:${port}/`,
    ` http://127.0.0.1:${port}/ `,
    `ht\ntp://127.0.0.1:${port}/`,
    `HTTP://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}\\@93.184.216.34/`,
    `http://93.184.216.34@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}#@93.184.216.34/`,
    `ftp://127.0.0.1:${port}/`,
    `file:///etc/passwd`,
    `gopher://127.0.0.1:${port}/`,
    `view-source:http://127.0.0.1:${port}/`,
    `data:text/html,x`,
  ];
}

/** Every kind of resource that a page may load, with every spelling. */
function everything(): string {
  const web = spellings().filter((url) => /^http/i.test(url));
  const marks = web.map((url) => {
    const quoted = url.replace(/"/g, "&quot;");
    return `<img src="${quoted}img"><link rel="stylesheet" href="${quoted}css"><script src="${quoted}js"></script>`;
  });
  const code = `for (const url of ${JSON.stringify(web)}) {
    fetch(url + "fetch", { mode: "no-cors" }).catch(() => 0);
    try { new WebSocket(url.trim().replace(/^http/i, "ws") + "ws"); } catch {}
    try { navigator.sendBeacon(url + "beacon"); new EventSource(url + "events"); } catch {}
  }
  fetch("/redirect?to=${to(`http://127.0.0.1:${port}/redirected`)}", { mode: "no-cors" }).catch(() => 0);
  navigator.serviceWorker?.register("/worker.js").catch(() => 0);`;
  return `<main><p>The page that asks for everything.</p></main><script>${code}</script>${marks.join("")}<iframe src="http://127.0.0.1:${port}/iframe"></iframe>`;
}

interface Answer {
  status: number;
  error?: { code: string };
  id?: string;
}
const ask = async (path: string, body: object): Promise<Answer> => {
  const response = await app.post(path, body);
  return { ...((await response.json()) as Omit<Answer, "status">), status: response.status };
};
/** The outgoing proxy refused it before anything was sent. */
const isRefused = ({ status, error }: Answer) =>
  status === 400 && (error?.code === "url_not_allowed" || error?.code === "invalid_request");

describe.each(["/v1/scrape", "/v1/map", "/v1/crawl"])("%s", (path) => {
  test("refuses every spelling", async () => {
    const urls = spellings();
    expect(urls.length).toBeGreaterThan(60);
    const answers = await Promise.all(urls.map((url) => ask(path, { url })));
    expect(urls.filter((_, index) => !isRefused(answers[index] as Answer))).toEqual([]);
  });
  test("a name that became private is resolved again, and refused", async () => {
    const url = `http://turning${path.replaceAll("/", "-")}.example:${port}/`;
    // The first look-up gives a public address, which cannot be reached from here.
    await ask(path, { url, timeout_ms: 1000 });
    expect(isRefused(await ask(path, { url, timeout_ms: 1000 }))).toBe(true);
  });
});

describe("redirects of a page", () => {
  for (const kind of ["redirect", "refresh"])
    test(`a ${kind} of a scrape`, async () => {
      // Without slashes it is a path on the page's own site.
      const urls = spellings().filter((url) => !/^\s|\n|^http:\d/.test(url));
      const answers = await Promise.all(
        urls.map((url) => ask("/v1/scrape", { url: `${site.url}/${kind}?to=${to(url)}`, timeout_ms: 20_000 })),
      );
      // A refresh to an address that is not a web address is ignored, and the page itself is returned.
      const isFine = (answer: Answer, url: string) =>
        answer.error?.code === "url_not_allowed" || (kind === "refresh" && !/^https?:/i.test(url));
      expect(urls.filter((url, index) => !isFine(answers[index] as Answer, url))).toEqual([]);
    });
  test("a redirect within a crawl is an entry of its errors", async () => {
    site.set("/", page("Home", [`/redirect?to=${to(canary.url)}`, canary.url, `http://localhost:${port}/x`]));
    const poll = await ended(app, (await ask("/v1/crawl", { url: site.url })).id ?? "");
    expect(poll.errors.map(({ code }) => code)).toEqual(["url_not_allowed"]);
    expect(poll.data).toHaveLength(1);
  });
  test("sitemaps and robots.txt of a map", async () => {
    site.set(
      "/robots.txt",
      () => new Response(`Sitemap: ${canary.url}/robots-named.xml\nSitemap: ${site.url}/index.xml`),
    );
    site.set("/index.xml", () => {
      const named = spellings().map((url) => `<sitemap><loc>${url.replace(/&/g, "&amp;")}</loc></sitemap>`);
      return new Response(
        `<sitemapindex>${named.join("")}<sitemap><loc>${site.url}/redirect?to=${to(canary.url)}</loc></sitemap></sitemapindex>`,
      );
    });
    await app.reconfigure(webConfig([site.host], { dns: [dns.server], user_agent: "Mapper/1.0" }));
    expect((await ask("/v1/map", { url: site.url })).status).toBe(200);
    expect(site.hits).toContain("/index.xml");
  });
  test("robots.txt that redirects", async () => {
    site.set("/robots.txt", () => new Response(null, { status: 302, headers: { location: canary.url } }));
    await app.reconfigure(webConfig([site.host], { dns: [dns.server], user_agent: "Robot/1.0" }));
    expect((await ask("/v1/scrape", { url: site.url })).status).toBe(200);
  });
});

describe.skipIf(findBrowser("") === undefined)("in the browser", () => {
  beforeAll(() => app.reconfigure(webConfig([site.host], { dns: [dns.server], render: "always" })));

  test("resources that a page loads", async () => {
    const answer = await ask("/v1/scrape", { url: `${site.url}/everything`, formats: ["markdown", "screenshot"] });
    expect(answer.status).toBe(200);
  }, 60_000);
  test("a script that navigates there, by name too", async () => {
    const urls = [canary.url, `http://localhost:${port}/`, `http://inside.example:${port}/`, "http://169.254.169.254/"];
    for (const url of urls) {
      const answer = await ask("/v1/scrape", { url: `${site.url}/script?to=${to(url)}` });
      expect([url, answer.status, answer.error?.code]).toEqual([url, 400, "url_not_allowed"]);
    }
  }, 60_000);
  test("a name that becomes private between the check and the browser's connection", async () => {
    const url = `http://turning-script.example:${port}/`;
    const answer = await ask("/v1/scrape", { url: `${site.url}/script?to=${to(url)}`, timeout_ms: 5000 });
    // The browser's first connection uses the public address. Every later look-up is refused.
    expect(answer.status).not.toBe(200);
    expect((await ask("/v1/scrape", { url: `${site.url}/script?to=${to(url)}` })).error?.code).toBe("url_not_allowed");
  }, 60_000);
});
