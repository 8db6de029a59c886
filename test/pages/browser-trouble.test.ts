// A browser that stops answering, and callers that leave while their page is being opened.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser, type SharedBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer } from "../../src/pages/browser/render.ts";
import { CHROMIUM } from "../support/browser.ts";

let site: ReturnType<typeof Bun.serve>;
let renderers: Renderer[] = [];

beforeAll(() => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("<!doctype html><p>plain</p>", { headers: { "content-type": "text/html" } }),
  });
});
afterAll(async () => {
  await Promise.all(renderers.map((renderer) => renderer.close()));
  renderers = [];
  await site.stop(true);
}, 60_000);

function rendererOf(browser: SharedBrowser, openTimeoutMs = () => 60_000) {
  const policy = { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] };
  const guard = createAddressGuard(policy, createResolve());
  const renderer = createRenderer({
    browser,
    guard,
    pagesMax: 1,
    egress: LOCAL_EGRESS,
    get openTimeoutMs() {
      return openTimeoutMs();
    },
  });
  renderers.push(renderer);
  return (signal: AbortSignal = new AbortController().signal) =>
    renderer.render({
      url: `http://127.0.0.1:${site.port}/`,
      timeoutMs: 20_000,
      signal,
      screenshot: "none",
      userAgent: "Sallyport/1.0",
      accountId: "account",
      bytesMax: 1_000_000,
    });
}

/** A browser that calls `meet` whenever a page is about to be opened, and counts how often a browser was given up. */
function watched(meet: () => void): SharedBrowser & { losses: number } {
  const browser = createBrowser({ executable: "", endpoint: "" });
  return {
    ...browser,
    losses: 0,
    used(one) {
      browser.used(one);
      meet();
    },
    lost(one) {
      this.losses++;
      browser.lost(one);
    },
  };
}

describe.skipIf(CHROMIUM === undefined)("failures of the browser", () => {
  test("if a caller leaves while its page is being opened, the others keep their browser", async () => {
    let stop = new AbortController();
    const browser = watched(() => stop.abort(new Error("left")));
    const render = rendererOf(browser);
    for (let round = 0; round < 3; round++) {
      stop = new AbortController();
      expect(await render(stop.signal).catch((error: Error) => error.message)).toBe("left");
    }
    expect((await render()).html).toContain("plain");
    expect([browser.losses, (await browser.get()).contexts()]).toEqual([0, []]);
  }, 60_000);

  test("a browser that stops answering is replaced, and its place is free again", async () => {
    let frozen = 0;
    const browser = watched(() => undefined);
    // Only the frozen browser has a short timeout, because this machine may be slow.
    const render = rendererOf(browser, () => (frozen > 0 && browser.losses === 0 ? 2000 : 60_000));
    await render();
    const session = await (await browser.get()).newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    frozen = processInfo.find(({ type }) => type === "browser")?.id ?? 0;
    expect(frozen).toBeGreaterThan(0);
    process.kill(frozen, "SIGSTOP");
    try {
      expect((await render()).html).toContain("plain");
    } finally {
      process.kill(frozen, "SIGKILL");
    }
    expect([browser.losses, (await render()).html.includes("plain")]).toEqual([1, true]);
  }, 60_000);
});
