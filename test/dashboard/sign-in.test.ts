// Signing in to the dashboard and out of it, through the HTTP API.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sha256Hex } from "../../src/base/ids.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { mailTo } from "../support/outbox.ts";
import { dashboardClient } from "./support.ts";

let app: AccountsApp;

beforeAll(async () => {
  app = await startAccountsApp();
  await app.addAccount("walker");
});
afterAll(() => app.stop());

const signedIn = async (name = "walker") => {
  const client = dashboardClient(app);
  const { status } = await client.post("/login", { username_or_email: name, password: PASSWORD });
  expect(status).toBe(200);
  return client;
};

describe("the cookie", () => {
  test("is HttpOnly, SameSite and only for the dashboard; Secure exactly when the request came by HTTPS", async () => {
    const client = dashboardClient(app);
    const form = { username_or_email: "walker", password: PASSWORD };
    await client.post("/login", form);
    expect(client.setCookie).toMatch(
      /^sallyport_session=\w{43}; Path=\/dashboard; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    );
    const origin = app.app.url.replace("http:", "https:");
    await client.post("/login", form, { "x-forwarded-proto": "https", origin });
    expect(client.setCookie).toEndWith("; HttpOnly; SameSite=Lax; Secure");
  });

  test("is Secure wherever the configuration says that browsers come by HTTPS, also behind an unknown proxy", async () => {
    for (const server of [
      { public_url: "https://gate.example.com" },
      { dashboard_url: "https://gate.example.com/d" },
    ]) {
      const behind = await startAccountsApp({ config: { server } });
      try {
        await behind.addAccount("walker");
        const client = dashboardClient(behind);
        await client.post("/login", { username_or_email: "walker", password: PASSWORD });
        expect(client.setCookie).toEndWith("; HttpOnly; SameSite=Lax; Secure");
        await client.post("/logout");
        expect(client.setCookie).toEndWith("; HttpOnly; SameSite=Lax; Secure");
      } finally {
        await behind.stop();
      }
    }
  });

  test("stops working at logout, and when it has grown old", async () => {
    const client = await signedIn();
    const { cookie } = client;
    expect((await client.get("/keys")).status).toBe(200);
    await client.post("/logout");
    expect(client.setCookie).toContain("Max-Age=0");
    client.cookie = cookie;
    expect((await client.get("/keys")).json.error.code).toBe("invalid_token");
    const old = await signedIn();
    app.clock.advance(31 * 86_400_000);
    expect((await old.get("/keys")).status).toBe(401);
  });

  test("of a browser that signs in again ends the session it had", async () => {
    const client = await signedIn();
    const { cookie } = client;
    await client.post("/login", { username_or_email: "walker", password: PASSWORD });
    client.cookie = cookie;
    expect((await client.get("/keys")).status).toBe(401);
  });

  test("is the only credential", async () => {
    const { access_token } = await app.signIn("walker");
    for (const as of [app.app.key, access_token]) {
      const { json } = await app.ask("GET", "/dashboard/api/keys", { as });
      expect(json.error.code).toBe("missing_token");
    }
    const { cookie } = await signedIn();
    const { json } = await app.ask("GET", "/v1/auth/me", { headers: { cookie } });
    expect(json.error.code).toBe("missing_token");
  });
});

describe("a write", () => {
  test.each([
    ["http://evil.example", 403],
    ["null", 403],
    ["nonsense", 403],
    ["https://127.0.0.1.evil.example", 403],
  ])("with the Origin %s is refused", async (origin, status) => {
    const client = await signedIn();
    for (const answer of [
      await client.post("/keys", { name: "k" }, { origin }),
      await client.post("/logout", {}, { origin }),
      await client.delete("/keys/x", { origin }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([status, "origin_not_allowed"]);
    }
    expect((await client.get("/keys")).json.data).toEqual([]);
  });

  test("without an Origin passes, unless the browser says it came from another site", async () => {
    const headers = { "x-forwarded-for": freshAddress() };
    const body = { username_or_email: "walker", password: PASSWORD };
    expect((await app.ask("POST", "/dashboard/api/login", { body, headers })).status).toBe(200);
    const cross = { ...headers, "sec-fetch-site": "cross-site" };
    expect((await app.ask("POST", "/dashboard/api/login", { body, headers: cross })).status).toBe(403);
  });

  test.each([
    ["https://gate.example.com", "gate.example.com:443", 200],
    ["http://gate.example.com", "gate.example.com:80", 200],
    ["https://gate.example.com", "gate.example.com:80", 403],
    ["https://gate.example.com:8443", "gate.example.com", 403],
  ])("of a page at %s with the Host %s: %i", async (origin, host, status) => {
    await app.app.reconfigure({
      server: { trusted_proxies: ["127.0.0.1"], public_url: "http://gate.example.com:9999" },
    });
    const client = dashboardClient(app);
    const body = { username_or_email: "walker", password: PASSWORD };
    expect((await client.post("/login", body, { origin, host })).status).toBe(status);
    await app.app.reconfigure({ server: { trusted_proxies: ["127.0.0.1"] } });
  });

  test.each([
    ["evil.example", 403],
    ["evil.example:8787", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost:9999", 200],
    ["[::1]:8787", 200],
  ])("or a read under the name %s: %i, as that of a page whose name leads to this machine", async (host, status) => {
    const headers = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
    const body = { username_or_email: "walker", password: PASSWORD };
    expect((await dashboardClient(app).post("/login", body, headers)).status).toBe(status);
    expect((await app.ask("GET", "/dashboard/api/session", { headers: { host } })).status).toBe(status);
  });

  test("of a page at the configured address passes behind a proxy that changes the Host", async () => {
    await app.app.reconfigure({
      server: { trusted_proxies: ["127.0.0.1"], public_url: "https://gate.example.com" },
    });
    const client = dashboardClient(app);
    const body = { username_or_email: "walker", password: PASSWORD };
    expect((await client.post("/login", body, { origin: "https://gate.example.com" })).status).toBe(200);
    await app.app.reconfigure({ server: { trusted_proxies: ["127.0.0.1"] } });
  });
});

describe("signing in", () => {
  test("gives the profile; a wrong password and an unknown name are one answer", async () => {
    const client = dashboardClient(app);
    const right = await client.post("/login", { username_or_email: "WALKER@example.com", password: PASSWORD });
    expect(right.json).toMatchObject({ username: "walker", admin: false, tier: "free", has_password: true });
    const wrong = await client.post("/login", { username_or_email: "walker", password: "x" });
    const unknown = await client.post("/login", { username_or_email: "nobody", password: "x" });
    expect(wrong.status).toBe(401);
    expect(unknown.json).toEqual(wrong.json);
  });

  test("is limited with the API's sign-in", async () => {
    await app.addAccount("target");
    const guess = () => dashboardClient(app).post("/login", { username_or_email: "target", password: "x" });
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401);
    for (let i = 0; i < 5; i++) {
      const body = { username_or_email: "target", password: "x" };
      await app.ask("POST", "/v1/auth/token", { body, headers: { "x-forwarded-for": freshAddress() } });
    }
    const { status, json, headers } = await guess();
    expect([status, json.error.code]).toEqual([429, "too_many_attempts"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("signing up", () => {
  const form = (name: string) => ({ email: `${name}@example.com`, username: name, password: PASSWORD });

  test("makes an account, signs it in, and names the field that is wrong", async () => {
    const client = dashboardClient(app);
    expect((await client.post("/signup", { ...form("new"), password: "short" })).json.error.param).toBe("password");
    expect((await client.post("/signup", { ...form("new"), email: "x" })).json.error.param).toBe("email");
    expect((await client.post("/signup", { email: "a@example.com" })).json.error.param).toBe("username");
    const { status, json } = await client.post("/signup", form("new"));
    expect([status, json.username, json.email_verified]).toEqual([200, "new", false]);
    const { json: key } = await client.post("/keys", { name: "first" });
    const call = await app.ask("POST", "/v1/chat/completions", {
      as: key.key,
      body: { model: "demo-echo", messages: [{ role: "user", content: "hello" }] },
    });
    expect(call.json.choices[0].message.content).toContain("hello");
  });

  test("verifies the address with the mailed code", async () => {
    const client = dashboardClient(app);
    await client.post("/signup", form("verifier"));
    expect((await client.post("/verification/send")).json).toEqual({ success: true, expires_in: 600 });
    const code = /\b\d{6}\b/.exec((await mailTo(app.app.dataDir, "verifier@example.com")).text ?? "")?.[0];
    expect((await client.post("/verification/verify", { code: "000000" })).json.error.param).toBe("code");
    expect((await client.post("/verification/verify", { code })).json.email_verified).toBe(true);
    expect((await client.get("/session")).json.profile.email_verified).toBe(true);
  });

  test("follows auth.signup", async () => {
    const configure = (signup: string) =>
      app.app.reconfigure({ server: { trusted_proxies: ["127.0.0.1"] }, auth: { signup } });
    await configure("closed");
    const closed = await dashboardClient(app).post("/signup", form("late"));
    expect([closed.status, closed.json.error.code]).toEqual([403, "signup_closed"]);
    await configure("invite");
    const refused = await dashboardClient(app).post("/signup", { ...form("late"), invite: "wrong" });
    expect([refused.status, refused.json.error.code]).toEqual([403, "invite_required"]);
    await codeStore(app.store).createInvite({
      hash: sha256Hex("good-invite"),
      createdBy: null,
      expiresAtMs: app.clock.now() + 60_000,
    });
    expect((await dashboardClient(app).post("/signup", { ...form("late"), invite: "good-invite" })).status).toBe(200);
    await configure("open");
  });
});

test("a forgotten password is set anew with the mailed link, and every session ends", async () => {
  await app.addAccount("forgetful");
  const before = await signedIn("forgetful");
  const client = dashboardClient(app);
  expect((await client.post("/password/forgot", { email: "forgetful@example.com" })).json).toEqual({ success: true });
  const { text = "" } = await mailTo(app.app.dataDir, "forgetful@example.com");
  const token = /\/dashboard\/forgot#token=(\w+)/.exec(text)?.[1];
  const password = "another password entirely";
  expect((await client.post("/password/reset", { token, password: "short" })).json.error.param).toBe("password");
  expect((await client.post("/password/reset", { token, password })).status).toBe(200);
  expect((await client.post("/password/reset", { token, password })).json.error.code).toBe("invalid_code");
  expect((await before.get("/keys")).status).toBe(401);
  expect((await client.post("/login", { username_or_email: "forgetful", password })).status).toBe(200);
});
