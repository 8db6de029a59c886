import { expect, test } from "bun:test";
import { sha256Hex } from "../../src/base/ids.ts";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { type NewKey, UNLIMITED } from "../../src/store/access/key-rows.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { rateStore } from "../../src/store/usage/rates.ts";
import { leftMicros } from "../../src/store/usage/spending.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { freshStore, secondStore, usageRecord } from "./support.ts";

const HOUR_MS = 3_600_000;

async function withAccount() {
  const fresh = freshStore();
  const account = (await accountStore(fresh.store).createAccount({
    username: "ann",
    email: "a@x.example",
    tier: "pro",
    trialEndsAtMs: 5,
    emailVerified: true,
  })) as Account;
  const keys = keyStore(fresh.store);
  const make = (change: Partial<NewKey> = {}) => keys.createKey({ accountId: account.id, name: "k", ...change });
  const left = async (id: string) => {
    const window = await keys.findKeyBudget(id);
    return window && leftMicros(window, fresh.clock.now());
  };
  return { ...fresh, account, keys, make, left };
}

test("a key is long, random and nowhere in the database", async () => {
  const { store, keys, make, account } = await withAccount();
  const { id, key } = await make({ rpm: 7 });
  expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  expect((await make()).key).not.toBe(key);
  const listed = await keys.listKeys(account.id);
  expect(listed[0]).toMatchObject({
    id,
    name: "k",
    prefix: key.slice(0, 7),
    lastFour: key.slice(-4),
    rpm: 7,
    lastUsedAtMs: null,
  });
  expect(JSON.stringify(store.sqlite.query("SELECT * FROM api_keys").all())).not.toContain(key.slice(3, 40));
  expect(JSON.stringify(listed)).not.toContain(sha256Hex(key));
});

test("a live key brings its limits and its account's plan", async () => {
  const { keys, make, account } = await withAccount();
  const { id, key } = await make({ rpm: 7, budgetMicros: 100 });
  expect(await keys.findLiveKey(sha256Hex(key))).toEqual({
    keyId: id,
    name: "k",
    accountId: account.id,
    ...UNLIMITED,
    rpm: 7,
    budgetMicros: 100,
    account: { tier: "pro", trialEndsAtMs: 5, subscriptionUntilMs: null, emailVerified: true, admin: false },
  });
  expect(await keys.findLiveKey(sha256Hex("sk-other"))).toBeUndefined();
});

test("a revoked, an expired and a deleted account's key are not live", async () => {
  const { store, clock, keys, make, account } = await withAccount();
  const revoked = await make();
  expect(await keys.revokeKey(revoked.id, { accountId: "someone else" })).toBe(false);
  expect(await keys.findLiveKey(sha256Hex(revoked.key))).toBeDefined();
  expect(await keys.revokeKey(revoked.id, { accountId: account.id })).toBe(true);
  expect(await keys.revokeKey(revoked.id)).toBe(false);
  expect(await keys.findLiveKey(sha256Hex(revoked.key))).toBeUndefined();

  const expiring = await make({ expiresAtMs: clock.now() + 1 });
  expect(await keys.findLiveKey(sha256Hex(expiring.key))).toBeDefined();
  clock.advance(1);
  expect(await keys.findLiveKey(sha256Hex(expiring.key))).toBeUndefined();

  const orphan = await make();
  await accountStore(store).deleteAccount(account.id);
  expect(await keys.findLiveKey(sha256Hex(orphan.key))).toBeUndefined();
  await expect(make()).rejects.toThrow("FOREIGN KEY");
});

test("a revocation by another process is seen by its sign", async () => {
  const { store, keys, make } = await withAccount();
  const { id, key } = await make();
  await keys.findLiveKey(sha256Hex(key));
  const before = store.changeCounter();
  await keyStore(secondStore(store)).revokeKey(id);
  expect(store.changeCounter()).not.toBe(before);
  expect(await keys.findLiveKey(sha256Hex(key))).toBeUndefined();
});

test("a key's last use never goes back", async () => {
  const { store, keys, make, account } = await withAccount();
  const { id } = await make();
  const writer = new UsageWriter(usageStore(store));
  for (const createdAtMs of [50, 40]) {
    writer.record(usageRecord({ accountId: account.id, keyId: id, createdAtMs }));
    expect(await writer.flush()).toBe(true);
  }
  expect((await keys.listKeys(account.id))[0]?.lastUsedAtMs).toBe(50);
});

test("a budget shrinks with usage and refills when its window ends", async () => {
  const { store, clock, keys, make, left, account } = await withAccount();
  const { id } = await make({ budgetMicros: 100, budgetPeriodMs: HOUR_MS });
  const writer = new UsageWriter(usageStore(store));
  const spend = async (costMicros: number) => {
    writer.record(usageRecord({ accountId: account.id, keyId: id, costMicros, createdAtMs: clock.now() }));
    expect(writer.pendingCostMicros(id)).toBe(costMicros);
    expect(await writer.flush()).toBe(true);
    expect(writer.pendingCostMicros(id)).toBe(0);
  };
  expect(await left(id)).toBe(100);
  await spend(60);
  await spend(30);
  expect(await left(id)).toBe(10);
  clock.advance(HOUR_MS - 1);
  await spend(20);
  expect(await left(id)).toBe(-10);
  clock.advance(1);
  expect(await left(id)).toBe(100);
  // Two and a half windows later. The new window begins where a third one would have begun.
  clock.advance(2.5 * HOUR_MS);
  await spend(5);
  expect(await left(id)).toBe(95);
  const row = (await keys.listKeys(account.id))[0];
  expect(row?.budgetWindowStartMs).toBe((row?.createdAtMs ?? 0) + 3 * HOUR_MS);
  expect(row?.lastUsedAtMs).toBe(clock.now());
  clock.advance(0.5 * HOUR_MS);
  expect(await left(id)).toBe(100);
  await writer.close();
});

test("a budget without a period never refills, and no budget is no limit", async () => {
  const { store, clock, make, left, account } = await withAccount();
  const { id } = await make({ budgetMicros: 100 });
  const writer = new UsageWriter(usageStore(store));
  writer.record(usageRecord({ accountId: account.id, keyId: id, costMicros: 70, createdAtMs: clock.now() }));
  await writer.close();
  clock.advance(1000 * HOUR_MS);
  expect(await left(id)).toBe(30);
  expect(await left((await make()).id)).toBeUndefined();
  expect(await left("unknown")).toBeUndefined();
});

test("rate windows come back after a restart, old ones and unknown keys do not", async () => {
  const { store, clock, make } = await withAccount();
  const rates = rateStore(store);
  const [a, b] = [await make(), await make()];
  await rates.saveRateWindows([{ keyId: b.id, timesMs: [1] }]);
  clock.advance(100);
  await rates.saveRateWindows([
    { keyId: a.id, timesMs: [1, 2] },
    { keyId: "gone", timesMs: [3] },
  ]);
  await rates.saveRateWindows([{ keyId: a.id, timesMs: [2, 5] }]);
  expect(await rates.loadRateWindows(clock.now())).toEqual([{ keyId: a.id, timesMs: [2, 5] }]);
  expect(await rates.loadRateWindows(0)).toEqual([{ keyId: a.id, timesMs: [2, 5] }]);
});
