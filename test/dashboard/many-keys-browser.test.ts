// The page of the keys in a real browser with ten thousand keys: found, filtered, sorted and paged by the server.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keyStore } from "../../src/store/access/keys.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { dashboardClient } from "./support.ts";

const SLOW_MS = 90_000;
const KEYS = 10_000;
const isMissing = CHROMIUM === undefined;

let app: AccountsApp;
let browser: TestBrowser;

beforeAll(async () => {
  app = await startAccountsApp();
  const { id: accountId } = await app.addAccount("team");
  const keys = keyStore(app.store);
  for (let n = 0; n < KEYS; n++) {
    const isOff = n % 100 === 7;
    await keys.createKey({ accountId, name: `service-${String(n).padStart(5, "0")}`, disabled: isOff });
  }
  if (!isMissing) browser = await startBrowser();
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

test("the server finds, filters, sorts and pages, and a key can be rotated among them", async () => {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "team", password: PASSWORD });
  const page = async (query: string) => {
    const { data, total } = (await client.get(`/keys?${query}`)).json;
    return { total, names: data.map(({ name }: { name: string }) => name.slice("service-".length)) };
  };
  expect(await page("limit=2")).toEqual({ total: KEYS, names: ["09999", "09998"] });
  expect(await page("order=name&limit=2&skip=9998")).toEqual({ total: KEYS, names: ["09998", "09999"] });
  expect(await page("find=SERVICE-0123&limit=1&order=name")).toEqual({ total: 10, names: ["01230"] });
  expect(await page("state=disabled&limit=1&order=name")).toEqual({ total: 100, names: ["00007"] });
  expect(await page("state=revoked")).toEqual({ total: 0, names: [] });
  expect((await page("limit=9999")).names).toHaveLength(500);
  const { data } = (await client.get("/keys?find=service-04711")).json;
  const { json } = await client.post(`/keys/${data[0].id}/rotate`, { grace_hours: 1 });
  expect(json).toMatchObject({ id: data[0].id, name: "service-04711" });
  expect((await page("limit=1")).total).toBe(KEYS);
});

describe.skipIf(isMissing)("in a browser", () => {
  test.each([1440, 390])(
    "at %i px a key among ten thousand is found, and the others are on pages",
    async (width) => {
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/keys`);
      await page.getByLabel("Username or e-mail").fill("team");
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Show more keys (9980)" }).click();
      await page.getByText("1 to 100 of 10,000").waitFor();
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText("101 to 200 of 10,000").waitFor();
      await page.getByLabel("Sort").selectOption("Name");
      await page.getByText("1 to 100 of 10,000").waitFor();
      await page.getByRole("button", { name: "Edit service-00000" }).waitFor();
      expect([
        await faults(page),
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      ]).toEqual([[], true]);
      await page.getByLabel("Show", { exact: true }).selectOption("Disabled");
      await page.getByRole("button", { name: "Edit service-00007" }).waitFor();
      expect(await page.locator("table.keys tbody tr").count()).toBe(100);
      await page.getByLabel("Show", { exact: true }).selectOption("All");
      await page.getByLabel("Find a key").fill("SERVICE-04712");
      await page.waitForFunction(() => document.querySelectorAll("table.keys tbody tr").length === 1);
      await page.getByRole("button", { name: "Edit service-04712" }).waitFor();
      await page.getByLabel("Find a key").fill("");
      await page.getByText("1 to 100 of 10,000").waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
