import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { html, page } from "../support/fake-site.ts";
import { breads, type SearchSite, startSearchSite } from "./search-site.ts";
import { webConfig } from "./support.ts";

let site: SearchSite;
let app: TestApp;

beforeAll(async () => {
  site = startSearchSite({
    "/page": page("Rye"),
    "/gone": () => html("<h1>Gone</h1><p>There was a page about bread here.</p>", { status: 404 }),
    "/stalls": (request) =>
      new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(html("late")), { once: true })),
  });
  app = await startTestApp({ config: webConfig([site.host]) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

interface Answer {
  results: Record<string, unknown>[];
  suggestions: string[];
  corrections: string[];
  number_of_results: number;
  query: string;
  unresponsive_engines: { name: string; reason: string }[];
  data: Record<string, unknown>[];
  error: { code: string; param: string | null; message: string };
}

const use = (engines: readonly string[], more: Record<string, unknown> = {}, rest: Record<string, unknown> = {}) =>
  app.reconfigure({ ...webConfig([site.host]), ...site.config(engines, more), ...rest });

let questions = 0;

async function search(body: Record<string, unknown>, path = "/v1/search"): Promise<{ status: number; answer: Answer }> {
  // Each query is new unless a test sets its own, because answers are cached for a while.
  const response = await app.post(path, { text_query: `bread ${++questions}`, ...body });
  return { status: response.status, answer: (await response.json()) as Answer };
}

describe("POST /v1/search", () => {
  test("answers with the specification's envelope", async () => {
    await use(["searxng", "wikipedia"]);
    site.answers("searxng", () =>
      Response.json({
        results: [
          { url: "https://en.wikipedia.org/wiki/Bread", title: "Bread", content: "A food.", engines: ["bing"] },
          { url: "https://b.example/", title: "White bread", content: "", publishedDate: "2026-01-02T03:04:05" },
        ],
        suggestions: ["bread rolls"],
        corrections: ["breads"],
      }),
    );
    site.lists("wikipedia", [{ url: "", title: "Bread", text: "Bread is a <b>staple</b> food made of flour." }]);
    const { status, answer } = await search({ text_query: "bread" });
    expect(status).toBe(200);
    expect(answer).toEqual({
      success: true,
      query: "bread",
      number_of_results: 2,
      suggestions: ["bread rolls"],
      corrections: ["breads"],
      unresponsive_engines: [],
      results: [
        {
          url: "https://en.wikipedia.org/wiki/Bread",
          title: "Bread",
          content: "Bread is a staple food made of flour.",
          engines: ["bing", "wikipedia"],
          score: 1,
          category: "general",
        },
        {
          url: "https://b.example/",
          title: "White bread",
          content: "",
          engines: ["searxng"],
          score: expect.any(Number),
          publishedDate: "2026-01-02T03:04:05Z",
          category: "general",
        },
      ],
      data: [
        {
          url: "https://en.wikipedia.org/wiki/Bread",
          title: "Bread",
          description: "Bread is a staple food made of flour.",
        },
        { url: "https://b.example/", title: "White bread", description: "" },
      ],
    } as never);
    for (const { score } of answer.results) expect(score).toBeWithin(0, 1.000001);
  });

  test("returns five results, or the requested number, and sends the engines the category and the language", async () => {
    await use(["searxng"]);
    site.lists("searxng", breads("a", 30));
    expect((await search({})).answer.results).toHaveLength(5);
    expect((await search({ limit: 20 })).answer).toMatchObject({ number_of_results: 20 });
    expect((await search({ limit: 1, categories: "social media", language: "pt-BR" })).status).toBe(200);
    const asked = new URL(site.hits.at(-1) ?? "", site.url).searchParams;
    expect([asked.get("categories"), asked.get("language"), asked.get("safesearch")]).toEqual([
      "social media",
      "pt-BR",
      "1",
    ]);
  });

  test("counts against the key's limit and accepts the names of Firecrawl's clients", async () => {
    await use(["searxng"]);
    const response = await app.post("/v1/search", { query: "bread", timeout: 60_000, lang: "en", origin: "x" });
    expect([response.status, response.headers.get("x-ratelimit-limit")]).toEqual([200, expect.any(String)]);
    expect(await response.json()).toMatchObject({ success: true, data: expect.any(Array) });
  });

  test.each<[Record<string, unknown>, string]>([
    [{ text_query: undefined }, "text_query"],
    [{ text_query: " " }, "text_query"],
    [{ text_query: 5 }, "text_query"],
    [{ text_query: "x".repeat(2001) }, "text_query"],
    [{ limit: 0 }, "limit"],
    [{ limit: 21 }, "limit"],
    [{ limit: "5" }, "limit"],
    [{ timeout_seconds: 4 }, "timeout_seconds"],
    [{ timeout_seconds: 61 }, "timeout_seconds"],
    [{ categories: "everything" }, "categories"],
    [{ categories: ["general"] }, "categories"],
    [{ language: "German" }, "language"],
    [{ include_content: "yes" }, "include_content"],
  ])("refuses %j", async (body, param) => {
    const { status, answer } = await search(body);
    expect([status, answer.error.code, answer.error.param]).toEqual([400, "invalid_request", param]);
  });

  test("calls the engines once for the same query of many clients", async () => {
    await use(["searxng"]);
    const before = site.askedEngine("searxng");
    const all = await Promise.all(Array.from({ length: 10 }, () => search({ text_query: "brown bread" })));
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(site.askedEngine("searxng")).toBe(before + 1);
  });
});

describe("engines that fail", () => {
  test("are named beside the results of the others: a slow, a dead, a wrong, a captcha and a rate-limited one", async () => {
    const engines = ["searxng", "hackernews", "github", "stackexchange", "gitlab", "hugging-face"];
    await use(engines, {
      engines: {
        ...Object.fromEntries(engines.map((name) => [name, { base_url: site.url }])),
        // No server listens at this address.
        "hugging-face": { base_url: "http://127.0.0.1:9" },
      },
    });
    site.lists("searxng", breads("good", 8));
    site.lists(
      "gitlab",
      ["Casino", "Watches", "Horoscope"].map((title) => ({ url: `https://${title}.example/`, title })),
    );
    site.answers(
      "hackernews",
      (request) => new Promise((done) => request.signal.addEventListener("abort", () => done(html("")))),
    );
    site.answers("github", () => new Response("slow down", { status: 429, headers: { "retry-after": "77" } }));
    site.answers("stackexchange", () =>
      html("<title>Just a moment</title>", { status: 403, headers: { "cf-mitigated": "challenge" } }),
    );
    const { status, answer } = await search({ categories: "it", timeout: 12_000 });
    expect(status).toBe(200);
    expect(answer.results.every(({ url }) => String(url).includes("good.example"))).toBe(true);
    expect(Object.fromEntries(answer.unresponsive_engines.map(({ name, reason }) => [name, reason]))).toEqual({
      hackernews: "too slow",
      "hugging-face": "network",
      gitlab: "unrelated",
      stackexchange: "captcha",
      github: "rate_limited",
    });
    const again = await search({ categories: "it", text_query: "white bread", timeout: 12_000 });
    expect(again.answer.unresponsive_engines).toContainEqual({ name: "stackexchange", reason: "suspended: captcha" });
    expect(again.answer.unresponsive_engines).toContainEqual({ name: "github", reason: "suspended: rate_limited" });
  });

  test("all of them: 502, with the failure of each engine", async () => {
    await use(["searxng", "wikipedia"]);
    site.answers("searxng", () => html("<h1>A new page</h1>"));
    site.answers("wikipedia", () => new Response("", { status: 500 }));
    const failed = await search({ text_query: "any bread" });
    expect([failed.status, failed.answer.error.code]).toEqual([502, "search_upstream_error"]);
    expect(failed.answer.unresponsive_engines.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
      "searxng changed_markup",
      "wikipedia server_error",
    ]);
    await use(["wikipedia"]);
    const down = await search({ text_query: "any bread" });
    expect(down.answer.error.code).toBe("search_upstream_error");
    const left = await search({ text_query: "any bread" });
    expect([left.status, left.answer.error.code]).toEqual([502, "search_unavailable"]);
    expect(left.answer.unresponsive_engines).toEqual([{ name: "wikipedia", reason: "suspended: server_error" }]);
    const metrics = await (await app.call("/metrics")).text();
    expect(metrics).toContain('sallyport_search_engine_suspended{engine="wikipedia"} 1');
    // A change that does not concern the engines does not end any suspension.
    await use(["wikipedia"], {}, { log: { level: "warn" } });
    expect((await search({ text_query: "any bread" })).answer.error.code).toBe("search_unavailable");
  });

  test("none is enabled for the category: 502", async () => {
    await use(["wikipedia"]);
    const { status, answer } = await search({ categories: "map" });
    expect([status, answer.error.code, answer.unresponsive_engines]).toEqual([502, "search_unavailable", []]);
  });

  test("none answers in time: 504", async () => {
    await use(["searxng"]);
    site.answers(
      "searxng",
      (request) => new Promise((done) => request.signal.addEventListener("abort", () => done(html("")))),
    );
    const { status, answer } = await search({ text_query: "late bread", timeout: 1000 });
    expect([status, answer.error.code]).toEqual([504, "search_timeout"]);
    expect(answer.unresponsive_engines).toEqual([{ name: "searxng", reason: "timeout" }]);
  });

  test("no hits is no failure", async () => {
    await use(["searxng", "wikipedia"]);
    site.lists("searxng", []);
    site.lists("wikipedia", []);
    expect(await search({})).toMatchObject({ status: 200, answer: { results: [], number_of_results: 0 } });
  });

  test("the client disconnects: the engine calls are aborted", async () => {
    await use(["searxng"]);
    const { promise: left, resolve } = Promise.withResolvers<void>();
    site.answers("searxng", (request) => {
      request.signal.addEventListener("abort", () => resolve());
      client.abort();
      return left.then(() => html(""));
    });
    const client = new AbortController();
    const request = app.call("/v1/search", {
      method: "POST",
      body: JSON.stringify({ text_query: "lost bread" }),
      headers: { "content-type": "application/json" },
      signal: client.signal,
    });
    await expect(request).rejects.toThrow();
    await left;
  });
});

describe("the pages of the results", () => {
  const hits = () => [
    { url: `${site.url}/page`, title: "Rye bread" },
    { url: `${site.url}/gone`, title: "Gone bread" },
    { url: "http://127.0.0.1:9/", title: "Dead bread" },
    { url: `${site.url}/stalls`, title: "Slow bread" },
  ];

  test.each([
    ["/v1/search", { include_content: true }],
    ["/v1/crowd/search", {}],
    ["/v1/crowd/search", { include_content: false }],
  ])("%s %j: those that can be read in time", async (path, body) => {
    await use(["searxng"]);
    site.lists("searxng", hits());
    // The page that stalls uses up the whole time. The others need far less, even if a thread has to be started for them.
    const { status, answer } = await search({ ...body, timeout: 5000 }, path);
    expect(status).toBe(200);
    expect(answer.results.map(({ title, full_content }) => [title, typeof full_content])).toEqual([
      ["Rye bread", "string"],
      ["Gone bread", "undefined"],
      ["Dead bread", "undefined"],
      ["Slow bread", "undefined"],
    ]);
    expect(answer.results[0]?.["full_content"]).toContain("This is the page about Rye");
    expect(answer.data[0]).not.toHaveProperty("markdown");
  });

  test("are not loaded unless they are requested", async () => {
    await use(["searxng"]);
    site.lists("searxng", hits());
    const before = site.count("/page");
    expect((await search({})).answer.results[0]).not.toHaveProperty("full_content");
    expect(site.count("/page")).toBe(before);
  });

  test("are documents for a Firecrawl client that names formats", async () => {
    await use(["searxng"]);
    site.lists("searxng", hits().slice(0, 1));
    const { answer } = await search({ scrapeOptions: { formats: ["markdown"] } });
    expect(answer.data).toEqual([
      {
        url: `${site.url}/page`,
        title: "Rye bread",
        description: "",
        markdown: expect.stringContaining("This is the page about Rye"),
        metadata: { title: "Rye bread", description: "", sourceURL: `${site.url}/page` },
      },
    ]);
    expect(answer.results[0]).not.toHaveProperty("full_content");
  });
});

test("the state of the engines survives a restart", async () => {
  await use(["searxng"]);
  site.answers("searxng", () => html("<h1>A new page</h1>"));
  await search({ text_query: "kept bread" });
  const metrics = await (await app.call("/metrics")).text();
  expect(metrics).toContain('sallyport_search_engine_requests_total{engine="searxng",outcome="changed_markup"}');
  await app.restart();
  const { Database } = await import("bun:sqlite");
  const file = new Database(`${app.dataDir}/sallyport.db`, { readonly: true });
  const row = file.query("select value from settings where name = 'search_engine_health'").get() as { value: string };
  expect(JSON.parse(row.value).searxng.lastError.kind).toBe("changed_markup");
  file.close();
});
