// Actions of an administrator for a person who cannot do them alone, and keys that are changed and rotated; through the
// API and in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const SLOW_MS = 60_000;
let app: AccountsApp;
let boss: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp();
  await app.addAccount("boss", { admin: true });
  boss = await signedIn("boss");
});
afterAll(() => app.stop());

async function signedIn(name: string, password = PASSWORD): Promise<DashboardClient> {
  const client = dashboardClient(app);
  const { status } = await client.post("/login", { username_or_email: name, password });
  expect(status).toBe(200);
  return client;
}

const view = async (id: string) => (await boss.get(`/admin/accounts/${id}`)).json;

test("a password link works once and ends all sessions", async () => {
  const { id } = await app.addAccount("forgetful");
  const old = await signedIn("forgetful");
  const { json: link } = await boss.post(`/admin/accounts/${id}/reset-link`);
  expect(link).toEqual({ url: expect.stringMatching(/\/dashboard\/forgot#token=\w{32}$/), minutes: 30 });
  const token = link.url.split("=")[1];
  const visitor = dashboardClient(app);
  const password = "another long pass phrase";
  expect((await visitor.post("/password/reset", { token, password })).status).toBe(200);
  expect((await visitor.post("/password/reset", { token, password })).json.error.code).toBe("invalid_code");
  expect((await old.get("/sessions")).status).toBe(401);
  await signedIn("forgetful", password);
});

test("an address is marked as verified, rights are given and taken, sessions are ended", async () => {
  const { id } = await app.addAccount("helped");
  const helped = await signedIn("helped");
  expect(await view(id)).toMatchObject({
    email_verified: false,
    admin: false,
    sessions: [{ address: expect.any(String) }],
  });
  await boss.post(`/admin/accounts/${id}/verify`);
  await boss.post(`/admin/accounts/${id}/admin`, { admin: true });
  expect(await view(id)).toMatchObject({ email_verified: true, admin: true });
  expect((await helped.get("/admin/gateway")).status).toBe(200);
  await boss.post(`/admin/accounts/${id}/admin`, { admin: false });
  expect((await helped.get("/admin/gateway")).status).toBe(404);
  expect((await boss.post(`/admin/accounts/${id}/admin`, { admin: "yes" })).json.error.param).toBe("admin");
  expect((await boss.post(`/admin/accounts/${id}/sessions/end`)).json).toEqual({ ended: 1 });
  expect((await helped.get("/sessions")).status).toBe(401);
  expect((await view(id)).sessions).toEqual([]);
  const { data } = (await boss.get("/events")).json;
  const noted = data.map(({ event }: { event: string }) => event);
  for (const event of ["account_verified", "account_admin_set", "account_sessions_ended"])
    expect(noted).toContain(event);
});

test("administrators cannot take their own rights or end their own session, and others cannot help at all", async () => {
  const own = (await boss.get("/admin/accounts?q=boss")).json.data[0].id;
  expect((await boss.post(`/admin/accounts/${own}/admin`, { admin: false })).json.error.code).toBe("invalid_request");
  await boss.post(`/admin/accounts/${own}/sessions/end`);
  expect((await boss.get("/sessions")).status).toBe(200);
  await app.addAccount("nosy");
  const nosy = await signedIn("nosy");
  for (const what of ["reset-link", "verify", "admin", "sessions/end"])
    expect([what, (await nosy.post(`/admin/accounts/${own}/${what}`, { admin: true })).status]).toEqual([what, 404]);
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  async function enter(page: Page, path: string, name: string): Promise<void> {
    await page.goto(`${app.app.url}/dashboard${path}`);
    await page.getByLabel("Username").fill(name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
  }
  const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px a key is changed, and rotated with an overlap",
    async (width, dark) => {
      const name = `rotator-${width}`;
      await app.addAccount(name);
      const { key: old } = (await (await signedIn(name)).post("/keys", { name: "agent", rpm: 2 })).json;
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      await enter(page, "/keys", name);
      await page.getByRole("button", { name: "Edit agent" }).click();
      expect(await page.getByLabel("Name").inputValue()).toBe("agent");
      expect(await page.getByLabel("Requests a minute").inputValue()).toBe("2");
      await page.getByLabel("Requests a minute").fill("3");
      await page.getByLabel("Models it may use").fill("demo-*");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("3/min · only demo-*").waitFor();
      expect(await fits(page)).toBe(true);
      await page.getByRole("button", { name: "Rotate agent" }).click();
      await page.getByLabel("The old key still works for").selectOption("1");
      await page.getByRole("button", { name: "Rotate key" }).click();
      const made = (await page.getByTestId("new-key").textContent()) ?? "";
      await page.getByText("Replace it in your programs by then.").waitFor();
      for (const key of [old, made]) expect((await app.ask("GET", "/v1/models", { as: key })).status).toBe(200);
      expect(await fits(page)).toBe(true);
      await page.getByRole("button", { name: "Done" }).click();
      expect(await page.getByRole("button", { name: "Revoke agent" }).count()).toBe(1);
      expect(await page.content()).not.toContain(made);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([390, 1440])(
    "at %i px an administrator makes a password link and ends sessions",
    async (width) => {
      const { id } = await app.addAccount(`stranded-${width}`);
      await signedIn(`stranded-${width}`);
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      await enter(page, `/admin/accounts/${id}`, "boss");
      await page.getByRole("button", { name: "Create a password link" }).click();
      expect(await page.getByTestId("reset-link").textContent()).toContain("/dashboard/forgot#token=");
      await page.getByRole("button", { name: "Mark address as verified" }).click();
      await page.getByText("counts as verified").waitFor();
      await page.getByRole("button", { name: "Make admin" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Make admin" }).click();
      await page.getByRole("button", { name: "Remove administrator rights" }).waitFor();
      await page.getByRole("button", { name: "End all sessions" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "End sessions" }).click();
      await page.getByText("Not signed in anywhere.").waitFor();
      expect(await fits(page)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
