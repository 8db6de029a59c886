// The authentication matrix: every route with every kind of credential. What a route requires is what its documentation says; a
// route that is neither documented nor in the table fails, so that none is added without stating who may use it.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import type { Access } from "../../src/http/endpoint.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { CLIENT_SECRET, type FakeGithub, startFakeGithub } from "../support/identity-servers.ts";
import { mailTo } from "../support/outbox.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

let app: AccountsApp;
let github: FakeGithub;
let token: string;

beforeAll(async () => {
  github = startFakeGithub();
  app = await startAccountsApp({ config: { auth: { oauth: { github: github.config } } } });
  await app.addAccount("walker");
  token = (await app.signIn("walker")).access_token;
});
afterAll(async () => {
  await app.stop();
  await github.stop();
});

/** The credential that a route requires. `cookie`: the dashboard's session, which the dashboard's tests use. */
type Opens = "none" | "key" | "jwt" | "cookie";

/** The routes that are not documented. The first match applies. A path is matched in the form in which it is registered. */
const MATRIX: readonly [RegExp, Opens][] = [
  // They only answer that they are not offered.
  [
    /^\w+ \/v1\/(assistants|audio\/voices|batches|containers|evals|fine_tuning|images\/variations|live|messages\/batches|realtime|skills|uploads|vector_stores|videos)(\/\*)?$/,
    "none",
  ],
  [/^\w+ \/v1\/(chat\/completions\/:id(\/messages)?|responses\/:id\/cancel)(\/\*)?$/, "none"],
  [/^GET \/dashboard(\/\*|\/assets\/:name)?$/, "none"],
  [/^\w+ \/dashboard\/api\/(session|signup|login|logout|oauth\/(exchange|pending)|password\/(forgot|reset))$/, "none"],
  // The dashboard's session cookie; never a key or an access token.
  [/^\w+ \/dashboard\/api\/.+$/, "cookie"],
  // Requests in the form of a provider, below its name.
  [/^ALL \/v1\/upstream\/\*$/, "key"],
  // They only answer that they belong to another service.
  [/^\w+ \/v2\/(agent|browser|monitor|feedback|search\/(developer|research))(\/\*)?$/, "none"],
  [/^\w+ \/v2\/(scrape\/:id\/interact|search\/:id\/feedback)$/, "none"],
];

/** The credential that a documented endpoint names. */
const NAMED: Readonly<Record<Access, Opens>> = { open: "none", key: "key", counted: "key", token: "jwt" };

/** A route with all its parameters named alike, since the documents name them in their own way. */
const routeOf = (method: string, path: string) => `${method.toUpperCase()} ${path.replace(/:\w+|\{\w+\}/g, ":x")}`;
const DOCUMENTED = new Map(ENDPOINTS.map(({ method, path, access }) => [routeOf(method, path), NAMED[access]]));

/** What a route requires: as it is documented, else as the matrix says. */
function opensOf(method: string, path: string): Opens | undefined {
  return DOCUMENTED.get(routeOf(method, path)) ?? MATRIX.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
}

/** The code of an error, in any error format. */
// biome-ignore lint/suspicious/noExplicitAny: any answer of the program
const codeOf = (json: any): unknown => (typeof json.error === "string" ? json.code : json.error?.code);

test("every route opens to its credential and to no other", async () => {
  const routes = app.app.routes();
  expect(routes.length).toBeGreaterThan(20);
  const missing: string[] = [];
  for (const { method, path } of routes) {
    const route = `${method} ${path}`;
    const opens = opensOf(method, path);
    if (opens === undefined) missing.push(route);
    if (opens === undefined) continue;
    const url = path.replace(/:\w+|\*/g, "x");
    const ask = async (as: string | undefined) => {
      const { status, json } = await app.ask(method, url, { as, headers: { "x-forwarded-for": freshAddress() } });
      return status === 401 ? codeOf(json) : "open";
    };
    const refusals = opens === "none" ? {} : { nothing: await ask(undefined), nonsense: await ask("nonsense") };
    if (opens === "key") {
      expect([route, refusals, await ask(token)]).toEqual([
        route,
        { nothing: "missing_api_key", nonsense: "invalid_api_key" },
        "invalid_api_key",
      ]);
      expect([route, await ask(app.app.key)]).toEqual([route, "open"]);
    } else if (opens === "jwt") {
      expect([route, refusals, await ask(app.app.key)]).toEqual([
        route,
        { nothing: "missing_token", nonsense: "invalid_token" },
        "invalid_token",
      ]);
      if (route !== "DELETE /v1/auth/me" && route !== "DELETE /v1/auth/sessions") {
        expect([route, await ask(token)]).toEqual([route, "open"]);
      }
    } else if (opens === "cookie") {
      const nobody = { nothing: "missing_token", nonsense: "missing_token" };
      expect([route, refusals, await ask(token), await ask(app.app.key)]).toEqual([
        route,
        nobody,
        "missing_token",
        "missing_token",
      ]);
    } else expect([route, await ask(undefined)]).toEqual([route, "open"]);
  }
  expect(missing).toEqual([]);
});

test("with require_verified_email a key of an unverified account opens nothing", async () => {
  const strict = await startAccountsApp({ config: { auth: { require_verified_email: true } } });
  try {
    const { id: accountId } = await strict.addAccount("newcomer");
    const { key: as } = await keyStore(strict.store).createKey({ accountId, name: "k" });
    let refused = 0;
    for (const { method, path } of strict.app.routes()) {
      const route = `${method} ${path}`;
      if (opensOf(method, path) !== "key") continue;
      const { status, json } = await strict.ask(method, path.replace(/:\w+|\*/g, "x"), { as });
      expect([route, status, codeOf(json)]).toEqual([route, 403, "email_not_verified"]);
      refused++;
    }
    expect(refused).toBeGreaterThan(20);
  } finally {
    await strict.stop();
  }
});

/** Paths where `x-api-key` is accepted as a key, and paths where it needs an `anthropic-version` header. */
const X_API_KEY = /^\/v1\/(messages|models)(\/|$)|^\/mcp$/;
const VERSIONED_X_API_KEY = /^\/v1\/files(\/|$)/;

test("x-api-key opens what Anthropic's clients use, and is as if absent elsewhere", async () => {
  let opened = 0;
  for (const { method, path } of app.app.routes()) {
    const route = `${method} ${path}`;
    if (opensOf(method, path) !== "key") continue;
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
