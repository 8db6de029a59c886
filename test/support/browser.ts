// A real Chromium for tests of pages, with its console messages.

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../src/pages/browser/browser.ts";

/** Tests of pages are skipped where there is none. */
export const CHROMIUM = findBrowser("");

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * Errors and warnings of the console (violations of the security policy are among them), and errors no one caught.
   */
  readonly complaints: string[];
}

export interface TestBrowser {
  /** Someone new, without cookies. */
  visitor(options?: { width?: number; dark?: boolean; address?: string }): Promise<Visitor>;
  close(): Promise<void>;
}

/** Leads to this machine, but browsers do not trust it as they trust loopback: plain HTTP there is as on any network. */
export const LAN_HOST = "gateway.lan";

/** A narrow window is a phone's. */
const HEIGHT = 844;

/** Starts it. */
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
        // A refusal that a test provokes is logged by the browser too; what the page does with it is examined there.
        const refused = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
        if (["error", "warning"].includes(message.type()) && !refused) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      return { page, context, complaints };
    },
    close: () => browser.close(),
  };
}
