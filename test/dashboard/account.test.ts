// The account's own settings in the dashboard, through the HTTP edge.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { keyStore } from "../../src/store/access/keys.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type FakeGithub, startFakeGithub } from "../support/identity-servers.ts";
import { mailTo } from "../support/outbox.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let github: FakeGithub;

beforeAll(async () => {
  github = startFakeGithub();
  app = await startAccountsApp({ config: { auth: { oauth: { github: github.config } } } });
});
afterAll(async () => {
  await app.stop();
  await github.stop();
});

async function somebody(name: string): Promise<DashboardClient> {
  await app.addAccount(name);
  return signedIn(name);
}

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  expect((await client.post("/login", { username_or_email: name, password: PASSWORD })).status).toBe(200);
  return client;
}

test("a new password needs the old one, and signs other devices out", async () => {
  const client = await somebody("changer");
  const other = await signedIn("changer");
  const wrong = await client.post("/account/password", { current_password: "x", password: "a longer password" });
  expect([wrong.status, wrong.json.error.param]).toEqual([400, "current_password"]);
  const weak = await client.post("/account/password", { current_password: PASSWORD, password: "short" });
  expect(weak.json.error.param).toBe("password");
  const right = await client.post("/account/password", { current_password: PASSWORD, password: "a longer password" });
  expect(right.json).toEqual({ success: true });
  expect((await client.get("/keys")).status).toBe(200);
  expect((await other.get("/keys")).status).toBe(401);
});

test("the webhook secret is the account's own, stays as it is, and is renewed on request", async () => {
  const [client, other] = [await somebody("teller"), await somebody("listener")];
  const secret = async (of: DashboardClient) => (await of.get("/webhook-secret")).json.secret as string;
  const first = await secret(client);
  expect(first).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(await secret(client)).toBe(first);
  const strangers = await secret(other);
  expect(strangers).not.toBe(first);
  const { secret: renewed } = (await client.post("/webhook-secret/renew")).json;
  expect(renewed).not.toBe(first);
  expect([await secret(client), await secret(other)]).toEqual([renewed, strangers]);
});

test("sessions are listed and ended, others' are not", async () => {
  const client = await somebody("roamer");
  const second = await signedIn("roamer");
  await signedIn("roamer");
  const stranger = await somebody("stranger");
  const { data } = (await client.get("/sessions")).json;
  expect(data.map(({ current }: { current: boolean }) => current).sort()).toEqual([false, false, true]);
  const [mine] = (await second.get("/sessions")).json.data.filter(({ current }: { current: boolean }) => current);
  expect((await stranger.delete(`/sessions/${mine.id}`)).json.error.code).toBe("session_not_found");
  expect((await client.delete(`/sessions/${mine.id}`)).status).toBe(200);
  expect((await second.get("/keys")).status).toBe(401);
  expect((await client.post("/sessions/end-others")).json).toEqual({ ended: 1 });
  expect((await client.get("/sessions")).json.data).toHaveLength(1);
});

test("a write whose body comes after its session was ended does nothing", async () => {
  const account = await app.addAccount("slow-sender");
  const client = await signedIn("slow-sender");
  const sessions = sessionStore(app.store);
  const started = Promise.withResolvers<ReadableStreamDefaultController<string>>();
  const body = new ReadableStream<string>({ start: (controller) => started.resolve(controller) });
  app.clock.advance(1000);
  const { cookie } = client;
  const usedBefore = (await sessions.listSessions(account.id))[0]?.lastUsedAtMs;
  const answer = fetch(`${app.app.url}/dashboard/api/keys`, {
    method: "POST",
    headers: { cookie, origin: app.app.url, "content-type": "application/json" },
    body,
  });
  const sender = await started.promise;
  sender.enqueue('{"name":');
  // Waits until the use of the cookie is recorded.
  while ((await sessions.listSessions(account.id))[0]?.lastUsedAtMs === usedBefore) await Bun.sleep(1);
  await sessions.revokeAllSessions(account.id);
  sender.enqueue('"kept"}');
  sender.close();
  expect((await answer).status).toBe(401);
  expect(await keyStore(app.store).listKeys(account.id)).toEqual([]);
});

test("the account's events are listed, those of keys too", async () => {
  const client = await somebody("watcher");
  const { json } = await client.post("/keys", { name: "k" });
  await client.delete(`/keys/${json.id}`);
  const { data } = (await client.get("/events")).json;
  expect(data.map(({ event }: { event: string }) => event)).toEqual(["key_revoked", "key_created", "login"]);
  expect((await client.get(`/events?before=${data[1].id}`)).json.data).toHaveLength(1);
  expect((await client.get("/events?before=x")).json.error.param).toBe("before");
});

test("a provider is linked by a trip of this browser, and unlinked", async () => {
  const client = await somebody("linker");
  github.person = { id: 7, login: "linker", emails: [] };
  const begun = await client.post("/oauth/github/connect", { state: "mine" });
  expect(begun.status).toBe(200);
  const [tripCookie = ""] = client.setCookie.split(";");
  const back = await fetch(begun.json.authorization_url, { redirect: "manual" });
  const callback = new URL(back.headers.get("location") ?? "");
  const home = await app.ask("GET", callback.pathname + callback.search, {
    headers: { cookie: tripCookie, "sec-fetch-mode": "navigate" },
  });
  const target = new URL(home.headers.get("location") ?? "");
  expect([target.pathname, target.searchParams.get("linked")]).toEqual(["/dashboard", "github"]);
  expect(target.searchParams.get("state")).toBe("mine");
  expect((await client.get("/session")).json.profile.oauth_providers).toEqual(["github"]);
  expect((await client.delete("/oauth/github")).json).toEqual({ success: true });
  expect((await client.delete("/oauth/github")).json.error.code).toBe("oauth_provider_not_found");
});

test("who has no password gets a link by mail", async () => {
  const client = await somebody("passwordless");
  expect((await client.post("/account/password/mail")).json).toEqual({ success: true });
  expect((await mailTo(app.app.dataDir, "passwordless@example.com")).text).toContain("/dashboard/forgot#token=");
});

test("deletion needs the name, and leaves nothing to sign in to", async () => {
  const client = await somebody("leaver");
  const { json } = await client.post("/keys", { name: "k" });
  expect((await client.post("/account/delete", { username: "other" })).json.error.param).toBe("username");
  expect((await client.post("/account/delete", { username: "leaver" })).json).toEqual({ success: true });
  expect(client.setCookie).toContain("Max-Age=0");
  expect((await app.ask("GET", "/v1/models", { as: json.key })).status).toBe(401);
  const again = await dashboardClient(app).post("/login", { username_or_email: "leaver", password: PASSWORD });
  expect(again.status).toBe(401);
});
