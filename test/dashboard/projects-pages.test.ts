// The pages of projects in a real browser: one is made, gets a member and a key, is changed and deleted.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 60_000;

let app: AccountsApp;
let browser: TestBrowser;
let base: string;

beforeAll(async () => {
  if (isMissing) return;
  [app, browser] = await Promise.all([startAccountsApp(), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function sound(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px: a project is made, shared, used, changed and deleted",
    async (width, dark) => {
      const [name, other] = [`owner-${width}`, `colleague-${width}`];
      await app.addAccount(name);
      const { email } = await app.addAccount(other);
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await page.goto(`${base}/projects`);
      await page.getByLabel("Username").fill(name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("You are in no project.").waitFor();
      await sound(page);

      await page.getByRole("button", { name: "New project" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Search team");
      await page.getByLabel("Budget (US dollars)").fill("50");
      await page.getByLabel("Renews after").fill("soon");
      await page.getByLabel("Models").fill("demo-*, gpt-*");
      await sound(page);
      await page.getByRole("button", { name: "Create project" }).click();
      await page.getByText("expected a time such as").waitFor();
      await page.getByLabel("Renews after").fill("30d");
      await page.getByRole("button", { name: "Create project" }).click();
      await page.getByRole("heading", { level: 1, name: "Search team" }).waitFor();
      await page.getByText(/of \$50.* per 30d/).waitFor();

      await page.getByLabel("Name of a new key of yours").fill("laptop");
      await page.getByRole("button", { name: "Create key" }).click();
      expect(await page.getByTestId("project-key").textContent()).toMatch(/^sk-/);
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Role").selectOption("manager");
      await page.getByRole("button", { name: "Add member" }).click();
      await page.getByRole("cell", { name: email }).waitFor();
      await sound(page);
      expect([
        await page.getByLabel("Name of a new key of yours").inputValue(),
        await page.getByLabel("E-mail").inputValue(),
      ]).toEqual(["", ""]);

      await page.getByRole("button", { name: "Change limits" }).click();
      await page.getByLabel("Requests a minute").fill("60");
      await page.getByRole("button", { name: "Save limits" }).click();
      await page.getByText("60 requests a minute").waitFor();
      await page.getByRole("link", { name: "All projects" }).click();
      await page.getByRole("link", { name: "Search team" }).waitFor();
      await sound(page);

      await page.getByRole("link", { name: "Search team" }).click();
      await page.getByRole("button", { name: `Remove ${other}` }).click();
      await page.getByRole("button", { name: "Remove member" }).click();
      await page.getByRole("cell", { name: email }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("button", { name: "Delete project" }).click();
      await page.getByText("You are in no project.").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
