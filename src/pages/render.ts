// Shows a page in the shared browser, in a context of its own, and gives back what a reader would see. Everything the page
// asks for passes the filtering proxy; pop-ups, dialogs, downloads, service workers and pages without end are tamed.

import type { Browser, BrowserContext, Frame, Page, Route } from "playwright-core";
import { BlockedAddress, type Guard } from "../net/guard.ts";
import { type FilterProxy, startProxy } from "../net/proxy.ts";
import type { SharedBrowser } from "./browser.ts";
import { withFrames } from "./frames.ts";
import {
  DISMISS_CONSENT,
  FRAME_BODY,
  SCROLL_THROUGH,
  SERIALIZE,
  WAIT_FOR_IMAGES,
  WAIT_UNTIL_QUIET,
} from "./in-page.ts";
import { PageError } from "./page-error.ts";
import { createSlots } from "./slots.ts";

/** What to render. */
export interface RenderRequest {
  readonly url: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly screenshot: "none" | "viewport" | "full";
  readonly userAgent: string;
}

/** What came of it. */
export interface Rendered {
  /** After redirects and scripts. */
  readonly url: string;
  /** Undefined when the page came from no server (about:blank). */
  readonly status: number | undefined;
  readonly html: string;
  readonly screenshot?: Uint8Array;
}

/** Renders pages. */
export interface Renderer {
  /** Throws `PageError`, `BlockedAddress` or the signal's reason. */
  render(request: RenderRequest): Promise<Rendered>;
  close(): Promise<void>;
}

/** What rendering needs. */
export interface RendererDeps {
  readonly browser: SharedBrowser;
  readonly guard: Guard;
  readonly pagesMax: number;
  /** How a remote browser reaches our proxy; empty: the browser is here. */
  readonly proxyAddress: string;
  /** False: a remote browser that may go anywhere (private networks are allowed). */
  readonly isGuarded: boolean;
}

const VIEWPORT = { width: 1280, height: 900 };
/** Chromium cannot draw taller pictures. */
const SCREENSHOT_HEIGHT_MAX = 16_000;
const QUIET = { quietMs: 250, maxMs: 5000 };
const SCROLL = { steps: 12, pauseMs: 60 };
const SCROLL_FOR_PICTURE = { steps: 25, pauseMs: 120 };
const IMAGES_WAIT_MS = 4000;
const FRAMES_MAX = 5;
const FRAME_CHARS_MAX = 500_000;
/** Requests of one page; more is a loop. */
const REQUESTS_MAX = 1000;
/** Steps inside the page that may hang get this much. */
const STEP_TIMEOUT_MS = 10_000;
/** Kept back for reading the page after waiting for it. */
const READING_MS = 1500;
const CLOSE_TIMEOUT_MS = 5000;
const HEAVY = new Set(["image", "media", "font"]);

/** Makes a renderer. */
export function createRenderer(deps: RendererDeps): Renderer {
  const slots = createSlots(deps.pagesMax);
  let shared: Promise<FilterProxy> | undefined;

  const proxyFor = async (): Promise<
    { proxy: FilterProxy; server: string; close: () => Promise<void> } | undefined
  > => {
    if (!deps.isGuarded) return undefined;
    if (deps.proxyAddress === "") {
      const proxy = await startProxy(deps.guard);
      return { proxy, server: `http://127.0.0.1:${proxy.port}`, close: proxy.close };
    }
    // A remote browser knows one address of ours, so its pages share a proxy.
    const { port } = new URL(deps.proxyAddress);
    shared ??= startProxy(deps.guard, { hostname: "0.0.0.0", port: Number(port || 80) });
    return { proxy: await shared, server: deps.proxyAddress, close: async () => undefined };
  };

  const renderOnce = async (request: RenderRequest): Promise<Rendered> => {
    const browser = await deps.browser.get();
    const way = await proxyFor();
    deps.browser.used(browser);
    try {
      return await renderIn(browser, request, way);
    } finally {
      deps.browser.released(browser);
      await way?.close();
    }
  };

  return {
    // Whoever gives up goes at once; the page is taken down behind them and keeps its slot until it is gone.
    render: (request) =>
      untilAborted(
        request.signal,
        slots.run(request.signal, async () => {
          try {
            return await renderOnce(request);
          } catch (error) {
            request.signal.throwIfAborted();
            if (!isGone(error)) throw error;
            // The browser died under the page: one more try in a new one.
            return await renderOnce(request).catch((again: unknown) => {
              request.signal.throwIfAborted();
              throw isGone(again)
                ? new PageError("no_browser", "The browser died twice on this page.", { cause: again })
                : again;
            });
          }
        }),
      ),
    close: async () => {
      await deps.browser.close();
      await (await shared)?.close();
    },
  };
}

async function renderIn(
  browser: Browser,
  request: RenderRequest,
  way: { proxy: FilterProxy; server: string } | undefined,
): Promise<Rendered> {
  const endsMs = performance.now() + request.timeoutMs;
  const context = await browser.newContext({
    viewport: VIEWPORT,
    userAgent: request.userAgent,
    acceptDownloads: false,
    serviceWorkers: "block",
    ...(way === undefined ? {} : { proxy: { server: way.server, bypass: "<-loopback>" } }),
  });
  const stop = () => void context.close().catch(() => undefined);
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  try {
    return await showPage(context, request, { way, leftMs: () => Math.max(1, endsMs - performance.now()) });
  } finally {
    request.signal.removeEventListener("abort", stop);
    // A context that does not close is left to the browser's own end.
    await within(CLOSE_TIMEOUT_MS, context.close()).catch(() => undefined);
  }
}

interface Showing {
  readonly way: { proxy: FilterProxy } | undefined;
  readonly leftMs: () => number;
}

async function showPage(context: BrowserContext, request: RenderRequest, { way, leftMs }: Showing): Promise<Rendered> {
  const page = await context.newPage();
  const visited = tame(context, page, { request, way });
  const timeout = Math.max(1, leftMs() - READING_MS);
  let status: number | undefined;
  try {
    const response = await page.goto(request.url, { waitUntil: "domcontentloaded", timeout });
    status = response?.status();
  } catch (error) {
    throwIfRefused(visited, way);
    request.signal.throwIfAborted();
    const text = String(error);
    if (isGone(error)) throw error;
    if (/Download is starting/.test(text)) throw new PageError("not_html", "The address holds a download, not a page.");
    // A page that never finishes loading is read as far as it came.
    if (!/Timeout/i.test(text))
      throw new PageError("upstream", "The browser could not load the page.", { cause: error });
  }
  throwIfRefused(visited, way);
  await settle(page, request, leftMs);
  throwIfRefused(visited, way);
  const html = await readHtml(page, leftMs);
  const screenshot = request.screenshot === "none" ? undefined : await photograph(page, request, leftMs);
  return { url: page.url(), status, html, ...(screenshot === undefined ? {} : { screenshot }) };
}

/** Watches and restrains the page. Gives the hosts its main frame was sent to. */
function tame(
  context: BrowserContext,
  page: Page,
  { request, way }: { request: RenderRequest; way: { proxy: FilterProxy } | undefined },
): Set<string> {
  const visited = new Set<string>();
  let requests = 0;
  const decide = async (route: Route) => {
    const asked = route.request();
    const isMain = asked.isNavigationRequest() && asked.frame() === page.mainFrame();
    const isWeb = /^https?:/.test(asked.url());
    if (++requests > REQUESTS_MAX || !isWeb) return route.abort();
    if (isMain) {
      visited.add(new URL(asked.url()).host);
      way?.proxy.grant(asked.url());
    } else if (request.screenshot === "none" && HEAVY.has(asked.resourceType())) return route.abort();
    return route.continue();
  };
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined);
  // A route of a page that is closing cannot be answered any more.
  quietly(context.route("**/*", (route) => decide(route).catch(() => undefined)));
  page.on("request", (asked) => {
    if (asked.isNavigationRequest() && asked.frame() === page.mainFrame() && URL.canParse(asked.url()))
      visited.add(new URL(asked.url()).host);
  });
  page.on("dialog", (dialog) => quietly(dialog.dismiss()));
  context.on("page", (other) => {
    if (other !== page) quietly(other.close());
  });
  return visited;
}

/** The main document was sent to a place that the proxy refused. */
function throwIfRefused(visited: ReadonlySet<string>, way: { proxy: FilterProxy } | undefined): void {
  if (way?.proxy.refused.some((host) => visited.has(host)))
    throw new BlockedAddress("address", "The page leads to an address that may not be fetched.");
}

/** Waits until nothing moves, within the time there is. */
async function settle(page: Page, request: RenderRequest, leftMs: () => number): Promise<void> {
  const timeLeft = () => leftMs() - READING_MS;
  const step = async (source: string, argument: unknown, maxMs: number) => {
    if (timeLeft() <= 0) return;
    await within(Math.min(maxMs, timeLeft()), page.evaluate(`(${source})(${JSON.stringify(argument)})`)).catch(
      () => undefined,
    );
    request.signal.throwIfAborted();
  };
  const quiet = () =>
    step(WAIT_UNTIL_QUIET, { ...QUIET, maxMs: Math.min(QUIET.maxMs, Math.max(1, timeLeft())) }, QUIET.maxMs + 500);
  await quiet();
  const isPicture = request.screenshot !== "none";
  await step(SCROLL_THROUGH, isPicture ? SCROLL_FOR_PICTURE : SCROLL, STEP_TIMEOUT_MS);
  if (isPicture) await step(WAIT_FOR_IMAGES, IMAGES_WAIT_MS, IMAGES_WAIT_MS + 500);
  await quiet();
  await step(DISMISS_CONSENT, null, STEP_TIMEOUT_MS);
}

async function readHtml(page: Page, leftMs: () => number): Promise<string> {
  const html = await within(
    Math.min(STEP_TIMEOUT_MS, leftMs()),
    // A page that goes elsewhere while it is read is read again.
    page.evaluate<string>(`(${SERIALIZE})()`).catch(() => page.content()),
  );
  const bodies = new Map<string, string>();
  const frames = page
    .frames()
    .filter((frame) => frame !== page.mainFrame() && frame.parentFrame() === page.mainFrame());
  for (const [number, frame] of frames.slice(0, FRAMES_MAX * 4).entries()) {
    if (bodies.size >= FRAMES_MAX || leftMs() < 200) break;
    const body = await frameBody(frame, Math.min(1000, leftMs()));
    if (body.replace(/<[^<>]*>/g, "").trim().length > 100) bodies.set(String(number), body.slice(0, FRAME_CHARS_MAX));
  }
  return withFrames(html, bodies);
}

function frameBody(frame: Frame, timeoutMs: number): Promise<string> {
  return within(timeoutMs, frame.evaluate<string>(`(${FRAME_BODY})()`)).catch(() => "");
}

async function photograph(page: Page, request: RenderRequest, leftMs: () => number): Promise<Uint8Array> {
  const height = await page.evaluate<number>("document.documentElement.scrollHeight").catch(() => VIEWPORT.height);
  const timeout = leftMs();
  if (request.screenshot === "full" && height <= SCREENSHOT_HEIGHT_MAX)
    return page.screenshot({ fullPage: true, timeout, type: "png" });
  if (request.screenshot === "full") {
    await page.setViewportSize({ width: VIEWPORT.width, height: SCREENSHOT_HEIGHT_MAX });
    return page.screenshot({ timeout, type: "png" });
  }
  return page.screenshot({ timeout, type: "png" });
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("step timeout")), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** The browser, not the page, is what failed. */
function isGone(error: unknown): boolean {
  return /Target page, context or browser has been closed|Browser has been closed|Target crashed|Page crashed|browser has disconnected|Connection closed/i.test(
    String(error),
  );
}
