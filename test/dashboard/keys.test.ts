// API keys in the dashboard's API.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { accountBudgetStore } from "../../src/store/access/account-budgets.ts";
import { LIVE_KEYS_MAX } from "../../src/store/access/key-listing.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { apiKeys } from "../../src/store/schema.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser } from "../support/browser.ts";
import { spend } from "./spent.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp({ config: { tiers: { free: { rpm: 5, tpm: 1000, parallel: 3 } } } });
  await app.addAccount("holder");
  await app.addAccount("other");
  await app.addAccount("boss", { admin: true });
  client = await signedIn("holder");
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const one = dashboardClient(app);
  await one.post("/login", { username_or_email: name, password: PASSWORD });
  return one;
}

const models = async (key: string) => (await app.ask("GET", "/v1/models", { as: key })).status;

test("a key is shown once, works, and ends at once when it is revoked", async () => {
  const { status, json } = await client.post("/keys", { name: " laptop " });
  expect([status, Object.keys(json).sort()]).toEqual([200, ["id", "key", "unpriced"]]);
  expect(await models(json.key)).toBe(200);
  const { text, json: listed } = await client.get("/keys");
  expect(text).not.toContain(json.key);
  expect(listed.data[0]).toMatchObject({ id: json.id, name: "laptop", rpm: null, revoked_at: null });
  expect(listed.data[0].key).toBe(`${json.key.slice(0, 7)}…${json.key.slice(-4)}`);

  const thief = await signedIn("other");
  expect((await thief.delete(`/keys/${json.id}`)).json.error.code).toBe("key_not_found");
  expect((await thief.get("/keys")).json.data).toEqual([]);
  expect(await models(json.key)).toBe(200);

  expect((await client.delete(`/keys/${json.id}`)).json).toEqual({ success: true });
  expect(await models(json.key)).toBe(401);
  expect((await client.delete(`/keys/${json.id}`)).status).toBe(404);
});

test("limits are kept as they were given", async () => {
  const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
  const rates = { rpm: 3, tpm: 900, parallel: 2, addresses: ["10.0.0.0/8", "::1"] };
  const runs = { usd: 0.25, requests: 40, repeats: null };
  const limits = { ...rates, runs, expires_at, budget_usd: 1.5, budget_period_days: 30 };
  const wanted = { name: "limited", ...limits, no_store: true, models: ["demo-*"], passthrough: false };
  const { json } = await client.post("/keys", wanted);
  const { data } = (await client.get("/keys")).json;
  const listed = data.find(({ id }: { id: string }) => id === json.id);
  expect(listed).toMatchObject({ ...wanted, spent_usd: 0 });
});

test.each([
  ["no name", {}, "name"],
  ["a blank name", { name: "  " }, "name"],
  ["a long name", { name: "x".repeat(101) }, "name"],
  ["no requests", { name: "k", rpm: 0 }, "rpm"],
  ["half a request", { name: "k", rpm: 1.5 }, "rpm"],
  ["a number as text", { name: "k", rpm: "3" }, "rpm"],
  ["more than the plan", { name: "k", rpm: 6 }, "rpm"],
  ["an expiry that is over", { name: "k", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
  ["no time", { name: "k", expires_at: "tomorrow" }, "expires_at"],
  ["a word for a switch", { name: "k", no_store: "yes" }, "no_store"],
  ["a text for models", { name: "k", models: "gpt-*" }, "models"],
  ["an empty pattern", { name: "k", models: [" "] }, "models"],
  ["a pattern that is too long", { name: "k", models: ["x".repeat(201)] }, "models"],
  ["too many patterns", { name: "k", models: Array.from({ length: 101 }, (_, n) => `m${n}`) }, "models"],
  ["a negative budget", { name: "k", budget_usd: -1 }, "budget_usd"],
  ["half a token", { name: "k", tpm: 1.5 }, "tpm"],
  ["no request at once", { name: "k", parallel: 0 }, "parallel"],
  ["a name for an address", { name: "k", addresses: ["example.org"] }, "addresses"],
  ["a text for addresses", { name: "k", addresses: "10.0.0.0/8" }, "addresses"],
  ["half a request of a run", { name: "k", runs: { requests: 0.5 } }, "runs.requests"],
  ["a run that earns", { name: "k", runs: { usd: -1 } }, "runs.usd"],
  ["another limit of runs", { name: "k", runs: { hours: 1 } }, "runs"],
  ["a period without a budget", { name: "k", budget_period_days: 3 }, "budget_usd"],
])("%s is refused with its field", async (_what, body, param) => {
  const { status, json } = await client.post("/keys", body);
  expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_request", param]);
});

test("only an administrator makes a key that reaches every path of a provider", async () => {
  const { status, json } = await client.post("/keys", { name: "k", passthrough: true });
  expect([status, json.error.code, json.error.param]).toEqual([403, "permission_denied", "passthrough"]);
  const boss = await signedIn("boss");
  const made = (await boss.post("/keys", { name: "all", passthrough: true })).json;
  const rows = (await boss.get("/keys")).json.data;
  expect(rows.find(({ id }: { id: string }) => id === made.id)).toMatchObject({ passthrough: true, models: null });
});

test.each(["tpm", "parallel"])("only an operator gives a key more %s than the plan", async (name) => {
  const { status, json } = await client.post("/keys", { name: "k", [name]: 1001 });
  expect([status, json.error.code, json.error.param]).toEqual([403, "permission_denied", name]);
  const boss = await signedIn("boss");
  expect((await boss.post("/keys", { name: "many", [name]: 1001 })).status).toBe(200);
});

test("an operator may go beyond the plan", async () => {
  const boss = await signedIn("boss");
  expect((await boss.post("/keys", { name: "fast", rpm: 6 })).status).toBe(200);
});

test("the models are those that are listed, with what the plan allows", async () => {
  const { json } = await client.get("/models");
  expect(json.data).toEqual([expect.objectContaining({ id: "demo-echo", usable: true })]);
});

test("models that a budget does not hold are named when its key is made, and on its row", async () => {
  const up = { kind: "openai", base_url: "http://127.0.0.1:9/v1", discover: false };
  const routes = [{ provider: "up" }];
  const app = await startAccountsApp({
    config: {
      providers: { up, demo: { kind: "demo" } },
      models: [
        { id: "known", routes, prices: { input: 1, output: 1 } },
        { id: "dark", routes },
        { id: "above", tier: "pro", routes },
      ],
    },
  });
  await app.addAccount("maker");
  await app.addAccount("boss", { admin: true });
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "maker", password: PASSWORD });
  expect((await client.post("/keys", { name: "free" })).json.unpriced).toEqual([]);
  expect((await client.post("/keys", { name: "bounded", budget_usd: 1 })).json.unpriced).toEqual(["dark"]);
  const rows = (await client.get("/keys")).json.data as { name: string; unpriced: string[] }[];
  expect(rows.map(({ name, unpriced }) => [name, unpriced])).toEqual([
    ["bounded", ["dark"]],
    ["free", []],
  ]);
  await app.stop();
});

test("the budget of an account is shown to its owner and to operators", async () => {
  const app = await startAccountsApp({ config: { tiers: { free: { budget: { usd: 2, period: "1d" } } } } });
  const { id } = await app.addAccount("thrifty");
  await app.addAccount("boss", { admin: true, tier: "premium" });
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "thrifty", password: PASSWORD });
  const boss = dashboardClient(app);
  await boss.post("/login", { username_or_email: "boss", password: PASSWORD });
  const shown = async () => {
    const own = (await client.get("/session")).json.profile.budget;
    expect((await boss.get(`/admin/accounts/${id}`)).json.budget).toMatchObject(
      own === null ? {} : { usd: own.usd, spent_usd: own.spent_usd, own: own.own },
    );
    return own;
  };
  expect(await shown()).toMatchObject({ usd: 2, spent_usd: 0, period_days: 1, own: false });
  expect((await boss.get("/session")).json.profile.budget).toBeNull();
  const budgets = accountBudgetStore(app.store);
  await budgets.setAccountBudget(id, { limitMicros: 5_000_000, periodMs: null });
  expect(await shown()).toEqual({ usd: 5, spent_usd: 0, period_days: null, resets_at: null, own: true });
  await budgets.setAccountBudget(id, null);
  expect((await client.get("/session")).json.profile.budget).toBeNull();
  expect((await boss.get(`/admin/accounts/${id}`)).json.budget).toBeNull();
  await app.stop();
});

test.skipIf(CHROMIUM === undefined)(
  "in a browser: what a budget does not hold, and the account's own",
  async () => {
    const app = await startAccountsApp({
      config: {
        tiers: { free: { budget: { usd: 2, period: "1d" } } },
        providers: { up: { kind: "openai", base_url: "http://127.0.0.1:9/v1", discover: false } },
        models: [{ id: "dark", routes: [{ provider: "up" }] }],
      },
    });
    await app.addAccount("maker");
    const browser = await startBrowser();
    const { page, complaints } = await browser.visitor({ width: 390, dark: true, address: freshAddress() });
    await page.goto(`${app.app.url}/dashboard/keys`);
    await page.getByLabel("Username or e-mail").fill("maker");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    // On the page before, "Name" would be part of the label "Username".
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("bounded");
    await page.getByText("Limits", { exact: true }).first().click();
    await page.getByLabel("Budget in USD").fill("1");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("The budget does not cover dark (no price is known).").waitFor();
    await page.getByText("Not held: dark (no price is known).").waitFor();
    await page.locator(".budget", { hasText: "$0 of $1.00" }).locator("svg").waitFor();
    await page.goto(`${app.app.url}/dashboard/account`);
    await page.getByText("$2.00 per day, all keys together").waitFor();
    expect(complaints).toEqual([]);
    await browser.close();
    await app.stop();
  },
  60_000,
);

test("a key can be changed afterwards, at once and within the plan", async () => {
  const holder = await signedIn("holder");
  const { json: made } = await holder.post("/keys", { name: "first", rpm: 2, models: ["demo-echo"] });
  const listed = async () => {
    const { data } = (await holder.get("/keys")).json;
    return data.find(({ id }: { id: string }) => id === made.id);
  };
  expect(await listed()).toMatchObject({ requests_by_day: [0, 0, 0, 0, 0, 0, 0] });
  const expires_at = new Date(app.clock.now() + 86_400_000).toISOString();
  const more = { tpm: 700, parallel: 1, addresses: ["127.0.0.1"], runs: { usd: 1, requests: null, repeats: 3 } };
  const wanted = {
    ...more,
    name: "second",
    rpm: 4,
    budget_usd: 0,
    budget_period_days: 7,
    models: ["demo-*"],
    expires_at,
  };
  expect((await holder.post(`/keys/${made.id}`, wanted)).json).toEqual({ success: true });
  expect(await listed()).toMatchObject({ ...wanted, spent_usd: 0 });
  const body = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
  const ask = () => app.ask("POST", "/v1/chat/completions", { as: made.key, body });
  // A missing field is cleared.
  expect((await holder.post(`/keys/${made.id}`, { name: "third" })).status).toBe(200);
  expect(await listed()).toMatchObject({ rpm: null, budget_usd: null, models: null, expires_at: null });
  const noRuns = { usd: null, requests: null, repeats: null };
  expect(await listed()).toMatchObject({ tpm: null, parallel: null, addresses: null, runs: noRuns });
  const { status, headers } = await ask();
  expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "5"]);
  await holder.post(`/keys/${made.id}`, { name: "third", rpm: 3 });
  expect((await ask()).headers.get("x-ratelimit-limit")).toBe("3");
  expect((await holder.post(`/keys/${made.id}`, { name: "x", rpm: 6 })).json.error.param).toBe("rpm");
  expect((await holder.post(`/keys/${made.id}`, { name: "" })).json.error.param).toBe("name");
  const thief = await signedIn("other");
  expect((await thief.post(`/keys/${made.id}`, { name: "mine" })).json.error.code).toBe("key_not_found");
  await holder.delete(`/keys/${made.id}`);
  expect((await holder.post(`/keys/${made.id}`, { name: "again" })).status).toBe(404);
});

test("a rotated key keeps its id, and its old secret works for the time that was chosen", async () => {
  const holder = await signedIn("holder");
  const { json: old } = await holder.post("/keys", { name: "rotating", rpm: 2 });
  expect(await models(old.key)).toBe(200);
  const { json: made } = await holder.post(`/keys/${old.id}/rotate`, { grace_hours: 2 });
  expect(made).toEqual({
    id: old.id,
    key: expect.stringMatching(/^sk-/),
    name: "rotating",
    old_until: new Date(Date.parse(made.old_until)).toISOString(),
  });
  expect([await models(old.key), await models(made.key)]).toEqual([200, 200]);
  app.clock.advance(2 * 3_600_000 + 1000);
  expect([await models(old.key), await models(made.key)]).toEqual([401, 200]);
  // Without a grace period, the old secret stops working with the answer.
  const { json: next } = await holder.post(`/keys/${made.id}/rotate`, { grace_hours: 0 });
  expect([await models(made.key), await models(next.key)]).toEqual([401, 200]);
  expect((await holder.post(`/keys/${next.id}/rotate`, { grace_hours: 721 })).json.error.param).toBe("grace_hours");
  const thief = await signedIn("other");
  expect((await thief.post(`/keys/${next.id}/rotate`)).json.error.code).toBe("key_not_found");
  const { data } = (await holder.get("/events")).json;
  expect(data.map(({ event }: { event: string }) => event)).toContain("key_rotated");
});

test("what is spent of a budget is that of its current period, with the time at which it renews", async () => {
  const { json } = await client.post("/keys", { name: "spender", budget_usd: 1.5, budget_period_days: 1 });
  const listed = async () => (await client.get("/keys")).json.data.find(({ id }: { id: string }) => id === json.id);
  const { created_at } = await listed();
  const accountId = (await client.get("/session")).json.profile.id;
  const after = (days: number) => new Date(Date.parse(created_at) + days * 86_400_000).toISOString();
  expect(await listed()).toMatchObject({ spent_usd: 0, budget_resets_at: after(1) });
  await spend(app, 0, { accountId, keyId: json.id, status: 200, costMicros: 1_000_000 });
  expect((await listed()).spent_usd).toBe(1);
  app.clock.advance(86_400_000);
  expect(await listed()).toMatchObject({ spent_usd: 0, budget_resets_at: after(2) });
});

test("an account with as many keys as it may have makes none, but gives each another secret", async () => {
  const { id: accountId } = await app.addAccount("full");
  const { key: manager } = await keyStore(app.store).createKey({ accountId, name: "m", management: "account" });
  const { id } = await keyStore(app.store).createKey({ accountId, name: "agent" });
  const columns = { accountId, name: "k", prefix: "sk-", lastFour: "0000", createdAtMs: 1 };
  for (let from = 2; from < LIVE_KEYS_MAX; from += 1000) {
    const names = Array.from({ length: Math.min(1000, LIVE_KEYS_MAX - from) }, (_, i) => `full-${from + i}`);
    const rows = names.map((name) => ({ ...columns, id: name, hash: name }));
    await app.store.db.insert(apiKeys).values(rows).run();
  }
  const full = await signedIn("full");
  const manage = (path: string, body?: object) => app.ask("POST", `/v1/keys${path}`, { as: manager, body });
  for (const refused of [await full.post("/keys", { name: "more" }), await manage("", { name: "more" })])
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining("at most 20000 keys")]);
  for (const rotate of [
    () => full.post(`/keys/${id}/rotate`, { grace_hours: 1 }),
    () => manage(`/${id}/rotate`, { grace: "1h" }),
    () => manage(`/${id}/rotate`),
  ]) {
    const rotated = await rotate();
    expect(rotated.status).toBe(200);
    expect(await models(rotated.json.key)).toBe(200);
  }
  expect((await keyStore(app.store).countLiveKeys([accountId])).get(accountId)).toBe(LIVE_KEYS_MAX);
  await app.ask("DELETE", "/v1/keys/full-2", { as: manager });
  expect((await manage("", { name: "one more" })).status).toBe(201);
});
