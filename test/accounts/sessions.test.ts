// The list of sessions, ending them, and the audit log, through the HTTP edge.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deviceOf } from "../../src/accounts/session-list.ts";
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
  // Wrong ones count like sign-ins: with the one above these are ten.
  const guesses = await Promise.all(
    Array.from({ length: 10 }, () => change("wrong password", "another long password")),
  );
  expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(9).fill(401), 429]);
});

test("the audit log tells the owner what happened, in pages", async () => {
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
