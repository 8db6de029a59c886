// Pages that try to use up the machine's memory.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer } from "../../src/pages/browser/render.ts";
import { PageError } from "../../src/pages/page-error.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type FakeSite, html, startFakeSite } from "../support/fake-site.ts";

const MIB = 1024 * 1024;
let site: FakeSite;
let renderer: Renderer;

const page = (script: string) => () => html(`<!doctype html><p>words</p><script>${script}</script>`);
const PAGES = {
  "/plain": page(""),
  "/arrays": page("const all = []; for (let i = 0; i < 150; i++) all.push(new Uint8Array(2e7).fill(1))"),
  "/wasm": page(`const all = []; for (let i = 0; i < 100; i++) {
    const memory = new WebAssembly.Memory({ initial: 400 });
    new Uint8Array(memory.buffer).fill(1);
    all.push(memory);
  }`),
};

beforeAll(() => {
  site = startFakeSite(PAGES);
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [site.host], ports: [] },
    createResolve(),
  );
  const browser = createBrowser({ executable: "", endpoint: "", pageBytesMax: 400 * MIB });
  renderer = createRenderer({ browser, guard, pagesMax: 2, egress: LOCAL_EGRESS });
});
afterAll(async () => {
  await renderer.close();
  await site.stop();
});

const render = (path: string, timeoutMs = 55_000) =>
  renderer.render({
    url: site.url + path,
    accountId: "a",
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
    screenshot: "none",
    userAgent: "test",
    bytesMax: MIB,
  });
const fault = (path: string) =>
  render(path).then(
    () => "shown",
    (error: unknown) => (error instanceof PageError ? error.fault : String(error)),
  );

describe.skipIf(CHROMIUM === undefined)("a page", () => {
  test.each(["/arrays", "/wasm"])(
    "that fills the memory (%s) is ended, and the next one is shown",
    async (path) => {
      expect(await fault(path)).toBe("upstream");
      expect((await render("/plain")).html).toContain("words");
    },
    120_000,
  );
});
