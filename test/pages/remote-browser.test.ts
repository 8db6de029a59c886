// A remote browser, reached by CDP and by Playwright's own protocol, whose network access goes through the gateway.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserServer, chromium } from "playwright-core";
import { type AddressPolicy, BlockedAddress, createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { type BrowserEgress, createRemoteEgress } from "../../src/pages/browser/egress.ts";
import { createRenderer, type RenderRequest } from "../../src/pages/browser/render.ts";
import { PageError } from "../../src/pages/page-error.ts";
import { browserProgram, CHROMIUM } from "../support/browser.ts";
import { whileSteady } from "../support/real-time.ts";

const executable = CHROMIUM ?? "";
let site: ReturnType<typeof Bun.serve>;
let canary: ReturnType<typeof Bun.serve>;
let base = "";
let touched: string[] = [];
let asked: string[] = [];
let onDeath: () => Promise<void> = async () => undefined;

beforeAll(() => {
  canary = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      touched.push(new URL(request.url).pathname);
      return new Response("secret");
    },
  });
  site = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  base = `http://127.0.0.1:${site.port}`;
});
afterAll(async () => {
  await site.stop(true);
  await canary.stop(true);
});

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  asked.push(pathname);
  const html = (text: string) =>
    new Response(`<!doctype html><title>t</title><body>${text}`, { headers: { "content-type": "text/html" } });
  const secret = `http://127.0.0.1:${canary.port}`;
  switch (pathname) {
    case "/app.js":
      return new Response(`document.getElementById("root").textContent = "drawn, with " + typeof RTCPeerConnection`, {
        headers: { "content-type": "text/javascript" },
      });
    case "/attack":
      return html(
        `<p>attack</p><img src="${secret}/img"><iframe src="${secret}/frame"></iframe><script src="${secret}/script"></script><script>fetch("${secret}/fetch", {mode:"no-cors"}).catch(()=>0); new WebSocket("ws://127.0.0.1:${canary.port}/ws"); navigator.sendBeacon("${secret}/beacon");</script>`,
      );
    case "/go":
      return html(`<script>location.href = "${secret}/"</script>`);
    case "/metadata":
      return html(`<script>location.href = "http://169.254.169.254/latest/"</script>`);
    case "/die":
      if (asked.filter((path) => path === "/die").length > 1) return html("<p>alive again</p>");
      await onDeath();
      return new Promise<Response>(() => undefined);
    default:
      return html('<div id="root"></div><script src="/app.js"></script>');
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

interface Remote {
  endpoint: string;
  /** Ends the browser as a crash would, and starts another one at the same address. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

/** A Chromium in its own process with an open debugging port. */
async function startChromium(kind: "http" | "ws"): Promise<Remote> {
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "sallyport-remote-"));
  const start = async () => {
    const child = Bun.spawn(
      [
        browserProgram(executable),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        `--remote-debugging-port=${port}`,
        `--user-data-dir=${profile}`,
      ],
      { stdout: "ignore", stderr: "pipe" },
    );
    let said = "";
    for await (const chunk of child.stderr) {
      said += new TextDecoder().decode(chunk);
      const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (address !== undefined) return { child, address };
    }
    throw new Error(`The browser did not start: ${said}`);
  };
  let { child, address } = await start();
  return {
    endpoint: kind === "http" ? `http://127.0.0.1:${port}` : address,
    replace: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(join(profile, "SingletonLock"), { force: true });
      ({ child, address } = await start());
    },
    stop: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A Playwright server with its own Chromium. */
async function startPlaywright(): Promise<Remote> {
  const port = await freePort();
  const start = (): Promise<BrowserServer> =>
    chromium.launchServer({
      executablePath: executable,
      headless: true,
      port,
      host: "127.0.0.1",
      wsPath: "/pw",
      chromiumSandbox: false,
    });
  let server = await start();
  return {
    endpoint: `ws://127.0.0.1:${port}/pw`,
    replace: async () => {
      await server.kill();
      server = await start();
    },
    stop: () => server.close(),
  };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing",
    (error: unknown) => error,
  );

function rendererFor(endpoint: string, egress: BrowserEgress | undefined, policy: Partial<AddressPolicy> = {}) {
  const listed = { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] };
  const guard = createAddressGuard({ ...listed, ...policy }, createResolve());
  const renderer = createRenderer({ browser: createBrowser({ executable: "", endpoint }), guard, pagesMax: 2, egress });
  const render = (path: string, more: Partial<RenderRequest> = {}) =>
    renderer.render({
      url: base + path,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      screenshot: "none",
      userAgent: "Sallyport/1.0",
      accountId: "account",
      bytesMax: 1_000_000,
      ...more,
    });
  return { render, close: () => renderer.close() };
}

const KINDS: [string, () => Promise<Remote>][] = [
  ["CDP by http", () => startChromium("http")],
  ["CDP by WebSocket", () => startChromium("ws")],
  ["Playwright", startPlaywright],
];

describe.skipIf(CHROMIUM === undefined).each(KINDS)("%s", (_, start) => {
  let remote: Remote;
  let egress: BrowserEgress;
  let proxyPort = 0;
  let renderer: ReturnType<typeof rendererFor>;
  beforeAll(async () => {
    remote = await start();
    proxyPort = await freePort();
    egress = createRemoteEgress(`127.0.0.1:${proxyPort}`);
    renderer = rendererFor(remote.endpoint, egress);
  }, 60_000);
  afterAll(async () => {
    await renderer.close();
    await egress.close();
    await remote.stop();
  }, 60_000);

  test("pages are rendered, two at the same time, without WebRTC", async () => {
    const pages = await Promise.all([renderer.render("/"), renderer.render("/", { screenshot: "viewport" })]);
    for (const { html } of pages) expect(html).toContain("drawn, with undefined");
    expect(pages[1]?.screenshot?.subarray(1, 4)).toEqual(new TextEncoder().encode("PNG"));
  }, 60_000);
  test("nothing private is reached, and a private main document is reported", async () => {
    touched = [];
    expect((await renderer.render("/attack")).html).toContain("attack");
    expect(await failure(renderer.render("/go"))).toBeInstanceOf(BlockedAddress);
    expect(touched).toEqual([]);
  }, 60_000);
  test("the gateway's proxy refuses everyone else", async () => {
    const before = asked.length;
    const answered = await fetch(`${base}/`, { proxy: `http://127.0.0.1:${proxyPort}` });
    expect([answered.status, asked.length]).toEqual([407, before]);
  });
  // This also holds if the address contained an id of the browser that died.
  test("after a browser died, its replacement is used", async () => {
    await whileSteady(async () => {
      asked = [];
      onDeath = remote.replace;
      expect((await renderer.render("/die")).html).toContain("alive again");
      expect((await renderer.render("/")).html).toContain("drawn");
    });
  }, 60_000);
});

test.skipIf(CHROMIUM === undefined)(
  "a browser that goes out by itself is still not let at metadata",
  async () => {
    const remote = await startChromium("http");
    const renderer = rendererFor(remote.endpoint, undefined, { allowPrivateNetworks: true });
    expect((await renderer.render("/")).html).toContain("drawn");
    expect(await failure(renderer.render("/metadata"))).toBeInstanceOf(BlockedAddress);
    await renderer.close();
    await remote.stop();
  },
  60_000,
);

test.skipIf(CHROMIUM === undefined)(
  "nobody at the endpoint, or at our port, is no browser",
  async () => {
    const port = await freePort();
    const fault = async (endpoint: string, egress: BrowserEgress) => {
      const error = await failure(rendererFor(endpoint, egress).render("/"));
      return error instanceof PageError ? error.fault : error;
    };
    expect(await fault(`http://127.0.0.1:${port}`, createRemoteEgress(`127.0.0.1:${port}`))).toBe("no_browser");
    const remote = await startChromium("http");
    const taken = createRemoteEgress(`127.0.0.1:${site.port}`);
    expect(await fault(remote.endpoint, taken)).toBe("no_browser");
    await remote.stop();
  },
  60_000,
);
