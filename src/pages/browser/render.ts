// Shows a page in the shared browser, in a context of its own, and returns what a reader would see. All requests of the page go
// through the filtering proxy. Pop-ups, dialogs, downloads and service workers are blocked, and a page that never finishes is cut
// off.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { AddressGuard } from "../../net/address-guard.ts";
import type { PageWay } from "../../net/page-egress-policy.ts";
import { PageError } from "../page-error.ts";
import { createSlots } from "../slots.ts";
import { watchActivity } from "./activity.ts";
import type { SharedBrowser } from "./browser.ts";
import { type Acted, act, type Browsing } from "./browsing.ts";
import type { BrowserEgress, ProxyTicket } from "./egress.ts";
import { FOREIGN_BROWSER } from "./in-page.ts";
import { type Tamed, tame } from "./navigation-guard.ts";
import { openSeen, openUnseen } from "./open-page.ts";
import {
  photograph,
  READING_MS,
  type ReadLimits,
  readHtml,
  type ShownFor,
  settle,
  wholeDocument,
  within,
} from "./read-page.ts";
import { WATCH_SCROLLING } from "./scroll-watch.ts";

/** What to render. */
export interface RenderRequest {
  readonly url: string;
  /** The account for which the page is shown. Accounts share the browser's slots evenly. */
  readonly accountId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly screenshot: "none" | "viewport" | "full";
  readonly userAgent: string;
  /** A page with more HTML fails. */
  readonly bytesMax: number;
  /** Awaited before the page navigates, or while a server redirects it. If it throws, rendering fails with its error. */
  readonly onRedirect?: ((url: string, signal: AbortSignal) => Promise<void>) | undefined;
  /** Options and steps that the caller wants in the browser. */
  readonly browsing?: Browsing | undefined;
}

/** The rendered page. */
export interface Rendered {
  /** The address of the page after redirects and scripts. */
  readonly url: string;
  /** The HTTP status; undefined if no server sent the page (as with about:blank). */
  readonly status: number | undefined;
  readonly html: string;
  readonly screenshot?: Uint8Array;
  /** The results of the caller's steps. */
  readonly acted?: Acted;
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
  readonly guard: AddressGuard;
  readonly pagesMax: number;
  /**
   * The egress of pages. If undefined, a remote browser has direct network access, which is only for gateways that allow private
   * networks. The caller closes it.
   */
  readonly egress: BrowserEgress | undefined;
  /** How long a browser may take to open a page; 15 s by default. */
  readonly openTimeoutMs?: number;
}

/** A page that has not loaded by then is read as it is. */
const LOADING_MS_MAX = 20_000;
const CLOSE_TIMEOUT_MS = 5000;
/** The size of a telephone's screen. */
const MOBILE_VIEWPORT = { width: 390, height: 844 };
/** A browser that does not open a page within this time is taken to hang. */
const OPEN_TIMEOUT_MS = 15_000;

/** Creates a renderer. */
export function createRenderer(deps: RendererDeps): Renderer {
  const slots = createSlots(deps.pagesMax);

  const renderOnce = async (request: RenderRequest): Promise<Rendered> => {
    const browser = await deps.browser.get();
    deps.browser.used(browser);
    let out: Awaited<ReturnType<BrowserEgress["open"]>> | undefined;
    try {
      out = await deps.egress?.open(deps.guard);
      return await renderIn(browser, request, { deps, way: out?.way, ticket: out?.ticket });
    } catch (error) {
      if (!(error instanceof BrowserGone)) {
        // If the caller aborted, its page was closed, which looks as if the browser had ended.
        request.signal.throwIfAborted();
        // If the browser ended, the error of the page depends on what it was doing, so any error counts as a lost browser.
        if (browser.isConnected() && !isGone(error)) throw error;
      }
      if (!isCrash(error)) deps.browser.lost(browser);
      throw error instanceof BrowserGone ? error : new BrowserGone({ cause: error });
    } finally {
      deps.browser.released(browser);
      out?.way.close();
    }
  };

  return {
    // A caller that aborts gets its error at once. The page is closed in the background and keeps its slot until then.
    render: (request) =>
      untilAborted(
        request.signal,
        slots.run(request.accountId, request.signal, async () => {
          try {
            return await renderOnce(request);
          } catch (error) {
            request.signal.throwIfAborted();
            if (!(error instanceof BrowserGone)) throw error;
            // The browser died while it showed the page, so the page is tried once more in a new browser.
            return await renderOnce(request).catch((again: unknown) => {
              request.signal.throwIfAborted();
              throw again instanceof BrowserGone ? deadTwice(again) : again;
            });
          }
        }),
      ),
    close: () => deps.browser.close(),
  };
}

interface Showing {
  readonly deps: RendererDeps;
  readonly way: PageWay | undefined;
  readonly ticket: ProxyTicket | undefined;
}

async function renderIn(browser: Browser, request: RenderRequest, showing: Showing): Promise<Rendered> {
  const endsMs = performance.now() + request.timeoutMs;
  // Windows of a remote browser are left as they are, and a page must be painted for screenshots and clicks.
  const isUnseen = purposeOf(request) === "text" && showing.deps.egress?.isRemote === false;
  const open = isUnseen ? openUnseen : openSeen;
  const opening = open(browser, {
    userAgent: request.userAgent,
    acceptDownloads: false,
    serviceWorkers: "block",
    ...lookOf(request.browsing),
    ...(showing.ticket === undefined ? {} : { proxy: { ...showing.ticket, bypass: "<-loopback>" } }),
  });
  const openTimeoutMs = showing.deps.openTimeoutMs ?? OPEN_TIMEOUT_MS;
  const opened = await within(openTimeoutMs, opening).catch((error: unknown) => {
    // If the context opens after the time limit, it is closed.
    void opening.then(({ context }) => context.close()).catch(() => undefined);
    throw asHanging(error);
  });
  const { context } = opened;
  const stop = () => void context.close().catch(() => undefined);
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  try {
    if (showing.deps.egress?.isRemote !== false) await context.addInitScript(FOREIGN_BROWSER);
    if (purposeOf(request) === "text") await context.addInitScript(WATCH_SCROLLING);
    const page = await within(openTimeoutMs, opened.newPage()).catch((error: unknown) => {
      throw asHanging(error);
    });
    const leftMs = () => Math.max(1, endsMs - performance.now());
    return await showPage(context, page, { request, ...showing, leftMs });
  } finally {
    request.signal.removeEventListener("abort", stop);
    // A context that does not close in time remains until the browser ends.
    await within(CLOSE_TIMEOUT_MS, context.close()).catch(() => undefined);
  }
}

function purposeOf(request: RenderRequest): ShownFor {
  if (request.screenshot !== "none") return "picture";
  return isHandled(request) ? "steps" : "text";
}

/** Whether the caller wants steps or a device of its own, so that the page has to be shown in a visible window. */
function isHandled({ browsing }: RenderRequest): boolean {
  return browsing !== undefined && (browsing.actions.length > 0 || browsing.isMobile || browsing.locale !== undefined);
}

/** The size of the window and the language, where the caller sets them. */
function lookOf(browsing: Browsing | undefined): BrowserContextOptions {
  if (browsing === undefined) return {};
  const { isMobile, locale, picture } = browsing;
  const viewport = picture.viewport ?? (isMobile ? MOBILE_VIEWPORT : undefined);
  return {
    ...(viewport === undefined ? {} : { viewport }),
    ...(isMobile ? { isMobile: true, hasTouch: true } : {}),
    ...(locale === undefined ? {} : { locale }),
  };
}

function asHanging(error: unknown): unknown {
  return error instanceof PageError ? new BrowserGone({ cause: error }) : error;
}

async function showPage(
  context: BrowserContext,
  page: Page,
  { deps, way, request, leftMs }: Showing & { readonly request: RenderRequest; readonly leftMs: () => number },
): Promise<Rendered> {
  const { browsing } = request;
  const tamed = tame(context, page, {
    guard: deps.guard,
    way,
    isTextOnly: purposeOf(request) === "text",
    blocksAds: browsing?.blocksAds === true,
    headers: browsing === undefined ? {} : browsing.headers,
    onRedirect: async (url) => request.onRedirect?.(url, request.signal),
  });
  const { isOn, throwIfRefused, stayed } = tamed;
  const reading = { leftMs, signal: request.signal, activity: watchActivity(page) };
  const arrived = new AbortController();
  try {
    await within(leftMs(), isOn);
    const timeout = Math.max(1, Math.min(LOADING_MS_MAX, leftMs() - READING_MS));
    const loaded = page.goto(request.url, { waitUntil: "domcontentloaded", timeout });
    await Promise.race([loaded, stayed, wholeDocument(page, arrived.signal)]);
  } catch (error) {
    throwIfRefused();
    request.signal.throwIfAborted();
    const text = String(error);
    if (error instanceof PageError || isGone(error)) throw error;
    const isEmpty = /ERR_HTTP_RESPONSE_CODE_FAILURE/.test(text);
    if (/Download is starting/.test(text))
      throw new PageError("not_html", "The address leads to a download, not to a page.");
    // A page that does not finish loading in time is read as far as it has loaded.
    if (!isEmpty && !/Timeout/i.test(text))
      throw new PageError("upstream", "The browser could not load the page.", { cause: error });
  } finally {
    arrived.abort();
  }
  throwIfRefused();
  return readShown(page, request, { tamed, reading });
}

/** Reads the page after it has settled and the caller's steps are done. */
async function readShown(
  page: Page,
  request: RenderRequest,
  { tamed, reading }: { tamed: Tamed; reading: ReadLimits },
): Promise<Rendered> {
  const { throwIfRefused, judged, status, answered } = tamed;
  const { browsing, screenshot: extent } = request;
  const { leftMs } = reading;
  try {
    await settle(page, reading, purposeOf(request));
    if (browsing !== undefined && browsing.waitMs > 0)
      await within(leftMs(), page.waitForTimeout(Math.min(browsing.waitMs, Math.max(1, leftMs() - READING_MS))));
    const steps = browsing?.actions ?? [];
    const acting = { ...reading, bytesMax: request.bytesMax, check: throwIfRefused };
    const acted = steps.length === 0 ? undefined : await act(page, steps, acting);
    const html = await readHtml(page, reading, request.bytesMax);
    const screenshot = extent === "none" ? undefined : await photograph(page, reading, extent, browsing?.picture);
    await within(leftMs(), judged());
    throwIfRefused();
    const more = { ...(screenshot === undefined ? {} : { screenshot }), ...(acted === undefined ? {} : { acted }) };
    if (page.url().startsWith("chrome-error:")) return { ...emptyPage(answered(), screenshot), ...more };
    return { url: page.url(), status: status(), html, ...more };
  } catch (error) {
    throwIfRefused();
    request.signal.throwIfAborted();
    if (error instanceof PageError || isGone(error)) throw error;
    throw /Timeout/i.test(String(error))
      ? new PageError("timeout", "The page did not load in time.", { cause: error })
      : new PageError("upstream", "The browser could not read the page.", { cause: error });
  }
}

/**
 * The page for a response without a body. The browser would show an error page of its own for it, as it does for an unreachable
 * host.
 */
function emptyPage(
  answered: { readonly url: string; readonly status: number } | undefined,
  screenshot: Uint8Array | undefined,
): Rendered {
  if (answered === undefined) throw new PageError("upstream", "The page leads to an address that could not be loaded.");
  return { ...answered, html: "", ...(screenshot === undefined ? {} : { screenshot }) };
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}

/** The browser failed, or its process for this page. */
class BrowserGone extends Error {
  constructor(detail: { cause: unknown }) {
    super("The browser is gone.", detail);
  }
}

function isGone(error: unknown): boolean {
  return /Target page, context or browser has been closed|Browser (?:has been )?closed|Target crashed|Page crashed|browser has disconnected|Connection closed/i.test(
    String(error),
  );
}

/** Whether the page crashed its own process, as opposed to the whole browser. */
function isCrash(error: unknown): boolean {
  return /(?:Target|Page) crashed/i.test(String(error));
}

function deadTwice(error: BrowserGone): PageError {
  return isCrash(error.cause)
    ? new PageError("upstream", "The page crashes the browser.", { cause: error })
    : new PageError("no_browser", "The browser died twice on this page.", { cause: error });
}
