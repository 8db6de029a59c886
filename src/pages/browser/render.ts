// Shows a page in the shared browser, in its own context, and returns what a reader would see. All requests of the page pass
// the filtering proxy; pop-ups, dialogs, downloads, service workers and endless pages are restricted.

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
import { photograph, READING_MS, type ReadLimits, readHtml, settle, wholeDocument, within } from "./read-page.ts";

/** What to render. */
export interface RenderRequest {
  readonly url: string;
  /** The account that the page is for: accounts share the browser's slots. */
  readonly accountId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly screenshot: "none" | "viewport" | "full";
  readonly userAgent: string;
  /** A page with more HTML is an error. */
  readonly bytesMax: number;
  /** Awaited before the page navigates, or during a server redirect; what it throws is the outcome. */
  readonly onRedirect?: ((url: string, signal: AbortSignal) => Promise<void>) | undefined;
  /** What the caller wants done with the page. */
  readonly browsing?: Browsing | undefined;
}

/** The rendered page. */
export interface Rendered {
  /** After redirects and scripts. */
  readonly url: string;
  /** Undefined when the page came from no server (about:blank). */
  readonly status: number | undefined;
  readonly html: string;
  readonly screenshot?: Uint8Array;
  /** What the caller's steps gave. */
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
  /** Undefined: a remote browser that goes out by itself (private networks are allowed). Not closed here. */
  readonly egress: BrowserEgress | undefined;
  /** How long a browser may take to open a page; 15 s by default. */
  readonly openTimeoutMs?: number;
}

/** A page that waits for something that never comes is read as it is. */
const LOADING_MS_MAX = 20_000;
const CLOSE_TIMEOUT_MS = 5000;
/** A telephone's. */
const MOBILE_VIEWPORT = { width: 390, height: 844 };
/** A browser that opens no page in this time hangs. */
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
        // A page that was closed because its reader left also reports that its browser is gone.
        request.signal.throwIfAborted();
        // The error of a page whose browser ended depends on what it was doing.
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
    // A caller that gives up returns at once; the page is closed in the background and keeps its slot until then.
    render: (request) =>
      untilAborted(
        request.signal,
        slots.run(request.signal, async () => {
          try {
            return await renderOnce(request);
          } catch (error) {
            request.signal.throwIfAborted();
            if (!(error instanceof BrowserGone)) throw error;
            // The browser died during the page: one more try in a new one.
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
  // Windows of other people's browsers are theirs; what is photographed or clicked on has to be painted.
  const isUnseen = request.screenshot === "none" && !isHandled(request) && showing.deps.egress?.isRemote === false;
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
    // Late results are discarded.
    void opening.then(({ context }) => context.close()).catch(() => undefined);
    throw asHanging(error);
  });
  const { context } = opened;
  const stop = () => void context.close().catch(() => undefined);
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  try {
    if (showing.deps.egress?.isRemote !== false) await context.addInitScript(FOREIGN_BROWSER);
    const page = await within(openTimeoutMs, opened.newPage()).catch((error: unknown) => {
      throw asHanging(error);
    });
    const leftMs = () => Math.max(1, endsMs - performance.now());
    return await showPage(context, page, { request, ...showing, leftMs });
  } finally {
    request.signal.removeEventListener("abort", stop);
    // A context that does not close is left until the browser ends.
    await within(CLOSE_TIMEOUT_MS, context.close()).catch(() => undefined);
  }
}

/** Someone does something with the page, or has it shown in a window of their own. */
function isHandled({ browsing }: RenderRequest): boolean {
  return browsing !== undefined && (browsing.actions.length > 0 || browsing.isMobile || browsing.locale !== undefined);
}

/** The window and its language, where the caller has a wish. */
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
    isTextOnly: request.screenshot === "none" && !isHandled(request),
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
    if (/Download is starting/.test(text)) throw new PageError("not_html", "The address holds a download, not a page.");
    // A page that never finishes loading is read as far as it loaded.
    if (!isEmpty && !/Timeout/i.test(text))
      throw new PageError("upstream", "The browser could not load the page.", { cause: error });
  } finally {
    arrived.abort();
  }
  throwIfRefused();
  return readShown(page, request, { tamed, reading });
}

/** The page as it stands once it has settled and the caller's steps are done. */
async function readShown(
  page: Page,
  request: RenderRequest,
  { tamed, reading }: { tamed: Tamed; reading: ReadLimits },
): Promise<Rendered> {
  const { throwIfRefused, judged, status, answered } = tamed;
  const { browsing, screenshot: extent } = request;
  const { leftMs } = reading;
  try {
    await settle(page, reading, extent !== "none");
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

/** The browser shows its own page for an error without a body and for an unreachable host. */
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

/** The browser, or its process for this page, failed. */
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

/** The page crashed its own process, not the browser. */
function isCrash(error: unknown): boolean {
  return /(?:Target|Page) crashed/i.test(String(error));
}

function deadTwice(error: BrowserGone): PageError {
  return isCrash(error.cause)
    ? new PageError("upstream", "The page crashes the browser.", { cause: error })
    : new PageError("no_browser", "The browser died twice on this page.", { cause: error });
}
