// Accounts and invitations for operators, through the HTTP API and in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { spend } from "./spent.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const SLOW_MS = 60_000;
const DAY_MS = 86_400_000;
let app: AccountsApp;
let boss: DashboardClient;
let bossId: string;

beforeAll(async () => {
  app = await startAccountsApp({ config: { auth: { signup: "invite" } } });
  bossId = (await app.addAccount("boss", { admin: true })).id;
  boss = await signedIn("boss");
  await app.addAccount("member");
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  const { status } = await client.post("/login", { username_or_email: name, password: PASSWORD });
  expect(status).toBe(200);
  return client;
}

const names = (answer: { json: { data: { username: string }[] } }) => answer.json.data.map(({ username }) => username);
const events = async () =>
  (await boss.get("/events")).json.data as { event: string; detail: Record<string, unknown> }[];

test("to who is no admin there is nothing", async () => {
  const member = await signedIn("member");
  const key = (await boss.post("/keys", { name: "k" })).json;
  for (const ask of [
    () => member.get("/admin/accounts"),
    () => member.get(`/admin/accounts/${bossId}`),
    () => member.post(`/admin/accounts/${bossId}`, { tier: "free" }),
    () => member.delete(`/admin/accounts/${bossId}`),
    () => member.delete(`/admin/accounts/${bossId}/keys/${key.id}`),
    () => member.get("/admin/invites"),
    () => member.post("/admin/invites", {}),
    () => member.delete("/admin/invites/x"),
  ]) {
    const { status, json } = await ask();
    expect([status, json.error.code]).toEqual([404, "route_not_found"]);
  }
  expect((await app.ask("GET", "/v1/models", { as: key.key })).status).toBe(200);
  expect((await boss.get("/admin/invites")).json.data).toEqual([]);
});

test("accounts are found by how a name or an address begins, page by page", async () => {
  for (let i = 0; i < 52; i++) await app.addAccount(`Zoë-${i}`, { email: `zed${i}@example.com` });
  const first = await boss.get("/admin/accounts?q=zo%C3%AB-");
  expect(names(first)).toHaveLength(50);
  expect(names(first)[0]).toBe("Zoë-51");
  const next = await boss.get(`/admin/accounts?q=zo%C3%AB-&before=${first.json.data.at(-1).id}`);
  expect(names(next)).toEqual(["Zoë-1", "Zoë-0"]);
  expect(names(await boss.get("/admin/accounts?q=ZED51@"))).toEqual(["Zoë-51"]);
  expect(names(await boss.get("/admin/accounts?q=%25"))).toEqual([]);
  expect(names(await boss.get("/admin/accounts"))).toHaveLength(50);
  expect((await boss.get("/admin/accounts?before=%27")).json.error.param).toBe("before");
});

test("an account is shown with its keys and usage, without the playground's own key", async () => {
  const { id } = await app.addAccount("user");
  const user = await signedIn("user");
  const { json: key } = await user.post("/keys", { name: "laptop" });
  const asked = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
  expect((await user.post("/playground", asked)).status).toBe(200);
  await spend(app, 0, { accountId: id, inputTokens: 900, outputTokens: 100 });
  const { json, text } = await boss.get(`/admin/accounts/${id}`);
  expect(json).toMatchObject({ username: "user", tier: "free", live_keys: 1, tiers: ["free", "pro", "premium"] });
  expect(json.total_tokens).toBeGreaterThanOrEqual(1000);
  expect(json.keys.map(({ name }: { name: string }) => name)).toEqual(["laptop"]);
  expect(text).not.toContain(key.key);
  expect(text).not.toContain("hash");
  expect((await boss.get("/admin/accounts/nobody")).json.error.code).toBe("account_not_found");
});

test("a plan is set with its end, takes effect at once, and is noted", async () => {
  const { id } = await app.addAccount("payer", { trialEndsAtMs: app.clock.now() - DAY_MS });
  const payer = await signedIn("payer");
  const { json: key } = await payer.post("/keys", { name: "k" });
  const ask = async () =>
    (
      await app.ask("POST", "/v1/chat/completions", {
        as: key.key,
        body: { model: "demo-echo", messages: [{ role: "user", content: "hi" }] },
      })
    ).json;
  expect((await ask()).error.code).toBe("trial_expired");
  const until = new Date(app.clock.now() + 30 * DAY_MS).toISOString();
  expect((await boss.post(`/admin/accounts/${id}`, { tier: "pro", subscription_until: until })).status).toBe(200);
  expect((await ask()).object).toBe("chat.completion");
  expect((await boss.get(`/admin/accounts/${id}`)).json).toMatchObject({
    tier: "pro",
    subscription_until: until,
    trial_ends_at: null,
  });
  expect((await events())[0]).toMatchObject({ event: "plan_set", detail: { account: "payer", tier: "pro", until } });
  await boss.post(`/admin/accounts/${id}`, { tier: "pro", subscription_until: null });
  expect((await boss.get(`/admin/accounts/${id}`)).json.subscription_until).toBeNull();
  for (const [body, param] of [
    [{ tier: "gold" }, "tier"],
    [{}, "tier"],
    [{ tier: "pro", subscription_until: "soon" }, "subscription_until"],
  ] as const) {
    const refused = await boss.post(`/admin/accounts/${id}`, body);
    expect([refused.status, refused.json.error.param]).toEqual([400, param]);
  }
});

test("a key of another's is revoked at once", async () => {
  const { id } = await app.addAccount("careless");
  const { json: key } = await (await signedIn("careless")).post("/keys", { name: "leaked" });
  const models = async () => (await app.ask("GET", "/v1/models", { as: key.key })).status;
  expect(await models()).toBe(200);
  expect((await boss.delete(`/admin/accounts/${bossId}/keys/${key.id}`)).status).toBe(404);
  expect(await models()).toBe(200);
  expect((await boss.delete(`/admin/accounts/${id}/keys/${key.id}`)).status).toBe(200);
  expect(await models()).toBe(401);
  expect((await events())[0]).toMatchObject({ event: "account_key_revoked", detail: { account: "careless" } });
});

test("an account is deleted with its sessions; one's own is not", async () => {
  const { id } = await app.addAccount("leaver");
  const leaver = await signedIn("leaver");
  expect((await boss.delete(`/admin/accounts/${id}`)).json).toEqual({ success: true });
  expect((await leaver.get("/keys")).status).toBe(401);
  expect((await boss.delete(`/admin/accounts/${id}`)).status).toBe(404);
  expect((await boss.delete(`/admin/accounts/${bossId}`)).status).toBe(400);
  expect((await boss.get(`/admin/accounts/${bossId}`)).status).toBe(200);
});

test("an invitation lets one person in, once, and can be withdrawn before", async () => {
  const newcomer = (name: string, invite: string) =>
    dashboardClient(app).post("/signup", {
      username: name,
      email: `${name}@example.com`,
      password: PASSWORD,
      invite,
    });
  const { json: made } = await boss.post("/admin/invites", { note: "for Ann" });
  expect((await newcomer("stranger", "guess")).json.error.code).toBe("invite_required");
  const { status, json: ann } = await newcomer("ann", made.code);
  expect(status).toBe(200);
  expect((await newcomer("bob", made.code)).json.error.code).toBe("invite_required");
  const { json: listed, text } = await boss.get("/admin/invites");
  expect(listed.data[0]).toMatchObject({ id: made.id, note: "for Ann", used_by: ann.id, used_at: expect.any(String) });
  expect(text).not.toContain(made.code);
  expect((await boss.delete(`/admin/invites/${made.id}`)).json.error.code).toBe("invite_not_found");

  const { json: second } = await boss.post("/admin/invites", {});
  expect((await boss.delete(`/admin/invites/${second.id}`)).status).toBe(200);
  expect((await newcomer("bob", second.code)).json.error.code).toBe("invite_required");
  const over = await boss.post("/admin/invites", { expires_at: "2020-01-01T00:00:00Z" });
  expect(over.json.error.param).toBe("expires_at");
  expect((await boss.post("/admin/invites", { note: "x".repeat(201) })).json.error.param).toBe("note");
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  test.each([390, 1440])(
    "at %i px an operator finds an account, sets its plan, deletes it, and invites somebody",
    async (width) => {
      const name = `somebody-with-a-rather-long-name-${width}`;
      await app.addAccount(name, { email: `${name}@a-department.of-an-organisation.example` });
      await (await signedIn(name)).post("/keys", { name: "its key" });
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      await page.goto(`${app.app.url}/dashboard/admin/accounts`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Accounts" }).waitFor();
      await page.getByLabel("Name or e-mail address begins with").fill(name);
      await page.getByRole("link", { name: "member" }).waitFor({ state: "detached" });
      expect(await fits()).toBe(true);
      await page.getByRole("link", { name }).click();
      await page.getByRole("heading", { name }).waitFor();

      await page.getByRole("combobox", { name: "Plan" }).selectOption("premium");
      await page.getByLabel("Until (UTC)").fill("2099-12-31");
      await page.getByRole("button", { name: "Set plan" }).click();
      await page.getByText(/^until Dec 31, 2099/).waitFor();
      await page.getByRole("button", { name: "Revoke its key" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("Revoked", { exact: true }).waitFor();
      expect(await fits()).toBe(true);
      await page.getByRole("button", { name: "Delete this account" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete account" }).click();
      await page.getByText(`The account ${name} is deleted.`).waitFor();

      await page.getByLabel("Note").fill(`guest-${width}`);
      await page.getByRole("button", { name: "Invite" }).click();
      const link = (await page.getByTestId("invite-link").textContent()) ?? "";
      expect(link).toStartWith(`${app.app.url}/dashboard/signup?invite=`);
      await page.getByRole("button", { name: `Withdraw guest-${width}` }).click();
      await page.getByText("The invitation is withdrawn.").waitFor();
      expect(await fits()).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
