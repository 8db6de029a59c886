// Requests from the playground: the plan and the rate limit of the signed-in account apply, as they do to keys.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountBudgetStore } from "../../src/store/access/account-budgets.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { nativeAnswers, startFake } from "../decisions/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser } from "../support/browser.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;

beforeAll(async () => {
  app = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 3 } },
      models: [{ id: "dear", tier: "premium", routes: [{ provider: "demo", model: "demo-echo" }] }],
    },
  });
});
afterAll(() => app.stop());

async function signedIn(name: string, more: Parameters<AccountsApp["addAccount"]>[1] = {}) {
  const account = await app.addAccount(name, more);
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return { client, account };
}

const say = (client: DashboardClient, more: Record<string, unknown> = {}) =>
  client.post("/playground", { model: "demo-echo", messages: [{ role: "user", content: "one two" }], ...more });

test("an answer streams, and its usage is recorded under the playground's own key", async () => {
  const { client } = await signedIn("player");
  const { status, text, headers } = await say(client, { stream: true, stream_options: { include_usage: true } });
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(text).toContain('"content":" two"');
  expect(text).toEndWith("data: [DONE]\n\n");
  expect((await client.get("/keys")).json.data).toEqual([]);
  for (;;) {
    const { data } = (await client.get("/log")).json;
    if (data.length === 0) {
      await Bun.sleep(5);
      continue;
    }
    expect(data[0]).toMatchObject({ key: "Playground", model: "demo-echo", endpoint: "/v1/chat/completions" });
    break;
  }
});

test("the plan's limits hold", async () => {
  const { client } = await signedIn("frequent");
  for (let i = 0; i < 3; i++) expect((await say(client)).headers.get("x-ratelimit-limit")).toBe("3");
  const fourth = await say(client);
  expect([fourth.status, fourth.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
  const other = await signedIn("other");
  expect((await say(other.client, { model: "dear" })).json.error.code).toBe("tier_required");
  const late = await signedIn("late", { trialEndsAtMs: app.clock.now() - 1 });
  expect((await say(late.client)).json.error.code).toBe("trial_expired");
});

test("the budget of the account holds for the playground and its keys together", async () => {
  const bounded = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 100, budget: { usd: 0.000001 } } },
      models: [{ id: "paid", routes: [{ provider: "demo", model: "demo-echo" }], prices: { input: 1, output: 1 } }],
    },
  });
  const account = await bounded.addAccount("thrifty");
  const client = dashboardClient(bounded);
  await client.post("/login", { username_or_email: "thrifty", password: PASSWORD });
  const { key } = (await client.post("/keys", { name: "mine" })).json;
  expect((await say(client, { model: "paid" })).status).toBe(200);
  const refused = await say(client, { model: "paid" });
  expect([refused.status, refused.json.error.code]).toEqual([402, "budget_exceeded"]);
  const body = { model: "paid", messages: [{ role: "user", content: "one" }] };
  expect((await bounded.ask("POST", "/v1/chat/completions", { as: key, body })).status).toBe(402);
  await accountBudgetStore(bounded.store).setAccountBudget(account.id, { limitMicros: 1_000_000, periodMs: null });
  expect((await say(client, { model: "paid" })).status).toBe(200);
  await bounded.stop();
});

test("an invalid request has the error of the API", async () => {
  const { client } = await signedIn("mistaken");
  expect((await say(client, { messages: [] })).json.error.param).toBe("messages");
  expect((await say(client, { model: "none" })).json.error.code).toBe("model_not_found");
});

test("an operator can close it for an account, its holder cannot", async () => {
  const { client, account } = await signedIn("closed");
  expect((await say(client)).status).toBe(200);
  expect((await client.delete(`/keys/house-${account.id}`)).json.error.code).toBe("key_not_found");
  await keyStore(app.store).revokeKey(`house-${account.id}`);
  expect((await say(client)).json.error.code).toBe("invalid_request");
});

test("under maintenance models answer here no more than in the API; the rest of the dashboard does", async () => {
  const { client } = await signedIn("patient");
  const server = { trusted_proxies: ["127.0.0.1"] };
  await app.app.reconfigure({ server: { ...server, maintenance: { enabled: true, retry_after: "90s" } } });
  const refused = await say(client);
  expect([refused.status, refused.json.error.code]).toEqual([503, "service_maintenance"]);
  expect(refused.headers.get("retry-after")).toBe("90");
  expect((await client.get("/keys")).status).toBe(200);
  const { json } = await app.ask("POST", "/typesafe/v1/systemone", { as: app.app.key, body: {} });
  expect(json.error.code).toBe("service_maintenance");
  await app.app.reconfigure({ server });
  expect((await say(client)).status).toBe(200);
});

test("typed decisions are asked under the same limits, of the models that are listed", async () => {
  const native = startFake((body) => nativeAnswers(body as Parameters<typeof nativeAnswers>[0]));
  const deciding = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 2 } },
      providers: { native: { kind: "systemone", base_url: native.url } },
      decisions: {
        models: [
          {
            id: "judge-1.0.0",
            aliases: ["judge-latest"],
            backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] },
          },
          {
            id: "dear-1.0.0",
            tier: "premium",
            backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] },
          },
        ],
      },
    },
  });
  await deciding.addAccount("decider");
  const client = dashboardClient(deciding);
  await client.post("/login", { username_or_email: "decider", password: PASSWORD });
  expect((await client.get("/decision-models")).json.data).toEqual([
    { id: "judge-1.0.0", tier: "free", usable: true },
    { id: "dear-1.0.0", tier: "premium", usable: false },
    { id: "judge-latest", tier: "free", usable: true },
    { id: "demo-decide", tier: "free", usable: true },
  ]);
  const questions = { q: { type: "noul", instructions: "Is it so?" } };
  const ask = (model: string) => client.post("/playground/decisions", { model, state: "something", questions });
  expect((await ask("judge-latest")).json).toMatchObject({
    model: "judge-1.0.0",
    answers: { q: { type: "noul", noul: expect.closeTo(0.87) } },
  });
  expect((await ask("dear-1.0.0")).json.error.code).toBe("tier_required");
  expect((await ask("judge-1.0.0")).json.error.code).toBe("rate_limit_exceeded");
  await deciding.stop();
  native.stop();
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  test("a decision is shown as bars, and what was said in the chat stays", async () => {
    const native = startFake((body) => nativeAnswers(body as Parameters<typeof nativeAnswers>[0]));
    const deciding = await startAccountsApp({
      config: {
        providers: { native: { kind: "systemone", base_url: native.url }, demo: { kind: "demo" } },
        decisions: {
          models: [
            {
              id: "judge-1.0.0",
              backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] },
            },
          ],
        },
      },
    });
    await deciding.addAccount("decider");
    const browser = await startBrowser();
    const { page, complaints } = await browser.visitor({ width: 390, dark: true, address: freshAddress() });
    await page.goto(`${deciding.app.url}/dashboard/playground`);
    await page.getByLabel("Username").fill("decider");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Model", { exact: true }).selectOption("demo-echo");
    // On a phone the settings are behind a button.
    await page.getByText("Settings", { exact: true }).click();
    await page.getByLabel("Temperature").fill("0.2");
    await page.getByLabel("Message", { exact: true }).fill("stays here");
    await page.keyboard.press("Enter");
    await page.locator(".reply").getByText("stays here").waitFor();
    await page.getByText("This request as code").click();
    await page.getByRole("tab", { name: "Python", exact: true }).click();
    await page.getByText('"temperature": 0.2').waitFor();

    await page.getByRole("tab", { name: "Decisions" }).click();
    await page.getByRole("button", { name: "Decide" }).click();
    const answers = page.getByLabel("Answers");
    await answers.getByText("87.0 %").waitFor();
    expect(await answers.getByRole("listitem").count()).toBe(8);
    expect(native.calls.at(-1)?.body).toMatchObject({
      questions: { score: { criteria: ["can wait", "this week", "now"] } },
    });
    expect(await faults(page)).toEqual([]);
    await page.getByLabel("Situation").fill("");
    await page.getByRole("button", { name: "Decide" }).click();
    await page.getByText("The situation is missing.").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.getByRole("tab", { name: "Chat", exact: true }).click();
    expect(await page.locator(".reply").getByText("stays here").isVisible()).toBe(true);
    expect(complaints).toEqual([]);

    native.answer = () => new Response("", { status: 500 });
    await page.getByRole("tab", { name: "Decisions" }).click();
    await page.getByLabel("Situation").fill("Another one");
    await page.getByRole("button", { name: "Decide" }).click();
    const codes = page.getByRole("alert").locator(".codes code");
    await codes.nth(1).waitFor();
    expect(await codes.allTextContents()).toEqual(["decision_unavailable", expect.stringMatching(/^[\da-f-]{36}$/)]);
    await browser.close();
    await deciding.stop();
    native.stop();
  }, 60_000);
});
