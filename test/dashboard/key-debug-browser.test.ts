// Debugging of a key in a real browser: every page tells the key's holder about it, and the request log shows the
// recorded messages.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keyDebugStore } from "../../src/store/access/key-debug.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { dashboardClient } from "./support.ts";

let app: AccountsApp;
let browser: TestBrowser;
let accountId: string;
let keyId: string;

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 90_000;

beforeAll(async () => {
  if (isMissing) return;
  [app, browser] = await Promise.all([startAccountsApp({ config: { usage: { flush: "5ms" } } }), startBrowser()]);
  accountId = (await app.addAccount("watched")).id;
  await app.addAccount("boss", { admin: true });
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "watched", password: PASSWORD });
  const { key, id } = (await client.post("/keys", { name: "agent" })).json;
  keyId = id;
  await keyDebugStore(app.store).setKeyDebug(id, app.clock.now() + 30 * 60_000);
  const body = { model: "demo-echo", messages: [{ role: "user", content: "what my agent said" }] };
  await app.ask("POST", "/v1/chat/completions", { as: key, body, headers: { "x-request-id": "seen" } });
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [1440, false],
    [390, true],
  ] as const)(
    "at %i px, dark %p: a note on every page, and both sides of a request",
    async (width, dark) => {
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      const base = `${app.app.url}/dashboard`;
      await page.goto(`${base}/login`);
      await page.getByLabel("Username").fill("watched");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("The operator debugs your key agent").waitFor();
      await page.goto(`${base}/keys`);
      await page.getByText("debugged until").waitFor();
      await page.getByText("The operator debugs your key agent").waitFor();
      await page.goto(`${base}/log?request=seen`);
      const wire = page.getByRole("region", { name: "Requests and answers" });
      // With the keyboard.
      await wire.locator("summary", { hasText: "From the client" }).focus();
      await page.keyboard.press("Enter");
      await wire.getByText("what my agent said").first().waitFor();
      await wire.getByText("authorization: [redacted]").first().waitFor();
      for (const title of ["To demo", "From demo", "To the client"])
        await wire.locator("summary", { hasText: title }).click();
      expect(await faults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([
    ["its holder, in the note of every page", "watched", () => "/log"],
    ["its holder, in the list of keys", "watched", () => "/keys"],
    ["an operator, on the page of the account", "boss", () => `/admin/accounts/${accountId}`],
  ])(
    "%s: ends it",
    async (_who, name, address) => {
      await keyDebugStore(app.store).setKeyDebug(keyId, app.clock.now() + 30 * 60_000);
      app.clock.advance(1000);
      const { page, context } = await browser.visitor({ address: freshAddress() });
      const base = `${app.app.url}/dashboard`;
      await page.goto(`${base}/login?next=${encodeURIComponent(address())}`);
      await page.getByLabel("Username").fill(name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      const buttons = page.getByRole("button", { name: "End now debugging of agent" });
      await buttons.last().click();
      await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
      await page.getByText("The key agent is no longer debugged.").waitFor();
      await buttons.first().waitFor({ state: "detached" });
      await page.getByText("The operator debugs your key agent").waitFor({ state: "detached" });
      const [key] = await keyStore(app.store).listKeys(accountId);
      expect(key?.debugUntilMs).toBeNull();
      await context.close();
    },
    SLOW_MS,
  );
});
