// Token, profile, refresh, logout and deletion through the HTTP API: a table with each documented status.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SignJWT } from "jose";
import { auditStore } from "../../src/store/access/audit.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { type AccountsApp, type Ask, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let app: AccountsApp;
let alice: { access_token: string; refresh_token: string };

beforeAll(async () => {
  app = await startAccountsApp();
  await app.addAccount("alice");
  await app.addAccount("oauth-only", { passwordHash: null });
  alice = await app.signIn("alice");
});
afterAll(() => app.stop());

describe("POST /v1/auth/token", () => {
  const good = { username_or_email: "alice", password: PASSWORD };
  const cases: {
    name: string;
    body?: unknown;
    headers?: Record<string, string>;
    status: number;
    code?: string;
    param?: string;
  }[] = [
    { name: "a user name", body: good, status: 200 },
    { name: "an address", body: { ...good, username_or_email: "alice@example.com" }, status: 200 },
    { name: "any case", body: { ...good, username_or_email: "ALICE@Example.COM" }, status: 200 },
    { name: "the field username", body: { username: "alice", password: PASSWORD }, status: 200 },
    { name: "the field email", body: { email: "alice@example.com", password: PASSWORD }, status: 200 },
    { name: "a wrong password", body: { ...good, password: "wrong" }, status: 401, code: "invalid_credentials" },
    { name: "nobody", body: { ...good, username_or_email: "nobody" }, status: 401, code: "invalid_credentials" },
    {
      name: "an account without a password",
      body: { ...good, username_or_email: "oauth-only" },
      status: 401,
      code: "invalid_credentials",
    },
    { name: "no name", body: { password: PASSWORD }, status: 400, code: "invalid_request", param: "username_or_email" },
    { name: "no password", body: { username: "alice" }, status: 400, code: "invalid_request", param: "password" },
    {
      name: "a password that is a number",
      body: { ...good, password: 1234567890 },
      status: 400,
      code: "invalid_request",
      param: "password",
    },
    {
      name: "an endless password",
      body: { ...good, password: "x".repeat(5000) },
      status: 400,
      code: "invalid_request",
      param: "password",
    },
    { name: "no JSON", body: "{", status: 400, code: "invalid_json" },
    { name: "an empty body", status: 400, code: "invalid_json" },
    { name: "a list", body: [good], status: 400, code: "invalid_request" },
    {
      name: "another content type",
      body: "a=b",
      headers: { "content-type": "text/plain" },
      status: 400,
      code: "invalid_request",
    },
    { name: "an endless body", body: { ...good, more: "x".repeat(100_000) }, status: 413, code: "request_too_large" },
  ];
  for (const { name, body, headers = {}, status, code, param } of cases) {
    test(`${name}: ${status}`, async () => {
      const from = { "x-forwarded-for": freshAddress() };
      const answer = await app.ask("POST", "/v1/auth/token", { body, headers: { ...from, ...headers } });
      expect(answer.status).toBe(status);
      if (code !== undefined) expect(answer.json.error).toMatchObject({ code, param: param ?? null });
      else {
        expect(Object.keys(answer.json).sort()).toEqual(["access_token", "expires_in", "refresh_token", "token_type"]);
        expect(answer.json).toMatchObject({ token_type: "bearer", expires_in: 900 });
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
    });
  }

  test("GET is 405", async () => {
    expect((await app.ask("GET", "/v1/auth/token")).json.error.code).toBe("method_not_allowed");
  });
});

describe("GET /v1/auth/me", () => {
  test("shows the profile", async () => {
    const { status, json } = await app.ask("GET", "/v1/auth/me", { as: alice.access_token });
    expect(status).toBe(200);
    expect(json).toEqual({
      id: expect.any(String),
      username: "alice",
      email: "alice@example.com",
      email_verified: false,
      tier: "free",
      trial_ends_at: null,
      oauth_providers: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      admin: false,
    });
  });

  const forged = (change: {
    alg?: string;
    iss?: string;
    aud?: string;
    secret?: string;
    kid?: string;
    exp?: number;
  }) => {
    const kid = change.kid ?? JSON.parse(Buffer.from(alice.access_token.split(".")[0]!, "base64url").toString()).kid;
    return new SignJWT({ sid: "s" })
      .setProtectedHeader({ alg: change.alg ?? "HS256", kid })
      .setSubject("somebody")
      .setJti("j")
      .setIssuer(change.iss ?? "sallyport")
      .setAudience(change.aud ?? "sallyport/v1/auth")
      .setExpirationTime(change.exp ?? 4_000_000_000)
      .sign(new TextEncoder().encode(change.secret ?? "a guess that is thirty-two bytes long"));
  };
  const unsigned = () => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${alice.access_token.split(".")[1]}.`;
  const cases: { name: string; credential: () => string | undefined | Promise<string>; code: string }[] = [
    { name: "nothing", credential: () => undefined, code: "missing_token" },
    { name: "an API key", credential: () => app.app.key, code: "invalid_token" },
    { name: "nonsense", credential: () => "nonsense", code: "invalid_token" },
    { name: "a refresh token", credential: () => alice.refresh_token, code: "invalid_token" },
    { name: "a cut token", credential: () => alice.access_token.slice(0, -2), code: "invalid_token" },
    { name: "another secret", credential: () => forged({}), code: "invalid_token" },
    { name: "another secret, and expired", credential: () => forged({ exp: 1_000_000_000 }), code: "invalid_token" },
    { name: "an unknown kid", credential: () => forged({ kid: "nobody" }), code: "invalid_token" },
    { name: "alg none", credential: unsigned, code: "invalid_token" },
  ];
  for (const { name, credential, code } of cases) {
    test(`${name}: 401 ${code}`, async () => {
      const { status, json } = await app.ask("GET", "/v1/auth/me", { as: await credential() });
      expect([status, json.error.code, json.error.type]).toEqual([401, code, "authentication_error"]);
    });
  }

  test("Basic credentials: 401 invalid_token", async () => {
    const { json } = await app.ask("GET", "/v1/auth/me", { headers: { authorization: "Basic YTpi" } });
    expect(json.error.code).toBe("invalid_token");
  });

  test("401 comes before 400", async () => {
    for (const [method, path] of [
      ["POST", "/v1/auth/logout"],
      ["DELETE", "/v1/auth/me"],
    ] as const) {
      const { status } = await app.ask(method, path, { body: "{" });
      expect(status).toBe(401);
    }
  });
});

describe("an access token", () => {
  test("carries what the contract names", async () => {
    const [head, payload] = alice.access_token
      .split(".")
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
    expect(head).toMatchObject({ alg: "HS256", kid: expect.any(String) });
    expect(Object.keys(payload).sort()).toEqual(["aud", "exp", "iat", "iss", "jti", "sid", "sub"]);
  });

  test("is no API key", async () => {
    const { status, json } = await app.ask("GET", "/v1/models", { as: alice.access_token });
    expect([status, json.error.code]).toEqual([401, "invalid_api_key"]);
  });
});

describe("POST /v1/auth/refresh", () => {
  const refresh = (refresh_token: unknown, more: Ask = {}) =>
    app.ask("POST", "/v1/auth/refresh", { body: { refresh_token }, ...more });

  test("gives a new pair, needs no access token, and a used one ends the family", async () => {
    const first = await app.signIn("alice");
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.json.refresh_token).not.toBe(first.refresh_token);
    expect(second.json.access_token).not.toBe(first.access_token);
    const third = await refresh(second.json.refresh_token);
    expect(third.status).toBe(200);
    expect((await refresh(first.refresh_token)).json.error.code).toBe("refresh_token_reused");
    expect((await refresh(third.json.refresh_token)).json.error.code).toBe("invalid_refresh_token");
    const { rows } = { rows: await auditStore(app.store).listAudit((await me()).id) };
    expect(rows.map(({ event }) => event)).toContain("refresh_reused");
  });

  test("of many at once one wins", async () => {
    const { refresh_token } = await app.signIn("alice");
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refresh_token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error?.code === "refresh_token_reused")).toHaveLength(7);
  });

  const cases: { name: string; body: unknown; status: number; code: string }[] = [
    { name: "unknown", body: { refresh_token: `rt_${"a".repeat(43)}` }, status: 401, code: "invalid_refresh_token" },
    { name: "nonsense", body: { refresh_token: "nonsense" }, status: 401, code: "invalid_refresh_token" },
    { name: "missing", body: {}, status: 400, code: "invalid_request" },
    { name: "a number", body: { refresh_token: 1 }, status: 400, code: "invalid_request" },
    { name: "no JSON", body: "x", status: 400, code: "invalid_json" },
  ];
  for (const { name, body, status, code } of cases) {
    test(`${name}: ${status} ${code}`, async () => {
      const answer = await app.ask("POST", "/v1/auth/refresh", { body });
      expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    });
  }

  test("an access token is no refresh token", async () => {
    expect((await refresh(alice.access_token)).json.error.code).toBe("invalid_refresh_token");
  });

  const me = async () => (await app.ask("GET", "/v1/auth/me", { as: alice.access_token })).json;
});

describe("POST /v1/auth/logout", () => {
  test("ends the session of the access token, which goes on until it expires", async () => {
    const pair = await app.signIn("alice");
    const out = await app.ask("POST", "/v1/auth/logout", { as: pair.access_token });
    expect([out.status, out.json]).toEqual([200, { success: true }]);
    expect((await app.ask("GET", "/v1/auth/me", { as: pair.access_token })).status).toBe(200);
    const again = await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: pair.refresh_token } });
    expect(again.json.error.code).toBe("invalid_refresh_token");
  });

  test("ends the session of the refresh token that is named, and no other", async () => {
    const [one, other] = [await app.signIn("alice"), await app.signIn("alice")];
    const body = { refresh_token: other.refresh_token };
    expect((await app.ask("POST", "/v1/auth/logout", { as: one.access_token, body })).status).toBe(200);
    expect((await app.ask("POST", "/v1/auth/refresh", { body })).status).toBe(401);
    expect((await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: one.refresh_token } })).status).toBe(
      200,
    );
  });

  test("of somebody else's token ends nothing", async () => {
    await app.addAccount("bob");
    const bob = await app.signIn("bob");
    const body = { refresh_token: bob.refresh_token };
    expect((await app.ask("POST", "/v1/auth/logout", { as: alice.access_token, body })).status).toBe(200);
    expect((await app.ask("POST", "/v1/auth/refresh", { body })).status).toBe(200);
  });

  test("a token that is no text: 400", async () => {
    const { status } = await app.ask("POST", "/v1/auth/logout", { as: alice.access_token, body: { refresh_token: 7 } });
    expect(status).toBe(400);
  });
});

describe("DELETE /v1/auth/me", () => {
  test("removes everything, and keys and tokens are dead at once", async () => {
    const account = await app.addAccount("carol");
    const { key } = await keyStore(app.store).createKey({ accountId: account.id, name: "k" });
    const pair = await app.signIn("carol");
    // Now the key is cached.
    expect((await app.ask("GET", "/v1/models", { as: key })).status).toBe(200);
    const { status, json } = await app.ask("DELETE", "/v1/auth/me", { as: pair.access_token });
    expect([status, json]).toEqual([200, { success: true }]);
    expect((await app.ask("GET", "/v1/models", { as: key })).json.error.code).toBe("invalid_api_key");
    for (const method of ["GET", "DELETE"]) {
      expect((await app.ask(method, "/v1/auth/me", { as: pair.access_token })).json.error.code).toBe("invalid_token");
    }
    const refreshed = await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: pair.refresh_token } });
    expect(refreshed.json.error.code).toBe("invalid_refresh_token");
    expect(await sessionStore(app.store).listSessions(account.id)).toEqual([]);
    await app.addAccount("carol");
  });
});

describe("time", () => {
  test("an access token expires after 15 minutes, a refresh token after 30 days", async () => {
    const late = await startAccountsApp();
    try {
      await late.addAccount("dora");
      const pair = await late.signIn("dora");
      late.clock.advance(15 * MINUTE - 5000);
      expect((await late.ask("GET", "/v1/auth/me", { as: pair.access_token })).status).toBe(200);
      late.clock.advance(10_000);
      const { status, json } = await late.ask("GET", "/v1/auth/me", { as: pair.access_token });
      expect([status, json.error.code]).toEqual([401, "expired_token"]);
      late.clock.advance(30 * DAY);
      const refreshed = await late.ask("POST", "/v1/auth/refresh", { body: { refresh_token: pair.refresh_token } });
      expect([refreshed.status, refreshed.json.error.code]).toEqual([401, "expired_refresh_token"]);
    } finally {
      await late.stop();
    }
  });
});
