// The browser that all pages share. It is started on first use, and replaced when it dies or has shown many pages. It reaches the
// network only through the filtering proxy that each page gets.

import { accessSync, constants } from "node:fs";
import type { Browser } from "playwright-core";
import { PageError } from "../page-error.ts";
import { watchPages } from "./memory.ts";
import { lowerBrowsers } from "./processes.ts";

/** Which browser to use. */
export interface BrowserSettings {
  /** Path of a Chromium executable; empty: search for one. */
  readonly executable: string;
  /** CDP or Playwright address of a remote browser. If empty, a local browser is used. */
  readonly endpoint: string;
  /** Memory limit of each page process of a local browser; a process above it is killed. If absent, there is no limit. */
  readonly pageBytesMax?: number;
}

/** Hands out the shared browser. */
export interface SharedBrowser {
  /** Gives the running browser; starts one if there is none. Throws `PageError` `no_browser`. */
  get(): Promise<Browser>;
  /** Reports that a page was opened in the browser. An old browser is replaced once no page is open in it. */
  used(browser: Browser): void;
  /** Reports that a page was closed. */
  released(browser: Browser): void;
  /** Reports that the browser ended while it was in use; the next caller gets a new one. */
  lost(browser: Browser): void;
  close(): Promise<void>;
}

/** The headless shells come first, as they do less work for the same page. */
const NAMES = [
  "chrome-headless-shell",
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
/** A browser that has shown this many pages is replaced, since Chromium's memory grows with each page. */
const PAGES_PER_BROWSER_MAX = 200;
const RENEWAL_WAIT_MS = 5000;
const START_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTS_MAX = 2;
const RECONNECTS_MAX = 6;
const RECONNECT_PAUSE_MS = 500;
/** How many failed browsers are replaced for one page before the page fails. */
const STARTS_MAX = 3;

/** If a switch is repeated, Chromium uses the last one, so this list also includes the features that Playwright turns off. */
const FEATURES_OFF = [
  // Features that connect to the network on their own.
  "AsyncDns",
  "DnsOverHttps",
  "InterestFeedContentSuggestions",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PreconnectToSearch",
  "Translate",
  "WebRtcHideLocalIpsWithMdns",
  // Features that try HTTPS first for http addresses.
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  // With these features every window loads pages for its own controls, which is half the work for a small page.
  "AimEnabled",
  "PreloadTopChromeWebUI",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
  // Chromium would keep a spare process for a second site, but each context shows only one page.
  "SpareRendererForSitePerProcess",
  // Features that Playwright's own flags turn off.
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
];

const ARGUMENTS = [
  "--disable-quic",
  // WebRTC must neither reveal our address nor connect past the proxy.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  // Chromium paints even windows that nobody sees, so the window is small. Pages are laid out in their own viewport.
  "--window-size=400,300",
  // Turns off the animations of the browser's own interface, which are a fifth of the work for a small page. Animations of pages
  // still run.
  "--wm-window-animations-disabled",
  "--animation-duration-scale=0",
  // Also hides the bar that warns about the missing sandbox.
  "--test-type=webdriver",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--no-pings",
  // Blocks pop-ups. The headless shell has this flag; for full browsers Playwright's flag that allows pop-ups is left out.
  "--block-new-web-contents",
  "--mute-audio",
  "--hide-scrollbars",
  "--disable-gpu",
];
/** The proxy for traffic that bypasses the page's own proxy. Nothing listens there, so such traffic is dropped. */
const NOWHERE = "http://127.0.0.1:9";

/** Whether a local browser runs in its own sandbox. As root, Chromium cannot set up its sandbox. */
export function hasSandbox(): boolean {
  return process.getuid?.() !== 0;
}

/** The warning to the operator when the browser has no sandbox. The address guard applies in any case. */
export const NO_SANDBOX =
  "the browser runs without its sandbox because this program runs as root: run it as another user";

/** Path of an installed Chromium; undefined if there is none. */
export function findBrowser(configured: string): string | undefined {
  if (configured !== "") return canRun(configured) ? configured : undefined;
  for (const name of NAMES) {
    const path = Bun.which(name);
    if (path !== null) return path;
  }
  return PATHS.find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creates the shared browser without starting it. `started` is called after each start, with the error if the start failed. */
export function createBrowser(
  settings: BrowserSettings,
  started: (error?: unknown) => void = () => undefined,
): SharedBrowser {
  let current: Promise<Browser> | undefined;
  let isClosed = false;
  let hasRun = false;
  const memory = settings.endpoint === "" ? watchPages(settings.pageBytesMax ?? Number.POSITIVE_INFINITY) : undefined;
  const uses = createUses(memory);
  /** The closing of an old browser. A new one waits for it, since two at once take twice the memory. */
  let renewal: Promise<void> | undefined;
  const makeOld = (browser: Browser) => {
    const use = uses.of(browser);
    if (use === undefined || use.isOld) return;
    use.isOld = true;
    current = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.on("disconnected", () => resolve());
    // The old browser's last page may take minutes, so other pages wait only for a limited time.
    renewal = Promise.race([promise, Bun.sleep(RENEWAL_WAIT_MS)]);
  };

  const start = (): Promise<Browser> => {
    const starting = launchPatiently(settings, hasRun).then((browser) => {
      started();
      hasRun = true;
      uses.add(browser);
      browser.on("disconnected", () => {
        uses.remove(browser);
        // The end of an old browser does not affect its successor.
        if (current === starting) current = undefined;
      });
      return browser;
    });
    return starting;
  };

  return {
    get: async () => {
      for (let attempt = 1; attempt <= STARTS_MAX; attempt++) {
        if (isClosed) throw new PageError("no_browser", "The browser is closed.");
        await renewal;
        current ??= start();
        const starting = current;
        try {
          const browser = await starting;
          if (browser.isConnected()) return browser;
          if (current === starting) current = undefined;
        } catch (error) {
          if (current === starting) {
            current = undefined;
            started(error);
          }
          throw error;
        }
      }
      throw new PageError("no_browser", "The browser exits as soon as it is started.");
    },
    used: (browser) => {
      const use = uses.opened(browser, 1);
      if (use === undefined) return;
      use.pages++;
      if (use.pages >= PAGES_PER_BROWSER_MAX) makeOld(browser);
    },
    lost: makeOld,
    released: (browser) => {
      const use = uses.opened(browser, -1);
      if (use?.isOld === true && use.open === 0) void closeQuietly(browser);
    },
    close: async () => {
      isClosed = true;
      // Waits for a browser that is just starting, because nothing else would close it.
      await current?.catch(() => undefined);
      current = undefined;
      await Promise.all(uses.browsers().map(closeQuietly));
    },
  };
}

function closeQuietly(browser: Browser): Promise<void> {
  return browser.close().catch(() => undefined);
}

/** Counts the pages that are open in each browser. Memory is watched while any of them shows a page. */
function createUses(memory: ReturnType<typeof watchPages> | undefined) {
  const uses = new Map<Browser, { pages: number; open: number; isOld: boolean }>();
  const watch = () => {
    if ([...uses.values()].some(({ open }) => open > 0)) memory?.start();
    else memory?.stop();
  };
  return {
    add: (browser: Browser) => void uses.set(browser, { pages: 0, open: 0, isOld: false }),
    remove(browser: Browser): void {
      uses.delete(browser);
      watch();
    },
    of: (browser: Browser) => uses.get(browser),
    /** Changes the number of open pages by `more`. */
    opened(browser: Browser, more: number) {
      const use = uses.get(browser);
      if (use === undefined) return undefined;
      use.open += more;
      watch();
      return use;
    },
    browsers: () => [...uses.keys()],
  };
}

/** Connects to a remote browser more than once if it worked before, as it may come back soon. */
async function launchPatiently(settings: BrowserSettings, hasRun: boolean): Promise<Browser> {
  if (settings.endpoint === "") return launch(settings);
  for (let attempt = 1; ; attempt++) {
    try {
      return await connectAlive(settings);
    } catch (error) {
      if (attempt >= (hasRun ? RECONNECTS_MAX : CONNECTS_MAX)) throw error;
      await Bun.sleep(RECONNECT_PAUSE_MS);
    }
  }
}

/** Connects to a remote browser and opens a context as a test: a browser that is closing still accepts connections. */
async function connectAlive(settings: BrowserSettings): Promise<Browser> {
  const browser = await launch(settings);
  try {
    await (await browser.newContext()).close();
    return browser;
  } catch (error) {
    await browser.close().catch(() => undefined);
    throw new PageError("no_browser", "The remote browser could not be reached.", { cause: error });
  }
}

/** A browser's WebSocket address ends with the browser. Its successor publishes a new one over HTTP on the same host. */
function successorOf(endpoint: string): string {
  const { protocol, host } = new URL(endpoint);
  return `${protocol === "wss:" ? "https:" : "http:"}//${host}/`;
}

async function launch(settings: BrowserSettings): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  try {
    if (settings.endpoint !== "") {
      const { endpoint } = settings;
      const limits = { timeout: CONNECT_TIMEOUT_MS };
      if (/^https?:/.test(endpoint)) return await chromium.connectOverCDP(endpoint, limits);
      if (!endpoint.includes("/devtools/")) return await chromium.connect(endpoint, limits);
      return await chromium
        .connectOverCDP(endpoint, limits)
        .catch(() => chromium.connectOverCDP(successorOf(endpoint), limits));
    }
    const executablePath = findBrowser(settings.executable);
    if (executablePath === undefined)
      throw new PageError("no_browser", "A browser is needed for this, and none is installed.");
    const browser = await chromium.launch({
      executablePath,
      headless: true,
      args: ARGUMENTS,
      ignoreDefaultArgs: ["--disable-popup-blocking"],
      proxy: { server: NOWHERE },
      chromiumSandbox: hasSandbox(),
      timeout: START_TIMEOUT_MS,
      // The program itself waits for open pages when it is stopped.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    lowerBrowsers();
    return browser;
  } catch (error) {
    if (error instanceof PageError) throw error;
    throw new PageError("no_browser", "The browser could not be started.", { cause: error });
  }
}
