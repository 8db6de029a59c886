import { expect, test } from "bun:test";
import { accountBudgetStore } from "../../src/store/access/account-budgets.ts";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { freshStore, secondStore, usageRecord } from "./support.ts";

const HOUR_MS = 3_600_000;
const HOURLY = { limitMicros: 100, periodMs: HOUR_MS };

async function withAccount() {
  const fresh = freshStore();
  const { store, clock } = fresh;
  const account = (await accountStore(store).createAccount({
    username: "ann",
    email: "a@x.example",
    tier: "pro",
  })) as Account;
  const keys = keyStore(store);
  const ids = [
    (await keys.createKey({ accountId: account.id, name: "a" })).id,
    (await keys.houseKey(account.id, "p")).id,
  ];
  const writer = new UsageWriter(usageStore(store));
  const spend = async (costMicros: number, keyId = ids[0]!) => {
    writer.record(usageRecord({ accountId: account.id, keyId, costMicros, createdAtMs: clock.now() }));
    expect(writer.pendingCostMicros(account.id)).toBe(costMicros);
    expect(await writer.flush()).toBe(true);
    expect(writer.pendingCostMicros(account.id)).toBe(0);
  };
  const budgets = accountBudgetStore(store);
  const now = (plan?: typeof HOURLY) => budgets.findAccountBudget(account.id, plan);
  return { ...fresh, id: account.id, ids, spend, budgets, now };
}

test("an own budget counts every key of the account, by windows, and for other processes too", async () => {
  const { store, clock, id, ids, spend, budgets, now } = await withAccount();
  const startMs = clock.now();
  await budgets.setAccountBudget(id, HOURLY);
  await spend(60, ids[0]);
  await spend(30, ids[1]);
  expect(await now()).toEqual({ ...HOURLY, own: true, spentMicros: 90, resetsAtMs: startMs + HOUR_MS });
  expect(await accountBudgetStore(secondStore(store)).findAccountBudget(id, undefined)).toEqual(await now());
  clock.advance(HOUR_MS);
  expect(await now()).toMatchObject({ spentMicros: 0, resetsAtMs: startMs + 2 * HOUR_MS });
  clock.advance(1.5 * HOUR_MS);
  await spend(5);
  expect(await now()).toMatchObject({ spentMicros: 5, resetsAtMs: startMs + 3 * HOUR_MS });
});

test("a plan's budget counts from when the account first spends under it; its amount and period are the plan's of now", async () => {
  const { clock, id, spend, budgets, now } = await withAccount();
  await spend(7);
  expect(await now()).toBeUndefined();
  expect(await now(HOURLY)).toMatchObject({ own: false, spentMicros: 0 });
  const startMs = clock.now();
  expect(await budgets.openAccountBudget(id, HOURLY)).toMatchObject({ spentMicros: 0 });
  await spend(60);
  clock.advance(1);
  expect(await budgets.openAccountBudget(id, HOURLY)).toMatchObject({ spentMicros: 60, resetsAtMs: startMs + HOUR_MS });
  const daily = { limitMicros: 500, periodMs: 24 * HOUR_MS };
  expect(await budgets.openAccountBudget(id, daily)).toMatchObject({ limitMicros: 500, spentMicros: 60 });
  clock.advance(2 * HOUR_MS);
  await spend(1);
  expect(await now(daily)).toMatchObject({ spentMicros: 61, resetsAtMs: startMs + 24 * HOUR_MS });
});

test("the operator's word beats the plan's, and another amount keeps what was spent", async () => {
  const { id, spend, budgets, now } = await withAccount();
  await budgets.openAccountBudget(id, HOURLY);
  await spend(100);
  await budgets.setAccountBudget(id, null);
  expect(await now(HOURLY)).toBeUndefined();
  await spend(1000);
  await budgets.setAccountBudget(id, { limitMicros: 200, periodMs: null });
  expect(await now(HOURLY)).toEqual({ limitMicros: 200, periodMs: null, own: true, spentMicros: 0, resetsAtMs: null });
  await spend(150);
  await budgets.setAccountBudget(id, { limitMicros: 300, periodMs: null });
  expect(await now(HOURLY)).toMatchObject({ limitMicros: 300, spentMicros: 150 });
  await budgets.setAccountBudget(id, { limitMicros: 300, periodMs: HOUR_MS });
  expect(await now(HOURLY)).toMatchObject({ limitMicros: 300, spentMicros: 0 });
  await budgets.clearAccountBudget(id);
  expect(await now()).toBeUndefined();
  expect(await now(HOURLY)).toMatchObject({ own: false, limitMicros: 100, spentMicros: 0 });
});
