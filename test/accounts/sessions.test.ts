// The list of sessions, ending them, and the audit log, through the HTTP edge.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { changePassword } from "../../src/accounts/passwords/change.ts";
import { deviceOf } from "../../src/accounts/sessions/session-list.ts";
import { createThrottle } from "../../src/shared-state/sign-in-throttle.ts";
import type { Account } from "../../src/store/access/accounts.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

let app: AccountsApp;
beforeAll(async () => {
  app = await startAccountsApp();
  await app.addAccount("tina");
  await app.addAccount("ulla");
});
afterAll(() => app.stop());

const me = async (as: string) => (await app.ask("GET", "/v1/auth/me", { as })).status;

test("sessions show device, address and use; one can be ended, or all", async () => {
  const from = freshAddress();
  const { json: mine } = await app.ask("POST", "/v1/auth/token", {
    body: { username: "tina", password: PASSWORD },
    headers: { "user-agent": FIREFOX, "x-forwarded-for": from },
  });
  const other = await app.signIn("tina");
  const third = await app.signIn("tina");
  const ulla = await app.signIn("ulla");
  const as = mine.access_token;
  const list = async () => (await app.ask("GET", "/v1/auth/sessions", { as })).json;
  const { object, data } = await list();
  expect(object).toBe("list");
  expect(data).toHaveLength(3);
  const own = data.find((session: { current: boolean }) => session.current);
  expect(own).toMatchObject({ device: "Firefox on Linux", user_agent: FIREFOX, address: from });
  for (const field of ["created_at", "last_used_at", "expires_at"]) expect(own[field]).toMatch(/^\d{4}-.*Z$/);

  const someone = data.find((session: { current: boolean }) => !session.current);
  const end = (id: string, credential = as) => app.ask("DELETE", `/v1/auth/sessions/${id}`, { as: credential });
  expect((await end(someone.id, ulla.access_token)).json.error.code).toBe("session_not_found");
  expect((await end(someone.id)).json).toEqual({ success: true });
  expect((await end(someone.id)).status).toBe(404);
  expect((await list()).data).toHaveLength(2);

  const rest = await app.ask("DELETE", "/v1/auth/sessions?keep_current=true", { as });
  expect(rest.json).toEqual({ success: true, ended: 1 });
  expect([await me(as), await me(other.access_token), await me(third.access_token)]).toEqual([200, 401, 401]);
  expect((await app.ask("DELETE", "/v1/auth/sessions", { as })).json).toEqual({ success: true, ended: 1 });
  expect([await me(as), await me(ulla.access_token)]).toEqual([401, 200]);
  const refreshed = await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: mine.refresh_token } });
  expect(refreshed.json.error.code).toBe("invalid_refresh_token");
});

test("a password is changed by whoever knows it, and every other session ends", async () => {
  await app.addAccount("vito");
  const other = await app.signIn("vito");
  const { access_token: as } = await app.signIn("vito");
  const from = { "x-forwarded-for": freshAddress() };
  const change = (current_password: unknown, password: unknown) =>
    app.ask("POST", "/v1/auth/password", { as, body: { current_password, password }, headers: from });
  const refusals: [unknown, unknown, number, string, string | null][] = [
    [undefined, "another long password", 400, "invalid_request", "current_password"],
    [PASSWORD, undefined, 400, "invalid_request", "password"],
    [PASSWORD, "short", 400, "invalid_request", "password"],
    ["wrong password", "another long password", 401, "invalid_credentials", null],
  ];
  for (const [current, next, status, code, param] of refusals) {
    const answer = await change(current, next);
    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([status, code, param]);
  }
  expect((await change(PASSWORD, "another long password")).json).toEqual({ success: true });
  expect([await me(as), await me(other.access_token)]).toEqual([200, 401]);
  // Wrong passwords count like failed sign-ins; together with the one above these are ten.
  const guesses = await Promise.all(
    Array.from({ length: 10 }, () => change("wrong password", "another long password")),
  );
  expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(9).fill(401), 429]);
});

describe("what was begun elsewhere cannot be finished", () => {
  const KINDS = ["oauth_state", "oauth_code", "password_reset"] as const;
  const begin = async (name: string) => {
    const { id } = await app.addAccount(name);
    const codes = codeStore(app.store);
    const expiresAtMs = app.clock.now() + 60_000;
    for (const kind of KINDS) await codes.issueTicket({ kind, hash: `${kind} ${name}`, accountId: id, expiresAtMs });
    const left = async () => {
      const found = await Promise.all(KINDS.map((kind) => codes.peekTicket(kind, `${kind} ${name}`)));
      return KINDS.filter((_, index) => found[index] !== undefined);
    };
    return { as: (await app.signIn(name)).access_token, left };
  };

  test("after a new password: no linking, no sign-in, no mailed link", async () => {
    const { as, left } = await begin("wanda");
    const body = { current_password: PASSWORD, password: "another long password" };
    const headers = { "x-forwarded-for": freshAddress() };
    expect(
      (await app.ask("POST", "/v1/auth/password", { as, body: { ...body, current_password: "x" }, headers })).status,
    ).toBe(401);
    expect(await left()).toEqual([...KINDS]);
    expect((await app.ask("POST", "/v1/auth/password", { as, body, headers })).status).toBe(200);
    expect(await left()).toEqual([]);
  });

  test("after signing out everywhere else: no linking, no sign-in; the owner's mailed link still works", async () => {
    const { as, left } = await begin("willa");
    expect((await app.ask("DELETE", "/v1/auth/sessions?keep_current=true", { as })).status).toBe(200);
    expect(await left()).toEqual(["password_reset"]);
  });
});

test("a password that was set by mail while a change was hashed stands", async () => {
  const before = { id: "a", username: "a", email: "a@example.com", passwordHash: "hash of old" } as Account;
  let stored = before;
  const change = changePassword({
    accounts: {
      findAccount: async () => stored,
      updateAccount: async (_id, more) => {
        stored = { ...stored, ...more };
        return stored;
      },
    },
    codes: { dropTickets: async () => {} },
    sessions: { revokeAllSessions: async () => 0 },
    audit: { addAudit: async () => {} },
    mailer: { send: () => true },
    hasher: {
      hash: async (password) => {
        stored = { ...stored, passwordHash: "hash of the mailed one" };
        return `hash of ${password}`;
      },
      verify: async () => true,
    },
    attempts: createThrottle(app.clock, () => ({ failures: 1, windowMs: 1000 })),
  });
  const passwords = { current: "old", next: "a thief's long password" };
  const outcome = change({ account: before, sessionId: "s" }, passwords, { address: "1", userAgent: "" });
  expect(await outcome.then(() => undefined).catch((thrown) => thrown.apiCode)).toBe("invalid_credentials");
  expect(stored.passwordHash).toBe("hash of the mailed one");
});

test("the audit log lists the account's events in pages", async () => {
  const { access_token: as } = await app.signIn("ulla");
  const all = (await app.ask("GET", "/v1/auth/audit", { as })).json.data;
  expect(all[0]).toMatchObject({ event: "login", address: expect.any(String), device: expect.any(String), detail: {} });
  const page = (await app.ask("GET", "/v1/auth/audit?limit=1", { as })).json.data;
  expect(page).toEqual(all.slice(0, 1));
  const next = (await app.ask("GET", `/v1/auth/audit?limit=1&before=${page[0].id}`, { as })).json.data;
  expect(next).toEqual(all.slice(1, 2));
  const wrong = await app.ask("GET", "/v1/auth/audit?limit=x", { as });
  expect([wrong.status, wrong.json.error.param]).toEqual([400, "limit"]);
});

describe("a device is named as people call it", () => {
  const cases: [string, string][] = [
    [FIREFOX, "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1",
      "Safari on iOS",
    ],
    ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"],
    ["curl/8.5.0", "curl"],
    ["", "unknown"],
    ["<script>", "unknown"],
  ];
  for (const [userAgent, device] of cases) test(device, () => expect(deviceOf(userAgent)).toBe(device));
});
