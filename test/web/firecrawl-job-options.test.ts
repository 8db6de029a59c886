// Options of crawls, maps and searches of Firecrawl's clients whose effect depends on host names, on concurrency or on a search
// engine: with each the answer differs from the answer without it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeDns, startFakeDns } from "../support/fake-dns.ts";
import { html, page } from "../support/fake-site.ts";
import { type SearchSite, startSearchSite } from "./search-site.ts";

type Json = Record<string, unknown>;

let dns: FakeDns;
let site: SearchSite;
let app: TestApp;
let port: string;

const NAME = "site.example";
const LEAVES = ["1", "2", "3", "4"];
/** The engine's results, by the words in the query. */
const engine = (request: Request) => {
  const { searchParams } = new URL(request.url);
  const words = /site:github\.com|filetype:pdf/.exec(searchParams.get("q") ?? "")?.[0] ?? "plain";
  const asked = [words, searchParams.get("categories"), searchParams.get("time_range") ?? "any time"].join(" ");
  const url = `https://${NAME}/${encodeURIComponent(asked)}`;
  return Response.json({ results: [{ url, title: asked, content: "" }] });
};

beforeAll(async () => {
  // All names lead to this machine, so that a subdomain is the same test site.
  dns = await startFakeDns(() => ["127.0.0.1"]);
  site = startSearchSite();
  ({ port } = new URL(site.url));
  site.set("/", page("Root", [`http://${NAME}:${port}/own`, `http://docs.${NAME}:${port}/below`]));
  site.set("/own", page("Own"));
  site.set("/below", page("Below"));
  site.answers("searxng", engine);
  app = await startTestApp({
    config: {
      web: { allow_private_networks: true, dns: [dns.server], render: "never" },
      ...site.config(["searxng"]),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  dns.close();
});

async function post(path: string, body: Json, headers: Record<string, string> = {}): Promise<Json> {
  const response = await app.post(path, body, headers);
  const answer = (await response.json()) as Json;
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return answer;
}

const statusOf = async (id: unknown) => (await (await app.call(`/v2/crawl/${id}`)).json()) as Json;

async function until(id: unknown, isSo: (status: Json) => boolean): Promise<Json> {
  for (;;) {
    const status = await statusOf(id);
    if (isSo(status)) return status;
    await Bun.sleep(15);
  }
}

/** The pages of a whole crawl. */
async function crawl(body: Json): Promise<string[]> {
  const { data } = await until((await post("/v2/crawl", body))["id"], ({ status }) => status !== "scraping");
  return (data as { metadata: { sourceURL: string } }[]).map(({ metadata }) => metadata.sourceURL).sort();
}

const addresses = (...paths: string[]) => paths.map((path) => path.replace("example/", `example:${port}/`)).sort();

test("crawl: allowSubdomains", async () => {
  const url = `http://${NAME}:${port}/`;
  const own = [`http://${NAME}/`, `http://${NAME}/own`];
  expect(await crawl({ url })).toEqual(addresses(...own));
  expect(await crawl({ url, allowSubdomains: true })).toEqual(addresses(...own, `http://docs.${NAME}/below`));
});

test("map: includeSubdomains", async () => {
  const map = async (option: Json) => {
    const { links } = await post("/v2/map", { url: `http://${NAME}:${port}/`, ...option });
    return (links as { url: string }[]).map(({ url }) => url).sort();
  };
  const own = [`http://${NAME}/`, `http://${NAME}/own`];
  expect(await map({})).toEqual(addresses(...own, `http://docs.${NAME}/below`));
  expect(await map({ includeSubdomains: false })).toEqual(addresses(...own));
});

describe("search", () => {
  const titles = async (option: Json) => {
    const { data, warning } = await post("/v2/search", { query: "bread", ...option });
    expect(warning).toBeUndefined();
    return (data as { web: { title: string; category?: string }[] }).web.map(({ title, category }) =>
      category === undefined ? title : `${category}: ${title}`,
    );
  };
  const USUAL = "plain general any time";

  test.each([
    ["tbs: day", { tbs: "qdr:d" }, ["plain general day"]],
    ["tbs: week", { tbs: "qdr:w" }, ["plain general week"]],
    ["tbs: month", { tbs: "qdr:m,sbd:1" }, ["plain general month"]],
    ["tbs: year", { tbs: "qdr:y" }, ["plain general year"]],
    ["categories: github", { categories: ["github"] }, [USUAL, "github: site:github.com general any time"]],
    ["categories: research", { categories: ["research"] }, [USUAL, "research: plain science any time"]],
    ["categories: pdf", { categories: [{ type: "pdf" }] }, [USUAL, "pdf: filetype:pdf general any time"]],
    ["categories: developer", { categories: ["developer"] }, [USUAL, "developer: plain it any time"]],
  ])("%s", async (_name, option, found) => {
    expect(await titles({})).toEqual([USUAL]);
    expect(await titles(option)).toEqual(found);
  });
});

test("search: a source of the hosted service is accepted without effect", async () => {
  const { data, warning } = await post("/v2/search", { query: "bread", sources: ["web", { type: "alexandria" }] });
  expect(Object.keys(data as Json)).toEqual(["web"]);
  expect(warning).toBe("These options have no effect here: sources: alexandria.");
  expect((await post("/v2/search", { query: "bread", sources: ["alexandria"] }))["data"]).toEqual({});
});

/** A page with leaves below it, and the maximum number of leaves that were requested at the same time. */
function spread(name: string, holds: (atOnce: number) => Promise<void>): { url: string; most(): number } {
  const [now, most] = [{ count: 0 }, { count: 0 }];
  site.set(
    `/${name}`,
    page(
      name,
      LEAVES.map((leaf) => `/${name}/${leaf}`),
    ),
  );
  for (const leaf of LEAVES)
    site.set(`/${name}/${leaf}`, async () => {
      now.count += 1;
      most.count = Math.max(most.count, now.count);
      await holds(now.count);
      now.count -= 1;
      return html(page(leaf));
    });
  return { url: `${site.url}/${name}`, most: () => most.count };
}

describe("pages at once", () => {
  test("several, without any option", async () => {
    const together = Promise.withResolvers<void>();
    const { url, most } = spread("free", (atOnce) => {
      if (atOnce > 1) together.resolve();
      // No leaf is answered before a second one is requested.
      return together.promise;
    });
    expect(await crawl({ url })).toHaveLength(5);
    expect(most()).toBeGreaterThan(1);
  });

  test.each([
    ["maxConcurrency", { maxConcurrency: 1 }],
    ["delay", { delay: 0.001 }],
  ])("one with %s", async (name, option) => {
    const { url, most } = spread(name, () => Bun.sleep(20));
    expect(await crawl({ url, ...option })).toHaveLength(5);
    expect(most()).toBe(1);
  });
});

test("delay: the next page waits while another crawl is read whole", async () => {
  const slow = spread("slow", async () => undefined);
  const quick = spread("quick", async () => undefined);
  const { id } = await post("/v2/crawl", { url: slow.url, delay: 60 });
  await until(id, ({ completed }) => completed === 1);
  expect(await crawl({ url: quick.url })).toHaveLength(5);
  expect((await statusOf(id))["completed"]).toBe(1);
  expect([slow.most(), quick.most() > 0]).toEqual([0, true]);
  await app.call(`/v2/crawl/${id}`, { method: "DELETE" });
});

test.each([
  ["/v2/crawl", () => ({ url: `${site.url}/own`, limit: 1 })],
  ["/v2/batch/scrape", () => ({ urls: [`${site.url}/own`] })],
])("x-idempotency-key of %s is accepted without effect", async (path, body) => {
  const key = { "x-idempotency-key": "5f0c6e0e-8a5e-4f4b-9a53-7f4b8f7a1c11" };
  expect((await post(path, body()))["warning"]).toBeUndefined();
  const [first, second] = [await post(path, body(), key), await post(path, body(), key)];
  for (const { warning } of [first, second])
    expect(warning).toBe("These options have no effect here: x-idempotency-key.");
  expect(second["id"]).not.toBe(first["id"]);
});
