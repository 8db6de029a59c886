// Budgets of accounts, which cover all keys of an account. A budget set by the operator replaces the plan's budget.

import { eq, sql } from "drizzle-orm";
import { lazily } from "../../base/lazily.ts";
import { type Store, step } from "../engine/store.ts";
import { accountBudgets } from "../schema.ts";

/** An amount and the period after which it renews; null: never. */
export interface BudgetTerms {
  readonly limitMicros: number;
  readonly periodMs: number | null;
}

/** An account's current budget. */
export interface AccountBudget extends BudgetTerms {
  /** It was set for this account, not by its plan. */
  readonly own: boolean;
  readonly spentMicros: number;
  /** When the next period starts. */
  readonly resetsAtMs: number | null;
}

/** Verbs over the budgets of accounts. */
export type AccountBudgetStore = ReturnType<typeof accountBudgetStore>;

/** Builds the verbs. */
export function accountBudgetStore(store: Store) {
  const byId = budgetById(store);
  return { ...readingBudgets(store, byId), ...settingBudgets(store, byId) };
}

type ById = ReturnType<typeof budgetById>;

function budgetById({ db }: Store) {
  return lazily(() =>
    db
      .select()
      .from(accountBudgets)
      .where(eq(accountBudgets.accountId, sql.placeholder("id")))
      .prepare(),
  );
}

function readingBudgets(store: Store, byId: ById) {
  const { clock } = store;
  const insertBudget = store.statement(
    `INSERT INTO account_budgets (account_id, own, period_ms, window_start) VALUES ($id, FALSE, $period, $now)
     ON CONFLICT (account_id) DO UPDATE SET period_ms = excluded.period_ms
     WHERE account_budgets.own = FALSE AND account_budgets.period_ms IS DISTINCT FROM excluded.period_ms`,
  );

  /** The current budget of an account; `plan` is the budget of its plan. Undefined if the account has no budget. */
  const find = async (accountId: string, plan: BudgetTerms | undefined): Promise<AccountBudget | undefined> => {
    const row = await byId().get({ id: accountId });
    const terms = row?.own ? ownTerms(row) : plan;
    if (terms === undefined) return undefined;
    const { own = false, windowStartMs = clock.now(), spentMicros = 0 } = row ?? {};
    const { limitMicros, periodMs } = terms;
    if (periodMs === null) return { limitMicros, periodMs, own, spentMicros, resetsAtMs: null };
    const windows = Math.max(0, Math.floor((clock.now() - windowStartMs) / periodMs));
    const resetsAtMs = windowStartMs + (windows + 1) * periodMs;
    return { limitMicros, periodMs, own, spentMicros: windows > 0 ? 0 : spentMicros, resetsAtMs };
  };

  return {
    /** The budget of an account on a plan with this budget; undefined if it has none. */
    async findAccountBudget(accountId: string, plan: BudgetTerms | undefined): Promise<AccountBudget | undefined> {
      return find(accountId, plan);
    },

    /**
     * Like `findAccountBudget`, for an account that is about to spend: from now on its spending is counted. If the
     * plan's period has changed, the new period applies to the current window.
     */
    async openAccountBudget(accountId: string, plan: BudgetTerms | undefined): Promise<AccountBudget | undefined> {
      const found = await find(accountId, plan);
      if (found === undefined || found.own) return found;
      const row = await byId().get({ id: accountId });
      // Written only when something has changed, since a write may have to wait for another process.
      if (row === undefined || row.own || row.periodMs !== found.periodMs) {
        await insertBudget.run({ id: accountId, period: found.periodMs, now: clock.now() });
      }
      return found;
    },
  };
}

function settingBudgets(store: Store, byId: ById) {
  const { db, clock } = store;
  const tiers = store.statement<{ tier: string }>(
    `SELECT DISTINCT tier FROM accounts WHERE id IN (
       SELECT account_id FROM account_budgets WHERE own = TRUE AND limit_micros IS NOT NULL
       UNION SELECT account_id FROM api_keys WHERE budget_micros IS NOT NULL AND revoked_at IS NULL)`,
  );
  return {
    /**
     * Sets an account's own budget; null: no budget, whatever its plan says. If only the amount changes, the spent
     * amount is kept; otherwise a new window begins now.
     */
    async setAccountBudget(accountId: string, terms: BudgetTerms | null): Promise<void> {
      const { limitMicros, periodMs } = terms ?? { limitMicros: null, periodMs: null };
      await store.transaction(function* () {
        const row = yield* step(() => byId().get({ id: accountId }));
        const goesOn =
          row?.own === true && row.limitMicros !== null && limitMicros !== null && row.periodMs === periodMs;
        const set = {
          own: true,
          limitMicros,
          periodMs,
          ...(goesOn ? {} : { windowStartMs: clock.now(), spentMicros: 0 }),
        };
        yield* step(() =>
          db
            .insert(accountBudgets)
            .values({ accountId, windowStartMs: clock.now(), ...set })
            .onConflictDoUpdate({ target: accountBudgets.accountId, set })
            .run(),
        );
      });
    },

    /** The plans of the accounts that have a budget, either their own or through a key that is not revoked. */
    async tiersWithBudgets(): Promise<string[]> {
      const rows = await tiers.all();
      return rows.map(({ tier }) => tier);
    },

    /** Removes an account's own budget. Its plan's budget then applies, in a new window. */
    async clearAccountBudget(accountId: string): Promise<void> {
      await db.delete(accountBudgets).where(eq(accountBudgets.accountId, accountId)).run();
    },
  };
}

function ownTerms({ limitMicros, periodMs }: typeof accountBudgets.$inferSelect): BudgetTerms | undefined {
  return limitMicros === null ? undefined : { limitMicros, periodMs };
}
