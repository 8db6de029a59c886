// The usage page in a real browser: each dimension with its chart and figures, a span, a time zone and the download.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { spend } from "./spent.ts";
import { dashboardClient } from "./support.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 90_000;
const LONG_MODEL = "a-model-with-a-name-that-is-longer-than-any-column-would-be-20260101";

let app: AccountsApp;
let browser: TestBrowser;

beforeAll(async () => {
  if (isMissing) return;
  [app, browser] = await Promise.all([startAccountsApp(), startBrowser()]);
  const { id: accountId } = await app.addAccount("spender");
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "spender", password: PASSWORD });
  const keyId = (await client.post("/keys", { name: "laptop" })).json.id;
  const projectId = (await client.post("/projects", { name: "Search team" })).json.id;
  const used = { accountId, keyId, inputTokens: 1000, outputTokens: 10, cachedTokens: 400, costMicros: 1_500_000 };
  for (const daysAgo of [0, 0, 1, 3, 9]) await spend(app, daysAgo, { ...used, model: "alpha", projectId });
  await spend(app, 3, { ...used, model: LONG_MODEL, costMicros: 0, unpriced: true, tags: ["nightly"] });
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function sound(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}

/** What the row of the table says that has this name. */
async function rowOf(page: Page, name: string): Promise<string[]> {
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await row.first().waitFor();
  return row.getByRole("cell").allTextContents();
}

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px: usage is shown by each dimension, of a span, in a time zone, and downloaded",
    async (width, dark) => {
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Tokyo" });
      await page.goto(`${app.app.url}/dashboard/usage`);
      await page.getByLabel("Username").fill("spender");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
      const by = (name: string) => page.getByRole("group", { name: "Group by" }).getByRole("button", { name }).click();

      await page.getByRole("img", { name: "Requests by day" }).waitFor();
      await page.getByText("UTC days.").waitFor();
      // Days are stored as UTC days, so there is no choice.
      expect(await page.getByRole("group", { name: "Time zone" }).count()).toBe(0);
      expect(await page.locator(".tiles dd").allTextContents()).toEqual([
        ...["6", "0", "6,000", "2,400", "60", "$7.50 + unknown"],
      ]);
      await sound(page);

      await by("model");
      expect(await rowOf(page, LONG_MODEL)).toEqual(["1", "0", "1,000", "400", "10", "unknown"]);
      expect(await rowOf(page, "alpha")).toEqual(["5", "0", "5,000", "2,000", "50", "$7.50"]);
      await page.getByRole("list", { name: "Requests by model" }).waitFor();
      await page.getByRole("button", { name: "Cost", exact: true }).click();
      expect(await page.getByRole("list", { name: "Cost by model" }).textContent()).toBe("alpha$7.50");
      await sound(page);

      for (const [dimension, name, requests] of [
        ["key", "laptop", "6"],
        ["project", "Search team", "5"],
        ["project", "no project", "1"],
        ["tag", "nightly", "1"],
      ] as const) {
        await by(dimension);
        expect((await rowOf(page, name))[0]).toBe(requests);
      }
      expect((await page.locator(".tiles dd").allTextContents())[0]).toBe("6");
      await sound(page);

      await by("hour");
      await page.locator("th", { hasText: "Hour (Asia/Tokyo)" }).first().waitFor({ state: "attached" });
      await page.getByText(/, Asia\/Tokyo\.$/).waitFor();
      await page.getByRole("group", { name: "Time zone" }).getByRole("button", { name: "UTC" }).click();
      await page.locator("th", { hasText: "Hour (UTC)" }).first().waitFor({ state: "attached" });
      await sound(page);

      // The days of a span are those of the time zone that is chosen.
      const day = new Date(app.clock.now() - 3 * 86_400_000).toISOString().slice(0, 10);
      await page.getByLabel("From").fill(day);
      const asked = page.waitForRequest((request) => request.url().includes("to="));
      await page.getByLabel("To").fill(day);
      expect(new URL((await asked).url()).searchParams.get("to")).toBe(day);
      const localAsked = page.waitForRequest((request) => request.url().includes("usage-report"));
      await page.getByRole("button", { name: "Browser (Asia/Tokyo)" }).click();
      const { searchParams } = new URL((await localAsked).url());
      expect([searchParams.get("from"), searchParams.get("to")]).toEqual(
        [0, 1].map((days) => new Date(Date.parse(`${day}T00:00:00+09:00`) + days * 86_400_000).toISOString()),
      );

      await by("model");
      const download = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download CSV" }).click();
      expect((await download).suggestedFilename()).toBe("sallyport-usage-by-model.csv");

      await page.getByLabel("From").fill("2020-01-02");
      await page.getByLabel("To").fill("2020-01-01");
      await page.getByText("expected a time before 'to'").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
