// The page of threads in a real browser: the list with sizes, an opened thread, and deleting one.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { dashboardClient } from "./support.ts";

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 60_000;
const LONG_ID = `a name/with a slash and ${"very ".repeat(30)}many words`;

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
    "at %i px: conversations are listed, opened and deleted",
    async (width, dark) => {
      const name = `talker-${width}`;
      await app.addAccount(name);
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await page.goto(`${base}/threads`);
      await page.getByLabel("Username").fill(name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("No conversations are stored.").waitFor();
      await sound(page);

      const client = dashboardClient(app);
      await client.post("/login", { username_or_email: name, password: PASSWORD });
      const { key } = (await client.post("/keys", { name: "k" })).json;
      const messages = [{ role: "user", content: "# What I said\n\n<i>as it is</i>" }];
      await app.ask("POST", "/v1/chat/completions", {
        as: key,
        body: { model: "demo-echo", messages, thread_id: LONG_ID },
      });
      // A thread is stored after its answer was sent.
      while ((await client.get("/threads")).json.data.length === 0)
        await new Promise((resolve) => setImmediate(resolve));
      await page.reload();
      const link = page.getByRole("link", { name: LONG_ID.slice(0, 30) });
      await link.waitFor();
      // The list does not contain messages.
      expect(await page.content()).not.toContain("What I said");
      await sound(page);
      await link.click();
      await page.getByRole("heading", { name: "Thread", level: 1 }).waitFor();
      await page.getByText("2 messages").waitFor();
      await page.getByText("<i>as it is</i>").first().waitFor();
      expect(await page.locator(".said i").count()).toBe(0);
      await sound(page);
      await page.reload();
      await page.getByText("2 messages").waitFor();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete conversation" }).click();
      await page.getByText("No conversations are stored.").waitFor();
      await page.goto(`${base}/threads/thread/gone`);
      await page.getByText("There is no such conversation").waitFor();
      await sound(page);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
