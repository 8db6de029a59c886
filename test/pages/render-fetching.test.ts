// Pages that fetch their content are read after it has arrived.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer } from "../../src/pages/browser/render.ts";
import { CHROMIUM } from "../support/browser.ts";
import { whileSteady } from "../support/real-time.ts";

let site: ReturnType<typeof Bun.serve>;
let renderer: Renderer;

beforeAll(() => {
  site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] },
    createResolve(),
  );
  const browser = createBrowser({ executable: "", endpoint: "" });
  renderer = createRenderer({ browser, guard, pagesMax: 2, egress: LOCAL_EGRESS });
});
afterAll(async () => {
  await renderer.close();
  await site.stop(true);
});

function answer(request: Request): Response | Promise<Response> {
  const html = (text: string) =>
    new Response(`<!doctype html><title>t</title><body>${text}`, { headers: { "content-type": "text/html" } });
  const script = (code: string) => html(`<div id="out">waiting</div><script>${code}</script>`);
  switch (new URL(request.url).pathname) {
    case "/fed":
      return script(
        `fetch("/feed").then((answer) => answer.text()).then((next) => fetch(next)).then((answer) => answer.text()).then((text) => { document.getElementById("out").textContent = text })`,
      );
    case "/feed":
      return Bun.sleep(700).then(() => new Response("/food"));
    case "/food":
      return Bun.sleep(700).then(() => new Response("fed from afar"));
    case "/channel":
      return script(`fetch("/never").catch(() => 0); document.getElementById("out").textContent = "all there is"`);
    case "/never":
      return new Promise<Response>(() => undefined);
    case "/fed-list":
      return script(
        `document.body.style.height = "2000px"; let n = 0, isBusy = false; addEventListener("scroll", () => { if (isBusy || scrollY + innerHeight < document.body.scrollHeight - 50) return; isBusy = true; fetch("/more").then(() => { const p = document.createElement("p"); p.textContent = "part " + n++; document.body.append(p); document.body.style.height = 2000 + n * 1000 + "px"; isBusy = false; }); });`,
      );
    case "/more":
      return Bun.sleep(300).then(() => new Response("more"));
    case "/timer":
      return html(
        `<div id="root">Loading…</div><script>setTimeout(() => { document.getElementById("root").textContent = "drawn in time" }, 1500)</script>`,
      );
    default:
      return new Response("nothing", { status: 404 });
  }
}

const render = (path: string) =>
  renderer.render({
    url: `http://127.0.0.1:${site.port}${path}`,
    timeoutMs: 15_000,
    screenshot: "none",
    userAgent: "Sallyport/1.0",
    accountId: "account",
    bytesMax: 1_000_000,
    signal: new AbortController().signal,
  });

describe.skipIf(CHROMIUM === undefined)("content that a page fetches", () => {
  test.each([
    ["/fed", "fed from afar"],
    ["/timer", "drawn in time"],
    ["/channel", "all there is"],
  ])("%s", (path, text) => whileSteady(async () => expect((await render(path)).html).toContain(text)), 60_000);

  test("a list that loads more is extended a few times", async () => {
    await whileSteady(async () => {
      const { html } = await render("/fed-list");
      expect(html.match(/part \d/g)?.length ?? 0).toBeWithin(3, 20);
    });
  }, 60_000);
});
