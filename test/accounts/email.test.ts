// Verification codes and forgotten passwords through the HTTP edge, with mails in the outbox.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { identityStore } from "../../src/store/access/identities.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startMailServer } from "../support/mail-server.ts";
import { mailTo } from "../support/outbox.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let app: AccountsApp;
beforeAll(async () => {
  app = await startAccountsApp({ config: { auth: { require_verified_email: true } } });
});
afterAll(() => app.stop());

const send = (as: string | undefined) => app.ask("POST", "/v1/auth/email-verification/send-code", { as });
const verify = (as: string | undefined, body: unknown) =>
  app.ask("POST", "/v1/auth/email-verification/verify-code", { as, body });
const codeFor = async (name: string) =>
  /\b\d{6}\b/.exec((await mailTo(app.app.dataDir, `${name}@example.com`)).text ?? "")?.[0] ?? "";
const notThe = (code: string) => (code === "000000" ? "000001" : "000000");

describe("verification", () => {
  test("a code that is mailed verifies the address, and keys see it at once", async () => {
    const account = await app.addAccount("vera");
    const { key } = await keyStore(app.store).createKey({ accountId: account.id, name: "k" });
    const chat = () =>
      app.ask("POST", "/v1/chat/completions", {
        as: key,
        body: { model: "demo-echo", messages: [{ role: "user", content: "hi" }] },
      });
    const { access_token: as } = await app.signIn("vera");
    expect((await chat()).json.error.code).toBe("email_not_verified");
    const sent = await send(as);
    expect([sent.status, sent.json]).toEqual([200, { success: true, expires_in: 600 }]);
    const code = await codeFor("vera");
    expect((await verify(as, { code: notThe(code) })).json.error).toMatchObject({
      code: "invalid_code",
      param: "code",
    });
    const verified = await verify(as, { code });
    expect([verified.status, verified.json]).toEqual([200, { success: true, email_verified: true }]);
    expect((await app.ask("GET", "/v1/auth/me", { as })).json.email_verified).toBe(true);
    expect((await chat()).status).toBe(200);
    expect((await verify(as, { code })).json.error.code).toBe("invalid_code");
    expect((await send(as)).json).toEqual({ success: true, already_verified: true });
    const events = (await auditStore(app.store).listAudit(account.id)).map(({ event }) => event);
    expect(events).toContain("email_verified");
  });

  test("one mail a minute, ten minutes, and an older code is void", async () => {
    await app.addAccount("wanda");
    const { access_token: as } = await app.signIn("wanda");
    await send(as);
    const first = await codeFor("wanda");
    const soon = await send(as);
    expect([soon.status, soon.json.error.code]).toEqual([429, "code_recently_sent"]);
    expect(Number(soon.headers.get("retry-after"))).toBeWithin(1, 61);
    app.clock.advance(MINUTE);
    expect((await send(as)).status).toBe(200);
    const second = await codeFor("wanda");
    if (first !== second) expect((await verify(as, { code: first })).json.error.code).toBe("invalid_code");
    app.clock.advance(10 * MINUTE);
    expect((await verify(as, { code: second })).json.error.code).toBe("invalid_code");
  });

  test("ten mails in a day, however slowly they are asked for", async () => {
    await app.addAccount("wendell");
    const { access_token: as } = await app.signIn("wendell");
    for (let mail = 0; mail < 10; mail++) {
      // A restart does not reset the count.
      if (mail === 7) await app.app.restart();
      expect((await send(as)).status).toBe(200);
      // A request that is refused because of the last mail is not counted.
      expect((await send(as)).json.error.code).toBe("code_recently_sent");
      app.clock.advance(MINUTE + 1);
    }
    const refused = await send(as);
    expect([refused.status, refused.json.error.code]).toEqual([429, "code_recently_sent"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(23 * 3600);
    app.clock.advance(24 * 60 * MINUTE);
    const { access_token: later } = await app.signIn("wendell");
    expect((await send(later)).status).toBe(200);
  });

  test("five tries, sent at once or not, then 429 even for the right code", async () => {
    await app.addAccount("xenia");
    const { access_token: as } = await app.signIn("xenia");
    await send(as);
    const code = await codeFor("xenia");
    const answers = await Promise.all(Array.from({ length: 9 }, () => verify(as, { code: notThe(code) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([400, 400, 400, 400, 400, 429, 429, 429, 429]);
    const right = await verify(as, { code });
    expect([right.status, right.json.error.code]).toEqual([429, "too_many_attempts"]);
    app.clock.advance(MINUTE);
    await send(as);
    expect((await verify(as, { code: await codeFor("xenia") })).status).toBe(200);
  });

  test("credentials come first, then the body", async () => {
    await app.addAccount("yara");
    const { access_token: as } = await app.signIn("yara");
    const cases: [string | undefined, unknown, number, string][] = [
      [undefined, { code: 1 }, 401, "missing_token"],
      [app.app.key, { code: "1" }, 401, "invalid_token"],
      [as, {}, 400, "invalid_request"],
      [as, { code: 123456 }, 400, "invalid_request"],
      [as, "{", 400, "invalid_json"],
      [as, { code: "123456" }, 400, "invalid_code"],
    ];
    for (const [credential, body, status, code] of cases) {
      const answer = await verify(credential, body);
      expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    }
    expect((await send(undefined)).json.error.code).toBe("missing_token");
    expect((await send(app.app.key)).json.error.code).toBe("invalid_token");
  });
});

describe("a forgotten password", () => {
  const request = (email: unknown, from = freshAddress()) =>
    app.ask("POST", "/v1/auth/password-reset/request", { body: { email }, headers: { "x-forwarded-for": from } });
  const confirm = (body: unknown) => app.ask("POST", "/v1/auth/password-reset/confirm", { body });
  const login = (name: string, password: string) =>
    app.ask("POST", "/v1/auth/token", {
      body: { username: name, password },
      headers: { "x-forwarded-for": freshAddress() },
    });
  const tokenFor = async (name: string) => {
    const { text = "" } = await mailTo(app.app.dataDir, `${name}@example.com`, "Set a new password");
    const link = /^http\S+$/m.exec(text)?.[0] ?? "";
    expect(link).toStartWith(`${app.app.url}/dashboard/forgot#token=`);
    return link.split("#token=")[1] ?? "";
  };

  test("is set anew by a link that works once, and everybody is signed out", async () => {
    const account = await app.addAccount("paula");
    const pair = await app.signIn("paula");
    const asked = await request("Paula@Example.com");
    expect([asked.status, asked.json]).toEqual([200, { success: true }]);
    const token = await tokenFor("paula");
    expect((await confirm({ token, password: "short" })).json.error).toMatchObject({
      code: "invalid_request",
      param: "password",
    });
    expect((await confirm({ token, password: "password123" })).json.error.param).toBe("password");
    const done = await confirm({ token, password: "a whole new password" });
    expect([done.status, done.json]).toEqual([200, { success: true }]);
    expect((await confirm({ token, password: "a whole new password" })).json.error).toMatchObject({
      code: "invalid_code",
      param: "token",
    });
    expect((await app.ask("GET", "/v1/auth/me", { as: pair.access_token })).json.error.code).toBe("invalid_token");
    const refreshed = await app.ask("POST", "/v1/auth/refresh", { body: { refresh_token: pair.refresh_token } });
    expect(refreshed.json.error.code).toBe("invalid_refresh_token");
    expect((await login("paula", PASSWORD)).status).toBe(401);
    expect((await login("paula", "a whole new password")).status).toBe(200);
    expect((await accountStore(app.store).findAccount(account.id))?.emailVerified).toBe(true);
    const told = await mailTo(app.app.dataDir, "paula@example.com", "Your password was changed");
    expect(told.text).toContain("paula");
  });

  test("takes every way in from whoever had made the account with an address not theirs", async () => {
    const account = await app.addAccount("victor");
    await identityStore(app.store).linkIdentity(account.id, { provider: "corp", subject: "squatter", email: null });
    const kinds = ["oauth_state", "oauth_code"] as const;
    const issue = (kind: (typeof kinds)[number], owner: string) =>
      codeStore(app.store).issueTicket({
        kind,
        hash: `${kind} ${owner}`,
        accountId: owner,
        expiresAtMs: app.clock.now() + MINUTE,
      });
    const keys = keyStore(app.store);
    const house = await keys.houseKey(account.id, "Playground");
    const keyOf = async (accountId: string) => (await keys.createKey({ accountId, name: "k" })).key;
    const theirs = await keyOf(account.id);
    const other = await app.addAccount("viola", { emailVerified: true });
    const violas = await keyOf(other.id);
    const statusOf = async (as: string) => (await app.ask("GET", "/v1/files", { as })).status;
    expect([await statusOf(theirs), await statusOf(violas)]).toEqual([403, 200]);
    await identityStore(app.store).linkIdentity(other.id, { provider: "corp", subject: "viola", email: null });
    for (const kind of kinds) for (const { id } of [account, other]) await issue(kind, id);
    await request("victor@example.com");
    expect((await confirm({ token: await tokenFor("victor"), password: "a whole new password" })).status).toBe(200);
    expect(await identityStore(app.store).listIdentities(account.id)).toEqual([]);
    expect((await app.ask("GET", "/v1/files", { as: theirs })).json.error.code).toBe("invalid_api_key");
    expect((await keys.listKeys(account.id)).filter(({ revokedAtMs }) => revokedAtMs === null)).toEqual([house]);
    const told = await mailTo(app.app.dataDir, "victor@example.com", "Your password was changed");
    expect(told.text).toContain("API keys that were made until now were revoked");
    const left = await Promise.all(
      [account, other].flatMap(({ id }) => kinds.map((kind) => codeStore(app.store).peekTicket(kind, `${kind} ${id}`))),
    );
    expect(left.map((ticket) => ticket !== undefined)).toEqual([false, false, true, true]);
    // An account with a verified address keeps its linked providers.
    await request("viola@example.com");
    expect((await confirm({ token: await tokenFor("viola"), password: "a whole new password" })).status).toBe(200);
    expect(await identityStore(app.store).listIdentities(other.id)).toHaveLength(1);
    expect(await statusOf(violas)).toBe(200);
  });

  test("of a link too old is not", async () => {
    await app.addAccount("quentin");
    await request("quentin@example.com");
    const token = await tokenFor("quentin");
    app.clock.advance(30 * MINUTE);
    expect((await confirm({ token, password: "a whole new password" })).json.error.code).toBe("invalid_code");
  });

  test("is asked for alike by everybody: status, body, headers", async () => {
    await app.addAccount("rosa");
    const shapes = await Promise.all(
      ["rosa@example.com", "nobody@example.com", "no address at all"].map(async (email) => {
        const { status, text, headers } = await request(email);
        return { status, text, headers: [...headers.keys()].sort() };
      }),
    );
    expect(shapes[1]).toEqual(shapes[0]!);
    expect(shapes[2]).toEqual(shapes[0]!);
  });

  test("is asked for ten times from one address, then 429", async () => {
    const from = freshAddress();
    const answers = await Promise.all(Array.from({ length: 12 }, () => request("nobody@example.com", from)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test("an unknown link costs no hash and says what an old one says", async () => {
    const { status, json } = await confirm({ token: "x".repeat(32), password: "a whole new password" });
    expect([status, json.error.code]).toEqual([400, "invalid_code"]);
    expect((await confirm({ password: "a whole new password" })).json.error.param).toBe("token");
  });
});

describe("a mail server", () => {
  test("gets the mails, and /health shows when it is gone", async () => {
    const server = await startMailServer();
    const mailing = await startAccountsApp({
      config: { email: { smtp_url: server.url, from: "Gate <gate@example.org>" } },
    });
    try {
      await mailing.addAccount("sven");
      const { access_token: as } = await mailing.signIn("sven");
      await mailing.ask("POST", "/v1/auth/email-verification/send-code", { as });
      const [mail] = await server.received(1);
      expect(mail?.from?.text).toBe('"Gate" <gate@example.org>');
      const code = /\b\d{6}\b/.exec(mail?.text ?? "")?.[0];
      expect(
        (await mailing.ask("POST", "/v1/auth/email-verification/verify-code", { as, body: { code } })).status,
      ).toBe(200);
      await server.close();
      await mailing.ask("POST", "/v1/auth/password-reset/request", { body: { email: "sven@example.com" } });
      const mailHealth = async () => (await mailing.ask("GET", "/health")).json.subsystems.mail;
      while ((await mailHealth()).status === "ok") await Bun.sleep(5);
      expect(await mailHealth()).toMatchObject({ status: "degraded", transport: "smtp" });
      expect(JSON.stringify(await mailHealth())).not.toContain("sven");
    } finally {
      await mailing.stop();
    }
  });
});
