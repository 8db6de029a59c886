// Who may sign up, and an account's initial state.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Accounts, createAccounts } from "../../src/accounts/accounts.ts";
import type { SignUpForm } from "../../src/accounts/sign-up.ts";
import { FakeClock } from "../../src/base/clock.ts";
import { sha256Hex } from "../../src/base/ids.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { identityStore } from "../../src/store/access/identities.ts";
import { openStore, type SqliteStore as Store } from "../../src/store/engine/open.ts";
import { secretStore } from "../../src/store/secrets.ts";
import { verbsOf } from "../../src/store/verbs.ts";
import { mailTo } from "../support/outbox.ts";

const DAY = 86_400_000;
const FORM: SignUpForm = { email: "new@example.com", username: "new", password: "a password of mine" };

let dataDir: string;
let store: Store;
let clock: FakeClock;
let room: Accounts;
let signup: Config["auth"]["signup"];
let hashed: number;
let address = 0;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "sallyport-signup-"));
  clock = new FakeClock();
  store = openStore({ dataDir, clock });
  const loaded = loadConfig({ cwd: dataDir, env: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  signup = "open";
  hashed = 0;
  room = await createAccounts({
    verbs: verbsOf(store, () => 0),
    dataDir,
    clock,
    log: { info() {}, warn() {}, error() {} },
    config: () => ({ ...loaded.config, auth: { ...loaded.config.auth, signup } }),
    accountsChanged() {},
    dashboardUrl: () => "http://gate.example/dashboard",
    hasher: { hash: async (password) => `hash ${++hashed} of ${password}`, verify: async () => true },
  });
});
afterEach(async () => {
  await room.stop();
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const up = (form: Partial<SignUpForm> = {}, from = `192.0.2.${++address % 250}`) =>
  room.signUp({ ...FORM, ...form }, { address: from, userAgent: "test" });
const refusal = (form: Partial<SignUpForm> = {}, from?: string) =>
  up(form, from).then(
    () => "made",
    (error) => [error.apiCode, error.detail?.param ?? null],
  );
const someone = () => accountStore(store).createAccount({ username: "old", email: "old@example.com", tier: "free" });

describe("the first account", () => {
  test("needs the link, is the admin on the highest plan, and uses the link up", async () => {
    const setup = await secretStore(store).secret("setup_token");
    expect(await refusal()).toEqual(["signup_closed", null]);
    expect(await refusal({ setup: "guessed" })).toEqual(["signup_closed", null]);
    expect(await up({ setup })).toMatchObject({
      admin: true,
      tier: "premium",
      trialEndsAtMs: null,
      emailVerified: false,
    });
    expect(await secretStore(store).findSecret("setup_token")).toBeUndefined();
    expect(await up({ setup, email: "second@example.com", username: "second" })).toMatchObject({ admin: false });
  });

  test("is one, however many use the link at once", async () => {
    const setup = await secretStore(store).secret("setup_token");
    const all = await Promise.all(
      [1, 2, 3].map((n) => refusal({ setup, email: `n${n}@example.com`, username: `n${n}` })),
    );
    expect(all.filter((one) => one === "made")).toHaveLength(1);
    expect(all.filter((one) => one[0] === "signup_closed")).toHaveLength(2);
  });
});

describe("later accounts", () => {
  beforeEach(() => void someone());

  test("begin on the lowest plan with its trial", async () => {
    expect(await up()).toMatchObject({
      tier: "free",
      admin: false,
      trialEndsAtMs: clock.now() + 14 * DAY,
      emailVerified: false,
    });
  });

  test("closed: none; invite: one for each invitation", async () => {
    signup = "closed";
    expect(await refusal()).toEqual(["signup_closed", null]);
    signup = "invite";
    expect(await refusal()).toEqual(["invite_required", null]);
    expect(await refusal({ invite: "guessed" })).toEqual(["invite_required", null]);
    await codeStore(store).createInvite({ hash: sha256Hex("invited"), createdBy: null });
    expect(await refusal({ invite: "invited" })).toBe("made");
    expect(await refusal({ invite: "invited", email: "b@example.com", username: "b" })).toEqual([
      "invite_required",
      null,
    ]);
  });

  const wrong: [Partial<SignUpForm>, string][] = [
    [{ email: "no address" }, "email"],
    [{ username: "a@b" }, "username"],
    [{ username: "" }, "username"],
    [{ password: "short" }, "password"],
    [{ password: "password123" }, "password"],
    [{ password: undefined }, "password"],
  ];
  for (const [form, param] of wrong) {
    test(`${JSON.stringify(form)} names ${param}`, async () => {
      expect(await refusal(form)).toEqual(["invalid_request", param]);
    });
  }

  test("a taken name is named, a taken address is not, after the same work; its owner is told", async () => {
    const answer = (form: Partial<SignUpForm>) =>
      up(form).then(
        () => "made",
        (error) => [error.apiCode, error.detail.param ?? null, error.message],
      );
    const named = ["invalid_request", "username", "This username is taken. Choose another."];
    expect(await answer({ username: "Old" })).toEqual(named);
    // If the name is taken, the answer reveals nothing about the address.
    expect(await answer({ username: "Old", email: "OLD@example.com" })).toEqual(named);
    expect(await answer({ email: "OLD@example.com" })).toEqual([
      "invalid_request",
      null,
      "An account with these details cannot be created. Have one? Sign in.",
    ]);
    expect(hashed).toBe(3);
    expect((await mailTo(dataDir, "old@example.com")).subject).toBe("You already have an account");
  });

  test("ten from one address, then no more", async () => {
    for (let n = 0; n < 10; n++)
      expect(await refusal({ email: `n${n}@example.com`, username: `n${n}` }, "198.51.100.9")).toBe("made");
    expect(await refusal({}, "198.51.100.9")).toEqual(["too_many_attempts", null]);
  });
});

describe("a person whom a provider vouches for", () => {
  const pending = async (email = "new@example.com", emailVerified = true) => {
    await someone();
    await codeStore(store).issueTicket({
      kind: "pending_identity",
      hash: sha256Hex("pending token"),
      payload: { provider: "github", subject: "7", email, emailVerified, name: "new" },
      expiresAtMs: clock.now() + DAY,
    });
    return "pending token";
  };

  test("needs no password, is linked, and has a verified address if it is the provider's", async () => {
    const account = await up({ pending: await pending(), password: undefined });
    expect(account).toMatchObject({ emailVerified: true, passwordHash: null });
    expect(await identityStore(store).findAccountOfIdentity("github", "7")).toBe(account.id);
    expect(await refusal({ pending: "pending token", username: "x", email: "x@example.com" })).toEqual([
      "invalid_code",
      "pending",
    ]);
  });

  test("may choose again when the name is taken, and is one account however often the form is sent", async () => {
    const token = await pending();
    expect(await refusal({ pending: token, username: "old" })).toEqual(["invalid_request", "username"]);
    const all = await Promise.all(
      [1, 2, 3].map((n) => refusal({ pending: token, username: `n${n}`, email: `n${n}@example.com` })),
    );
    expect(all.filter((one) => one === "made")).toHaveLength(1);
  });

  test("has an unverified address otherwise", async () => {
    expect(await up({ pending: await pending("other@example.com") })).toMatchObject({ emailVerified: false });
  });

  test("still obeys who may sign up", async () => {
    const token = await pending();
    signup = "closed";
    expect(await refusal({ pending: token })).toEqual(["signup_closed", null]);
  });
});
