// Signing in and linking through providers, end to end: a fake GitHub and an OpenID issuer on loopback.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sha256Hex } from "../../src/base/ids.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { identityStore } from "../../src/store/access/identities.ts";
import {
  CLIENT_SECRET,
  type FakeGithub,
  type FakeIssuer,
  startFakeGithub,
  startFakeIssuer,
} from "../support/identity-servers.ts";
import { type AccountsApp, type Ask, startAccountsApp } from "./support.ts";
import { query, type Trips, tripsOf } from "./trips.ts";

const MINUTE = 60_000;
const APP = "https://app.example/signed-in?keep=1";
const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0" };

let github: FakeGithub;
let issuer: FakeIssuer;
let app: AccountsApp;
let trips: Trips;
let serial = 0;

beforeAll(async () => {
  github = startFakeGithub();
  issuer = await startFakeIssuer();
  app = await startAccountsApp({
    config: {
      auth: {
        oauth: { github: github.config, corp: issuer.config, google: { client_id: "" } },
        oauth_redirects: [APP],
      },
    },
  });
  trips = tripsOf(app);
});
afterAll(async () => {
  await app.stop();
  await github.stop();
  await issuer.stop();
});

/** A person whom the providers have not seen yet. */
let email: string;
beforeEach(() => {
  serial += 1;
  email = `person-${serial}@example.com`;
  github.person = { id: 1000 + serial, login: `octo-${serial}`, emails: [{ email, primary: true, verified: true }] };
  issuer.claims = { sub: `subject-${serial}`, email, email_verified: true };
  issuer.userinfo = {};
});

const start: Trips["start"] = (...asked) => trips.start(...asked);
const atProvider: Trips["atProvider"] = (url) => trips.atProvider(url);
const trip: Trips["trip"] = (...asked) => trips.trip(...asked);
const exchange = (code: string | null, provider: string) =>
  app.ask("POST", "/v1/auth/oauth/exchange", { body: { code, provider } });
const dashboard = () => `${app.app.url}/dashboard`;

for (const slug of ["github", "corp"]) {
  describe(`signing in with ${slug}`, () => {
    test("a verified address of a verified account links it, once; later it signs in whatever its address", async () => {
      const account = await app.addAccount(`person-${serial}`, { emailVerified: true });
      const end = await trip(slug, { state: "mine &=/" });
      expect(end.origin + end.pathname).toBe(dashboard());
      expect(end.searchParams.get("provider")).toBe(slug);
      expect(end.searchParams.get("state")).toBe("mine &=/");
      const code = end.searchParams.get("code");
      const pair = await exchange(code, slug);
      expect(pair.status).toBe(200);
      const me = (await app.ask("GET", "/v1/auth/me", { as: pair.json.access_token })).json;
      expect([me.id, me.oauth_providers]).toEqual([account.id, [slug]]);
      expect((await exchange(code, slug)).json.error).toMatchObject({ code: "invalid_code", param: "code" });

      github.person = { ...github.person, emails: [] };
      issuer.claims = { sub: `subject-${serial}` };
      const again = await trip(slug);
      expect((await exchange(again.searchParams.get("code"), slug)).status).toBe(200);
      const events = (await auditStore(app.store).listAudit(account.id)).map(({ event }) => event);
      expect(events).toEqual(["login", "login", "identity_linked"]);
    });

    test("an address that either side has not verified links nothing", async () => {
      const mine = await app.addAccount(`person-${serial}`, { emailVerified: false });
      expect((await trip(slug, { redirect_uri: APP })).searchParams.get("error")).toBe("account_not_found");
      await accountStore(app.store).updateAccount(mine.id, { emailVerified: true });
      github.person = { ...github.person, emails: [{ email, primary: true, verified: false }] };
      issuer.claims = { ...issuer.claims, email_verified: false };
      expect((await trip(slug, { redirect_uri: APP })).searchParams.get("error")).toBe("account_not_found");
      expect(await identityStore(app.store).listIdentities(mine.id)).toEqual([]);
    });

    test("nobody's account: the dashboard's sign-up with a pending identity, an error elsewhere, no account", async () => {
      const before = await accountStore(app.store).countAccounts();
      const end = await trip(slug, { state: "s" });
      expect(end.origin + end.pathname).toBe(`${dashboard()}/signup`);
      const pending = end.searchParams.get("pending") ?? "";
      expect((await codeStore(app.store).peekTicket("pending_identity", sha256Hex(pending)))?.payload).toMatchObject({
        provider: slug,
        email,
        emailVerified: true,
      });
      const elsewhere = await trip(slug, { redirect_uri: APP, state: "s" });
      expect(elsewhere.href).toBe(`${APP}&error=account_not_found&provider=${slug}&state=s`);
      expect(await accountStore(app.store).countAccounts()).toBe(before);
    });

    test("connects to the account of the token, shows in the profile, and is unlinked", async () => {
      const account = await app.addAccount(`linker-${slug}`);
      const { access_token: as } = await app.signIn(account.username);
      const end = await trip(slug, { redirect_uri: APP }, { as }, "connect/start");
      expect(end.href).toBe(`${APP}&linked=${slug}&provider=${slug}`);
      const providers = async () => (await app.ask("GET", "/v1/auth/me", { as })).json.oauth_providers;
      expect(await providers()).toEqual([slug]);
      // Linking the same account again is not an error; linking another account is.
      expect((await trip(slug, {}, { as }, "connect/start")).searchParams.get("linked")).toBe(slug);
      await app.addAccount(`thief-${slug}`);
      const { access_token: thief } = await app.signIn(`thief-${slug}`);
      expect((await trip(slug, {}, { as: thief }, "connect/start")).searchParams.get("error")).toBe("identity_taken");

      expect((await app.ask("DELETE", `/v1/auth/oauth/${slug}`, { as })).json).toEqual({ success: true });
      expect(await providers()).toEqual([]);
      expect((await app.ask("DELETE", `/v1/auth/oauth/${slug}`, { as })).json.error.code).toBe(
        "oauth_provider_not_found",
      );
    });
  });
}

test("an address that only looks like an account's, in other characters, is another's", async () => {
  // Full-width letters and the Kelvin sign are folded to plain letters, but belong to another person's mailbox.
  const account = await app.addAccount(`kim-${serial}`, { emailVerified: true });
  for (const spelled of [`\uff4bim-${serial}@example.com`, `\u212aim-${serial}@example.com`]) {
    issuer.claims = { ...issuer.claims, email: spelled };
    expect((await trip("corp", { redirect_uri: APP })).searchParams.get("error")).toBe("account_not_found");
  }
  expect(await identityStore(app.store).listIdentities(account.id)).toEqual([]);
  issuer.claims = { ...issuer.claims, email: `KIM-${serial}@Example.com` };
  expect((await trip("corp", { redirect_uri: APP })).searchParams.get("code")).not.toBeNull();
});

describe("start", () => {
  test("sends PKCE, a state and the exact callback", async () => {
    const { status, headers } = await start("github");
    const url = new URL(headers.get("location") ?? "");
    expect(status).toBe(302);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "gateway-client",
      redirect_uri: `${app.app.url}/v1/auth/oauth/github/callback`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      scope: "read:user user:email",
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax$/);
  });

  test("https is seen behind a proxy of ours", async () => {
    const { headers } = await start(
      "corp",
      {},
      { headers: { "x-forwarded-for": "192.0.2.9", "x-forwarded-proto": "https" } },
    );
    const redirectUri = new URL(headers.get("location") ?? "").searchParams.get("redirect_uri");
    expect(redirectUri).toBe(`${app.app.url.replace("http:", "https:")}/v1/auth/oauth/corp/callback`);
    expect(headers.get("set-cookie")).toEndWith("; Secure");
  });

  const refused: { name: string; slug: string; fields?: Record<string, string>; status: number; code: string }[] = [
    { name: "an unknown provider", slug: "nobody", status: 404, code: "oauth_provider_not_found" },
    { name: "one without a client", slug: "google", status: 404, code: "oauth_provider_not_found" },
    { name: "a prototype's name", slug: "constructor", status: 404, code: "oauth_provider_not_found" },
    ...[
      "https://evil.example/",
      `${APP}x`,
      "https://app.example/signed-in",
      "//app.example",
      "javascript:alert(1)",
      "",
    ].map((uri) => ({
      name: `redirect_uri "${uri}"`,
      slug: "github",
      fields: { redirect_uri: uri },
      status: 400,
      code: "invalid_redirect_uri",
    })),
    {
      name: "an endless state",
      slug: "github",
      fields: { state: "x".repeat(3000) },
      status: 400,
      code: "invalid_request",
    },
  ];
  test.each(["nobody", "google", "constructor"])(
    "the provider %s is unknown to callback and exchange too",
    async (slug) => {
      const callback = await app.ask("GET", `/v1/auth/oauth/${slug}/callback?code=c&state=s`);
      for (const { status, json } of [callback, await exchange("c", slug)])
        expect([status, json.error.code]).toEqual([404, "oauth_provider_not_found"]);
    },
  );

  for (const { name, slug, fields = {}, status, code } of refused) {
    test(`${name}: ${status} ${code}`, async () => {
      const answer = await start(slug, fields);
      expect([answer.status, answer.json.error.code]).toEqual([status, code]);
      expect(answer.headers.get("location")).toBeNull();
    });
  }

  test("a redirect_uri given twice counts once", async () => {
    const twice = new URLSearchParams([
      ["redirect_uri", APP],
      ["redirect_uri", "https://evil.example/"],
    ]);
    const begun = await app.ask("GET", `/v1/auth/oauth/github/start?${twice}`);
    const back = await app.ask("GET", await atProvider(begun.headers.get("location")));
    expect(back.headers.get("location")).toStartWith(APP);
  });

  test("connecting needs an access token, before anything else", async () => {
    for (const [as, code] of [
      [undefined, "missing_token"],
      [app.app.key, "invalid_token"],
    ] as const) {
      const answer = await start("nobody", {}, { as }, "connect/start");
      expect([answer.status, answer.json.error.code]).toEqual([401, code]);
    }
  });

  test("connecting answers JSON to who asks for it", async () => {
    await app.addAccount("json-linker");
    const { access_token: as } = await app.signIn("json-linker");
    const answer = await start("github", {}, { as, headers: { accept: "application/json" } }, "connect/start");
    expect(answer.status).toBe(200);
    await app.ask("GET", await atProvider(answer.json.authorization_url));
    expect((await app.ask("GET", "/v1/auth/me", { as })).json.oauth_providers).toEqual(["github"]);
  });

  test("an issuer that is away: 502", async () => {
    const away = await startFakeIssuer();
    await away.stop();
    const other = await startAccountsApp({ config: { auth: { oauth: { corp: away.config } } } });
    try {
      const { status, json } = await other.ask("GET", "/v1/auth/oauth/corp/start");
      expect([status, json.error.code]).toEqual([502, "provider_unavailable"]);
    } finally {
      await other.stop();
    }
  });
});

describe("callback", () => {
  const invalid = async (path: string, ask: Ask = {}) => {
    const { status, json, headers } = await app.ask("GET", path, ask);
    expect([status, json?.error.code, headers.get("location")]).toEqual([400, "invalid_state", null]);
  };

  test("a forged, replayed, expired or strayed state: 400, no redirect, no request to the provider", async () => {
    const asked = github.asked.length;
    await invalid("/v1/auth/oauth/github/callback");
    await invalid("/v1/auth/oauth/github/callback?code=x&state=forged");
    await invalid(`/v1/auth/oauth/github/callback?code=x&state=${"a".repeat(32)}.${"b".repeat(43)}`);
    expect(github.asked.length).toBe(asked);
    const back = await atProvider((await start("github")).headers.get("location"));
    await invalid(back.replace("state=", "state=x"));
    expect((await app.ask("GET", back)).status).toBe(302);
    await invalid(back);
    const late = await atProvider((await start("github")).headers.get("location"));
    app.clock.advance(10 * MINUTE);
    await invalid(late);
    const strayed = await atProvider((await start("github")).headers.get("location"));
    await invalid(strayed.replace("/github/", "/corp/"));
  });

  test("one state used at once by many lets one in", async () => {
    const back = await atProvider((await start("github")).headers.get("location"));
    const answers = await Promise.all([1, 2, 3, 4].map(() => app.ask("GET", back)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 400, 400, 400]);
  });

  test("a browser must be the one that began: a link sent to somebody else is void", async () => {
    const begun = await start("github", {}, { headers: BROWSER });
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
    const back = await atProvider(begun.headers.get("location"));
    await invalid(back, { headers: BROWSER });
    await invalid(back, { headers: { "sec-fetch-mode": "navigate" } });
    await invalid(back, { headers: { ...BROWSER, cookie: `${cookie}x` } });
    const home = await app.ask("GET", back, { headers: { ...BROWSER, cookie: `other=1; ${cookie}` } });
    expect(home.status).toBe(302);
    expect(home.headers.get("set-cookie")).toContain("Max-Age=0");
  });

  test("the provider's refusal is handed on", async () => {
    const url = new URL((await start("github", { redirect_uri: APP, state: "s" })).headers.get("location") ?? "");
    const state = url.searchParams.get("state") ?? "";
    const refused = await app.ask("GET", `/v1/auth/oauth/github/callback${query({ error: "access_denied", state })}`);
    expect(refused.headers.get("location")).toBe(`${APP}&error=access_denied&provider=github&state=s`);
  });

  test("a code that is not the provider's ends in an error, and in the log", async () => {
    const url = new URL((await start("github", { redirect_uri: APP })).headers.get("location") ?? "");
    const state = url.searchParams.get("state") ?? "";
    const answer = await app.ask("GET", `/v1/auth/oauth/github/callback${query({ code: "made-up", state })}`);
    expect(answer.headers.get("location")).toBe(`${APP}&error=provider_error&provider=github`);
    await app.app.flushLogs();
    const text = JSON.stringify(app.app.logs);
    expect(text).toContain("a sign-in provider's answer could not be used");
    expect(text).not.toContain(CLIENT_SECRET);
  });
});

describe("exchange", () => {
  const code = async () => {
    await app.addAccount(`person-${serial}`, { emailVerified: true });
    return (await trip("github")).searchParams.get("code");
  };
  test("of a code older than a minute, or for another provider: 400 invalid_code", async () => {
    const old = await code();
    app.clock.advance(MINUTE);
    expect((await exchange(old, "github")).json.error.code).toBe("invalid_code");
    const other = (await trip("github")).searchParams.get("code");
    expect((await exchange(other, "corp")).json.error.code).toBe("invalid_code");
    expect((await exchange(other, "github")).json.error.code).toBe("invalid_code");
  });

  test("of many at once one wins", async () => {
    const one = await code();
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(one, "github")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  test("wants both fields", async () => {
    for (const [body, param] of [
      [{ provider: "github" }, "code"],
      [{ code: "x" }, "provider"],
      [{ code: 1, provider: "github" }, "code"],
    ] as const) {
      const { status, json } = await app.ask("POST", "/v1/auth/oauth/exchange", { body });
      expect([status, json.error.param]).toEqual([400, param]);
    }
  });
});

test("an address that only the userinfo endpoint returns counts too, if it is the same person's", async () => {
  await app.addAccount(`person-${serial}`, { emailVerified: true });
  issuer.claims = { sub: `subject-${serial}` };
  issuer.userinfo = { email, email_verified: true, sub: "somebody-else" };
  expect((await trip("corp", { redirect_uri: APP })).searchParams.get("error")).toBe("provider_error");
  issuer.userinfo = { email, email_verified: "true" };
  expect((await trip("corp", { redirect_uri: APP })).searchParams.has("code")).toBe(true);
});

test("the last way to sign in is not unlinked", async () => {
  await app.addAccount(`person-${serial}`, { emailVerified: true, passwordHash: null });
  const code = (await trip("github")).searchParams.get("code");
  const { access_token: as } = (await exchange(code, "github")).json;
  const { status, json } = await app.ask("DELETE", "/v1/auth/oauth/github", { as });
  expect([status, json.error.code]).toEqual([400, "invalid_request"]);
  expect((await app.ask("GET", "/v1/auth/me", { as })).json.oauth_providers).toEqual(["github"]);
});
