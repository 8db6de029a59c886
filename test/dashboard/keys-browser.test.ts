// The page of the keys in a real browser: where the focus goes, and what is shown of a new key.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { dashboardClient } from "./support.ts";

const SLOW_MS = 90_000;
const ROWS = 30;
const LONG = "a-long-name-without-any-space-that-is-wider-than-the-column-would-be-66";
const isMissing = CHROMIUM === undefined;

let app: AccountsApp;
let browser: TestBrowser;

beforeAll(async () => {
  if (isMissing) return;
  [app, browser] = await Promise.all([startAccountsApp({ config: { usage: { flush: "5ms" } } }), startBrowser()]);
  await app.addAccount("holder", { admin: true });
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "holder", password: PASSWORD });
  for (let n = 1; n < ROWS; n++) await client.post("/keys", { name: `key-${n}` });
  await client.post("/keys", { name: LONG });
  await client.post("/keys", { name: "key-0" });
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function open(path: string, width = 1440) {
  const visitor = await browser.visitor({ width, address: freshAddress() });
  const { page } = visitor;
  await page.goto(`${app.app.url}/dashboard${path}`);
  await page.getByLabel("Username or e-mail").fill("holder");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  // On a phone the menu is closed.
  await page.locator("#main").waitFor();
  return visitor;
}

/** What the focused element is, by its text or its label. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    return at?.getAttribute("aria-label") ?? at?.closest("form")?.getAttribute("aria-label") ?? at?.textContent ?? "";
  });

describe.skipIf(isMissing)("in a browser", () => {
  test.each(["Edit", "Rotate"])(
    "%s opens its form with the focus in it, and gives the focus back",
    async (action) => {
      const { page, complaints, context } = await open("/keys");
      const button = page.getByRole("button", { name: `${action} key-0`, exact: true });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("form", { name: `${action} key-0` }).waitFor();
      expect(await focused(page)).toBe(`${action} key-0`);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("form", { name: "New key" }).waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === "BUTTON");
      expect(await button.evaluate((one) => one === document.activeElement)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a secret that is shown once has the focus, and its button to copy is the next stop",
    async () => {
      const { page, complaints, context } = await open("/keys");
      await page.getByRole("button", { name: "Rotate key-29", exact: true }).click();
      await page.getByRole("button", { name: "Rotate key", exact: true }).click();
      const copies = async (section: string, copy: string) => {
        await page.getByRole("region", { name: section }).waitFor();
        expect(await focused(page)).toBe(section);
        await page.keyboard.press("Tab");
        expect(await focused(page)).toBe(copy);
      };
      await copies("The new key", "Copy the key");
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByLabel("Name", { exact: true }).fill("fresh");
      await page.keyboard.press("Enter");
      await copies("The new key", "Copy the key");
      await page.getByRole("button", { name: "Done" }).click();
      expect(await focused(page)).toBe("New key");
      await page.goto(`${app.app.url}/dashboard/admin/accounts`);
      for (let times = 0; times < 2; times++) {
        const before = await page.getByTestId("invite-link").allTextContents();
        await page.getByRole("button", { name: "Invite" }).click();
        await page.waitForFunction(
          (old) =>
            ![undefined, old].includes(document.querySelector('[data-testid="invite-link"]')?.textContent ?? undefined),
          before[0],
        );
        await copies("The new invitation", "Copy the link");
      }
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([1440, 390])(
    "at %i px many keys are shown in parts and can be searched, and a long name leaves the actions in a row",
    async (width) => {
      const { page, complaints, context } = await open("/keys", width);
      const rows = page.locator("table.keys tbody tr");
      await rows.nth(19).waitFor();
      expect(await rows.count()).toBe(20);
      await page.getByRole("button", { name: /^Show more keys/ }).click();
      await rows.nth(ROWS - 1).waitFor();
      await page.getByLabel("Find a key").fill("LONG");
      await page.waitForFunction(() => document.querySelectorAll("table.keys tbody tr").length === 1);
      const tops = await rows
        .getByRole("button")
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      expect(new Set(tops).size).toBe(1);
      expect([
        await faults(page),
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      ]).toEqual([[], true]);
      await page.reload();
      await page.getByRole("button", { name: `Edit ${LONG}` }).waitFor();
      expect(await rows.count()).toBe(1);
      await page.getByLabel("Find a key").fill("nothing like it");
      await page.getByText("No key has").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([1440, 390])(
    "at %i px the limits of a key are entered, shown, changed and taken away",
    async (width) => {
      const { page, complaints, context } = await open("/keys", width);
      const name = `limited-${width}`;
      const limits = {
        "Requests a minute": "30",
        "Tokens a minute": "5000",
        "Requests at once": "4",
        Addresses: "10.0.0.0/8 ::1",
        "USD a run": "0.5",
        "Requests a run": "40",
        "Equal calls a run": "3",
      };
      const field = (label: string) => page.getByLabel(label, { exact: true });
      await field("Name").fill(name);
      await page.getByText("Limits", { exact: true }).first().click();
      for (const [label, value] of Object.entries(limits)) await field(label).fill(value);
      await field("Addresses").fill("10.0.0.0/8 nowhere");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByText("Invalid 'addresses'").waitFor();
      expect(await field("Addresses").evaluate((one) => one === document.activeElement)).toBe(true);
      await field("Addresses").fill(limits.Addresses);
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      expect([await faults(page), await fits()]).toEqual([[], true]);
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByLabel("Find a key").fill(name);
      const said = "30/min · 5,000 tokens/min · 4 at once · from 10.0.0.0/8, ::1 · $0.5 a run · 40 requests a run";
      await page.getByText(`${said} · 3 equal calls a run`).waitFor();
      await page.getByRole("button", { name: `Edit ${name}` }).click();
      for (const [label, value] of Object.entries(limits)) expect(await field(label).inputValue()).toBe(value);
      expect([await faults(page), await fits()]).toEqual([[], true]);
      for (const label of Object.keys(limits)) await field(label).fill("");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("form", { name: "New key" }).waitFor();
      await page.getByRole("cell", { name: "Plan limit" }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "the message about an ended session is gone after the sign-in",
    async () => {
      const { page, context } = await open("/keys");
      await page.getByRole("button", { name: "Create key" }).waitFor();
      await context.clearCookies();
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      const message = page.getByText("You are signed out.");
      await message.waitFor();
      await page.getByLabel("Username or e-mail").fill("holder");
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
      expect(await message.count()).toBe(0);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([1440, 390])(
    "at %i px a new key stands in its examples, and its first request is told",
    async (width) => {
      const { page, complaints, context } = await open("/keys", width);
      await page.getByLabel("Name", { exact: true }).fill("first");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByText("Waiting for the first request").waitFor();
      const key = (await page.getByTestId("new-key").textContent()) ?? "";
      expect(await page.getByRole("tabpanel").textContent()).toContain(key);
      expect([
        await faults(page),
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      ]).toEqual([[], true]);
      const body = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
      expect((await app.ask("POST", "/v1/chat/completions", { as: key, body })).status).toBe(200);
      await page.getByText("The first request with this key has arrived.").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
