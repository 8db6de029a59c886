import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import type { BrowserContext, Page } from "playwright-core";
import { BlockedAddress, createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser, type SharedBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer, type RenderRequest } from "../../src/pages/browser/render.ts";
import { PageError } from "../../src/pages/page-error.ts";
import { BROWSERS, CHROMIUM } from "../support/browser.ts";
import { whileSteady } from "../support/real-time.ts";
import { html, script, shown } from "./render-pages.ts";

let site: ReturnType<typeof Bun.serve>;
let canary: ReturnType<typeof Bun.serve>;
let base = "";
let secret = "";
let peers: ReturnType<typeof createSocket>;
let peerPort = 0;
let touched: string[] = [];
let deaths = 0;
let asked = Promise.withResolvers<void>();
let browser: SharedBrowser;
let renderer: Renderer;

beforeAll(async () => {
  peers = createSocket("udp4");
  peers.on("message", () => touched.push("a datagram"));
  await new Promise<void>((done) => peers.bind(0, "127.0.0.1", done));
  peerPort = peers.address().port;
  canary = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => {
      touched.push(new URL(request.url).pathname);
      return server.upgrade(request, { data: undefined })
        ? undefined
        : new Response("secret", { headers: { "access-control-allow-origin": "*" } });
    },
    websocket: { message: () => undefined },
  });
  secret = `127.0.0.1:${canary.port}`;
  site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  base = `http://127.0.0.1:${site.port}`;
  use("");
});
beforeEach(() => {
  touched = [];
});
afterAll(async () => {
  await renderer.close();
  site.stop(true);
  canary.stop(true);
  peers.close();
});

/** The pages after this are shown by this browser. */
function use(executable: string): void {
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] },
    createResolve(),
  );
  browser = createBrowser({ executable, endpoint: "" });
  renderer = createRenderer({ browser, guard, pagesMax: 2, egress: LOCAL_EGRESS });
}

function answer(request: Request): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/endless") asked.resolve();
  return shown(pathname, searchParams) ?? led(pathname, searchParams) ?? hostile(pathname) ?? html("<p>plain</p>");
}

/** Pages that lead elsewhere, fail, or are not pages. */
function led(pathname: string, searchParams: URLSearchParams): Response | undefined {
  switch (pathname) {
    case "/refresh":
      return html(`<meta http-equiv="refresh" content="0; url=${searchParams.get("url")}">`);
    case "/drip":
      return new Response(
        new ReadableStream({
          pull: async (controller) => {
            controller.enqueue(new TextEncoder().encode("<p>drop of a page that never ends</p>"));
            // This is the speed at which the page arrives.
            await Bun.sleep(50);
          },
        }),
        { headers: { "content-type": "text/html" } },
      );
    case "/nothing":
      return new Response(null, { status: 404, headers: { "content-type": "text/html" } });
    case "/no-content":
      return new Response(null, { status: 204 });
    case "/gone":
      return new Response("<p>gone</p>", { status: 410, headers: { "content-type": "text/html" } });
    case "/consent":
      return html('<p>content</p><div style="position:fixed;bottom:0">We use cookies <button>ok</button></div>');
    case "/tall":
      return html('<div style="height:3000px;background:linear-gradient(red,blue)">tall</div>');
    case "/go":
      return script(`location.href = ${JSON.stringify(searchParams.get("url"))}`);
    case "/many":
      return script(
        `for (let i = 0; i < 120; i++) fetch("http://10.0.0." + i + "/", { mode: "no-cors" }).catch(() => 0); setTimeout(() => { location.href = ${JSON.stringify(`/redirect?url=${searchParams.get("url")}`)}; }, 100)`,
      );
    case "/redirect":
      return new Response(null, { status: 302, headers: { location: searchParams.get("url") ?? "" } });
    default:
      return undefined;
  }
}

/** Pages that do harm. */
function hostile(pathname: string): Response | Promise<Response> | undefined {
  switch (pathname) {
    case "/crash":
      return script(`fetch("/crash-now")`);
    case "/crash-now":
      return withShownPage((page, context) =>
        context.newCDPSession(page).then((session) => session.send("Page.crash")),
      );
    case "/die":
      return deaths++ === 0
        ? withShownPage(async (_, context) => (await context.browser()?.newBrowserCDPSession())?.send("Browser.crash"))
        : html("<p>alive again</p>");
    case "/attack":
      return html(`<p>attack</p><img src="http://${secret}/img"><iframe src="http://${secret}/iframe"></iframe><link rel="stylesheet" href="http://${secret}/css">
        <link rel="prefetch" href="http://${secret}/prefetch"><link rel="preconnect" href="http://${secret}"><script src="http://${secret}/script"></script>
        <object data="http://${secret}/object"></object><video src="http://${secret}/video" autoplay></video><embed src="http://${secret}/embed">
        <iframe src="http://localhost:${canary.port}/name"></iframe><img src="http://[::ffff:127.0.0.1]:${canary.port}/mapped"><img src="http://2130706433:${canary.port}/decimal">
        <script>fetch("http://${secret}/fetch", {mode:"no-cors"}).catch(()=>0); navigator.sendBeacon("http://${secret}/beacon"); new WebSocket("ws://${secret}/ws");
        new EventSource("http://${secret}/events"); fetch("${base}/redirect?url=http://${secret}/redirected",{mode:"no-cors"}).catch(()=>0);
        const f=document.createElement("form"); f.action="http://${secret}/form"; f.target="_blank"; f.method="post"; document.body.append(f); f.submit();
        window.open("http://${secret}/popup");
        const w=new Worker(URL.createObjectURL(new Blob(["fetch('http://${secret}/worker').catch(()=>0)"]))); const p=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:${peerPort}"}]}); p.createDataChannel("x"); p.createOffer().then(o=>p.setLocalDescription(o));
        </script>`);
    default:
      return undefined;
  }
}

/** Does something to the page that sent this request, and never answers it. */
async function withShownPage(work: (page: Page, context: BrowserContext) => Promise<unknown>): Promise<Response> {
  const context = (await browser.get()).contexts().at(-1);
  const page = context?.pages()[0];
  if (context !== undefined && page !== undefined) await work(page, context).catch(() => undefined);
  return new Promise<Response>(() => undefined);
}

const REQUEST = {
  timeoutMs: 15_000,
  screenshot: "none",
  userAgent: "Sallyport/1.0",
  bytesMax: 1_000_000,
  accountId: "account",
} as const satisfies Partial<RenderRequest>;
const render = (path: string, more: Partial<RenderRequest> = {}) =>
  renderer.render({ ...REQUEST, url: base + path, signal: new AbortController().signal, ...more });

/** The failure of this work. The test library's `rejects` would block the event loop, which the browser connection needs. */
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing",
    (error: unknown) => error,
  );
const fault = async (work: Promise<unknown>) => {
  const error = await failure(work);
  return error instanceof PageError ? error.fault : error;
};

describe.skipIf(CHROMIUM === undefined)("the visible page", () => {
  const cases: [string, string][] = [
    ["/app", "drawn by a script"],
    ["/late", "late text"],
    ["/dialogs", "past the dialogs"],
    ["/shadow", "in the shadow"],
    ["/framed", "text of the inner frame"],
    ["/popups", "past the pop-ups"],
    ["/worker", "refused"],
    ["/lazy", "came into view"],
    ["/form", "after the form"],
  ];
  for (const [path, text] of cases)
    test(path, () => whileSteady(async () => expect((await render(path)).html).toContain(text)), 60_000);

  test.each(["none", "viewport"] as const)("an ordinary window (screenshot: %s)", async (screenshot) => {
    expect((await render("/window", { screenshot })).html).toContain("1280 900 1280 visible true true 1 1264");
  });
  test("contexts opened at the same time are kept apart, and all are closed", async () => {
    const pages = await Promise.all(["/app", "/late", "/lazy", "/form"].map((path) => render(path)));
    expect(pages.map(({ url }) => new URL(url).pathname)).toEqual(["/app", "/late", "/lazy", "/form"]);
    expect((await browser.get()).contexts()).toEqual([]);
  }, 60_000);
  test("consent dialogs are removed", async () => {
    const { html } = await render("/consent");
    expect([html.includes("content"), html.includes("We use cookies")]).toEqual([true, false]);
  }, 60_000);
  test("a page that never finishes loading is read in its current state", async () => {
    const { html } = await render("/endless", { timeoutMs: 4000 });
    expect(html).toContain("tick");
  }, 60_000);
  test("frames are at their position, whenever they were loaded", async () => {
    const { html } = await render("/frames-late");
    const at = (name: string) => html.indexOf(`<section><p>${name} text of`);
    expect(at("second")).toBeGreaterThan(0);
    expect(at("second")).toBeLessThan(at("first"));
    expect(at("third")).toBeGreaterThan(at("first"));
  }, 60_000);
  test("an endless list is read for a few screens", async () => {
    const { html } = await render("/endless-scroll");
    const items = html.match(/item \d+/g) ?? [];
    expect([items.length > 10, items.length < 1000]).toEqual([true, true]);
  }, 60_000);
  test("an answer that never ends is read up to the received part", async () => {
    expect((await render("/drip", { timeoutMs: 4000 })).html).toContain("drop of a page");
  }, 60_000);
  test("screenshots", async () => {
    const [part, full] = await Promise.all([
      render("/tall", { screenshot: "viewport" }),
      render("/tall", { screenshot: "full" }),
    ]);
    const size = (png: Uint8Array | undefined) => Buffer.from(png ?? []).readUInt32BE(20);
    expect([size(part.screenshot), size(full.screenshot) >= 3000]).toEqual([900, true]);
  }, 60_000);
});

describe.skipIf(CHROMIUM === undefined)("limits", () => {
  const cases: [string, string][] = [
    ["/huge?mb=2", "too_large"],
    ["/huge?mb=200", "too_large"],
    ["/huge-shadow", "too_large"],
    ["/huge-attribute", "too_large"],
    ["/liar", "too_large"],
    ["/download", "not_html"],
    ["/crash", "upstream"],
  ];
  for (const [path, expected] of cases)
    test(`${path} → ${expected}`, async () => {
      const before = process.memoryUsage().rss;
      expect(await fault(render(path))).toBe(expected as never);
      // The hundred megabytes of the page stay in the browser.
      expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(90);
    }, 60_000);
  test("a page that blocks its thread times out", async () => {
    expect(await fault(render("/busy", { timeoutMs: 3000 }))).toBe("timeout" as never);
  }, 60_000);
  test("a frame that is too large is shortened, and its page is not", async () => {
    const { html } = await render("/huge-frame");
    expect(html).toContain("outer");
    expect(html.length).toBeLessThan(1_000_000);
  }, 60_000);
  test("screenshots are as wide as the window, and their height is limited", async () => {
    const { screenshot } = await render("/wide", { screenshot: "full" });
    const png = Buffer.from(screenshot ?? []);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 16_000]);
  }, 60_000);
});

describe.skipIf(CHROMIUM === undefined)("outgoing requests", () => {
  test("an unreachable address is an error", async () => {
    const dead = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("x") });
    const address = `127.0.0.1:${dead.port}`;
    await dead.stop(true);
    const open = createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve());
    const other = createRenderer({ browser, guard: open, pagesMax: 1, egress: LOCAL_EGRESS });
    const to = (url: string) =>
      other.render({
        ...REQUEST,
        url: `${base}/go?url=${encodeURIComponent(url)}`,
        signal: new AbortController().signal,
      });
    expect((await to(`http://${address}/`)).status).toBe(502);
    expect(await fault(to(`https://${address}/`))).toBe("upstream" as never);
  }, 60_000);
  test("a page that a script sends to an unreachable address stays unchanged", async () => {
    const { url, html, status } = await render("/go?url=http://nobody.invalid/");
    expect([url.startsWith(`${base}/go`), html.includes("waiting"), status]).toEqual([true, true, 200]);
  }, 60_000);
  test.each([
    ["a mail program", "mailto:somebody@site.example"],
    ["an application", "app-of-mine://open"],
    ["an answer without content", "/no-content"],
    ["a download", "/download"],
  ])(
    "a page that a script sends to %s stays too, and is not waited for",
    async (_, target) => {
      // Reading such a page ends early without an error. If it waited for the target, the test would time out.
      const { url, html, status } = await render(`/go?url=${target}`, { timeoutMs: 60_000 });
      expect([url.startsWith(`${base}/go`), html.includes("waiting"), status]).toEqual([true, true, 200]);
    },
    19_000,
  );
  test("the status is that of the last document", async () => {
    expect((await render("/go?url=/gone")).status).toBe(410);
    expect((await render("/redirect?url=/gone")).status).toBe(410);
    expect((await render("/app")).status).toBe(200);
    const { html, ...nothing } = await render("/nothing");
    expect([nothing, html.replace(/<[^>]*>/g, "")]).toEqual([{ url: `${base}/nothing`, status: 404 }, ""]);
  }, 60_000);
  test("files are not pages", async () => {
    expect((await render(`/go?url=file:///etc/passwd`)).html).not.toContain("root:");
  }, 60_000);
});

describe.skipIf(CHROMIUM === undefined)("failures", () => {
  test("a dead browser is replaced", async () => {
    await render("/app");
    await (await browser.get()).close();
    expect((await render("/app")).html).toContain("drawn");
  }, 60_000);
  test("a page whose browser dies is opened in another one", async () => {
    expect((await render("/die")).html).toContain("alive again");
    expect(deaths).toBe(2);
  }, 60_000);
  test("an aborted page ends at once", async () => {
    const stop = new AbortController();
    asked = Promise.withResolvers<void>();
    const pending = render("/endless", { signal: stop.signal }).catch((error: Error) => error.message);
    await asked.promise;
    stop.abort(new Error("gone"));
    expect(await pending).toBe("gone");
  }, 60_000);
});

describe.skipIf(CHROMIUM === undefined).each(BROWSERS)("private addresses, from %s", (executable) => {
  beforeAll(async () => {
    if (executable === CHROMIUM) return;
    await renderer.close();
    use(executable);
  });
  test("nothing a page loads reaches a private address", async () => {
    const { html } = await render("/attack");
    expect(html).toContain("attack");
    expect(touched).toEqual([]);
  }, 60_000);
  for (const [name, path] of [
    ["a script that goes there", () => `/go?url=http://${secret}/`],
    ["a redirect", () => `/redirect?url=http://${secret}/`],
    ["another spelling", () => `/go?url=http://localhost:${canary.port}/`],
    ["a refresh", () => `/refresh?url=http://${secret}/`],
    ["a cloud's metadata service", () => "/go?url=http://169.254.169.254/latest/meta-data/"],
    ["a redirect after many refusals", () => `/many?url=http://${secret}/`],
  ] as const)
    test(`${name} is refused`, async () => {
      expect(await failure(render(path()))).toBeInstanceOf(BlockedAddress);
      expect(touched).toEqual([]);
    }, 60_000);
});
