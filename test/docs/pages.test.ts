// Checks the manual at /docs: every page exists, has no broken links, loads nothing from other hosts and is accessible,
// and readers can send a request from it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { groupsOf } from "../../src/docs/http-api.ts";
import { addressOf, MANUAL, OVERVIEW, titleOf } from "../../src/docs/pages/manual.ts";
import { groupAddress } from "../../src/docs/pages/reference.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

const SLOW_MS = 120_000;
const isMissing = CHROMIUM === undefined;
let app: TestApp;
let browser: TestBrowser;
let addresses: string[];

beforeAll(async () => {
  app = await startTestApp();
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Record<string, unknown>;
  addresses = [
    ...["/docs", "/docs/guides"],
    ...Object.values(MANUAL).flatMap((pages) => pages.map(({ file }) => addressOf(file))),
    ...groupsOf(document).map(groupAddress),
  ];
  if (!isMissing) browser = await startBrowser();
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app.stop();
});

/** Documents that the program does not serve: those for contributors, and the endpoints, which have pages of their own. */
const ELSEWHERE = /^(?:decisions\/.+|glossary|reference\/http-api)\.md$/;

test("every document is in the manual, under a title of its own", () => {
  const listed = [OVERVIEW, ...Object.values(MANUAL).flat()];
  const documents = readdirSync(join(import.meta.dir, "../../docs"), { recursive: true, encoding: "utf8" });
  expect(listed.map(({ file }) => file).sort()).toEqual(
    documents.filter((name) => name.endsWith(".md") && !ELSEWHERE.test(name)).sort(),
  );
  const titles = listed.map(titleOf);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});

test("the overview leads to every page", async () => {
  const html = await (await fetch(`${app.url}/docs`)).text();
  const content = html.slice(html.indexOf("<main"));
  expect(addresses.filter((one) => !/^\/docs(?:\/guides)?$/.test(one) && !content.includes(`href="${one}"`))).toEqual(
    [],
  );
});

test("every page is served with its policy, and every link on it leads to a page and an anchor that are there", async () => {
  const pages = new Map<string, string>();
  for (const address of addresses) {
    const response = await fetch(app.url + address);
    expect([address, response.status]).toEqual([address, 200]);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    pages.set(address, await response.text());
  }
  expect(pages.size).toBeGreaterThan(25);
  const idsOf = (html: string) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const wrong: string[] = [];
  let looked = 0;
  for (const [address, html] of pages) {
    for (const [, target = ""] of html.matchAll(/<a[^>]* href="([^"]*)"/g)) {
      looked++;
      if (/^https?:/.test(target) || target === "/openapi.json" || target === "/dashboard") continue;
      const [path = "", anchor = ""] = target.split("#");
      const found = pages.get(path === "" ? address : path);
      if (found === undefined || (anchor !== "" && !idsOf(found).has(anchor))) wrong.push(`${address}: ${target}`);
    }
    for (const [, source = ""] of html.matchAll(/<(?:script|img|link)[^>]* (?:src|href)="([^"]*)"/g)) {
      const status = source.startsWith("/docs/assets/") ? (await fetch(app.url + source)).status : 0;
      if (status !== 200) wrong.push(`${address}: loads ${source}`);
    }
    for (const [, id] of html.matchAll(/ id="([^"]+)"/g)) {
      if (html.split(` id="${id}"`).length > 2) wrong.push(`${address}: two ids ${id}`);
    }
  }
  expect(looked).toBeGreaterThan(1000);
  expect(wrong).toEqual([]);
});

test("an address without a page says so", async () => {
  for (const path of ["/docs/nope", "/docs/guides/../../etc/passwd", "/docs/assets/nope.js", "/docs/%3Cscript%3E"]) {
    const response = await fetch(app.url + path);
    expect([path, response.status]).toEqual([path, 404]);
  }
});

test("a page names the address under which it was asked for, and nothing of what else came with it", async () => {
  const ask = async (host: string) => (await fetch(`${app.url}/docs/guides/agents`, { headers: { host } })).text();
  expect(await ask("gateway.lan:9000")).toContain("ANTHROPIC_BASE_URL=http://gateway.lan:9000");
  expect(await ask(`a"onload=1`)).not.toContain(`"onload=1`);
});

/** One page of each kind, and the largest pages. */
const LOOKED_AT = [
  "/docs",
  "/docs/guides/deployment",
  "/docs/reference/configuration",
  "/docs/api/chat",
  "/docs/api/files",
];

/** A desktop, and a phone at night. */
const LOOKS = [
  { width: 1440, height: 844, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
] as const;

describe.skipIf(isMissing)("in a browser", () => {
  test(
    "neither wide and light nor narrow and dark a page has a fault, is too wide, or is refused something by its own policy",
    async () => {
      const { page, complaints, context } = await browser.visitor();
      const found: string[] = [];
      // Loading a page takes longer than looking at it, so it is looked at both ways.
      for (const address of addresses) {
        await page.goto(app.url + address);
        for (const { width, height, colorScheme } of LOOKS) {
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme });
          // Pages of one kind have the same structure.
          if (LOOKED_AT.includes(address))
            found.push(...(await faults(page)).map((fault) => `${address} at ${width} px: ${fault.slice(0, 300)}`));
          const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          if (over > 0) found.push(`${address}: ${over} px too wide for ${width}`);
        }
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a block of code can be copied, the errors of an endpoint unfold, and the tab has an icon",
    async () => {
      const { page, complaints, context } = await browser.visitor();
      await page.goto(`${app.url}/docs/guides/start`);
      const block = page.locator(".block").first();
      const text = await block.locator("pre").textContent();
      await block.getByRole("button", { name: "Copy this block" }).click();
      await block.getByText("Copied").waitFor();
      await page.evaluate(() => document.body.prepend(document.createElement("textarea")));
      await page.locator("textarea").first().focus();
      await page.keyboard.press("Control+V");
      expect(await page.locator("textarea").first().inputValue()).toBe((text ?? "").trimEnd());
      const icon = await page.locator('link[rel="icon"]').getAttribute("href");
      expect((await fetch(app.url + icon)).headers.get("content-type")).toStartWith("image/svg+xml");
      await page.goto(`${app.url}/docs/api/chat`);
      const section = page.locator("#createchatcompletion");
      await section.getByText("Errors", { exact: true }).click();
      await section.getByRole("cell", { name: "budget_exceeded" }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a browser that blocks the storage of sites still shows the forms, and sends the key",
    async () => {
      const { page, complaints, context } = await browser.visitor();
      // As browsers do it where site data is blocked.
      await page.addInitScript(() =>
        Object.defineProperty(window, "sessionStorage", {
          get: () => {
            throw new DOMException("Access is denied for this document.", "SecurityError");
          },
        }),
      );
      await page.goto(`${app.url}/docs/api/chat`);
      const section = page.locator("#createchatcompletion");
      await section.getByText("Try it").click();
      await section.getByLabel("API key").fill(app.key);
      await section.getByRole("button", { name: "Send" }).click();
      await section.locator("output p", { hasText: /^200 after/ }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a reader sends a chat by keyboard, and sees it answered",
    async () => {
      const { page, complaints, context } = await browser.visitor();
      await page.goto(`${app.url}/docs/api/chat`);
      const section = page.locator("#createchatcompletion");
      await section.getByText("Try it").focus();
      await page.keyboard.press("Enter");
      await section.getByLabel("API key").fill(app.key);
      await section.getByRole("button", { name: "Send" }).focus();
      await page.keyboard.press("Enter");
      await section.locator("output p", { hasText: /^200 after/ }).waitFor();
      expect(await section.locator("output pre").textContent()).toContain('"object": "chat.completion"');
      // The key stays for the other pages of this tab, and nothing else is stored.
      expect(await page.evaluate(() => [localStorage.length, Object.values(sessionStorage)])).toEqual([0, [app.key]]);
      await page.goto(`${app.url}/docs/api/web`);
      expect(await page.getByLabel("API key", { exact: true }).first().inputValue()).toBe(app.key);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
