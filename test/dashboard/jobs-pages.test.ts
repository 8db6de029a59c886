// The pages of jobs in a real browser: live progress, cancelling, downloads, text written by strangers, and jobs that
// are empty or deleted.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "../web/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 60_000;
const FILLER = "Words that fill a page, so that it is one. ".repeat(12);
const LONG = `/a-${"very-".repeat(40)}long-address`;

let app: AccountsApp;
let browser: TestBrowser;
let site: FakeSite;
let base: string;
let gate: ReturnType<typeof Promise.withResolvers<void>>;

const html = (body: string) =>
  `<!doctype html><title>A page</title><main><h1>A page</h1>${body}<p>${FILLER}</p></main>`;

beforeAll(async () => {
  if (isMissing) return;
  gate = Promise.withResolvers();
  site = startFakeSite({
    "/": html(`<p><a href="/hostile">one</a> <a href="/slow">two</a> <a href="/broken">three</a></p>`),
    "/hostile": html(`<h3>Deep</h3><p>&lt;script&gt;window.pwned = 1&lt;/script&gt; <img src="/cat.png" alt="a cat">
      <a href="javascript:alert(1)">bad</a> <a href="/other">relative</a></p>
      <table><tr><th>Fruit</th><th>Price</th></tr><tr><td>Plum</td><td>3</td></tr></table>`),
    "/other": html("<p>Another page.</p>"),
    "/broken": () => new Response("no", { status: 500 }),
    "/slow": async () => {
      await gate.promise;
      return new Response(html(""), { headers: { "content-type": "text/html" } });
    },
    [LONG]: async () => {
      await gate.promise;
      return new Response(html(""), { headers: { "content-type": "text/html" } });
    },
  });
  [app, browser] = await Promise.all([startAccountsApp({ config: webConfig([site.host]) }), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  gate?.resolve();
  await browser?.close();
  await app?.stop();
  await site?.stop();
});

/** Signs an account in, both in a window and in a client. */
async function member(name: string, look: { width: number; dark: boolean }, more = {}) {
  await app.addAccount(name, more);
  const visitor = await browser.visitor({ ...look, address: freshAddress() });
  const { page } = visitor;
  await page.goto(`${base}/login`);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const client: DashboardClient = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  const key = (await client.post("/keys", { name: "k" })).json.key as string;
  const crawl = async (path: string, body = {}) =>
    (await app.ask("POST", "/v1/crawl", { as: key, body: { url: site.url + path, ...body } })).json.job_id as string;
  return { ...visitor, crawl };
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

async function sound(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await fits(page)).toBe(true);
}

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px: a job is watched, read and cancelled",
    async (width, dark) => {
      const { page, complaints, context, crawl } = await member(`watcher-${width}`, { width, dark });
      await page.goto(`${base}/jobs`);
      await page.getByText("No jobs.").waitFor();
      await sound(page);

      const id = await crawl("/", { limit: 5 });
      const long = await crawl(LONG);
      await page.reload();
      const row = page.getByRole("row").filter({ hasText: site.url }).filter({ hasNotText: "very-" });
      await row.getByText("Running").waitFor();
      await sound(page);
      await row.getByRole("link").click();
      await page.getByRole("heading", { name: "Crawl", level: 1 }).waitFor();
      await page.getByText("1 page failed").waitFor();
      await page.getByText("scrape_upstream_error").waitFor();
      // Without a reload the page shows that four of the five pages were read.
      await page.getByText("4 of 5").waitFor();
      await page.getByText("/hostile").first().click();
      await page.getByRole("tabpanel").getByText("<script>").waitFor();
      const content = page.getByRole("tabpanel");
      expect(await content.getByRole("link", { name: "relative" }).getAttribute("href")).toBe(`${site.url}/other`);
      expect(await content.getByRole("link", { name: "bad" }).count()).toBe(0);
      expect(await content.locator("img").count()).toBe(0);
      expect(await content.getByRole("link", { name: /a cat/ }).getAttribute("rel")).toContain("noopener");
      expect(await page.evaluate(() => "pwned" in window)).toBe(false);
      await sound(page);

      await page.getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("main").getByText("Cancelled", { exact: true }).waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download Markdown" }).click();
      expect((await saved).suggestedFilename()).toBe(`${id}.zip`);

      await page.goto(`${base}/jobs/${long}`);
      await page.getByText("very-").first().waitFor();
      await sound(page);
      await page.goto(`${base}/jobs/crawl_gone`);
      await page.getByText("There is no such job: it may have expired.").waitFor();
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([
    [390, false],
    [1440, true],
  ])(
    "at %i px: an operator sees everybody's running jobs and ends one",
    async (width, dark) => {
      const holder = await member(`${"holder-with-a-long-name-".slice(0, 24)}-${width}`, { width, dark });
      const id = await holder.crawl("/slow");
      const { page, complaints, context } = await member(`boss-${width}`, { width, dark }, { admin: true });
      await page.goto(`${base}/admin/jobs`);
      const cancel = page.getByRole("button", { name: `Cancel ${id}` });
      await cancel.waitFor();
      await sound(page);
      await cancel.click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
      await cancel.waitFor({ state: "detached" });
      expect(complaints).toEqual([]);
      await holder.context.close();
      await context.close();
    },
    SLOW_MS,
  );
});
