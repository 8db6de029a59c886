// The authentication matrix: every route with every kind of credential. Who may use a route is what its endpoint declares; a
// route that is neither documented nor listed as undocumented fails.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { NewKey } from "../../src/store/access/key-rows.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import type { ManagementScope } from "../../src/store/schema.ts";
import { CLIENT_SECRET, type FakeGithub, startFakeGithub } from "../support/identity-servers.ts";
import { mailTo } from "../support/outbox.ts";
import { type RouteAccess, type ServedRoute, servedRoutes } from "../support/routes.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

let app: AccountsApp;
let github: FakeGithub;
let token: string;
let manager: string;

beforeAll(async () => {
  github = startFakeGithub();
  app = await startAccountsApp({ config: { auth: { oauth: { github: github.config } } } });
  await app.addAccount("walker");
  token = (await app.signIn("walker")).access_token;
  manager = (await keyOf("manager", { management: "account" })).key;
});
afterAll(async () => {
  await app.stop();
  await github.stop();
});

const takesKey = ({ access }: ServedRoute) => access === "key" || access === "counted" || access === "any_key";
const takesAnyKey = (route: ServedRoute) => takesKey(route) || route.access === "management";

/** Creates a key for an account of its own. */
async function keyOf(name: string, settings: Partial<NewKey> = {}) {
  const { id: accountId } = await app.addAccount(name);
  return keyStore(app.store).createKey({ accountId, name, ...settings });
}

/** The code of an error, in any error format. */
// biome-ignore lint/suspicious/noExplicitAny: any answer of the program
const codeOf = (json: any): unknown =>
  typeof json.error === "string" ? json.code : (json.error?.details?.[0]?.reason ?? json.error?.code);

/** What is said to each credential that does not open the route. A credential that is not named opens it. */
const OF_KEYS = { nothing: "missing_api_key", nonsense: "invalid_api_key", token: "invalid_api_key" };
const ORDINARY = { ...OF_KEYS, manager: "management_key_not_allowed" };
const NO_TOKEN = "missing_token";
const REFUSED: Readonly<Record<RouteAccess, Readonly<Record<string, string>>>> = {
  open: {},
  key: ORDINARY,
  counted: ORDINARY,
  management: { ...OF_KEYS, key: "management_key_required" },
  any_key: OF_KEYS,
  token: { nothing: NO_TOKEN, nonsense: "invalid_token", key: "invalid_token", manager: "invalid_token" },
  cookie: { nothing: NO_TOKEN, nonsense: NO_TOKEN, token: NO_TOKEN, key: NO_TOKEN, manager: NO_TOKEN },
};
/** The refusals of a key of the wrong kind, beside those with 401. */
const WRONG_KIND = ["management_key_not_allowed", "management_key_required"];

/** With the access token they would end what the other routes need. */
const LAST_CALLS = ["DELETE /v1/auth/me", "DELETE /v1/auth/sessions"];

test("every route opens to the credentials that it declares, and to no other", async () => {
  const routes = servedRoutes(app.app);
  expect(routes.length).toBeGreaterThan(20);
  for (const { method, path, access } of routes) {
    const route = `${method} ${path}`;
    const url = path.replace(/:\w+|\*/g, "x");
    const answers: Record<string, unknown> = {};
    const credentials = { nothing: undefined, nonsense: "nonsense", token, key: app.app.key, manager };
    for (const [name, as] of Object.entries(credentials)) {
      if (name === "token" && LAST_CALLS.includes(route)) continue;
      const headers = { "x-forwarded-for": freshAddress() };
      const answer = await app.ask(method, url, { as, headers });
      const isCounted = answer.headers.has("x-ratelimit-limit");
      const code = answer.status === 401 || answer.status === 403 ? codeOf(answer.json) : undefined;
      const isRefused = answer.status === 401 || WRONG_KIND.includes(String(code));
      answers[name] = isRefused ? code : isCounted ? "counted" : "open";
    }
    const opened = access === "counted" ? "counted" : "open";
    const declared = Object.keys(answers).map((name) => [name, REFUSED[access][name] ?? opened]);
    expect([route, access, answers]).toEqual([route, access, Object.fromEntries(declared)]);
  }
}, 60_000);

test("with require_verified_email a key of an unverified account opens nothing", async () => {
  const strict = await startAccountsApp({ config: { auth: { require_verified_email: true } } });
  try {
    const { id: accountId } = await strict.addAccount("newcomer");
    const make = async (management: ManagementScope | null) =>
      (await keyStore(strict.store).createKey({ accountId, name: "k", management })).key;
    const [ordinary, managing] = [await make(null), await make("account")];
    let refused = 0;
    for (const { method, path, access } of servedRoutes(strict.app).filter(takesAnyKey)) {
      const as = access === "management" ? managing : ordinary;
      const route = `${method} ${path}`;
      const { status, json } = await strict.ask(method, path.replace(/:\w+|\*/g, "x"), { as });
      expect([route, status, codeOf(json)]).toEqual([route, 403, "email_not_verified"]);
      refused++;
    }
    expect(refused).toBeGreaterThan(20);
  } finally {
    await strict.stop();
  }
});

test("a disabled key and one that is not used from its addresses open nothing", async () => {
  const here = ["127.0.0.1", "::1"];
  const settings: readonly [name: string, Partial<NewKey>, refusal: string | undefined][] = [
    ["disabled", { disabled: true }, "key_disabled"],
    ["elsewhere", { addresses: ["192.0.2.0/24"] }, "address_not_allowed"],
    ["here", { addresses: here }, undefined],
  ];
  for (const [name, setting, refusal] of settings) {
    const ordinary = (await keyOf(name, setting)).key;
    const managing = (await keyOf(`${name}-manager`, { ...setting, management: "account" })).key;
    let asked = 0;
    for (const { method, path, access } of servedRoutes(app.app).filter(takesAnyKey)) {
      if (refusal === undefined && access !== "key") continue;
      const as = access === "management" ? managing : ordinary;
      const { status, json } = await app.ask(method, path.replace(/:\w+|\*/g, "x"), { as });
      const said = status === 403 ? codeOf(json) : undefined;
      expect([name, method, path, said]).toEqual([name, method, path, refusal]);
      asked++;
    }
    expect(asked).toBeGreaterThan(5);
  }
});

/** Paths where `x-api-key` is accepted as a key, and paths where it needs an `anthropic-version` header. */
const X_API_KEY = /^\/v1\/(messages|models)(\/|$)|^\/mcp$/;
const VERSIONED_X_API_KEY = /^\/v1\/files(\/|$)/;

test("x-api-key opens what Anthropic's clients use, and is as if absent elsewhere", async () => {
  let opened = 0;
  for (const { method, path } of servedRoutes(app.app).filter(takesKey)) {
    const route = `${method} ${path}`;
    const ask = async (headers: Record<string, string>) => {
      const { status, json } = await app.ask(method, path.replace(/:\w+|\*/g, "x"), { headers });
      return status === 401 ? codeOf(json) : "open";
    };
    const key = { "x-api-key": app.app.key };
    const version = { "anthropic-version": "2023-06-01" };
    const plain = X_API_KEY.test(path) ? "open" : "missing_api_key";
    const versioned = VERSIONED_X_API_KEY.test(path) ? "open" : plain;
    expect([route, await ask(key), await ask({ ...key, ...version })]).toEqual([route, plain, versioned]);
    expect([route, await ask({ ...key, ...version, authorization: "Bearer sk-no" })]).toEqual([
      route,
      "invalid_api_key",
    ]);
    if (versioned === "open") opened++;
  }
  expect(opened).toBeGreaterThan(5);
});

test("no secret lies open in the data directory, but in secrets.json and the outbox", async () => {
  const account = await app.addAccount("grepped", { emailVerified: true });
  const { key } = await keyStore(app.store).createKey({ accountId: account.id, name: "k" });
  const first = await app.signIn("grepped");
  const second = (await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: first.refresh_token } })).json;
  const unverified = await app.addAccount("grepped-too");
  const { access_token: as } = await app.signIn("grepped-too");
  await app.ask("POST", "/v1/auth/email-verification/send-code", { as });
  const code = /\b\d{6}\b/.exec((await mailTo(app.app.dataDir, unverified.email)).text ?? "")?.[0] ?? "";
  await app.ask("POST", "/v1/auth/password-reset/request", { body: { email: account.email } });
  const link = /#token=(\w+)/.exec((await mailTo(app.app.dataDir, account.email)).text ?? "")?.[1] ?? "";
  github.person = { id: 77, login: "grep", emails: [{ email: account.email, primary: true, verified: true }] };
  const begun = await app.ask("GET", "/v1/auth/oauth/github/start");
  const open = await app.ask("GET", "/v1/auth/oauth/github/start");
  const back = new URL(
    (await fetch(begun.headers.get("location") ?? "", { redirect: "manual" })).headers.get("location") ?? "",
  );
  const home = new URL((await app.ask("GET", back.pathname + back.search)).headers.get("location") ?? "");
  const state = new URL(open.headers.get("location") ?? "").searchParams.get("state") ?? "";
  const secrets: Record<string, string> = {
    PASSWORD,
    CLIENT_SECRET,
    key,
    access: first.access_token,
    firstRefresh: first.refresh_token,
    secondRefresh: second.refresh_token,
    link,
    exchangeCode: home.searchParams.get("code") ?? "",
    state,
    stateId: state.split(".")[0] ?? "",
    cookie: open.headers.get("set-cookie")?.split(/[=;]/)[1] ?? "",
  };
  for (const [name, secret] of Object.entries(secrets)) expect([name, secret.length > 15]).toEqual([name, true]);
  await app.app.flushLogs();

  const looked: string[] = [];
  const look = (directory: string) => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      // The file with the provider's secret is the test's own configuration.
      if (["outbox", "secrets.json", "test.yaml"].includes(name)) continue;
      if (statSync(path).isDirectory()) look(path);
      else {
        looked.push(name);
        const bytes = readFileSync(path);
        for (const [what, secret] of Object.entries(secrets)) {
          if (bytes.includes(secret)) throw new Error(`${name} holds ${what}`);
        }
      }
    }
  };
  look(app.app.dataDir);
  expect(looked).toContain("sallyport.db");
  expect(looked).toContain("sallyport.db-wal");
  // Six digits occur in many numbers, so only the column of the code is checked.
  const database = new Database(join(app.app.dataDir, "sallyport.db"), { readonly: true });
  const [row] = database.query("SELECT code_hash AS hash FROM verification_codes").all() as { hash: string }[];
  database.close();
  expect(row?.hash).toMatch(/^[0-9a-f]{64}$/);
  const plain = new Bun.CryptoHasher("sha256").update(code).digest("hex");
  expect(row?.hash).not.toBe(plain);
  const logged = JSON.stringify(app.app.logs);
  for (const [what, secret] of Object.entries(secrets)) {
    if (logged.includes(secret)) throw new Error(`the log holds ${what}`);
  }
});
