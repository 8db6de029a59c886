// Opens the context and the page for an address. If only text is wanted, the window starts minimised: then almost nothing is
// painted, while scripts, animation frames and observers run as usual.

import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

/** The size of the window for which pages are laid out. */
export const VIEWPORT = { width: 1280, height: 900 };

/** A context without a page. The caller closes it. */
export interface OpenContext {
  readonly context: BrowserContext;
  newPage(): Promise<Page>;
}

const METRICS = {
  ...VIEWPORT,
  screenWidth: VIEWPORT.width,
  screenHeight: VIEWPORT.height,
  deviceScaleFactor: 1,
  mobile: false,
  // Chromium paints what is scrolled into view even if nobody sees it. So the part that is drawn lies far from all content, which
  // the page itself does not notice.
  viewport: { x: 200_000, y: 200_000, width: 16, height: 16, scale: 1 },
};
const OPEN_TIMEOUT_MS = 30_000;

/** Opens a page that can take screenshots. */
export async function openSeen(browser: Browser, options: BrowserContextOptions): Promise<OpenContext> {
  const context = await browser.newContext({ viewport: VIEWPORT, ...options });
  return { context, newPage: () => context.newPage() };
}

/** Opens a page without a visible window in a local browser. */
export async function openUnseen(browser: Browser, options: BrowserContextOptions): Promise<OpenContext> {
  const { session, context, id } = await namerOf(browser)(options);
  return {
    context,
    newPage: async () => {
      const page = id === undefined ? await context.newPage() : await openMinimised(session, context, id);
      await (await context.newCDPSession(page)).send("Emulation.setDeviceMetricsOverride", METRICS);
      return page;
    },
  };
}

async function openMinimised(session: CDPSession, context: BrowserContext, browserContextId: string): Promise<Page> {
  const opened = context.waitForEvent("page", { timeout: OPEN_TIMEOUT_MS });
  // The first failure is reported, so a failure of the other promise is ignored.
  opened.catch(() => undefined);
  const target = { url: "about:blank", browserContextId, newWindow: true, windowState: "minimized" } as const;
  await session.send("Target.createTarget", target);
  return opened;
}

interface Named {
  readonly session: CDPSession;
  readonly context: BrowserContext;
  /** The browser's own id of the context; undefined if it could not be determined. */
  readonly id: string | undefined;
}
type MakeNamed = (options: BrowserContextOptions) => Promise<Named>;

const namers = new WeakMap<Browser, MakeNamed>();

function namerOf(browser: Browser): MakeNamed {
  const found = namers.get(browser) ?? createNamer(browser);
  namers.set(browser, found);
  return found;
}

/**
 * Finds the browser's own id of a new context, which Playwright does not expose: it is the one that is new in the browser's list.
 * Contexts are therefore created one at a time.
 */
function createNamer(browser: Browser): MakeNamed {
  let connected: CDPSession | undefined;
  let seen: ReadonlySet<string> = new Set();
  let turn: Promise<unknown> = Promise.resolve();
  const make = async (options: BrowserContextOptions): Promise<Named> => {
    connected ??= await browser.newBrowserCDPSession();
    const session = connected;
    // With a viewport, Playwright would resize the window and thereby restore it.
    const context = await browser.newContext({ ...options, viewport: null });
    try {
      const { browserContextIds } = await session.send("Target.getBrowserContexts");
      const added = browserContextIds.filter((id) => !seen.has(id));
      seen = new Set(browserContextIds);
      return { session, context, id: added.length === 1 ? added[0] : undefined };
    } catch (error) {
      await context.close().catch(() => undefined);
      throw error;
    }
  };
  return (options) => {
    const mine = turn.then(() => make(options));
    turn = mine.catch(() => undefined);
    return mine;
  };
}
