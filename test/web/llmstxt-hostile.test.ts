// Difficult sites: titles that would break the file, endless links, pages that never end, redirects to other sites, and sites
// that list too few of their pages.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { DATABASE_FILE } from "../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { parseLlmstxt } from "../support/llmstxt-parser.ts";
import { webConfig } from "./support.ts";

let app: TestApp;
const sites: FakeSite[] = [];
const gate = Promise.withResolvers<void>();

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => {
  gate.resolve();
  await app.stop();
  await Promise.all(sites.map((site) => site.stop()));
});

// biome-ignore lint/suspicious/noExplicitAny: an answer is any JSON.
type Answer = Record<string, any>;

async function start(pages: Parameters<typeof startFakeSite>[0], web: Record<string, unknown> = {}): Promise<FakeSite> {
  const site = startFakeSite(pages);
  sites.push(site);
  await app.reconfigure(webConfig([site.host], web));
  return site;
}

async function ask(body: Record<string, unknown>): Promise<{ status: number; json: Answer }> {
  const response = await app.post("/v1/llmstxt", body);
  return { status: response.status, json: (await response.json()) as Answer };
}

const pathsOf = (text: string) =>
  parseLlmstxt(text).sections.flatMap(({ links }) => links.map(({ url }) => new URL(url).pathname));

test("titles, descriptions and menus cannot leave their line", async () => {
  const evil = "x](https://evil.example/)\n## Injected\n- [more](https://evil.example/)";
  const attribute = evil.replace(/\n/g, "&#10;");
  const head = `<meta name="description" content="${attribute}"><meta property="og:site_name" content="# ${attribute}">`;
  const site = await start({
    "/": `<title>${evil}</title>${head}<nav><ul><li>${evil}<ul><li><a href="/a">${evil}</a></li><li><a href="/b">b</a></li>
      </ul></li></ul></nav><main><h1>${evil}</h1><p>${evil} and this is long enough to be a page all the same.</p></main>`,
    "/a": page(`\u202E${evil}`, [], `<meta name="description" content="> ${attribute} A">`),
    "/b": page(`b ${evil}`, [], head),
  });
  const { status, json } = await ask({ url: site.url, show_full_text: true });
  expect(status).toBe(200);
  const { sections } = parseLlmstxt(json.llmstxt);
  expect(pathsOf(json.llmstxt).sort()).toEqual(["/", "/a", "/b"]);
  expect(sections.length).toBeLessThanOrEqual(2);
  expect(json.llmstxt).not.toMatch(/^##? Injected|\u202e/m);
  expect([...json.llmsfulltxt.matchAll(/^#{1,2} /gm)]).toHaveLength(4);
});

test("a page with very many links, and a sitemap with more", async () => {
  const links = Array.from({ length: 100_000 }, (_, n) => `/p/${n}`);
  const site = await start({ "/": page("Root", links.slice(0, 2000)), "/docs": page("Docs") });
  const urls = links.map((path) => `<url><loc>${site.url}/s${path}</loc></url>`).join("");
  site.set("/sitemap.xml", () => new Response(`<urlset>${urls}<url><loc>${site.url}/docs</loc></url></urlset>`));
  for (const n of Array.from({ length: 40 }, (_, index) => index)) site.set(`/p/${n}`, page(`P${n}`));
  const { json } = await ask({ url: site.url, max_urls: 5 });
  expect(pathsOf(json.llmstxt)).toHaveLength(5);
  // The root, the selected pages, and the files that list pages.
  expect(site.hits.length).toBeLessThan(40);
}, 60_000);

test("pages that never end are left out, and the others are in the file", async () => {
  const held = async () => {
    await gate.promise;
    return html(page("Late"));
  };
  const site = await start(
    { "/": page("Root", ["/slow/1", "/slow/2", "/good"]), "/slow/1": held, "/slow/2": held, "/good": page("Good") },
    { job_timeout: "5s" },
  );
  const { status, json } = await ask({ url: site.url });
  expect([status, pathsOf(json.llmstxt).sort()]).toEqual([200, ["/", "/good"]]);
}, 60_000);

test("a site that never answers causes a timeout", async () => {
  const held = async () => {
    await gate.promise;
    return html("");
  };
  const site = await start({ "/": held }, { job_timeout: "2s" });
  const { status, json } = await ask({ url: site.url });
  expect([status, json.error.code]).toEqual([504, "llmstxt_timeout"]);
}, 60_000);

test("pages that redirect away, to private addresses, or are not pages are replaced by the next best ones", async () => {
  const other = startFakeSite({ "/": page("Other") });
  sites.push(other);
  const site = await start({
    "/": page("Root", ["/away", "/inward", "/gone", "/picture", "/same", "/z1", "/z2", "/z3"]),
    "/away": () => Response.redirect(`${other.url}/`),
    "/inward": () => Response.redirect("http://169.254.169.254/latest/meta-data"),
    "/picture": () => new Response("PNG", { headers: { "content-type": "image/png" } }),
    "/same": () => Response.redirect("/"),
    "/z1": page("Z1"),
    "/z2": page("Z2"),
    "/z3": page("Z3"),
  });
  await app.reconfigure(webConfig([site.host, other.host]));
  const { json } = await ask({ url: site.url, max_urls: 3 });
  expect(pathsOf(json.llmstxt)).toEqual(["/", "/z1", "/z2"]);
  // These three pages, and three that were loaded in vain: /away, /gone and /same.
  expect(json.creditsUsed).toBe(6);
});

test("robots.txt is obeyed, for the root too", async () => {
  const site = await start({
    "/": page("Root", ["/open", "/closed"]),
    "/open": page("Open"),
    "/closed": page("Closed"),
  });
  site.set("/robots.txt", () => new Response("User-agent: *\nDisallow: /closed"));
  expect(pathsOf((await ask({ url: site.url })).json.llmstxt)).toEqual(["/", "/open"]);
  expect(site.count("/closed")).toBe(0);
  const shut = await start({ "/": page("Root") });
  shut.set("/robots.txt", () => new Response("User-agent: *\nDisallow: /"));
  const { status, json } = await ask({ url: shut.url });
  expect([status, json.error.code, shut.count("/")]).toEqual([422, "scrape_failed", 0]);
});

test("a site whose root names few pages is followed from page to page", async () => {
  const site = await start({
    "/": page("Root", ["/a", "/b"]),
    "/a": page("A", ["/a/1", "/a/2"]),
    "/b": page("B", ["/b/1", "/"]),
    "/a/1": page("A1", ["/a/1/x"]),
    "/a/2": page("A2"),
    "/b/1": page("B1"),
    "/a/1/x": page("A1X"),
  });
  const all = ["/", "/a", "/a/1", "/a/1/x", "/a/2", "/b", "/b/1"];
  const { json } = await ask({ url: site.url, max_urls: 20 });
  expect(pathsOf(json.llmstxt).sort()).toEqual(all);
  expect(all.map((path) => site.count(path))).toEqual(all.map(() => 1));
  const again = (await ask({ url: site.url, max_urls: 5 })).json.llmstxt;
  expect(pathsOf(again)).toHaveLength(5);
  expect((await ask({ url: site.url, max_urls: 5 })).json.llmstxt).toBe(again);
});

test("the work ends if the client disconnects before the answer, since the job's id is not known to anyone", async () => {
  const site = await start({
    "/": page("Root", ["/slow"]),
    "/slow": async () => {
      await gate.promise;
      return html(page("Late"));
    },
  });
  const leaving = new AbortController();
  const asked = app
    .call("/v1/llmstxt", { method: "POST", body: JSON.stringify({ url: site.url }), signal: leaving.signal })
    .catch(() => undefined);
  await site.asked("/slow");
  leaving.abort();
  await asked;
  const db = new Database(join(app.dataDir, DATABASE_FILE), { readonly: true });
  const newest = db.query<{ state: string }, []>("SELECT state FROM jobs ORDER BY created_at DESC LIMIT 1");
  while (newest.get()?.state !== "cancelled") await Bun.sleep(20);
  db.close();
}, 20_000);
