// What operators see of the cache of answers and of the guardrails: counts, and never a text.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { chatAnswer, startUpstream } from "../support/upstream.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const SLOW_MS = 60_000;
const upstream = startUpstream(() =>
  chatAnswer({ content: "Hi." }, { extra: { usage: { prompt_tokens: 1000, completion_tokens: 500 } } }),
);
const config = (more: object = {}) => ({
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
  models: [{ id: "m", routes: [{ provider: "up", model: "m" }], prices: { input: 1, output: 2 } }],
  cache: { mode: "on" },
  guardrails: [
    { name: "no-stones", check: { kind: "words", words: ["kryptonite"] }, action: "deny" },
    { name: "personal-data", check: { kind: "pii", find: ["email"] }, action: "mask" },
    { name: "never-used", check: { kind: "pattern", patterns: { TICKET: "T-[0-9]{4}" } }, action: "note" },
  ],
  ...more,
});
let app: AccountsApp;
let boss: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp({ config: config() });
  await app.addAccount("boss", { admin: true });
  boss = dashboardClient(app);
  await boss.post("/login", { username_or_email: "boss", password: PASSWORD });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ask = async (content: string) => {
  const body = { model: "m", messages: [{ role: "user", content }], temperature: 0 };
  return (await app.ask("POST", "/v1/chat/completions", { as: app.app.key, body })).status;
};

test("what was kept, given again, denied and masked is counted by name", async () => {
  for (let n = 0; n < 3; n++) expect(await ask("I am ada@example.com and bob@example.com.")).toBe(200);
  expect(await ask("Where is the kryptonite?")).toBe(400);
  const { json } = await boss.get("/admin/gateway");
  expect(json.cache).toMatchObject({ hits: 2, misses: 1, failures: 0, saved_usd: 0.004 });
  expect(json.cache.bytes).toBeGreaterThan(100);
  const nothing = { denied: 0, masked: 0, noted: 0, failed: 0 };
  expect(json.guardrails).toEqual([
    { ...nothing, name: "no-stones", kind: "words", action: "deny", denied: 1 },
    { ...nothing, name: "personal-data", kind: "pii", action: "mask", masked: 6 },
    { ...nothing, name: "never-used", kind: "pattern", action: "note" },
  ]);
  expect(JSON.stringify(json)).not.toMatch(/ada@|kryptonite|T-\[/);
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  test.each([
    [390, false],
    [1440, true],
  ])(
    "at %i px an operator sees it, and nothing of it where it is off",
    async (width, dark) => {
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/admin`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      const parts = page.getByRole("region", { name: "Parts" });
      await parts.getByText(/^Hits: 2 \(67 %\), misses: 1; saved: \$0\.004; kept: [\d.]+ \w+$/).waitFor();
      const row = page.getByRole("row").filter({ hasText: "personal-data" });
      await row.waitFor();
      expect(await row.getByRole("cell").allTextContents()).toEqual(["pii", "mask", "0", "6", "0", "0"]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      await app.app.reconfigure(config({ cache: { mode: "off" }, guardrails: [] }));
      await page.reload();
      await parts.getByText("Web tools").waitFor();
      expect(await parts.getByText("Cache of answers").count()).toBe(0);
      expect(await page.getByRole("heading", { name: /Guardrails/ }).count()).toBe(0);
      await app.app.reconfigure(config());
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
