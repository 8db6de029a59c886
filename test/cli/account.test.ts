import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyPassword } from "../../src/accounts/passwords/passwords.ts";
import { sha256Hex } from "../../src/base/ids.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { identityStore } from "../../src/store/access/identities.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { openStore, type SqliteStore as Store } from "../../src/store/engine/open.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

type Row = Readonly<Record<string, unknown>>;
const DAY_MS = 86_400_000;
const ANN = ["account", "create", "--email", "ann@x.example", "--username", "ann"];

function commandLine(parent = tempDir()) {
  const dataDir = join(parent, "data");
  const run = async (argv: readonly string[], stdin = "") => {
    const io = new FakeTerminal({ stdin });
    const code = await runCommandLine([...argv, "--data-dir", dataDir], {
      version: "0",
      io,
      surroundings: { env: {}, cwd: parent },
    });
    return { code, out: io.stdout, err: io.stderr };
  };
  const json = async (argv: readonly string[], stdin = "") => {
    const { code, out, err } = await run([...argv, "--json"], stdin);
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out);
  };
  const look = async <T>(read: (store: Store) => Promise<T>): Promise<T> => {
    const store = openStore({ dataDir, create: false });
    try {
      return await read(store);
    } finally {
      store.close();
    }
  };
  return { parent, run, json, look };
}

test("account create prints the account and a password that was made for it", async () => {
  const { json, look } = commandLine();
  const before = Date.now();
  const made = await json(ANN);
  expect(Object.keys(made).sort()).toEqual(["email", "id", "password", "tier", "username"]);
  expect(made).toMatchObject({ email: "ann@x.example", username: "ann", tier: "free" });
  const stored = await look((store) => accountStore(store).findAccount(made.id));
  expect(await verifyPassword(made.password, stored?.passwordHash ?? "")).toBe(true);
  expect(stored?.passwordHash).toStartWith("$argon2id$");
  expect(stored).toMatchObject({ admin: false, emailVerified: false, subscriptionUntilMs: null });
  expect(stored?.trialEndsAtMs).toBeGreaterThanOrEqual(before + 14 * DAY_MS);
});

test("account create takes a password, a plan, its end, and the two marks", async () => {
  const { json, look } = commandLine();
  const flags = ["--password-stdin", "--tier", "pro", "--until", "2031-01-02T03:04:05Z", "--verified", "--admin"];
  const made = await json([...ANN, ...flags], "correct horse\n");
  expect(made).toEqual({ id: made.id, email: "ann@x.example", username: "ann", tier: "pro" });
  const stored = await look((store) => accountStore(store).findAccount(made.id));
  expect(stored).toMatchObject({
    admin: true,
    emailVerified: true,
    trialEndsAtMs: null,
    subscriptionUntilMs: Date.UTC(2031, 0, 2, 3, 4, 5),
  });
  expect(await verifyPassword("correct horse", stored?.passwordHash ?? "")).toBe(true);
});

test("the plans are the configuration's", async () => {
  const dir = tempDir();
  await Bun.write(join(dir, "sallyport.yaml"), "tiers: { free: { rpm: 5, trial: 1h } }");
  const { json, look } = commandLine(dir);
  const before = Date.now();
  const { id } = await json(ANN);
  const trialEndsAtMs = (await look((store) => accountStore(store).findAccount(id)))?.trialEndsAtMs;
  expect(trialEndsAtMs).toBeGreaterThanOrEqual(before + 3_600_000);
  expect(trialEndsAtMs).toBeLessThanOrEqual(Date.now() + 3_600_000);
});

test("an admin has no trial", async () => {
  const { json, look } = commandLine();
  const made = await json([...ANN, "--admin"]);
  expect((await look((store) => accountStore(store).findAccount(made.id)))?.trialEndsAtMs).toBeNull();
});

// One account for all rows, since hashing its password is slow.
const sharedDir = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
const shared = commandLine(sharedDir);
beforeAll(() => shared.json(ANN));
afterAll(() => rmSync(sharedDir, { recursive: true }));

test.each([
  [[...ANN.slice(0, 2), "--email", "ANN@x.example", "--username", "b"], 1, "the e-mail address ANN@x.example is taken"],
  [[...ANN.slice(0, 2), "--email", "b@x.example", "--username", "ANN"], 1, "the user name ANN is taken"],
  [[...ANN, "--tier", "gold"], 1, 'unknown tier "gold"'],
  [[...ANN, "--password-stdin"], 1, "at least 10 characters"],
  [["account", "create", "--email", "b@x.example"], 2, "--username is required"],
  [["account", "create", "--email", "nobody", "--username", "b"], 2, "--email: That is not an e-mail"],
  [["account", "create", "--email", "b@x.example", "--username", "b@c"], 2, "--username: A user name has"],
  [[...ANN, "--until", "tomorrow"], 2, '--until: expected an ISO 8601 time, got "tomorrow"'],
  [
    ["account", "set-tier", "--email", "no@x.example", "--tier", "pro"],
    1,
    "no account with the e-mail address no@x.example",
  ],
  [["account", "set-tier", "--email", "ann@x.example", "--tier", "gold"], 1, 'unknown tier "gold"'],
  [["account", "set-tier", "--email", "ann@x.example"], 2, "--tier is required"],
  [["account", "set-password", "--email", "ann@x.example"], 2, "--password-stdin is required"],
  [["account", "delete", "--email", "ann@x.example"], 2, "--yes is required"],
  [["account", "delete", "--email", "no@x.example", "--yes"], 1, "no account with"],
  [["key", "create", "--account", "no@x.example", "--name", "n"], 1, "no account with"],
  [["key", "create", "--account", "ann@x.example"], 2, "--name is required"],
  [["key", "create", "--account", "ann@x.example", "--name", "n", "--rpm", "0"], 2, "--rpm: expected a whole number"],
  [
    ["key", "create", "--account", "ann@x.example", "--name", "n", "--budget", "ten"],
    2,
    "--budget: expected an amount",
  ],
  [
    ["key", "create", "--account", "ann@x.example", "--name", "n", "--address", "10.0.0.0/99"],
    2,
    "--address: expected an address",
  ],
  [["key", "create", "--account", "ann@x.example", "--name", "n", "--budget-period", "1d"], 2, "--budget-period needs"],
  [
    ["key", "create", "--account", "ann@x.example", "--name", "n", "--budget", "1", "--budget-period", "soon"],
    2,
    "such as 30d",
  ],
  [["key", "list", "--account", "no@x.example"], 1, "no account with"],
  [["key", "revoke", "--id", "nothing"], 1, "there is no active key with the id nothing"],
])("%p exits %p with one line: %s", async (argv, code, text) => {
  const got = await shared.run(argv, "short");
  expect(got.code).toBe(code);
  expect(got.err).toContain(text);
  expect(got.err.trimEnd().split("\n")).toHaveLength(1);
  expect(got.out).toBe("");
});

test("account list shows every account, as JSON and as a table", async () => {
  const { run, json } = commandLine();
  await json(ANN);
  await json([
    "account",
    "create",
    "--email",
    "bob@x.example",
    "--username",
    "bob",
    "--until",
    "2030-05-06",
    "--verified",
  ]);
  const rows = await json(["account", "list"]);
  expect(rows).toHaveLength(2);
  expect(rows[1]).toMatchObject({
    email: "bob@x.example",
    email_verified: true,
    subscription_until: "2030-05-06T00:00:00.000Z",
    trial_ends_at: null,
  });
  const table = (await run(["account", "list"])).out;
  expect(table.split("\n")[0]).toMatch(/^id +email +username +tier/);
  expect(table).toContain("bob@x.example");
});

test("account set-tier, set-password and delete change what they say", async () => {
  const { json, look } = commandLine();
  const { id } = await json(ANN);
  expect(
    await json(["account", "set-tier", "--email", "Ann@X.example", "--tier", "pro", "--until", "2030-01-01"]),
  ).toEqual({
    id,
    email: "ann@x.example",
    username: "ann",
    tier: "pro",
    subscription_until: "2030-01-01T00:00:00.000Z",
  });
  const session = { accountId: id, refreshHash: "r", expiresAtMs: Date.now() + DAY_MS, userAgent: "", address: "" };
  const { id: sessionId } = await look((store) => sessionStore(store).createSession(session));
  await json(["key", "create", "--account", "ann@x.example", "--name", "n"]);
  const trip = { kind: "oauth_state", hash: "begun", accountId: id, expiresAtMs: Date.now() + DAY_MS } as const;
  await look((store) => codeStore(store).issueTicket(trip));
  const identity = { provider: "corp", subject: "squatter", email: null };
  await look((store) => identityStore(store).linkIdentity(id, identity));
  await json(["account", "set-password", "--email", "ann@x.example", "--password-stdin"], "another password\r\n");
  const stored = await look((store) => accountStore(store).findAccount(id));
  expect(stored).toMatchObject({ tier: "pro", trialEndsAtMs: null, subscriptionUntilMs: Date.UTC(2030, 0, 1) });
  expect(await verifyPassword("another password", stored?.passwordHash ?? "")).toBe(true);
  expect(await look((store) => sessionStore(store).hasSession(sessionId, id))).toBe(false);
  expect(await look((store) => codeStore(store).peekTicket("oauth_state", "begun"))).toBeUndefined();
  expect(await look((store) => identityStore(store).listIdentities(id))).toEqual([]);
  const liveKeys = async () =>
    (await json(["key", "list", "--account", "ann@x.example"])).filter((key: Row) => key["revoked_at"] === null);
  expect(await liveKeys()).toHaveLength(1);
  const all = ["account", "set-password", "--email", "ann@x.example", "--password-stdin", "--revoke-keys"];
  expect(await json(all, "one more password")).toMatchObject({ id, keys_revoked: 1 });
  expect(await liveKeys()).toEqual([]);
  await look((store) => accountStore(store).updateAccount(id, { emailVerified: true }));
  await look((store) => identityStore(store).linkIdentity(id, identity));
  await json(["account", "set-password", "--email", "ann@x.example", "--password-stdin"], "another password");
  expect(await look((store) => identityStore(store).listIdentities(id))).toHaveLength(1);
  expect(await json(["account", "delete", "--email", "ann@x.example", "--yes"])).toMatchObject({ id, deleted: true });
  expect(await json(["account", "list"])).toEqual([]);
});

test("a key is made with its limits, listed without its secret, and revoked", async () => {
  const { json, look } = commandLine();
  await json(ANN);
  const limits = ["--rpm", "7", "--expires", "2031-01-01", "--budget", "2.50", "--budget-period", "30d", "--no-store"];
  limits.push("--models", "gpt-*", "--models", "acme/*", "--passthrough");
  const made = await json(["key", "create", "--account", "ann@x.example", "--name", "laptop", ...limits]);
  expect(Object.keys(made)).toEqual(["id", "key"]);
  const live = await look((store) => keyStore(store).findLiveKey(sha256Hex(made.key)));
  expect(live).toMatchObject({
    keyId: made.id,
    rpm: 7,
    noStore: true,
    models: ["gpt-*", "acme/*"],
    passthrough: true,
    budgetMicros: 2_500_000,
    expiresAtMs: Date.UTC(2031, 0, 1),
  });

  const [row] = await json(["key", "list", "--account", "ann@x.example"]);
  expect(row).toMatchObject({
    id: made.id,
    name: "laptop",
    rpm: 7,
    budget_usd: 2.5,
    budget_period_seconds: 2_592_000,
    no_store: true,
    models: ["gpt-*", "acme/*"],
    passthrough: true,
    revoked_at: null,
  });
  expect(JSON.stringify(row)).not.toContain(made.key);

  expect(await json(["key", "revoke", "--id", made.id])).toEqual({ id: made.id, revoked: true });
  expect(await look((store) => keyStore(store).findLiveKey(sha256Hex(made.key)))).toBeUndefined();
});

test("a key is made with limits of tokens and addresses, and management keys have a prefix of their own", async () => {
  const { json, run, look } = commandLine();
  await json(ANN);
  const make = ["key", "create", "--account", "ann@x.example", "--name", "n"];
  const limits = ["--tpm", "1000", "--parallel", "3", "--address", "10.0.0.0/8", "--address", "::1"];
  const made = await json([...make, ...limits]);
  const wanted = { tpm: 1000, parallel: 3, addresses: ["10.0.0.0/8", "::1"], management: null };
  const live = async (key: string) => look((store) => keyStore(store).findLiveKey(sha256Hex(key)));
  expect(await live(made.key)).toMatchObject(wanted);
  const manager = await json([...make, "--manage"]);
  expect(manager.key).toStartWith("sk-m-");
  expect(await live(manager.key)).toMatchObject({ management: "account" });
  const rows = (await json(["key", "list", "--account", "ann@x.example"])) as Row[];
  expect(rows.find(({ id }) => id === made.id)).toMatchObject(wanted);
  expect(rows.find(({ id }) => id === manager.id)).toMatchObject({ management: "account" });

  const refused = await run([...make, "--manage-all"]);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("is not an administrator's") });
  await json(["account", "create", "--email", "root@x.example", "--username", "root", "--admin"]);
  const all = await json(["key", "create", "--account", "root@x.example", "--name", "n", "--manage-all"]);
  expect(await live(all.key)).toMatchObject({ management: "all" });
});

test("commands other than account create make no database", async () => {
  const { run } = commandLine();
  const got = await run(["account", "list"]);
  expect(got.code).toBe(1);
  expect(got.err).toContain("No database in ");
});

test("an end that has passed is refused, and an empty list says so on stderr", async () => {
  const { run, json } = commandLine();
  const late = await run([...ANN, "--until", "2020-01-01"]);
  expect(late).toMatchObject({ code: 2, err: expect.stringContaining("--until: expected a time in the future") });
  await json(ANN);
  const none = await run(["key", "list", "--account", "ann@x.example"]);
  expect(none).toEqual({ code: 0, out: "", err: "ann@x.example has no keys yet.\n" });
  const key = ["key", "create", "--account", "ann@x.example", "--name", "k"];
  expect(await run([...key, "--expires", "2020-01-01"])).toMatchObject({ code: 2, out: "" });
  await json([...key, "--expires", "2099-01-01"]);
  const { out } = await run(["key", "list", "--account", "ann@x.example"]);
  expect(out.split("\n")[0]).not.toContain("revoked");
  expect(out).toContain("2099-01-01 00:00Z");
});

test("an account gets a budget of its own, none, and its plan's again", async () => {
  const { run, json, parent } = commandLine();
  await Bun.write(join(parent, "sallyport.yaml"), "tiers: {free: {budget: {usd: 1, period: 1d}}}\n");
  await json(ANN);
  const set = (...flags: string[]) => json(["account", "set-budget", "--email", "ann@x.example", ...flags]);
  expect(await set("--usd", "2.5", "--period", "30d")).toMatchObject({
    budget_usd: 2.5,
    spent_usd: 0,
    budget_period_seconds: 2_592_000,
    budget_of: "account",
  });
  expect(await set("--none")).toMatchObject({ budget_usd: null, budget_of: null });
  expect(await set("--plan")).toMatchObject({ budget_usd: 1, budget_period_seconds: 86_400, budget_of: "plan" });
  for (const flags of [[], ["--usd", "1", "--none"], ["--none", "--period", "1d"], ["--usd", "many"]]) {
    expect((await run(["account", "set-budget", "--email", "ann@x.example", ...flags])).code).toBe(2);
  }
});

test("setting a budget names the models whose prices are unknown", async () => {
  const { run, json, parent } = commandLine();
  const file = `
providers: {up: {kind: openai, base_url: "http://127.0.0.1:9/v1"}, demo: {kind: demo}}
models:
  - {id: known, routes: [{provider: up}], prices: {input: 1, output: 1}}
  - {id: dark, routes: [{provider: up}]}
  - {id: shown, routes: [{provider: demo, model: demo-echo}]}
  - {id: above, tier: pro, routes: [{provider: up}]}
`;
  await Bun.write(join(parent, "sallyport.yaml"), file);
  await json(ANN);
  const make = ["key", "create", "--account", "ann@x.example", "--name", "n"];
  expect((await run(make)).err).toBe("");
  const { code, out, err } = await run([...make, "--budget", "1", "--json"]);
  expect([code, Object.keys(JSON.parse(out))]).toEqual([0, ["id", "key"]]);
  expect(err).toContain("no price is known for dark: ");
  expect(err).toContain("prices of the models that up may list were not checked; `sallyport doctor` checks them\n");
  const own = await run(["account", "set-budget", "--email", "ann@x.example", "--usd", "1"]);
  expect(own.err).toContain("no price is known for dark: ");
});
