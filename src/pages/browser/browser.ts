// The one shared browser: started when first needed, renewed when it dies or has grown old, and with no way out but the
// filtering proxy of each page.

import { accessSync, constants } from "node:fs";
import type { Browser } from "playwright-core";
import { PageError } from "../page-error.ts";
import { watchPages } from "./memory.ts";
import { lowerBrowsers } from "./processes.ts";

/** Which browser. */
export interface BrowserSettings {
  /** Path of a Chromium; empty: looked for. */
  readonly executable: string;
  /** CDP or Playwright address of a remote browser; empty: a local one. */
  readonly endpoint: string;
  /** The most memory that a process for pages of a local one may take; it is ended then. Absent: no limit. */
  readonly pageBytesMax?: number;
}

/** Hands out the browser. */
export interface SharedBrowser {
  /** The running browser; starts one when there is none. Throws `PageError` `no_browser`. */
  get(): Promise<Browser>;
  /** A page was made in it: an old browser is replaced once it is idle. */
  used(browser: Browser): void;
  /** That use is over. */
  released(browser: Browser): void;
  /** It went away under someone, whether it has said so itself or not: the next one to ask gets another. */
  lost(browser: Browser): void;
  close(): Promise<void>;
}

/** The shells are browsers without windows, which is less work for the same page, so they come first. */
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
/** Chromium's memory grows with the pages it has shown. */
const PAGES_PER_BROWSER_MAX = 200;
const RENEWAL_WAIT_MS = 5000;
const START_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTS_MAX = 2;
const RECONNECTS_MAX = 6;
const RECONNECT_PAUSE_MS = 500;
/** Browsers started for one page that turn out dead. */
const STARTS_MAX = 3;

/** Chromium takes the last list it is given, so this one also holds what Playwright would have turned off. */
const FEATURES_OFF = [
  // Ways out of their own.
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
  // An http address means http.
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  // Every window would load pages for its own controls: half the work of a small page.
  "AimEnabled",
  "PreloadTopChromeWebUI",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
  // A process kept ready for a second site that never comes: each context shows one page.
  "SpareRendererForSitePerProcess",
  // What Playwright's own steps need to be off.
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
];

const ARGUMENTS = [
  "--disable-quic",
  // No address of ours by WebRTC, and none of its own ways out.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  // An invisible window is painted all the same; pages are laid out in a viewport of their own.
  "--window-size=400,300",
  // Whatever of its own would slide or fade is there at once: a fifth of a small page's work. Pages' animations stay.
  "--wm-window-animations-disabled",
  "--animation-duration-scale=0",
  // Nor is the bar that warns of a missing sandbox slid in over every page.
  "--test-type=webdriver",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--no-pings",
  // No pop-ups: the headless shell has a flag; for full browsers Playwright's own flag is left out.
  "--block-new-web-contents",
  "--mute-audio",
  "--hide-scrollbars",
  "--disable-gpu",
];
/** Whatever is not sent through a page's own proxy goes nowhere. */
const NOWHERE = "http://127.0.0.1:9";

/** Whether a browser of this machine runs in its own sandbox: Chromium's cannot be set up by root. */
export function hasSandbox(): boolean {
  return process.getuid?.() !== 0;
}

/** What an operator is told of a browser without one; the guard on its network holds all the same. */
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

/** Makes the holder; no browser starts yet. `started` is told of each start, with the error of one that failed. */
export function createBrowser(
  settings: BrowserSettings,
  started: (error?: unknown) => void = () => undefined,
): SharedBrowser {
  let current: Promise<Browser> | undefined;
  let isClosed = false;
  let hasRun = false;
  const memory = settings.endpoint === "" ? watchPages(settings.pageBytesMax ?? Number.POSITIVE_INFINITY) : undefined;
  const uses = createUses(memory);
  /** The end of a browser that grew old; two at once are twice the memory. */
  let renewal: Promise<void> | undefined;
  const makeOld = (browser: Browser) => {
    const use = uses.of(browser);
    if (use === undefined || use.isOld) return;
    use.isOld = true;
    current = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.on("disconnected", () => resolve());
    // Its last page may take minutes; the others do not wait for that.
    renewal = Promise.race([promise, Bun.sleep(RENEWAL_WAIT_MS)]);
  };

  const start = (): Promise<Browser> => {
    const starting = launchPatiently(settings, hasRun).then((browser) => {
      started();
      hasRun = true;
      uses.add(browser);
      browser.on("disconnected", () => {
        uses.remove(browser);
        // An old browser's end says nothing about the one after it.
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
      // One that is just starting is waited for: no one else would end it.
      await current?.catch(() => undefined);
      current = undefined;
      await Promise.all(uses.browsers().map(closeQuietly));
    },
  };
}

function closeQuietly(browser: Browser): Promise<void> {
  return browser.close().catch(() => undefined);
}

/** How the browsers that run are used. Memory is watched while any of them shows a page. */
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
    /** Counts so many more pages as open. */
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

/** A remote browser that went away may be on its way back; one that did not answer may do so when asked again. */
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

/** What is just ending still takes connections, for a browser that is gone: only one that shows pages counts. */
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

/** A browser's WebSocket address ends with it; its successor at the same address publishes its own over HTTP. */
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
      // The program drains by itself.
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
