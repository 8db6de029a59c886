import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { BlockedAddress, createGuard } from "../../src/net/guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser, findBrowser, type SharedBrowser } from "../../src/pages/browser.ts";
import { createRenderer, type Renderer, type RenderRequest } from "../../src/pages/render.ts";

let site: ReturnType<typeof Bun.serve>;
let canary: ReturnType<typeof Bun.serve>;
let base = "";
let secret = "";
let touched: string[] = [];
let browser: SharedBrowser;
let renderer: Renderer;

beforeAll(() => {
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
  const guard = createGuard(
    { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] },
    createResolve(),
  );
  browser = createBrowser({ executable: "", endpoint: "" });
  renderer = createRenderer({ browser, guard, pagesMax: 2, proxyAddress: "", isGuarded: true });
});
beforeEach(() => {
  touched = [];
});
afterAll(async () => {
  await renderer.close();
  site.stop(true);
  canary.stop(true);
});

function answer(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url);
  const html = (text: string) =>
    new Response(`<!doctype html><title>t</title><body>${text}`, { headers: { "content-type": "text/html" } });
  const script = (code: string) => html(`<div id="out">waiting</div><script>${code}</script>`);
  switch (pathname) {
    case "/app.js":
      return new Response(`document.getElementById("root").innerHTML = "<p>drawn by a script</p>"`, {
        headers: { "content-type": "text/javascript" },
      });
    case "/app":
      return html('<div id="root"></div><script src="/app.js"></script>');
    case "/late":
      return script(`setTimeout(() => { document.getElementById("out").textContent = "late text" }, 200)`);
    case "/endless":
      return script(`setInterval(() => { document.getElementById("out").textContent = "tick " + Math.random() }, 20)`);
    case "/dialogs":
      return script(
        `alert(1); confirm(2); window.open("/app"); document.getElementById("out").textContent = "past the dialogs"`,
      );
    case "/shadow":
      return script(
        `const h = document.body.appendChild(document.createElement("x-y")); h.attachShadow({ mode: "open" }).innerHTML = "<p>in the shadow</p>"`,
      );
    case "/framed":
      return html(`<iframe src="/frame" width="500" height="300"></iframe>`);
    case "/frame":
      return html(`<p>${"text of the inner frame, long enough to count. ".repeat(5)}</p>`);
    case "/consent":
      return html('<p>content</p><div style="position:fixed;bottom:0">We use cookies <button>ok</button></div>');
    case "/tall":
      return html('<div style="height:3000px;background:linear-gradient(red,blue)">tall</div>');
    case "/go":
      return script(`location.href = ${JSON.stringify(searchParams.get("url"))}`);
    case "/redirect":
      return new Response(null, { status: 302, headers: { location: searchParams.get("url") ?? "" } });
    case "/crash":
      return html('<p>x</p><script>location.href = "chrome://crash"</script>');
    case "/attack":
      return html(`<p>attack</p><img src="http://${secret}/img"><iframe src="http://${secret}/iframe"></iframe><link rel="stylesheet" href="http://${secret}/css">
        <link rel="prefetch" href="http://${secret}/prefetch"><link rel="preconnect" href="http://${secret}"><script src="http://${secret}/script"></script>
        <object data="http://${secret}/object"></object><video src="http://${secret}/video" autoplay></video><embed src="http://${secret}/embed">
        <iframe src="http://localhost:${canary.port}/name"></iframe><img src="http://[::ffff:127.0.0.1]:${canary.port}/mapped"><img src="http://2130706433:${canary.port}/decimal">
        <script>fetch("http://${secret}/fetch", {mode:"no-cors"}).catch(()=>0); navigator.sendBeacon("http://${secret}/beacon"); new WebSocket("ws://${secret}/ws");
        new EventSource("http://${secret}/events"); fetch("${base}/redirect?url=http://${secret}/redirected",{mode:"no-cors"}).catch(()=>0);
        const f=document.createElement("form"); f.action="http://${secret}/form"; f.target="_blank"; f.method="post"; document.body.append(f); f.submit();
        window.open("http://${secret}/popup");
        const w=new Worker(URL.createObjectURL(new Blob(["fetch('http://${secret}/worker').catch(()=>0)"]))); const p=new RTCPeerConnection({iceServers:[{urls:"stun:${secret}"}]}); p.createDataChannel("x"); p.createOffer().then(o=>p.setLocalDescription(o));
        </script>`);
    default:
      return html("<p>plain</p>");
  }
}

const render = (path: string, more: Partial<RenderRequest> = {}) =>
  renderer.render({
    url: base + path,
    timeoutMs: 15_000,
    signal: new AbortController().signal,
    screenshot: "none",
    userAgent: "Sallyport/1.0",
    ...more,
  });

test("a Chromium is found", () => expect(findBrowser("")).toBeString());

describe("what a reader sees", () => {
  const cases: [string, string][] = [
    ["/app", "drawn by a script"],
    ["/late", "late text"],
    ["/dialogs", "past the dialogs"],
    ["/shadow", "in the shadow"],
    ["/framed", "text of the inner frame"],
  ];
  for (const [path, text] of cases) test(path, async () => expect((await render(path)).html).toContain(text), 30_000);

  test("consent layers go", async () => {
    const { html } = await render("/consent");
    expect([html.includes("content"), html.includes("We use cookies")]).toEqual([true, false]);
  }, 30_000);
  test("a page without end is read as it stands", async () => {
    const { html } = await render("/endless", { timeoutMs: 4000 });
    expect(html).toContain("tick");
  }, 30_000);
  test("pictures", async () => {
    const [part, full] = await Promise.all([
      render("/tall", { screenshot: "viewport" }),
      render("/tall", { screenshot: "full" }),
    ]);
    const size = (png: Uint8Array | undefined) => Buffer.from(png ?? []).readUInt32BE(20);
    expect([size(part.screenshot), size(full.screenshot) >= 3000]).toEqual([900, true]);
  }, 30_000);
});

describe("the way out", () => {
  test("nothing a page loads reaches a private address", async () => {
    const { html } = await render("/attack");
    expect(html).toContain("attack");
    expect(touched).toEqual([]);
  }, 30_000);
  for (const [name, path] of [
    ["a script that goes there", () => `/go?url=http://${secret}/`],
    ["a redirect", () => `/redirect?url=http://${secret}/`],
    ["another spelling", () => `/go?url=http://localhost:${canary.port}/`],
  ] as const)
    test(`${name} is refused`, async () => {
      await expect(render(path())).rejects.toThrow(BlockedAddress);
      expect(touched).toEqual([]);
    }, 30_000);
  test("files are no pages", async () => {
    expect((await render(`/go?url=file:///etc/passwd`)).html).not.toContain("root:");
  }, 30_000);
});

describe("trouble", () => {
  test("a dead browser is replaced", async () => {
    await render("/app");
    await (await browser.get()).close();
    expect((await render("/app")).html).toContain("drawn");
  }, 30_000);
  test("an aborted page ends at once", async () => {
    const stop = new AbortController();
    const pending = render("/endless", { signal: stop.signal }).catch((error: Error) => error.message);
    setTimeout(() => stop.abort(new Error("gone")), 300);
    expect(await pending).toBe("gone");
  }, 30_000);
});
