// Checks pages in a real browser with the rules of axe (WCAG 2.2 A and AA), light and dark, on a phone and a desktop;
// and creates the first account with the link that the server prints.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { secretStore } from "../../src/store/secrets.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

let app: AccountsApp;
let browser: TestBrowser;
let base: string;

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 60_000;

beforeAll(async () => {
  if (isMissing) return;
  [app, browser] = await Promise.all([startAccountsApp(), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const GUEST_PAGES = [
  ["/login", "Sign in"],
  ["/signup", "Create an account"],
  ["/forgot", "Set a new password"],
] as const;
const MEMBER_PAGES = [
  ["", "Overview"],
  ["/keys", "Keys"],
  ["/log", "Request log"],
  ["/playground", "Playground"],
  ["/account", "Account"],
] as const;

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [1440, false, [...GUEST_PAGES, ...MEMBER_PAGES]],
    // The other colours and the other frame are checked on a few pages only, since their parts are the same.
    [390, true, MEMBER_PAGES.slice(0, 3)],
  ] as const)(
    "at %i px no page has a fault that axe knows",
    async (width, dark, pages) => {
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      const found: Record<string, string[]> = {};
      const look = async ([path, heading]: readonly [string, string]) => {
        await page.goto(base + path);
        await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
        await page.waitForLoadState("networkidle");
        found[path] = await faults(page);
      };
      for (const one of pages.filter((page) => GUEST_PAGES.some((guest) => guest === page))) await look(one);
      const name = `reader-${width}`;
      await app.addAccount(name);
      await page.goto(`${base}/login`);
      await page.getByLabel("Username").fill(name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.goto(`${base}/keys`);
      await page.getByLabel("Name").fill("a key");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByTestId("new-key").waitFor();
      found["a new key"] = await faults(page);
      for (const one of pages.filter((page) => MEMBER_PAGES.some((member) => member === page))) await look(one);
      const all = Object.fromEntries(Object.keys(found).map((path) => [path, []]));
      expect(found).toEqual(all);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "the first account is made with the printed link, and is the admin's",
    async () => {
      const accounts = accountStore(app.store);
      for (const name of ["tester", "reader-1440", "reader-390"]) {
        const account = await accounts.findAccountByLogin(name);
        if (account !== undefined) await accounts.deleteAccount(account.id);
      }
      expect(await accounts.countAccounts()).toBe(0);
      const setup = await secretStore(app.store).secret("setup_token");
      const { page, complaints, context } = await browser.visitor({ address: freshAddress() });
      await page.goto(`${base}/signup`);
      await page.getByText("created with the link printed").waitFor();
      expect(await page.getByRole("button", { name: "Create account" }).count()).toBe(0);
      await page.goto(`${base}/signup?setup=${setup}`);
      await page.getByLabel("E-mail").fill("boss@example.com");
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("link", { name: "Later" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect((await accounts.findAccountByLogin("boss"))?.admin).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
