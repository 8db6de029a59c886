import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accountBudgetStore } from "../../src/store/access/account-budgets.ts";
import { type Account, accountStore, type NewAccount } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { dayOf } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { freshStore, usageRecord } from "./support.ts";

const ANN: NewAccount = { username: "Ann", email: "Ann@Example.com", tier: "free" };

test("a new account has its defaults and is found by every name it has, ignoring case", async () => {
  const { store, clock } = freshStore();
  const accounts = accountStore(store);
  const ann = (await accounts.createAccount(ANN)) as Account;
  expect(ann).toEqual({
    id: ann.id,
    username: "Ann",
    email: "Ann@Example.com",
    passwordHash: null,
    emailVerified: false,
    tier: "free",
    trialEndsAtMs: null,
    subscriptionUntilMs: null,
    admin: false,
    createdAtMs: clock.now(),
  });
  expect(await accounts.findAccount(ann.id)).toEqual(ann);
  expect(await accounts.findAccountByEmail("ANN@example.COM ")).toEqual(ann);
  expect(await accounts.findAccountByLogin("aNN")).toEqual(ann);
  expect(await accounts.findAccountByLogin("ann@example.com")).toEqual(ann);
  expect(await accounts.findAccountByEmail("Ann")).toBeUndefined();
  expect(await accounts.findAccount("nobody")).toBeUndefined();
});

test.each([
  [{ email: "aNN@example.com" }, "email_taken"],
  [{ username: "aNN" }, "username_taken"],
  // Full-width letters look like the same name to a reader.
  [{ username: "\uff21\uff4e\uff4e" }, "username_taken"],
  [{ mustBeFirst: true }, "not_first"],
] as const)("a second account with %p is refused: %s", async (change, refused) => {
  const { store } = freshStore();
  const accounts = accountStore(store);
  expect(await accounts.createAccount({ ...ANN, mustBeFirst: true })).toHaveProperty("id");
  expect(await accounts.createAccount({ ...ANN, username: "bob", email: "bob@example.com", ...change })).toEqual({
    refused,
  });
  expect(await accounts.countAccounts()).toBe(1);
});

test("changes are kept, and cannot take another's name", async () => {
  const { store } = freshStore();
  const accounts = accountStore(store);
  const ann = (await accounts.createAccount(ANN)) as Account;
  await accounts.createAccount({ username: "bob", email: "bob@example.com", tier: "free" });
  expect(await accounts.updateAccount(ann.id, { username: "BOB" })).toEqual({ refused: "username_taken" });
  const changed = {
    username: "ANN",
    email: "ann@new.example",
    tier: "pro" as const,
    subscriptionUntilMs: 5,
    emailVerified: true,
  };
  expect(await accounts.updateAccount(ann.id, changed)).toEqual({ ...ann, ...changed });
  expect(await accounts.findAccountByEmail("ANN@new.example")).toMatchObject({ id: ann.id });
  expect(await accounts.findAccountByEmail(ann.email)).toBeUndefined();
  expect(await accounts.updateAccount(ann.id, {})).toMatchObject({ username: "ANN" });
  expect(await accounts.updateAccount("nobody", { tier: "pro" })).toBeUndefined();
});

test("accounts are listed in the order they were made, page by page", async () => {
  const { store } = freshStore();
  const accounts = accountStore(store);
  for (let i = 0; i < 5; i++)
    await accounts.createAccount({ username: `u${i}`, email: `u${i}@x.example`, tier: "free" });
  const first = await accounts.listAccounts({ limit: 3 });
  expect(first.map((account) => account.username)).toEqual(["u0", "u1", "u2"]);
  const rest = await accounts.listAccounts({ afterId: first.at(-1)?.id ?? "" });
  expect(rest.map((account) => account.username)).toEqual(["u3", "u4"]);
});

test("deleting an account deletes its keys, rows and uploads, and keeps the totals without an account", async () => {
  const { store, clock, dataDir } = freshStore();
  const accounts = accountStore(store);
  const ann = (await accounts.createAccount(ANN)) as Account;
  const bob = (await accounts.createAccount({ username: "bob", email: "b@x.example", tier: "free" })) as Account;
  const keys = keyStore(store);
  const { id: keyId } = await keys.createKey({ accountId: ann.id, name: "one" });
  const { id: keyId2 } = await keys.createKey({ accountId: ann.id, name: "two" });
  const writer = new UsageWriter(usageStore(store));
  writer.record(usageRecord({ accountId: ann.id, keyId, createdAtMs: clock.now() }));
  writer.record(usageRecord({ accountId: ann.id, keyId: keyId2, createdAtMs: clock.now() }));
  writer.record(usageRecord({ accountId: bob.id, keyId: "other", createdAtMs: clock.now() }));
  await writer.flush();
  const uploads = join(dataDir, "uploads", ann.id);
  mkdirSync(uploads, { recursive: true });
  writeFileSync(join(uploads, "file-1"), "picture");

  await accountBudgetStore(store).setAccountBudget(ann.id, { limitMicros: 1, periodMs: null });
  const usage = usageStore(store);
  const before = await usage.tokenTotals();
  expect(await accounts.deleteAccount(ann.id)).toBe(true);

  expect(await usage.tokenTotals()).toEqual(before);
  expect(await usage.totalsByModel()).toEqual([{ model: "m", totalTokens: 45, requests: 3 }]);
  expect(await usage.topAccounts()).toEqual([{ accountId: bob.id, totalTokens: 15 }]);
  const day = dayOf(clock.now());
  expect(await usage.sumsBySlot({ unit: "day", from: day, to: day }, "keyId", "")).toMatchObject([
    { name: "", requests: 2, inputTokens: 20 },
  ]);
  expect((await usage.listLog({ accountId: ann.id })).rows).toEqual([]);
  expect((await usage.listLog({ accountId: bob.id })).rows).toHaveLength(1);
  expect(await keys.listKeys(ann.id)).toEqual([]);
  expect(existsSync(uploads)).toBe(false);
  for (const table of ["accounts", "api_keys", "usage", "usage_daily", "usage_accounts", "account_budgets"]) {
    const rows = JSON.stringify(store.sqlite.query(`SELECT * FROM ${table}`).all());
    expect([table, rows.includes(ann.id)]).toEqual([table, false]);
  }
  expect(await accounts.deleteAccount(ann.id)).toBe(false);

  // The usage of a request that was in progress when its account was deleted.
  writer.record(usageRecord({ accountId: ann.id, keyId, createdAtMs: clock.now() }));
  expect(await writer.close()).toBe(true);
  expect((await usage.tokenTotals()).requests).toBe(4);
  expect((await usage.listLog({ accountId: ann.id })).rows).toEqual([]);
  expect(await usage.sumsBySlot({ unit: "day", from: day, to: day }, "keyId", "")).toMatchObject([{ requests: 3 }]);
});
