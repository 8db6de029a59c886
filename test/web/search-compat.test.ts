import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import FirecrawlApp from "@mendable/firecrawl-js";
import { startTestApp, type TestApp } from "../support/app.ts";
import { page } from "../support/fake-site.ts";
import { breads, type SearchSite, startSearchSite } from "./search-site.ts";
import { webConfig } from "./support.ts";

let site: SearchSite;
let app: TestApp;

beforeAll(async () => {
  site = startSearchSite({ "/rye": page("Rye"), "/oat": page("Oat") });
  app = await startTestApp();
});
beforeEach(async () => {
  site.lists("searxng", breads("a", 3));
  await use({});
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

const use = (more: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
  app.reconfigure({ ...webConfig([site.host]), ...site.config(["searxng"], more), ...rest });

const searxng = (query: Record<string, string>, init: Parameters<TestApp["call"]>[1] = {}) =>
  app.call(`/searxng/search?${new URLSearchParams({ q: "bread", format: "json", ...query })}`, init);
const asked = () => new URL(site.hits.at(-1) ?? "", site.url).searchParams;

/** SearXNG's JSON as its clients read it: the names and types of values. */
const RESULT: Record<string, string> = {
  url: "string",
  title: "string",
  content: "string",
  engine: "string",
  engines: "array",
  positions: "array",
  score: "number",
  category: "string",
  parsed_url: "array",
  template: "string",
};
const ENVELOPE: Record<string, string> = {
  query: "string",
  number_of_results: "number",
  results: "array",
  answers: "array",
  corrections: "array",
  infoboxes: "array",
  suggestions: "array",
  unresponsive_engines: "array",
};
const kindOf = (value: unknown) => (Array.isArray(value) ? "array" : typeof value);
const kinds = (value: Record<string, unknown>, names: Record<string, string>) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, kindOf(value[name])]));

describe("GET /searxng/search", () => {
  test("answers in SearXNG's format", async () => {
    site.lists("searxng", breads("a", 3));
    const response = await searxng({});
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit")).not.toBeNull();
    const body = (await response.json()) as Record<string, unknown> & { results: Record<string, unknown>[] };
    expect(kinds(body, ENVELOPE)).toEqual(ENVELOPE);
    for (const result of body.results) expect(kinds(result, RESULT)).toEqual(RESULT);
    expect(body.results[0]).toMatchObject({
      url: "https://a.example/1",
      parsed_url: ["https", "a.example", "/1", "", "", ""],
      engine: "searxng",
      positions: [1],
      publishedDate: null,
    });
  });

  test("reads SearXNG's parameters", async () => {
    const query = {
      q: "bread baking",
      categories: "weather, social media,news",
      language: "de_CH",
      time_range: "month",
      safesearch: "2",
    };
    expect((await searxng({ ...query, theme: "simple", image_proxy: "0", pageno: "1", engines: "bing" })).status).toBe(
      200,
    );
    expect(Object.fromEntries(asked())).toMatchObject({
      q: "bread baking",
      categories: "social media",
      language: "de-CH",
      time_range: "month",
      safesearch: "2",
    });
    await searxng({ q: "wie backe ich bread", language: "all", safesearch: "0" });
    expect([asked().get("language"), asked().get("safesearch")]).toEqual(["all", "1"]);
  });

  test("has no second page, and calls no engine for it", async () => {
    const before = site.askedEngine("searxng");
    const response = await searxng({ q: "other bread", pageno: "2" });
    expect(await response.json()).toMatchObject({ results: [], number_of_results: 0 });
    expect(site.askedEngine("searxng")).toBe(before);
  });

  test.each<[string, Record<string, string>, string]>([
    ["no format", { format: "" }, "format"],
    ["another format", { format: "csv" }, "format"],
    ["no query", { q: "" }, "q"],
    ["a page that is none", { pageno: "0" }, "pageno"],
    ["an unknown time", { time_range: "decade" }, "time_range"],
    ["an unknown safety", { safesearch: "3" }, "safesearch"],
    ["a language that is none", { language: "German!" }, "language"],
  ])("refuses %s", async (_name, query, param) => {
    const response = await searxng(query);
    expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
      400,
      param,
    ]);
  });

  test("reports an outage", async () => {
    // This test has its own gateway, because the failing engine is suspended afterwards.
    const broken = startSearchSite({});
    const own = await startTestApp({ config: { ...webConfig([broken.host]), ...broken.config(["searxng"]) } });
    broken.answers("searxng", () => new Response("", { status: 500 }));
    const response = await own.call("/searxng/search?q=bread&format=json");
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      error: { code: "search_upstream_error" },
      unresponsive_engines: [{ name: "searxng", reason: "server_error" }],
    });
    await own.stop();
    await broken.stop();
  });
});

describe("without a key", () => {
  const bare = (path: string, init: RequestInit = {}) => fetch(app.url + path, init);
  const get = (query = "q=bread&format=json") => bare(`/searxng/search?${query}`);

  test("search is refused, unless the operator lists the client's address", async () => {
    expect((await get()).status).toBe(401);
    expect((await get(`q=bread&format=json&api_key=${app.key}&key=${app.key}`)).status).toBe(401);
    await use({ compat: { anonymous: ["10.0.0.0/8"] } });
    expect((await get()).status).toBe(401);
    await use({ compat: { anonymous: ["10.0.0.0/8", "127.0.0.0/8"] } });
    expect((await get()).status).toBe(200);
    // No other endpoint becomes public.
    expect((await bare("/v1/search", { method: "POST", body: "{}" })).status).toBe(401);
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    expect((await bare("/v1/compat/openwebui/search", { ...post, body: '{"query":"bread"}' })).status).toBe(200);
    expect((await bare("/v1/compat/openwebui/load", { ...post, body: '{"urls":[]}' })).status).toBe(200);
  });

  test("a wrong key is refused even if none is needed, and a valid key has its own limit", async () => {
    await use({ compat: { anonymous: ["127.0.0.1"] } }, { tiers: { free: { rpm: 1000 }, premium: { rpm: 77 } } });
    expect((await searxng({}, { headers: { authorization: "Bearer sk-wrong" } })).status).toBe(401);
    expect((await searxng({})).headers.get("x-ratelimit-limit")).toBe("77");
    expect((await get()).headers.get("x-ratelimit-limit")).toBe("1000");
  });

  test("the address of a proxy that is not configured gives no access", async () => {
    await use({ compat: { anonymous: ["127.0.0.0/8"] } });
    const through = (forwarded: string) =>
      bare("/searxng/search?q=bread&format=json", { headers: { "x-forwarded-for": forwarded } });
    for (const forwarded of ["203.0.113.9", "127.0.0.1", "127.0.0.1, 203.0.113.9"])
      expect((await through(forwarded)).status).toBe(401);
    await use({ compat: { anonymous: ["127.0.0.0/8"] } }, { server: { trusted_proxies: ["127.0.0.1"] } });
    expect([(await through("127.0.0.7")).status, (await through("203.0.113.9")).status]).toEqual([200, 401]);
  });

  test("each address has the free tier's rate", async () => {
    await use(
      { compat: { anonymous: ["9.9.9.0/24"] } },
      { tiers: { free: { rpm: 2 } }, server: { trusted_proxies: ["127.0.0.1"] } },
    );
    const from = (address: string) =>
      bare("/searxng/search?q=bread&format=json", { headers: { "x-forwarded-for": address } });
    const statuses = [];
    for (const address of ["9.9.9.1", "9.9.9.1", "9.9.9.1", "9.9.9.2", "9.9.8.1"])
      statuses.push((await from(address)).status);
    expect(statuses).toEqual([200, 200, 429, 200, 401]);
    const refused = await from("9.9.9.1");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  });
});

describe("Open WebUI", () => {
  test("searches", async () => {
    site.lists("searxng", breads("b", 9));
    const ask = async (body: unknown) => (await app.post("/v1/compat/openwebui/search", body)).json();
    expect(await ask({ query: "open bread", count: 2 })).toEqual([
      { link: "https://b.example/1", title: "Bread 1", snippet: "All about bread, part 1 of b." },
      { link: "https://b.example/2", title: "Bread 2", snippet: "All about bread, part 2 of b." },
    ]);
    expect(await ask({ query: "open bread" })).toHaveLength(5);
    expect(await ask({ query: "open bread", count: 50 })).toHaveLength(9);
    expect((await app.post("/v1/compat/openwebui/search", { count: 2 })).status).toBe(400);
  });

  test("loads pages, and leaves out those that it cannot", async () => {
    const urls = [`${site.url}/rye`, `${site.url}/missing`, "http://169.254.169.254/", `${site.url}/oat`];
    const response = await app.post("/v1/compat/openwebui/load", { urls });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([
      {
        page_content: expect.stringContaining("the page about Rye"),
        metadata: { source: `${site.url}/rye`, title: "Rye" },
      },
      {
        page_content: expect.stringContaining("the page about Oat"),
        metadata: { source: `${site.url}/oat`, title: "Oat" },
      },
    ]);
    for (const body of [
      {},
      { urls: "x" },
      { urls: ["no address"] },
      { urls: Array.from({ length: 21 }, () => site.url) },
    ])
      expect((await app.post("/v1/compat/openwebui/load", body)).status).toBe(400);
  });
});

test("Firecrawl's own client searches", async () => {
  site.lists("searxng", [{ url: `${site.url}/rye`, title: "Rye bread", text: "Bread of rye." }]);
  const client = new FirecrawlApp({ apiKey: app.key, apiUrl: app.url });
  const plain = await client.search("rye bread", { limit: 3 });
  expect(plain).toMatchObject({
    success: true,
    data: [{ url: `${site.url}/rye`, title: "Rye bread", description: "Bread of rye." }],
  });
  const whole = await client.search("rye bread", { scrapeOptions: { formats: ["markdown"] } });
  expect(whole.data[0]?.markdown).toContain("the page about Rye");
  await expect(client.search("rye bread", { limit: 100 })).rejects.toThrow("limit must be an integer from 1 to 20");
});
