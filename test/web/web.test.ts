import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";

const article = (title: string, links: readonly string[] = []) =>
  `<html lang="en"><head><title>${title}</title><meta name="description" content="About ${title}"></head><body><nav><a href="/">Home</a></nav>
  <main><h1>${title}</h1><p>This is the page named ${title}, with a sentence that is long enough to be taken for content.</p>
  <ul>${links.map((link) => `<li><a href="${link}">${link}</a></li>`).join("")}</ul></main></body></html>`;

let site: FakeSite;
let app: TestApp;

beforeAll(async () => {
  site = startFakeSite({
    "/": article("root", [
      "/a",
      "/b?utm_source=x",
      "/a#part",
      "/a/",
      "/docs/one",
      "https://elsewhere.example/x",
      "/file.zip",
      "/bad",
    ]),
    "/a": article("a", ["/a/deep", "/"]),
    "/b": article("b", ["/a?utm_campaign=y"]),
    "/a/deep": article("deep", ["/a/deep/deeper"]),
    "/a/deep/deeper": article("deeper"),
    "/docs/one": article("one", ["/docs/two", "/blog/three"]),
    "/docs/two": article("two"),
    "/blog/three": article("three"),
    "/bad": () => new Response("no", { status: 501 }),
    "/secret": article("secret"),
    "/404": () => new Response(article("missing"), { status: 404, headers: { "content-type": "text/html" } }),
    "/away": () => Response.redirect("http://127.0.0.2:81/", 302),
    "/moved": () => new Response(null, { status: 301, headers: { location: "/a" } }),
    "/robots.txt": () => new Response(`User-agent: *\nDisallow: /secret\nSitemap: ${site.url}/maps.xml`),
    "/maps.xml": () =>
      new Response(
        `<sitemapindex><sitemap><loc>${site.url}/pages.xml.gz</loc></sitemap><sitemap><loc>${site.url}/gone.xml</loc></sitemap></sitemapindex>`,
      ),
    "/pages.xml.gz": () =>
      new Response(
        Bun.gzipSync(
          `<urlset><url><loc>${site.url}/from-sitemap</loc></url><url><loc>${site.url}/a/</loc></url><url><loc>https://elsewhere.example/</loc></urlset>`,
        ),
      ),
    "/slow": () => new Promise<Response>(() => undefined),
    "/json": () => Response.json({ a: 1 }),
  });
  app = await startTestApp({ tier: "premium", key: { rpm: 100_000 }, config: { web: { allow_hosts: [site.host] } } });
});
afterAll(async () => {
  await app.stop();
  site.stop();
});

interface Answer {
  status: number;
  body: Record<string, unknown> & { error?: { code: string; param: string | null }; data?: never };
}
const post = async (path: string, body: unknown): Promise<Answer> => {
  const response = await app.post(path, body);
  return { status: response.status, body: (await response.json()) as Answer["body"] };
};
const code = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];

describe("scrape", () => {
  test("Markdown and metadata", async () => {
    const { status, body } = await post("/v1/scrape", { url: `${site.url}/a`, origin: "sdk" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: {
        metadata: { title: "a", description: "About a", language: "en", sourceURL: `${site.url}/a`, statusCode: 200 },
      },
    });
    expect(Object.keys(body["data"] as unknown as object)).toEqual(["markdown", "metadata"]);
    expect((body["data"] as unknown as { markdown: string }).markdown).toContain("This is the page named a");
  });
  test("the formats asked for, and no others", async () => {
    const { body } = await post("/v1/scrape", {
      url: `${site.url}/`,
      formats: ["links", "html"],
      only_main_content: false,
    });
    const data = body["data"] as unknown as { links: string[]; html: string };
    expect(Object.keys(data)).toEqual(["html", "links", "metadata"]);
    expect(data.links).toContain("https://elsewhere.example/x");
    expect(data.html).toContain("<h1>root</h1>");
  });
  test("the final address after redirects", async () => {
    const { body } = await post("/v1/scrape", { url: `${site.url}/moved` });
    expect(body).toMatchObject({ data: { metadata: { sourceURL: `${site.url}/a` } } });
  });
  test("a page's own 404 is a page", async () => {
    const { status, body } = await post("/v1/scrape", { url: `${site.url}/404` });
    expect([status, (body["data"] as unknown as { metadata: { statusCode: number } }).metadata.statusCode]).toEqual([
      200, 404,
    ]);
  });
  test("a screenshot is a PNG in base64", async () => {
    const { body } = await post("/v1/scrape", { url: `${site.url}/a`, formats: ["screenshot"] });
    expect((body["data"] as unknown as { screenshot: string }).screenshot).toStartWith("iVBORw0KGgo");
  }, 30_000);
  const bad: [string, unknown, unknown[]][] = [
    ["no url", {}, [400, "invalid_request", "url"]],
    ["no URL", { url: "nonsense" }, [400, "invalid_request", "url"]],
    ["a relative URL", { url: "/a" }, [400, "invalid_request", "url"]],
    [
      "an unknown format",
      { url: "https://x.example", formats: ["markdown", "pdf"] },
      [400, "invalid_request", "formats[1]"],
    ],
    [
      "formats that are no list",
      { url: "https://x.example", formats: "markdown" },
      [400, "invalid_request", "formats"],
    ],
    ["too little time", { url: "https://x.example", timeout_ms: 999 }, [400, "invalid_request", "timeout_ms"]],
    ["too much time", { url: "https://x.example", timeout_ms: 300_001 }, [400, "invalid_request", "timeout_ms"]],
    [
      "a boolean that is none",
      { url: "https://x.example", only_main_content: "yes" },
      [400, "invalid_request", "only_main_content"],
    ],
    ["a private address", { url: "http://10.0.0.1/" }, [400, "url_not_allowed", "url"]],
    ["another spelling of one", { url: "http://0x7f.1/" }, [400, "url_not_allowed", "url"]],
    ["another scheme", { url: "file:///etc/passwd" }, [400, "url_not_allowed", "url"]],
    ["metadata", { url: "http://169.254.169.254/latest" }, [400, "url_not_allowed", "url"]],
  ];
  for (const [name, body, expected] of bad)
    test(name, async () => expect(code(await post("/v1/scrape", body))).toEqual(expected as [number, string, string]));
  const failing: [string, object, number, string][] = [
    ["/away", {}, 400, "url_not_allowed"],
    ["/bad", {}, 502, "scrape_upstream_error"],
    ["/json", {}, 422, "scrape_failed"],
    ["/secret", {}, 422, "scrape_failed"],
    ["/slow", { timeout_ms: 1000 }, 504, "scrape_timeout"],
  ];
  for (const [path, more, status, expected] of failing)
    test(`${path} → ${expected}`, async () =>
      expect(code(await post("/v1/scrape", { url: site.url + path, ...more })).slice(0, 2)).toEqual([
        status,
        expected,
      ]));
  test("the old paths lead here with their body", async () => {
    for (const path of ["/v1/fetch", "/fetch"]) {
      const response = await fetch(app.url + path, { method: "POST", body: "{}", redirect: "manual" });
      expect([response.status, response.headers.get("location")]).toEqual([307, "/v1/scrape"]);
    }
    expect((await post("/v1/fetch", { url: `${site.url}/a` })).status).toBe(200);
  });
  test("a key is needed", async () => {
    const response = await fetch(`${app.url}/v1/scrape`, { method: "POST", body: "{}" });
    expect(response.status).toBe(401);
  });
});

describe("map", () => {
  test("sitemaps and the root's links, each page once", async () => {
    const { body } = await post("/v1/map", { url: site.url });
    const links = body["links"] as unknown as string[];
    expect(body).toMatchObject({ success: true, total: links.length });
    for (const path of ["/", "/from-sitemap", "/docs/one", "/b?utm_source=x"]) expect(links).toContain(site.url + path);
    expect(links.filter((link) => /\/a\/?$/.test(link))).toHaveLength(1);
    expect(links.some((link) => link.includes("elsewhere"))).toBe(false);
  });
  test("search and limit", async () => {
    const { body } = await post("/v1/map", { url: site.url, search: "docs" });
    expect(body["links"] as unknown).toEqual([`${site.url}/docs/one`]);
    expect((await post("/v1/map", { url: site.url, limit: 2 })).body["total"] as unknown).toBe(2);
  });
  test("bounds", async () => {
    for (const limit of [0, 5001, 1.5])
      expect(code(await post("/v1/map", { url: site.url, limit }))).toEqual([400, "invalid_request", "limit"]);
    expect(code(await post("/v1/map", { url: "http://10.0.0.1/" }))).toEqual([400, "url_not_allowed", "url"]);
  });
});

interface CrawlAnswer {
  status: string;
  total: number;
  completed: number;
  creditsUsed: number;
  data: { markdown?: string; metadata: { sourceURL: string; statusCode: number; title: string } }[];
  errors: { url: string; code: string }[];
  next?: string;
  error?: string;
}

async function crawl(body: object): Promise<CrawlAnswer> {
  const { body: started } = await post("/v1/crawl", body);
  expect(started).toMatchObject({ success: true });
  expect(started["job_id"] as unknown).toBe(started["id"] as never);
  for (;;) {
    const response = await app.call(`/v1/crawl/${started["job_id"]}`);
    const answer = (await response.json()) as CrawlAnswer;
    if (answer.status !== "scraping") return answer;
    await Bun.sleep(20);
  }
}
const paths = (answer: CrawlAnswer) =>
  answer.data.map(({ metadata }) => metadata.sourceURL.replace(site.url, "")).sort();

describe("crawl", () => {
  test("the site, each page once, failures named", async () => {
    const answer = await crawl({ url: site.url, limit: 50 });
    expect(answer.status).toBe("completed");
    expect(paths(answer)).toEqual([
      "/",
      "/a",
      "/a/deep",
      "/a/deep/deeper",
      "/b?utm_source=x",
      "/blog/three",
      "/docs/one",
      "/docs/two",
    ]);
    expect(answer.errors).toEqual([expect.objectContaining({ url: `${site.url}/bad`, code: "crawl_upstream_error" })]);
    expect([answer.total, answer.completed, answer.creditsUsed]).toEqual([9, 9, 8]);
  }, 30_000);
  test("breadth first up to the limit", async () => {
    const answer = await crawl({ url: site.url, limit: 3 });
    expect([answer.completed, answer.data[0]?.metadata.title]).toEqual([3, "root"]);
  }, 30_000);
  test(
    "depth",
    async () =>
      expect(
        paths(await crawl({ url: `${site.url}/a`, max_depth: 1, limit: 50, include_paths: ["/a/**", "/a"] })),
      ).toEqual(["/a", "/a/deep"]),
    30_000,
  );
  test("include and exclude", async () => {
    expect(paths(await crawl({ url: site.url, limit: 50, include_paths: ["docs/*"] }))).toEqual([
      "/docs/one",
      "/docs/two",
    ]);
    expect(
      paths(await crawl({ url: `${site.url}/docs/one`, limit: 50, exclude_paths: ["/blog/**", "/", "/a", "/b"] })),
    ).toEqual(["/docs/one", "/docs/two"]);
  }, 30_000);
  test("a dead root fails the job", async () => {
    const answer = await crawl({ url: `${site.url}/bad` });
    expect([answer.status, typeof answer.error, answer.data]).toEqual(["failed", "string", []]);
  }, 30_000);
  test("paging", async () => {
    const { body } = await post("/v1/crawl", { url: site.url, limit: 4 });
    const id = body["job_id"] as unknown as string;
    while (((await (await app.call(`/v1/crawl/${id}`)).json()) as CrawlAnswer).status === "scraping")
      await Bun.sleep(20);
    const page = (await (await app.call(`/v1/crawl/${id}?offset=1&limit=1`)).json()) as CrawlAnswer;
    expect([page.data.length, page.next]).toEqual([1, `/v1/crawl/${id}?offset=2&limit=1`]);
    expect((await app.call(`/v1/crawl/${id}?limit=0`)).status).toBe(400);
  }, 30_000);
  test("cancelling keeps the pages, once", async () => {
    const { body } = await post("/v1/crawl", { url: `${site.url}/slow` });
    const id = body["job_id"] as unknown as string;
    const cancelled = await app.call(`/v1/crawl/${id}`, { method: "DELETE" });
    expect([cancelled.status, ((await cancelled.json()) as CrawlAnswer).status]).toEqual([200, "cancelled"]);
    const again = await app.call(`/v1/crawl/${id}`, { method: "DELETE" });
    expect([again.status, ((await again.json()) as CrawlAnswer).status]).toEqual([200, "cancelled"]);
  }, 30_000);
  test("unknown jobs", async () => {
    for (const method of ["GET", "DELETE"]) {
      const response = await app.call("/v1/crawl/crawl_nothing", { method });
      expect([response.status, ((await response.json()) as Answer["body"]).error?.code]).toEqual([
        404,
        "crawl_job_not_found",
      ]);
    }
  });
  const bad: [object, string][] = [
    [{ limit: 0 }, "limit"],
    [{ limit: 101 }, "limit"],
    [{ max_depth: 0 }, "max_depth"],
    [{ max_depth: 11 }, "max_depth"],
    [{ include_paths: "x" }, "include_paths"],
    [{ exclude_paths: [1] }, "exclude_paths[0]"],
    [{ exclude_paths: [""] }, "exclude_paths[0]"],
    [{ formats: ["x"] }, "formats[0]"],
  ];
  for (const [more, param] of bad)
    test(JSON.stringify(more), async () =>
      expect(code(await post("/v1/crawl", { url: site.url, ...more }))).toEqual([400, "invalid_request", param]),
    );
  test("private roots", async () => expect(code(await post("/v1/crawl", { url: "http://127.0.0.1:1/" }))[0]).toBe(400));
});
