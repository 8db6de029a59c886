// A real Chromium for tests of pages; it collects console messages.

import { readFileSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../src/pages/browser/browser.ts";

/** Tests of pages are skipped if this is undefined. */
export const CHROMIUM = findBrowser("");

/**
 * The browser that the program takes, and beside a headless shell one with windows too: only that one has pop-ups, an interface and
 * connections of its own.
 */
export const BROWSERS: readonly string[] = [
  ...new Set([CHROMIUM ?? "none", Bun.which("chromium") ?? Bun.which("google-chrome") ?? CHROMIUM ?? "none"]),
];

/**
 * The program behind the script of a package (`PROGRAM "$@"`), which stays a process of its own: who kills the script leaves the
 * browser running.
 */
export function browserProgram(executable: string): string {
  const text = readFileSync(executable).subarray(0, 1024).toString("latin1");
  return (text.startsWith("#!") && /^(\/\S+) "\$@"$/m.exec(text)?.[1]) || executable;
}

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

/** Nothing is drawn for anybody, so nothing emulates a graphics card, and no process is kept ready for another site. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-software-rasterizer",
  "--disable-site-isolation-trials",
  `--host-resolver-rules=MAP ${LAN_HOST} 127.0.0.1`,
];

let launched: Promise<Browser> | undefined;

/**
 * The browser of this process, which all its files share: starting one takes seconds. It ends with the process. Closing what is
 * returned closes the visitors' windows.
 */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath = CHROMIUM;
  if (executablePath === undefined) throw new Error("there is no Chromium");
  const launch = () => chromium.launch({ executablePath, args: ARGS });
  launched ??= launch();
  // Bun ends it when a test has taken too long.
  if (!(await launched).isConnected()) launched = launch();
  const browser = await launched;
  const contexts: BrowserContext[] = [];
  return {
    async visitor({ width = 1440, dark = false, address } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: HEIGHT },
        colorScheme: dark ? "dark" : "light",
        ...(address === undefined ? {} : { extraHTTPHeaders: { "x-forwarded-for": address } }),
      });
      contexts.push(context);
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
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}
