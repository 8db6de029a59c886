// Every crawl option for Firecrawl's clients: with it the crawl reads other pages than without it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, page, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "./support.ts";

type Json = Record<string, unknown>;

let site: FakeSite;
let other: FakeSite;
let app: TestApp;

beforeAll(async () => {
  other = startFakeSite({ "/": page("Other") });
  site = startFakeSite({
    "/docs": page("Docs", ["/docs/a", "/docs/b?x=1", "/docs/b?x=2", "/blog", `${other.url}/`]),
    "/docs/a": page("A", ["/docs/a/deep"]),
    "/docs/a/deep": page("Deep"),
    "/docs/b": page("B"),
    "/docs/listed": page("Listed"),
    "/blog": page("Blog"),
    "/sitemap.xml": () =>
      new Response(`<urlset><url><loc>${site.url}/docs/listed</loc></url></urlset>`, {
        headers: { "content-type": "application/xml" },
      }),
  });
  app = await startTestApp({ config: webConfig([site.host, other.host]) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await other.stop();
});

/** The final answer of a crawl, and the pages that it read. */
async function crawl(body: Json): Promise<{ paths: string[]; started: Json; status: Json }> {
  const response = await app.post("/v2/crawl", { url: `${site.url}/docs`, ...body });
  const started = (await response.json()) as Json;
  expect(response.status, JSON.stringify(started)).toBe(200);
  for (;;) {
    const status = (await (await app.call(`/v2/crawl/${started["id"]}`)).json()) as Json;
    if (status["status"] === "scraping") {
      await Bun.sleep(15);
      continue;
    }
    const pages = status["data"] as { metadata: { sourceURL: string } }[];
    const paths = pages.map(({ metadata }) => metadata.sourceURL.replace(site.url, "").replace(other.url, "other"));
    return { paths: paths.sort(), started, status };
  }
}

const ALL = ["/docs", "/docs/a", "/docs/a/deep", "/docs/b?x=1", "/docs/b?x=2", "/docs/listed"];
const without = (...left: string[]) => ALL.filter((path) => !left.includes(path));

const OPTIONS: readonly (readonly [name: string, option: Json, paths: readonly string[]])[] = [
  ["sitemap: skip", { sitemap: "skip" }, without("/docs/listed")],
  ["sitemap: only", { sitemap: "only" }, ["/docs", "/docs/listed"]],
  ["maxDiscoveryDepth: 1", { maxDiscoveryDepth: 1 }, without("/docs/a/deep")],
  ["maxDiscoveryDepth: 0", { maxDiscoveryDepth: 0 }, ["/docs", "/docs/listed"]],
  ["includePaths", { includePaths: ["/a(/|$)"] }, ["/docs/a", "/docs/a/deep"]],
  ["excludePaths", { excludePaths: ["^/docs/b"] }, without("/docs/b?x=1", "/docs/b?x=2")],
  ["regexOnFullURL", { regexOnFullURL: true, excludePaths: ["x=2$"] }, without("/docs/b?x=2")],
  ["crawlEntireDomain", { crawlEntireDomain: true }, ["/blog", ...ALL]],
  ["allowExternalLinks", { allowExternalLinks: true }, [...ALL, "other/"]],
  [
    "ignoreQueryParameters",
    { ignoreQueryParameters: true },
    [...without("/docs/b?x=1", "/docs/b?x=2"), "/docs/b"].sort(),
  ],
];

test("without any option", async () => {
  expect((await crawl({})).paths).toEqual(ALL);
});

test.each(OPTIONS)("an option decides which pages a crawl reads: %s", async (_name, option, paths) => {
  expect(paths).not.toEqual(ALL);
  expect((await crawl(option)).paths).toEqual([...paths]);
});

test("limit, and a limit above the number of pages", async () => {
  expect((await crawl({ limit: 2 })).paths).toHaveLength(2);
  const { started, status, paths } = await crawl({ limit: 1000, prompt: "All of it", ignoreRobotsTxt: true });
  expect(paths).toEqual(ALL);
  for (const told of [started, status])
    expect(told["warning"]).toBe("These options have no effect here: limit above 100, prompt, ignoreRobotsTxt.");
});

test("scrapeOptions, delay and maxConcurrency", async () => {
  const { status } = await crawl({ limit: 2, delay: 0.02, maxConcurrency: 1, scrapeOptions: { formats: ["links"] } });
  const [first] = status["data"] as Json[];
  expect(Object.keys(first ?? {}).sort()).toEqual(["links", "metadata"]);
});

test("pages that robots.txt forbids are reported separately", async () => {
  site.set("/robots.txt", () => new Response("User-agent: *\nDisallow: /docs/a\n"));
  const fresh = await startTestApp({ config: webConfig([site.host]) });
  try {
    const response = await fresh.post("/v2/batch/scrape", { urls: [`${site.url}/docs/a`, `${site.url}/docs/b`] });
    const { id } = (await response.json()) as { id: string };
    for (;;) {
      const { status } = (await (await fresh.call(`/v2/batch/scrape/${id}`)).json()) as Json;
      if (status !== "scraping") break;
      await Bun.sleep(15);
    }
    const errors = (await (await fresh.call(`/v2/batch/scrape/${id}/errors`)).json()) as Json;
    expect(errors).toEqual({ errors: [], robotsBlocked: [`${site.url}/docs/a`] });
  } finally {
    await fresh.stop();
  }
});

test("addresses in answers are those by which the client came; only trusted proxies say that it was HTTPS", async () => {
  const addressOf = async (gateway: TestApp, headers: Record<string, string>) => {
    const response = await gateway.post("/v2/batch/scrape", { urls: [`${site.url}/blog`] }, headers);
    const { url, id } = (await response.json()) as { url: string; id: string };
    return url.replace(`/v2/batch/scrape/${id}`, "");
  };
  const forwarded = { host: "gateway.example", "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.7" };
  expect(await addressOf(app, forwarded)).toBe("http://gateway.example");
  const behind = await startTestApp({
    config: { ...webConfig([site.host]), server: { trusted_proxies: ["127.0.0.1"] } },
  });
  try {
    expect(await addressOf(behind, forwarded)).toBe("https://gateway.example");
    expect(await addressOf(behind, {})).toBe(behind.url);
  } finally {
    await behind.stop();
  }
  const named = await startTestApp({
    config: { ...webConfig([site.host]), server: { public_url: "https://ai.example" } },
  });
  try {
    expect(await addressOf(named, forwarded)).toBe("https://ai.example");
  } finally {
    await named.stop();
  }
});

test("clients of the first version find batches and the failures of a crawl, with errors as texts", async () => {
  const body = { urls: [`${site.url}/docs/a`, `${site.url}/missing.pdf`] };
  const { id } = (await (await app.post("/v1/batch/scrape", body)).json()) as Json;
  const read = async (path: string) => (await (await app.call(path)).json()) as Json;
  let status = await read(`/v1/batch/scrape/${id}`);
  while (status["status"] === "scraping") {
    await Bun.sleep(15);
    status = await read(`/v1/batch/scrape/${id}`);
  }
  expect(status).toMatchObject({ status: "completed", completed: 2 });
  expect(await read(`/v1/batch/scrape/${id}/errors`)).toHaveProperty("robotsBlocked", []);
  const crawled = await crawl({ sitemap: "skip", limit: 1 });
  expect(await read(`/v1/crawl/${crawled.started["id"]}/errors`)).toEqual({ errors: [], robotsBlocked: [] });
  for (const path of ["/v1/crawl/crawl_x/errors", "/v1/batch/scrape/batch_x", "/v1/batch/scrape/batch_x/errors"])
    expect([path, await read(path)]).toEqual([
      path,
      expect.objectContaining({ error: expect.stringContaining("There is no") }),
    ]);
});

test("a preview answers with the options of a crawl, and says that the prompt was not used", async () => {
  const response = await app.post("/v2/crawl/params-preview", { url: `${site.url}/docs`, prompt: "only the blog" });
  const { success, data, warning } = (await response.json()) as { success: boolean; data: Json; warning: string };
  expect([response.status, success, warning]).toEqual([200, true, expect.stringContaining("prompt")]);
  expect((await crawl(data)).paths).toEqual((await crawl({})).paths);
  for (const [body, param] of [
    [{ url: `${site.url}/docs` }, "prompt"],
    [{ prompt: "all" }, "url"],
  ] as const) {
    const refused = await app.post("/v2/crawl/params-preview", body);
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ param })]);
  }
});

test("a webhook that the gateway's own crawl does not call is named", async () => {
  const body = { url: `${site.url}/docs`, limit: 1, webhook: "https://example.com/hook" };
  expect(await (await app.post("/v1/crawl", body)).json()).toHaveProperty(
    "warning",
    expect.stringContaining("webhook"),
  );
});
