import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findBrowser } from "../../src/pages/browser/browser.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { pdfOf, twiceDeflated } from "../support/pdf.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let app: TestApp;

const ARTICLE = `<!doctype html><html lang="de"><head><title>Der Titel</title><meta name="description" content="Worum es geht">
  </head><body><nav><a href="/menu">Menu entry</a></nav><main><article><h1>Head</h1><p>A paragraph that is long enough to be
  taken for the content of this page, with a <a href="/next">link</a> in it and some more words after it.</p></article></main>
  <footer><a href="/imprint">Imprint of the site</a></footer></body></html>`;

beforeAll(async () => {
  site = startFakeSite({
    "/article": ARTICLE,
    "/moved": () => new Response(null, { status: 301, headers: { location: "/article" } }),
    "/loop": () => new Response(null, { status: 302, headers: { location: "/loop" } }),
    "/to-private": () => new Response(null, { status: 302, headers: { location: "http://127.0.0.2:9999/" } }),
    "/gone": () => html("<h1>Gone</h1><p>This page is gone for good and will not be back.</p>", { status: 410 }),
    "/broken": () => html("oops", { status: 500 }),
    "/login": () => html("who are you", { status: 401 }),
    "/forbidden": () => html("no", { status: 403 }),
    "/slow": (request) =>
      new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(html("late")), { once: true })),
    "/busy": () => html("later", { status: 429, headers: { "retry-after": "3600" } }),
    "/json": () => Response.json({ answer: 42 }),
    "/image": () => new Response(new Uint8Array([137, 80, 78, 71]), { headers: { "content-type": "image/png" } }),
    "/empty": () => html(""),
    "/short": () => html(`<p>${"A few words. ".repeat(20)}</p><noscript>Enable JavaScript for more.</noscript>`),
    "/application": () => html(`<div id="root"></div><script>${"draw();".repeat(200)}</script>`),
    "/no-content": () => new Response(null, { status: 204 }),
    "/refresh": () => html("<p>Moved</p>", { headers: { refresh: "0; url=/article" } }),
    "/broken.pdf": () => new Response("%PDF-1.4 and no more", { headers: { "content-type": "application/pdf" } }),
    "/bomb.pdf": () =>
      new Response(pdfOf(twiceDeflated(100), "/Filter[/FlateDecode/FlateDecode]"), {
        headers: { "content-type": "application/pdf" },
      }),
    "/binary": () => html("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"),
    "/wide": () =>
      new Response(Buffer.from(ARTICLE.replace("Head", "日本語の見出し"), "utf16le"), {
        headers: { "content-type": "text/html; charset=utf-16le" },
      }),
    "/large": () => html(`<p>${"x".repeat(40_000)}</p>`),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /secret"),
    "/secret": page("Secret"),
  });
  app = await startTestApp({ config: webConfig([site.host], { max_page: "32KiB" }) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

const scrape = (body: unknown, headers: Record<string, string> = {}) => app.post("/v1/scrape", body, headers);
const to = (path: string) => `${site.url}${path}`;

interface Answer {
  success: boolean;
  data: Record<string, unknown> & { metadata: Record<string, unknown> };
  error: { code: string; param: string | null; type: string; message: string };
}

describe("POST /v1/scrape", () => {
  test("returns Markdown of the main content and the metadata by default", async () => {
    const response = await scrape({ url: to("/article") });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit")).not.toBeNull();
    const { success, data } = (await response.json()) as Answer;
    expect(success).toBe(true);
    expect(Object.keys(data).sort()).toEqual(["markdown", "metadata"]);
    expect(data["markdown"]).toContain("A paragraph that is long enough");
    expect(data["markdown"]).not.toContain("Menu entry");
    expect(data.metadata).toMatchObject({
      title: "Der Titel",
      description: "Worum es geht",
      language: "de",
      sourceURL: to("/article"),
      statusCode: 200,
    });
  });

  test.each([
    ["formats", { formats: ["html", "links"] }, ["html", "links", "metadata"]],
    ["the alias rawHtml", { formats: ["rawHtml"] }, ["html", "metadata"]],
    ["a format twice", { formats: ["markdown", "markdown"] }, ["markdown", "metadata"]],
    ["no format", { formats: [] }, ["markdown", "metadata"]],
  ])("%s", async (_, extra, keys) => {
    const { data } = (await (await scrape({ url: to("/article"), ...extra })).json()) as Answer;
    expect(Object.keys(data).sort()).toEqual(keys);
  });

  test("links are absolute, and belong to the chosen part", async () => {
    const links = async (extra: object) =>
      ((await (await scrape({ url: to("/article"), formats: ["links"], ...extra })).json()) as Answer).data["links"];
    expect(await links({})).toEqual([to("/next")]);
    expect(await links({ only_main_content: false })).toEqual([to("/menu"), to("/next"), to("/imprint")]);
    expect(await links({ onlyMainContent: false })).toEqual([to("/menu"), to("/next"), to("/imprint")]);
  });

  test("unknown fields and Firecrawl's spellings are accepted", async () => {
    const response = await scrape({ url: to("/article"), timeout: 5000, waitFor: 10, origin: "js-sdk", mobile: true });
    expect(response.status).toBe(200);
  });

  test("sourceURL is the address after redirects", async () => {
    const { data } = (await (await scrape({ url: to("/moved") })).json()) as Answer;
    expect(data.metadata).toMatchObject({ sourceURL: to("/article"), statusCode: 200 });
  });

  test.each([
    ["another status", "/gone", 410, "gone for good"],
    ["404", "/nothing", 404, "nothing here"],
  ])("%s is a page like any other", async (_, path, status, text) => {
    const { data } = (await (await scrape({ url: to(path) })).json()) as Answer;
    expect(data.metadata["statusCode"]).toBe(status);
    expect(data["markdown"]).toContain(text);
  });

  test.each([
    ["an empty page", "/empty", 200],
    ["an answer without content", "/no-content", 204],
  ])("%s is empty", async (_, path, statusCode) => {
    const { data } = (await (await scrape({ url: to(path) })).json()) as Answer;
    expect(data).toMatchObject({ markdown: "", metadata: { statusCode } });
  });

  test("a page in UTF-16 without a mark is read", async () => {
    const { data } = (await (await scrape({ url: to("/wide") })).json()) as Answer;
    expect(data["markdown"]).toContain("日本語の見出し");
  });

  test("a Refresh header is followed as its element is", async () => {
    const { data } = (await (await scrape({ url: to("/refresh") })).json()) as Answer;
    expect(data.metadata).toMatchObject({ sourceURL: to("/article"), title: "Der Titel" });
  });

  test.each([
    ["a document that was not asked for", "/json", {}, "documents: true"],
    ["a PDF that is damaged", "/broken.pdf", { documents: true }, "damaged or protected"],
    ["a PDF of two kilobytes that unpacks to 100 MB", "/bomb.pdf", { documents: true }, "larger than allowed"],
    ["binary data that calls itself a page", "/binary", {}, "binary data"],
  ])(
    "%s is told by what it is",
    async (_, path, extra, text) => {
      const response = await scrape({ url: to(path), ...extra });
      expect(response.status).toBe(422);
      const { error } = (await response.json()) as Answer;
      expect(error.code).toBe("scrape_failed");
      expect(error.message).toContain(text);
    },
    30_000,
  );

  test("documents become Markdown on request only", async () => {
    const response = await scrape({ url: to("/json"), documents: true });
    expect(response.status).toBe(200);
    expect(((await response.json()) as Answer).data["markdown"]).toContain("42");
    expect((await scrape({ url: to("/image"), documents: true })).status).toBe(422);
  });

  test.each<[string, Record<string, unknown>, number, string, string | null]>([
    ["no url", {}, 400, "invalid_request", "url"],
    ["url of another type", { url: 1 }, 400, "invalid_request", "url"],
    ["no URL", { url: "example" }, 400, "invalid_request", "url"],
    ["a relative URL", { url: "/x" }, 400, "invalid_request", "url"],
    ["a URL that is too long", { url: `http://site.example/${"x".repeat(8192)}` }, 400, "invalid_request", "url"],
    ["another scheme", { url: "file:///etc/passwd" }, 400, "url_not_allowed", "url"],
    ["a URL with a password", { url: "http://a:b@127.0.0.1/" }, 400, "url_not_allowed", "url"],
    ["formats of another type", { url: "U", formats: "markdown" }, 400, "invalid_request", "formats"],
    ["an unknown format", { url: "U", formats: ["markdown", "pdf"] }, 400, "invalid_request", "formats[1]"],
    ["only_main_content", { url: "U", only_main_content: "yes" }, 400, "invalid_request", "only_main_content"],
    ["timeout_ms too small", { url: "U", timeout_ms: 999 }, 400, "invalid_request", "timeout_ms"],
    ["timeout_ms too large", { url: "U", timeout_ms: 300_001 }, 400, "invalid_request", "timeout_ms"],
    ["timeout_ms no integer", { url: "U", timeout_ms: 1000.5 }, 400, "invalid_request", "timeout_ms"],
    ["documents", { url: "U", documents: 1 }, 400, "invalid_request", "documents"],
  ])("refuses %s", async (_, body, status, code, param) => {
    const response = await scrape(body["url"] === "U" ? { ...body, url: to("/article") } : body);
    expect(response.status).toBe(status);
    expect(((await response.json()) as Answer).error).toMatchObject({ code, param });
  });

  test.each([
    ["a server error", "/broken", 502, "scrape_upstream_error"],
    ["a redirect loop", "/loop", 502, "scrape_upstream_error"],
    ["401", "/login", 422, "scrape_failed"],
    ["403", "/forbidden", 422, "scrape_failed"],
    ["429", "/busy", 422, "scrape_failed"],
    ["JSON", "/json", 422, "scrape_failed"],
    ["an image", "/image", 422, "scrape_failed"],
    ["a page too large", "/large", 422, "scrape_failed"],
    ["what robots.txt forbids", "/secret", 422, "scrape_failed"],
    ["a redirect into a private network", "/to-private", 400, "url_not_allowed"],
    ["a page that does not come", "/slow", 504, "scrape_timeout"],
  ])("%s fails with its own status and code", async (_, path, status, code) => {
    const response = await scrape({ url: to(path), ...(status === 504 && { timeout_ms: 1000 }) });
    expect(response.status).toBe(status);
    expect(((await response.json()) as Answer).error.code).toBe(code);
  });

  test("private addresses, dead ports and unknown hosts", async () => {
    const code = async (url: string) => {
      const response = await scrape({ url });
      return [response.status, ((await response.json()) as Answer).error.code];
    };
    expect(await code("http://127.0.0.1:1234/")).toEqual([400, "url_not_allowed"]);
    expect(await code("http://[::ffff:127.0.0.1]/")).toEqual([400, "url_not_allowed"]);
    expect(await code("http://169.254.169.254/latest/meta-data/")).toEqual([400, "url_not_allowed"]);
    expect(await code("http://nothing.invalid/")).toEqual([502, "scrape_upstream_error"]);
    const dead = startFakeSite({});
    await dead.stop();
    await app.reconfigure(webConfig([site.host, dead.host], { max_page: "32KiB" }));
    expect(await code(dead.url)).toEqual([502, "scrape_upstream_error"]);
  });

  test("a screenshot if rendering is turned off", async () => {
    const response = await scrape({ url: to("/article"), formats: ["screenshot"] });
    expect(response.status).toBe(502);
    expect(((await response.json()) as Answer).error.code).toBe("scrape_unavailable");
  });

  test("a client that disconnects ends its page load", async () => {
    const before = site.count("/slow");
    const client = new AbortController();
    const gone = Promise.withResolvers<void>();
    site.set("/slow", async (request) => {
      request.signal.addEventListener("abort", () => gone.resolve(), { once: true });
      await gone.promise;
      return html("late");
    });
    const answer = app
      .call("/v1/scrape", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: to("/slow") }),
        signal: client.signal,
      })
      .catch(() => undefined);
    await site.asked("/slow", before + 1);
    client.abort();
    await gone.promise;
    await answer;
    // It is logged as a client that has gone, not as an error.
    const told = () => app.logs.filter((line) => line["path"] === "/v1/scrape" && line["client_gone"] === true);
    while (told().length === 0) {
      await Bun.sleep(5);
      await app.flushLogs();
    }
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatchObject({ status: 499 });
    expect(told()[0]?.["error"]).toBeUndefined();
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toContain('sallyport_requests_total{route="/v1/scrape",status="499"} 1');
    expect(metrics).not.toContain("scrape_internal_error");
  });
});

test.skipIf(findBrowser("") === undefined)(
  "a browser's screenshot is a PNG in base64",
  async () => {
    await app.reconfigure(webConfig([site.host], { render: "auto" }));
    const shot = async (extra: object) => {
      const response = await scrape({ url: to("/article"), ...extra });
      const { data } = (await response.json()) as Answer;
      return [Object.keys(data).sort(), String(data["screenshot"]).slice(0, 11)];
    };
    expect(await shot({ formats: ["screenshot"] })).toEqual([["metadata", "screenshot"], "iVBORw0KGgo"]);
    expect(await shot({ formats: ["markdown", "screenshot@fullPage"] })).toEqual([
      ["markdown", "metadata", "screenshot"],
      "iVBORw0KGgo",
    ]);
  },
  60_000,
);

test("a browser that does not start is logged once, and the answer has a warning", async () => {
  const broken = await startTestApp({
    config: webConfig([site.host], { render: "auto", browser: { executable: "/bin/false" } }),
  });
  const read = async (body: object) => {
    const response = await broken.post("/v1/scrape", body);
    return [response.status, (await response.json()) as Answer] as const;
  };
  const health = async () => ((await (await fetch(`${broken.url}/health`)).json()) as Health).subsystems.browser.status;
  expect(await health()).toBe("ok");
  for (let times = 0; times < 2; times++) {
    const [status, { data }] = await read({ url: to("/application") });
    expect([status, data["warning"]]).toEqual([200, expect.stringContaining("without a browser")]);
  }
  // The warning depends on the page's text, whatever formats are requested.
  for (const formats of [["markdown"], ["html"], ["links"]]) {
    expect((await read({ url: to("/short"), formats }))[1].data["warning"]).toBeUndefined();
    expect((await read({ url: to("/application"), formats }))[1].data["warning"]).toBeDefined();
  }
  const [status, { error }] = await read({ url: to("/article"), formats: ["screenshot"] });
  expect([status, error.code]).toEqual([502, "scrape_unavailable"]);
  expect((await read({ url: to("/article") }))[1].data["warning"]).toBeUndefined();
  expect(await health()).toBe("degraded");
  await broken.flushLogs();
  expect(broken.logs.filter(({ msg }) => msg === "the browser could not be started")).toHaveLength(1);
  await broken.stop();
}, 60_000);

interface Health {
  subsystems: { browser: { status: string } };
}

describe("keys", () => {
  test("401 before 400", async () => {
    const response = await fetch(`${app.url}/v1/scrape`, { method: "POST", body: "{" });
    expect(response.status).toBe(401);
    expect(((await response.json()) as Answer).error.code).toBe("missing_api_key");
  });

  test.each(["/v1/fetch", "/fetch"])("%s redirects to scrape before it checks the key", async (path) => {
    const response = await fetch(app.url + path, { method: "POST", body: "{}", redirect: "manual" });
    expect(response.status).toBe(307);
    expect(new URL(response.headers.get("location") ?? "", app.url).pathname).toBe("/v1/scrape");
    const followed = await app.post(path, { url: to("/article") });
    expect(followed.status).toBe(200);
    expect(((await followed.json()) as Answer).data.metadata["title"]).toBe("Der Titel");
  });
});
