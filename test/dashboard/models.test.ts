// The catalog in the dashboard, for members and operators, through the HTTP API and in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { MemberModelView } from "../../src/dashboard/contract.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { spend } from "./spent.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const SLOW_MS = 60_000;
let app: AccountsApp;

beforeAll(async () => {
  const gone = (name: string) => ({
    [name]: {
      kind: "openai",
      base_url: "http://127.0.0.1:9/v1",
      discover: false,
      retry: { attempts: 1 },
      breaker: { failures: 1 },
    },
  });
  app = await startAccountsApp({
    config: {
      providers: { ...gone("first"), ...gone("second"), demo: { kind: "demo" } },
      models: [
        {
          id: "fast",
          aliases: ["fast-latest"],
          tier: "free",
          context_length: 128_000,
          prices: { input: 0.15, output: 0.6 },
          routes: [
            { provider: "second", model: "up-b", priority: 2 },
            { provider: "first", model: "up-a" },
          ],
        },
        { id: "large", tier: "premium", routes: [{ provider: "second", model: "up-d" }] },
        { id: "secret", tier: "premium", visibility: "hidden", routes: [{ provider: "second", model: "up-c" }] },
      ],
    },
  });
  await app.addAccount("boss", { admin: true });
  await app.addAccount("member");
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return client;
}

test("to who is no admin there is nothing", async () => {
  const { status, json } = await (await signedIn("member")).get("/admin/models");
  expect([status, json.error.code]).toEqual([404, "route_not_found"]);
});

test("every model is shown with its ways in their order, the hidden ones included, and nothing of a key or an address", async () => {
  const boss = await signedIn("boss");
  const { json, text } = await boss.get("/admin/models");
  expect(json.data.map(({ id }: { id: string }) => id)).toEqual([
    "fast",
    "large",
    "secret",
    "demo-echo",
    "demo-embed",
    "demo-rerank",
    "demo-transcribe",
    "demo-speak",
    "demo-image",
  ]);
  expect(json.data[0]).toMatchObject({
    aliases: ["fast-latest"],
    tier: "free",
    listed: true,
    context_length: 128_000,
    max_output_tokens: null,
    prices: { input: 0.15, output: 0.6, cache_read: null, varies: false },
    routes: [
      { provider: "first", model: "up-a", breaker: "closed" },
      { provider: "second", model: "up-b", breaker: "closed" },
    ],
  });
  expect(json.data[2]).toMatchObject({ listed: false, tier: "premium", status: null });
  expect(json.data[3].routes[0].breaker).toBeNull();
  expect(text).not.toContain("127.0.0.1");
  await app.ask("POST", "/v1/chat/completions", {
    as: app.app.key,
    body: { model: "secret", messages: [{ role: "user", content: "hi" }] },
  });
  const after = (await boss.get("/admin/models")).json.data[2];
  expect(after.routes[0].breaker).toBe("open");
});

test("models that were used without a price are marked, and named above the list", async () => {
  await spend(app, 3, { model: "large", inputTokens: 5 });
  await spend(app, 3, { model: "fast", inputTokens: 5 });
  await spend(app, 40, { model: "secret", inputTokens: 5 });
  const { json } = await (await signedIn("boss")).get("/admin/models");
  const marked = json.data.filter((model: { used_unpriced: boolean }) => model.used_unpriced);
  expect(marked.map(({ id }: { id: string }) => id)).toEqual(["large"]);
});

test("members see what is listed, with what it costs, whether their plan has it, and no way to it", async () => {
  const publicHealth = async () =>
    (await app.ask("GET", "/v1/status/models")).json.models.map(({ id, status }: { id: string; status: string }) => [
      id,
      status,
    ]);
  const member = await signedIn("member");
  const before = await publicHealth();
  const { json, text } = await member.get("/catalog");
  expect(json.data.map(({ id }: { id: string }) => id)).not.toContain("secret");
  expect(json.data.find(({ id }: { id: string }) => id === "fast")).toMatchObject({
    kind: "chat",
    aliases: ["fast-latest"],
    tier: "free",
    usable: true,
    context_length: 128_000,
    prices: { input: 0.15, output: 0.6, varies: false },
  });
  expect(json.data.find(({ id }: { id: string }) => id === "large")).toMatchObject({
    tier: "premium",
    usable: false,
    context_length: null,
    prices: null,
  });
  expect(json.data.find(({ id }: { id: string }) => id === "demo-embed")).toMatchObject({ kind: "embedding" });
  // The playground says the same of each model that it offers.
  const facts = ({ id, context_length, prices }: MemberModelView) => ({
    ...{ id, context_length },
    prices: prices === null ? null : { input: prices.input, output: prices.output },
  });
  const offered = (await member.get("/models")).json.data.map(facts);
  expect(offered).toContainEqual({ id: "large", context_length: null, prices: null });
  for (const one of offered) expect(json.data.map(facts)).toContainEqual(one);
  for (const hidden of ["routes", "up-a", "breaker", "127.0.0.1"]) expect(text).not.toContain(hidden);
  // A round of health checks may end between the two requests.
  const after = await publicHealth();
  const shown = json.data.map(({ id, status }: { id: string; status: string | null }) => [id, status]);
  expect([before, after]).toContainEqual(shown.filter(([, status]: [string, string | null]) => status !== null));
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  test.each([390, 1440])(
    "at %i px an operator looks a model up",
    async (width) => {
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/admin/models`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("row").filter({ hasText: "demo-echo" }).waitFor();
      await page.getByText(/Used in the last 30 days without a known price.*large/).waitFor();
      await page.getByLabel("Model, alias or provider").fill("UP-C");
      const row = page.getByRole("row").filter({ hasText: "secret" });
      await row.getByText("Hidden").waitFor();
      expect(await page.getByRole("row").filter({ hasText: "demo-echo" }).count()).toBe(0);
      await page.getByLabel("Model, alias or provider").fill("nothing like it");
      await page.getByText("No model matches.").waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([390, 1440])(
    "at %i px a member finds a model and tries it",
    async (width) => {
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      await page.goto(`${app.app.url}/dashboard/models`);
      await page.getByLabel("Username").fill("member");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      const row = (id: string) =>
        page.getByRole("row").filter({ has: page.getByRole("button", { name: `Copy ${id}`, exact: true }) });
      await row("large").getByText("above your plan").waitFor();
      await row("large").getByText("unknown").waitFor();
      expect(await row("large").getByRole("link").count()).toBe(0);
      expect(await row("demo-embed").getByRole("link").count()).toBe(0);
      expect(await page.getByText("secret").count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      const filter = page.getByLabel("Name, vendor, kind or capability");
      await filter.fill("nothing like it");
      await page.getByText("No model matches.").waitFor();
      await filter.fill("FAST-latest");
      await row("fast").getByRole("link", { name: "Try it: fast" }).click();
      await page.getByRole("heading", { name: "Playground" }).waitFor();
      await page.waitForFunction(() => document.querySelector<HTMLSelectElement>("#model")?.value === "fast");
      // After the user has chosen another model, a reload keeps it, although the link names a model.
      await page.getByLabel("Model", { exact: true }).selectOption("demo-echo");
      await page.reload();
      await page.waitForFunction(() => document.querySelector<HTMLSelectElement>("#model")?.value === "demo-echo");
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
