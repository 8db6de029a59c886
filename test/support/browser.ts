// A real Chromium for tests of pages; it collects console messages.

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../src/pages/browser/browser.ts";

/** Tests of pages are skipped if this is undefined. */
export const CHROMIUM = findBrowser("");

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, including violations of the security policy, and uncaught errors. */
  readonly complaints: string[];
}

export interface TestBrowser {
  /** Opens a page for a new visitor without cookies. */
  visitor(options?: { width?: number; dark?: boolean; address?: string }): Promise<Visitor>;
  close(): Promise<void>;
}

/**
 * A host name that resolves to this machine but that browsers do not trust like loopback, so plain HTTP behaves as on
 * any other network.
 */
export const LAN_HOST = "gateway.lan";

/** A narrow window is that of a phone. */
const HEIGHT = 844;

/** Starts the browser. */
export async function startBrowser(): Promise<TestBrowser> {
  if (CHROMIUM === undefined) throw new Error("there is no Chromium");
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${LAN_HOST} 127.0.0.1`],
  });
  return {
    async visitor({ width = 1440, dark = false, address } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: HEIGHT },
        colorScheme: dark ? "dark" : "light",
        ...(address === undefined ? {} : { extraHTTPHeaders: { "x-forwarded-for": address } }),
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => {
        // The browser also logs refusals that a test causes. The test checks the page's reaction to them.
        const refused = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
        if (["error", "warning"].includes(message.type()) && !refused) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      return { page, context, complaints };
    },
    close: () => browser.close(),
  };
}
