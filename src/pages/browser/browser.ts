// The one shared browser: started on first use, replaced when it dies or grows old. Its only way to the network is the
// filtering proxy of each page.

import { accessSync, constants } from "node:fs";
import type { Browser } from "playwright-core";
import { PageError } from "../page-error.ts";
import { watchPages } from "./memory.ts";
import { lowerBrowsers } from "./processes.ts";

/** Which browser to use. */
export interface BrowserSettings {
  /** Path of a Chromium executable; empty: search for one. */
  readonly executable: string;
  /** CDP or Playwright address of a remote browser; empty: a local one. */
  readonly endpoint: string;
  /** Memory limit for each page process of a local browser; a process that exceeds it is killed. Absent: no limit. */
  readonly pageBytesMax?: number;
}

/** Hands out the shared browser. */
export interface SharedBrowser {
  /** Gives the running browser; starts one if there is none. Throws `PageError` `no_browser`. */
  get(): Promise<Browser>;
  /** Counts a page that was opened; an old browser is replaced once it is idle. */
  used(browser: Browser): void;
  /** Ends that use. */
  released(browser: Browser): void;
  /** Reports that the browser went away during use; the next caller gets a new one. */
  lost(browser: Browser): void;
  close(): Promise<void>;
}

/** The headless shells do less work for the same page, so they are tried first. */
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
/** Chromium's memory grows with the number of pages it has shown. */
const PAGES_PER_BROWSER_MAX = 200;
const RENEWAL_WAIT_MS = 5000;
const START_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTS_MAX = 2;
const RECONNECTS_MAX = 6;
const RECONNECT_PAUSE_MS = 500;
/** Failed browsers that are replaced for one page before it gives up. */
const STARTS_MAX = 3;

/** Chromium uses the last list it is given, so this one also includes the features that Playwright turns off. */
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
  // Treats an http address as plain HTTP.
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  // Every window would load pages for its own controls: half the work for a small page.
  "AimEnabled",
  "PreloadTopChromeWebUI",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
  // A spare process for a second site is never used: each context shows one page.
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
  // Chromium paints invisible windows anyway; pages are laid out in their own viewport.
  "--window-size=400,300",
  // Turns off the browser's own animations, a fifth of the work for a small page. The pages' animations stay.
  "--wm-window-animations-disabled",
  "--animation-duration-scale=0",
  // Also hides the bar that warns of a missing sandbox.
  "--test-type=webdriver",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--no-pings",
  // No pop-ups: the headless shell has a flag for it; for full browsers Playwright's own flag is left out.
  "--block-new-web-contents",
  "--mute-audio",
  "--hide-scrollbars",
  "--disable-gpu",
];
/** Traffic that does not go through the page's own proxy is dropped. */
const NOWHERE = "http://127.0.0.1:9";

/** Whether a local browser runs in its own sandbox: Chromium cannot set it up as root. */
export function hasSandbox(): boolean {
  return process.getuid?.() !== 0;
}

/** Told to the operator when the browser has no sandbox; the network guard applies regardless. */
export const NO_SANDBOX = "the browser runs without its sandbox, because the program runs as root: use another user";

/** Path of an installed Chromium; undefined when there is none. */
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

/** Creates the holder; no browser is started yet. `started` is called after each start, with the error if it failed. */
export function createBrowser(
  settings: BrowserSettings,
  started: (error?: unknown) => void = () => undefined,
): SharedBrowser {
  let current: Promise<Browser> | undefined;
  let isClosed = false;
  let hasRun = false;
  const memory = settings.endpoint === "" ? watchPages(settings.pageBytesMax ?? Number.POSITIVE_INFINITY) : undefined;
  const uses = createUses(memory);
  /** Closes a browser that grew old; two at once would take twice the memory. */
  let renewal: Promise<void> | undefined;
  const makeOld = (browser: Browser) => {
    const use = uses.of(browser);
    if (use === undefined || use.isOld) return;
    use.isOld = true;
    current = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.on("disconnected", () => resolve());
    // Its last page may take minutes; other pages do not wait for it.
    renewal = Promise.race([promise, Bun.sleep(RENEWAL_WAIT_MS)]);
  };

  const start = (): Promise<Browser> => {
    const starting = launchPatiently(settings, hasRun).then((browser) => {
      started();
      hasRun = true;
      uses.add(browser);
      browser.on("disconnected", () => {
        uses.remove(browser);
        // The end of an old browser says nothing about its successor.
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
      throw new PageError("no_browser", "The browser ends as soon as it is started.");
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
      // A browser that is just starting is waited for: nothing else would close it.
      await current?.catch(() => undefined);
      current = undefined;
      await Promise.all(uses.browsers().map(closeQuietly));
    },
  };
}

function closeQuietly(browser: Browser): Promise<void> {
  return browser.close().catch(() => undefined);
}

/** Counts the uses of the browsers. Memory is watched while any of them shows a page. */
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
    /** Adds to the number of open pages. */
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

/** A remote browser that went away may come back soon, so it is tried again. */
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

/** A browser that is closing still accepts connections; only one that shows pages counts. */
async function connectAlive(settings: BrowserSettings): Promise<Browser> {
  const browser = await launch(settings);
  try {
    await (await browser.newContext()).close();
    return browser;
  } catch (error) {
    await browser.close().catch(() => undefined);
    throw new PageError("no_browser", "The browser could not be started.", { cause: error });
  }
}

/** A browser's WebSocket address ends with it; its successor publishes a new one over HTTP at the same address. */
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
      // The program waits for open pages itself.
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
