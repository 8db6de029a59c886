// The cached spending of a budget equals the spending in the database, whatever is spent and however long writes take.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSpenders, type SpentBudget } from "../../../src/gateway/admission/budgets.ts";
import { accountBudgetStore } from "../../../src/store/access/account-budgets.ts";
import { type Account, accountStore } from "../../../src/store/access/accounts.ts";
import { keyStore } from "../../../src/store/access/keys.ts";
import { type Project, projectStore } from "../../../src/store/access/projects.ts";
import { leftMicros } from "../../../src/store/usage/spending.ts";
import { usageStore } from "../../../src/store/usage/usage.ts";
import { UsageWriter } from "../../../src/store/usage/writer.ts";
import { freshStore, usageRecord } from "../../store/support.ts";

const HOUR_MS = 3_600_000;

async function setUp(periodMs: number | null, gate?: Promise<void>) {
  const { store, clock } = freshStore();
  const account = (await accountStore(store).createAccount({
    username: "ann",
    email: "a@x.example",
    tier: "free",
  })) as Account;
  const keys = keyStore(store);
  const { id: keyId } = await keys.createKey({
    accountId: account.id,
    name: "k",
    budgetMicros: 1000,
    budgetPeriodMs: periodMs,
  });
  const accounts = accountBudgetStore(store);
  await accounts.setAccountBudget(account.id, { limitMicros: 5000, periodMs });
  const projects = projectStore(store);
  const project = (await projects.createProject(account.id, {
    ...{ name: "p", budgetMicros: 3000, budgetPeriodMs: periodMs },
  })) as Project;
  const usage = usageStore(store);
  const writer = new UsageWriter({
    async writeUsage(batch) {
      await usage.writeUsage(batch);
      // The rows are written, but the writer does not know it yet.
      await gate;
    },
  });
  const noted: SpentBudget[] = [];
  const budgetsOf = createSpenders({
    keys,
    accounts,
    clock,
    projectBudget: (id) => projects.findProjectBudget(id),
    planBudget: () => undefined,
    pendingMicros: (id) => writer.pendingCostMicros(id),
    whenWritten: (listener) => writer.whenWritten(listener),
    readBetweenWrites: (read) => writer.readBetweenWrites(read),
    spent: (budget) => void noted.push(budget),
  });
  const key = { keyId, accountId: account.id, budgetMicros: 1000, project, account: { tier: "free" as const } };
  const ids = { accountId: account.id, keyId, projectId: project.id };
  const spend = (costMicros: number) => writer.record(usageRecord({ ...ids, costMicros, createdAtMs: clock.now() }));
  return { store, clock, keys, projects, accounts, writer, spend, budgetsOf: () => budgetsOf(key), ...ids };
}

test("the cached spending follows the written spending, through every window", async () => {
  const step = fc.record({ costMicros: fc.nat(300), advanceMs: fc.nat(HOUR_MS), flush: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.constantFrom(null, HOUR_MS), async (steps, periodMs) => {
      const { store, clock, keys, projects, accounts, writer, spend, budgetsOf, ...ids } = await setUp(periodMs);
      const { accountId, keyId, projectId } = ids;
      const [ofKey, ofProject, ofAccount] = (await budgetsOf()) ?? [];
      for (const { costMicros, advanceMs, flush } of steps) {
        spend(costMicros);
        if (flush) expect(await writer.flush()).toBe(true);
        clock.advance(advanceMs);
        const key = await keys.findKeyBudget(keyId);
        const account = await accounts.findAccountBudget(accountId, undefined);
        const pending = writer.pendingCostMicros(keyId);
        const project = await projects.findProjectBudget(projectId);
        expect(ofKey?.leftMicros()).toBe(leftMicros(key!, clock.now()) - pending);
        expect(ofProject?.leftMicros()).toBe(leftMicros(project!, clock.now()) - pending);
        expect(ofAccount?.leftMicros()).toBe(account!.limitMicros - account!.spentMicros - pending);
      }
      await writer.close();
      store.close();
    }),
    { numRuns: 15 },
  );
}, 60_000);

test("spending that is written while a budget is read counts once", async () => {
  const { writer, spend, budgetsOf } = await setUp(null);
  spend(100);
  const [[ofKey]] = await Promise.all([budgetsOf().then((budgets) => budgets ?? []), writer.flush()]);
  expect(ofKey?.leftMicros()).toBe(900);
  spend(50);
  expect(ofKey?.leftMicros()).toBe(850);
  const [, [again]] = await Promise.all([writer.flush(), budgetsOf().then((budgets) => budgets ?? [])]);
  expect([ofKey?.leftMicros(), again?.leftMicros()]).toEqual([850, 850]);
});

test("spending that is written but not yet confirmed counts once", async () => {
  const gate = Promise.withResolvers<void>();
  const { writer, spend, budgetsOf } = await setUp(null, gate.promise);
  spend(100);
  const flushed = writer.flush();
  const read = budgetsOf();
  // After this, everything is done that does not wait for the gate.
  await new Promise((resolve) => setImmediate(resolve));
  gate.resolve();
  expect(await flushed).toBe(true);
  expect((await read)?.map((budget) => budget.leftMicros())).toEqual([900, 2900, 4900]);
});

test("budgets are read though there is always something to write", async () => {
  const { writer, spend, budgetsOf } = await setUp(null, Promise.resolve());
  const spent = { micros: 0, isOver: false };
  const busy = (async () => {
    while (!spent.isOver) {
      spend(1);
      spent.micros += 1;
      await writer.flush();
    }
  })();
  const all = await Promise.all(Array.from({ length: 50 }, budgetsOf));
  spent.isOver = true;
  await busy;
  for (const budgets of all)
    expect(budgets?.map((budget) => budget.leftMicros())).toEqual(
      [1000, 3000, 5000].map((limit) => limit - spent.micros),
    );
});
