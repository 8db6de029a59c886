import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { FakeClock } from "../../src/base/clock.ts";
import { BlockedAddress, createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";
import type { Rendered } from "../../src/pages/browser/render.ts";
import { createConverter } from "../../src/pages/convert/convert.ts";
import { createLoader, type LoaderSettings, type LoadPage, type LoadRequest } from "../../src/pages/load.ts";
import { PageError } from "../../src/pages/page-error.ts";
import { createRobotsJudge } from "../../src/pages/robots/judge.ts";
import { createRobots } from "../../src/pages/robots/robots.ts";
import { PoolFull } from "../../src/workers/pool.ts";
import { whileSteady } from "../support/real-time.ts";

const PAGE =
  "<html lang=en><title>T</title><main><h1>Head</h1><p>A paragraph of text that is long enough to count as something.</p></main>";
const SHELL = `<title>App</title><div id="root"></div><script>${"x".repeat(2000)}</script>`;

let site: ReturnType<typeof Bun.serve>;
let base = "";
let hits: string[] = [];
let robotsText: string | undefined;
const converter = createConverter(1);
const judge = createRobotsJudge(new FakeClock());
const attempts = new Map<string, number>();

beforeAll(() => {
  site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  base = `http://127.0.0.1:${site.port}`;
});
beforeEach(() => {
  hits = [];
  robotsText = undefined;
  attempts.clear();
});
afterAll(() => {
  site.stop(true);
  converter.close();
  judge.close();
});

const html = (text: string, init: ResponseInit = {}) =>
  new Response(text, { ...init, headers: { "content-type": "text/html", ...init.headers } });

function answer(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  hits.push(pathname);
  const [, kind, value = ""] = pathname.split("/");
  if (kind === "to") return Response.redirect(`${base}/${value}`, 302);
  if (kind === "robots.txt" && robotsText === "never") return new Promise<Response>(() => undefined);
  if (kind === "robots.txt")
    return robotsText === undefined ? new Response("no", { status: 404 }) : new Response(robotsText);
  if (kind === "status")
    return html(`<h1>${value}</h1><p>What the server says about ${value}.</p>`, { status: Number(value) });
  if (kind === "flaky") {
    const seen = (attempts.get(pathname) ?? 0) + 1;
    attempts.set(pathname, seen);
    return seen < 2 ? html("later", { status: Number(value), headers: { "retry-after": "0" } }) : html(PAGE);
  }
  if (kind === "later") return html("later", { status: 503, headers: { "retry-after": "3600" } });
  if (kind === "challenge")
    return html("<title>Just a moment...</title>", { status: 403, headers: { "cf-mitigated": "challenge" } });
  if (kind === "shell") return html(SHELL);
  if (kind === "refresh") return html('<meta http-equiv="refresh" content="0; url=/page">');
  if (kind === "loop") return html(`<meta http-equiv="refresh" content="0; url=/loop/${value === "a" ? "b" : "a"}">`);
  if (kind === "cut")
    return html(gzipSync(PAGE + "<p>More.</p>".repeat(9)).subarray(0, -12) as unknown as string, {
      headers: { "content-encoding": "gzip" },
    });
  if (kind === "long")
    return html(`<p>${"Much to read. ".repeat(80)}</p><a href="/on">On</a>`, { headers: { refresh: "1; url=/page" } });
  if (kind === "to-private") return Response.redirect("http://127.0.0.2:9/", 302);
  if (kind === "missing")
    return new Response("nothing here", { status: 404, headers: { "content-type": "text/plain" } });
  if (kind === "json") return Response.json({ a: 1 });
  if (kind === "image")
    return new Response(new Uint8Array([0x89, 0x50, 0, 1, 2]), { headers: { "content-type": "image/png" } });
  if (kind === "big") return html("x".repeat(300_000));
  if (kind === "empty") return html("");
  if (kind === "latin") return html("<p>caf\xe9 d\xe9j\xe0 vu, et ainsi de suite.</p>".replace(/[\x80-\xff]/g, "?"));
  if (kind === "never") return new Promise<Response>(() => undefined);
  return html(PAGE);
}

function loader(settings: Partial<LoaderSettings> = {}, rendered?: () => Promise<Rendered>): LoadPage {
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] },
    createResolve(),
  );
  const fetch = createFetch(guard);
  const all = {
    userAgent: "Sallyport/1.0 (test)",
    pageBytesMax: 200_000,
    respectRobots: true,
    render: "auto" as const,
    ...settings,
  };
  return createLoader({
    fetch,
    converter,
    renderer: rendered === undefined ? undefined : { render: rendered, close: async () => undefined },
    robots: createRobots({ fetch, clock: new FakeClock(), userAgent: () => all.userAgent, judge }),
    settings: () => all,
  });
}

const request = (path: string, more: Partial<LoadRequest> = {}): LoadRequest => ({
  url: base + path,
  accountId: "account",
  markdown: true,
  html: false,
  links: false,
  screenshot: "none",
  onlyMainContent: true,
  documents: false,
  timeoutMs: 15_000,
  ...more,
});
const fault = (load: Promise<unknown>) =>
  load.then(
    () => "none",
    (error: unknown) => (error instanceof PageError ? error.fault : (error as Error).name),
  );

test.each<[string, string, Partial<LoaderSettings>]>([
  ["page", "/page", {}],
  ["redirect", "/to/page", {}],
  ["refresh", "/refresh", {}],
  ["rendered page", "/page", { render: "always" }],
  ["rendered page without text", "/page", { render: "always" }],
])(
  "the links of a %s for a crawl are selected by its final address, where it is converted",
  async (name, path, web) => {
    const shown = name.endsWith("without text") ? "" : `${PAGE}<a href="/on">On</a>`;
    const load = loader(web, async () => ({ url: `${base}/page?shown`, status: 200, html: shown }));
    const asked: string[] = [];
    const pickAt = (url: string) => {
      asked.push(url);
      return {
        own: [url],
        sites: [`127.0.0.1:${site.port}`],
        includes: ["/page"],
        excludes: [],
        documents: false,
        most: 5,
      };
    };
    const page = await load(request(path, { pickAt }));
    expect(page.url).toBe(name.startsWith("rendered") ? `${base}/page?shown` : `${base}/page`);
    expect(asked.at(-1)).toBe(page.url);
    expect([page.allLinks, page.picked]).toEqual(["", { keys: "", urls: "", isOwnWanted: true }]);
  },
);

describe("statuses", () => {
  const cases: [string, string][] = [
    ["/status/404", "none"],
    ["/status/410", "none"],
    ["/status/418", "none"],
    ["/status/401", "refused"],
    ["/status/403", "refused"],
    ["/status/501", "upstream"],
    ["/later", "upstream"],
    ["/challenge", "refused"],
    ["/big", "too_large"],
    ["/image", "not_html"],
    ["/json", "not_html"],
    ["/empty", "none"],
  ];
  for (const [path, expected] of cases)
    test(`${path} → ${expected}`, async () => expect(await fault(loader()(request(path)))).toBe(expected));
  for (const status of [429, 500, 502, 503])
    test(`a ${status} is tried again`, async () => {
      const { markdown } = await loader()(request(`/flaky/${status}`));
      expect(markdown).toContain("A paragraph");
    });
  test("the page's own status is reported", async () =>
    expect((await loader()(request("/status/404"))).status).toBe(404));
  test("an empty page has empty Markdown", async () => expect((await loader()(request("/empty"))).markdown).toBe(""));
  test("documents on request", async () =>
    expect((await loader()(request("/json", { documents: true }))).markdown).toContain('"a": 1'));
  test("an error that is no page is told by its status, without the advice to read it", async () => {
    const error = await loader()(request("/missing")).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toBe("The page answered 404, with text/plain.");
  });
  test("images are no documents", async () =>
    expect(await fault(loader()(request("/image", { documents: true })))).toBe("not_html"));
  test("a closed port", async () => {
    const load = createLoader({
      fetch: createFetch(
        createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve()),
      ),
      converter,
      renderer: undefined,
      robots: { rulesFor: async () => ({ check: async () => undefined, crawlDelayMs: 0, sitemaps: [] }) },
      settings: () => ({ userAgent: "x", pageBytesMax: 1000, respectRobots: true, render: "auto" }),
    });
    expect(await fault(load(request("", { url: "http://127.0.0.1:1023/" })))).toBe("upstream");
  });
});

describe("limits", () => {
  test("a silent server", async () =>
    expect(await fault(loader()(request("/never", { timeoutMs: 200 })))).toBe("timeout"));
  test("a robots.txt that never arrives", async () => {
    robotsText = "never";
    await whileSteady(async () => {
      const started = performance.now();
      expect(await fault(loader()(request("/page", { timeoutMs: 200 })))).toBe("timeout");
      // The time limit of the file itself is ten seconds.
      expect(performance.now() - started).toBeLessThan(5000);
    });
  });
  test("an abort by the caller is reported as such", async () => {
    const stop = new AbortController();
    const pending = loader()(request("/never", { signal: stop.signal })).catch((error: Error) => error.message);
    stop.abort(new Error("gone"));
    expect(await pending).toBe("gone");
  });
  test("a redirect to a private address", async () => {
    await expect(loader()(request("/to-private"))).rejects.toThrow(BlockedAddress);
  });
  test("an address that is private", async () => {
    await expect(loader()(request("", { url: "http://10.0.0.1/" }))).rejects.toThrow(BlockedAddress);
  });
});

describe("robots", () => {
  test("a disallowed page is not loaded", async () => {
    robotsText = "User-agent: *\nDisallow: /secret";
    expect(await fault(loader()(request("/secret")))).toBe("robots");
    expect(hits).toEqual(["/robots.txt"]);
  });
  test("unless the operator says so", async () => {
    robotsText = "User-agent: *\nDisallow: /";
    expect(await fault(loader({ respectRobots: false })(request("/page")))).toBe("none");
  });
  test("a page that redirects to a disallowed one is not loaded either", async () => {
    robotsText = "User-agent: *\nDisallow: /secret";
    expect(await fault(loader()(request("/to/secret")))).toBe("robots");
    expect(await fault(loader()(request("/to/page")))).toBe("none");
  });
  test("rules for the gateway's own user agent apply", async () => {
    robotsText = "User-agent: Sallyport\nDisallow: /page\n\nUser-agent: *\nAllow: /";
    expect(await fault(loader()(request("/page")))).toBe("robots");
  });
  test("a page in its place forbids nothing", async () => {
    robotsText = "<!doctype html><p>User-agent: *\nDisallow: /";
    expect(await fault(loader()(request("/page")))).toBe("none");
  });
});

describe("rendering", () => {
  const drawn = (text: string) => async (): Promise<Rendered> => ({
    url: `${base}/drawn`,
    status: 200,
    html: text,
    screenshot: new Uint8Array([1]),
  });
  test.each([
    ["blob:http://127.0.0.1/5", "<p>Drawn from nothing at all, by a script.</p>", "Drawn from nothing"],
    ["about:blank", "", "A paragraph"],
    ["same", "<body></body>", "A paragraph"],
  ])("a page that its scripts sent to %s has that address, and keeps its text", async (where, text, found) => {
    const shown = async () => ({ url: where === "same" ? `${base}/page` : where, status: 200, html: text });
    for (const more of [{ screenshot: "viewport" as const }, {}]) {
      const page = await loader({ render: "always" }, shown)(request("/page", more));
      expect([page.url, page.rendered, page.markdown?.includes(found)]).toEqual([`${base}/page`, true, true]);
    }
  });
  test("a page without content is rendered", async () => {
    const page = await loader({}, drawn(PAGE))(request("/shell"));
    expect([page.rendered, page.url, page.markdown?.includes("A paragraph")]).toEqual([true, `${base}/drawn`, true]);
  });
  test("a page with enough content is not rendered", async () =>
    expect((await loader({}, drawn("no"))(request("/page"))).rendered).toBe(false));
  test("unless it always should be", async () =>
    expect((await loader({ render: "always" }, drawn(PAGE))(request("/page"))).rendered).toBe(true));
  test("or if a screenshot is requested", async () =>
    expect((await loader({}, drawn(PAGE))(request("/page", { screenshot: "viewport" }))).screenshot).toEqual(
      new Uint8Array([1]),
    ));
  test("after a server error in the browser, the page from HTTP is used, unless a screenshot is requested", async () => {
    const broken = async (): Promise<Rendered> => ({ url: `${base}/x`, status: 503, html: PAGE });
    const load = loader({ render: "always" }, broken);
    expect((await load(request("/page"))).rendered).toBe(false);
    expect(await fault(load(request("/page", { screenshot: "full" })))).toBe("upstream");
  });
  test("never means never", async () =>
    expect((await loader({ render: "never" }, drawn(PAGE))(request("/shell"))).rendered).toBe(false));
  test("if the browser fails, the page from HTTP is used", async () => {
    const broken = async (): Promise<Rendered> => {
      throw new PageError("no_browser", "none");
    };
    expect((await loader({}, broken)(request("/shell"))).rendered).toBe(false);
  });
  test("also if the queue of the browser is full, unless a screenshot is requested", async () => {
    const crowded = () => Promise.reject(new PoolFull("full"));
    const { rendered, markdown } = await loader({}, crowded)(request("/shell"));
    expect([rendered, typeof markdown]).toEqual([false, "string"]);
    expect(await fault(loader({}, crowded)(request("/page", { screenshot: "full" })))).toBe("PoolFull");
  });
  test("without a browser there is no screenshot", async () =>
    expect(await fault(loader()(request("/page", { screenshot: "full" })))).toBe("no_browser"));
  test("a page with a challenge is opened in the browser", async () =>
    expect((await loader({}, drawn(PAGE))(request("/challenge"))).rendered).toBe(true));
  test("a refresh is followed without one", async () => {
    const page = await loader()(request("/refresh"));
    expect([page.url, page.rendered]).toEqual([`${base}/page`, false]);
  });
  test("two pages that refresh to each other are an error", async () =>
    expect(await fault(loader()(request("/loop/a")))).toBe("upstream"));
  test("a compressed page that was cut off says so", async () => {
    const { markdown, omissions } = await loader()(request("/cut"));
    expect(markdown).toContain("A paragraph of text");
    expect(omissions).toEqual(["The server's answer ended too early: the end of the page may be missing."]);
  });
  test("a refresh is not followed on a page with much text, whatever is requested", async () => {
    for (const markdown of [true, false]) {
      const page = await loader()(request("/long", { markdown, html: false, links: true }));
      expect([page.url, page.links]).toEqual([`${base}/long`, [`${base}/on`]]);
    }
  });
});
