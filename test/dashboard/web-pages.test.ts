// The page of the web tools in a real browser: every form, its results, cancelling, and what survives a reload, an
// unavailable server and the end of a session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type SearchSite, startSearchSite } from "../web/search-site.ts";
import { webConfig } from "../web/support.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 90_000;
const PRODUCT = { "@context": "https://schema.org", "@type": "Product", name: "Turner", sku: "T-1" };

let app: AccountsApp;
let browser: TestBrowser;
let site: SearchSite;
let base: string;
let held: PromiseWithResolvers<void>;

const html = (title: string, body: string) =>
  `<!doctype html><title>${title}</title><meta name="description" content="About ${title}"><main><h1>${title}</h1>${body}
   <p>${"Words that fill a page, so that it is one. ".repeat(12)}</p></main>`;

beforeAll(async () => {
  if (isMissing) return;
  held = Promise.withResolvers();
  site = startSearchSite({
    "/": html("Home", '<p><a href="/product">product</a> <a href="/held">held</a></p>'),
    "/product": html("Turner", `<script type="application/ld+json">${JSON.stringify(PRODUCT)}</script>`),
    "/held": async () => {
      await held.promise;
      return new Response("late");
    },
  });
  const config = { ...webConfig([site.host]), tiers: { free: { rpm: 500 } }, ...site.config(["searxng"]) };
  site.lists("searxng", [
    { url: "https://a.example/", title: "A first hit", text: "What it says." },
    { url: "javascript:alert(1)", title: "No address", text: "Not a link." },
  ]);
  [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  held?.resolve();
  await browser?.close();
  await app?.stop();
  await site?.stop();
});

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function sound(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}

const tool = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Tools" }).getByRole("button", { name, exact: true }).click();

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px: each tool is tried",
    async (width, dark) => {
      const name = `trier-${width}`;
      await app.addAccount(name);
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await page.goto(`${base}/web`);
      await signIn(page, name);
      await page.getByRole("heading", { name: "Web tools" }).waitFor();
      await page.getByRole("button", { name: "Scrape", exact: true }).last().click();
      await page.getByText("Address is missing.").waitFor();
      await sound(page);
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/`);
      await page.getByText("Options").click();
      await page.getByLabel("links").check();
      await page.getByRole("textbox", { name: "Address", exact: true }).press("Enter");
      await page.getByRole("heading", { name: "Home", level: 3 }).waitFor();
      await page.getByLabel("Page details").getByText("About Home").waitFor();
      await page.getByText("req_").or(page.locator(".figures code")).first().waitFor();
      await sound(page);
      await page.getByRole("tab", { name: /Links/ }).click();
      await page.getByRole("link", { name: `${site.url}/product` }).waitFor();
      await page.getByText("This request as code").click();
      for (const language of ["curl", "Python", "JavaScript"]) {
        await page.getByRole("tab", { name: language }).click();
        await page.getByText(`${app.app.url}/v1/scrape`).waitFor();
      }
      await sound(page);

      await tool(page, "Map");
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/`);
      await page.getByRole("textbox", { name: "Address", exact: true }).press("Enter");
      await page.getByRole("tab", { name: /^Addresses \(/ }).waitFor();
      await sound(page);

      await tool(page, "Search");
      await page.getByRole("textbox", { name: "Query" }).fill("anything");
      await page.getByRole("textbox", { name: "Query" }).press("Enter");
      await page.getByRole("link", { name: "A first hit" }).waitFor();
      expect(await page.getByRole("link", { name: "No address" }).count()).toBe(0);
      await sound(page);

      await tool(page, "Crawl");
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/`);
      await page.getByRole("button", { name: "Start crawl" }).click();
      await page.getByText("2 of 3").waitFor();
      await sound(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("region", { name: "The job" }).getByText("Cancelled", { exact: true }).waitFor();

      await tool(page, "Extract");
      await page.getByLabel("Addresses").fill(`${site.url}/product`);
      await page.getByLabel("What to extract").fill("The product's name");
      await page.getByText("Options").click();
      await page.getByLabel("JSON Schema").fill("{");
      await page.getByRole("button", { name: "Start extraction" }).click();
      await page.getByText("JSON Schema is not valid JSON").waitFor();
      await page.getByLabel("JSON Schema").fill('{"type": "object", "properties": {"name": {"type": "string"}}}');
      await page.getByRole("button", { name: "Start extraction" }).click();
      await page.getByLabel("Result").getByText("Turner").first().waitFor();
      await sound(page);

      await tool(page, "llms.txt");
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/product`);
      await page.getByRole("button", { name: "Make llms.txt" }).click();
      await page.getByRole("tab", { name: "llms.txt" }).waitFor();
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "Esc ends a request; what was typed outlives a server that is away, a reload and the session, and signing out forgets it",
    async () => {
      await app.addAccount("keeper");
      const { page, complaints, context } = await browser.visitor({ address: freshAddress() });
      await page.goto(`${base}/web?tool=map&url=${encodeURIComponent(`${site.url}/held`)}&limit=7`);
      await signIn(page, "keeper");
      // The input is still there after the sign-in.
      await page.getByRole("heading", { name: "Web tools" }).waitFor();
      expect(await page.getByLabel("Address limit").inputValue()).toBe("7");
      await tool(page, "Scrape");
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/held`);
      await page.getByRole("textbox", { name: "Address", exact: true }).press("Enter");
      await page.getByText("Working…").waitFor();
      await site.asked("/held");
      await page.keyboard.press("Escape");
      await page.getByText("Cancelled", { exact: true }).waitFor();

      await page.getByRole("textbox", { name: "Address", exact: true }).fill(`${site.url}/typed`);
      await context.setOffline(true);
      await page.getByRole("textbox", { name: "Address", exact: true }).press("Enter");
      await page.getByText("The server cannot be reached.").waitFor();
      await context.setOffline(false);
      await context.clearCookies();
      await page.getByRole("textbox", { name: "Address", exact: true }).press("Enter");
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await signIn(page, "keeper");
      await page.getByRole("heading", { name: "Web tools" }).waitFor();
      expect(await page.getByRole("textbox", { name: "Address", exact: true }).inputValue()).toBe(`${site.url}/typed`);
      await page.goto(`${base}/web`);
      expect(await page.getByRole("textbox", { name: "Address", exact: true }).inputValue()).toBe(`${site.url}/typed`);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(
        await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("sallyport:"))),
      ).toEqual([]);
      // The browser also logs that it is offline.
      expect(complaints.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
