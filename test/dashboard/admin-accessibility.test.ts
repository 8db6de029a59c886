// Checks the operators' pages with the rules of axe in a real browser, with content on each page.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { spend } from "./spent.ts";

let app: AccountsApp;
let browser: TestBrowser;
let accountId: string;

const SLOW_MS = 60_000;

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  beforeAll(async () => {
    [app, browser] = await Promise.all([startAccountsApp({ config: DECISION_CONFIG }), startBrowser()]);
    await seedVersions(app.store);
    accountId = (await app.addAccount("boss", { admin: true })).id;
    await spend(app, 1, { accountId, model: "some-model" });
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  test.each([
    [1440, false],
    [390, true],
  ])(
    "at %i px no page has a fault that axe knows",
    async (width, dark) => {
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/login`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      const found: Record<string, string[]> = {};
      for (const [path, heading] of [
        ["", "Gateway"],
        ["/accounts", "Accounts"],
        [`/accounts/${accountId}`, "boss"],
        ["/models", "Models"],
        ["/decisions", "Decisions"],
        ["/decisions/judge-1.1.0", "judge-1.1.0"],
        ["/decisions/judge-1.2.0", "judge-1.2.0"],
      ] as const) {
        await page.goto(`${app.app.url}/dashboard/admin${path}`);
        await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
        await page.waitForLoadState("networkidle");
        found[path] = await faults(page);
      }
      expect(found).toEqual(Object.fromEntries(Object.keys(found).map((path) => [path, []])));
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
