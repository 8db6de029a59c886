// Which budgets a caller's requests count against, and what a request is told that does not fit them.

import { ApiError } from "../base/errors.ts";
import type { TierBudget, TierId } from "../catalog/tiers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Budget, Hold, Refusal, Reservations } from "../http/reservations.ts";
import type { AccountBudgetStore } from "../store/access/account-budgets.ts";
import type { KeyStore } from "../store/access/keys.ts";

/** A caller as far as budgets go. */
export interface Spender {
  /** Undefined for most: neither the key nor the account has a budget. */
  readonly budgets?: readonly Budget[] | undefined;
}

/** Holds requests to the budgets of their callers. */
export interface Budgets {
  /** Throws 402 or 429 where no request of this caller can be let in. */
  admit(caller: Spender): void;
  /**
   * Reserves what a request may cost until its exchange ends; throws 402 or 429 where that does not fit. Call it only for
   * callers with budgets, and where the answer goes on after the exchange, share the hold.
   */
  reserve(budgets: readonly Budget[], exchange: Pick<Exchange, "atEnd">, micros: number): Promise<Hold>;
}

/** What is refused for the moment may be tried again after so long: most answers take seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Budgets over the given reservations. */
export function createBudgets(reservations: Reservations): Budgets {
  return {
    admit({ budgets }) {
      const refusal = budgets === undefined ? undefined : reservations.refusal(budgets);
      if (refusal !== undefined) throw errorOf(refusal);
    },
    async reserve(budgets, exchange, micros) {
      const hold = await reservations.reserve(budgets, micros);
      if ("why" in hold) throw errorOf(hold);
      exchange.atEnd(() => hold.release());
      return hold;
    },
  };
}

function errorOf({ budget, why }: Refusal): ApiError {
  if (why === "spent") return new ApiError("budget_exceeded", `The budget of this ${budget.of} is used up.`);
  return new ApiError(
    "rate_limit_exceeded",
    `Requests under way may use up the budget of this ${budget.of}. Try again when they have ended.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Where the budgets of callers are looked up. */
export interface SpendersDeps {
  readonly keys: Pick<KeyStore, "budgetLeftMicrosSync">;
  readonly accounts: Pick<AccountBudgetStore, "findAccountBudgetSync" | "openAccountBudgetSync">;
  /** What accounts on a plan may spend. */
  planBudget(tier: TierId): TierBudget | undefined;
  /** Spent by a key or an account and not written down yet. */
  pendingMicros(id: string): number;
}

/** A key that requests come with, and whose it is. */
interface SpendingKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly budgetMicros: number | null;
  readonly account: { readonly tier: TierId };
}

/** Finds the budgets of a caller; asked when its key is looked up, not for each of its requests. */
export function createSpenders({ keys, accounts, planBudget, pendingMicros }: SpendersDeps) {
  const ofKey = (id: string): Budget => ({
    id,
    of: "key",
    leftMicros: () => (keys.budgetLeftMicrosSync(id) ?? Number.POSITIVE_INFINITY) - pendingMicros(id),
  });
  const ofAccount = (id: string, tier: TierId): Budget => ({
    id,
    of: "account",
    leftMicros() {
      const budget = accounts.findAccountBudgetSync(id, planBudget(tier));
      if (budget === undefined) return Number.POSITIVE_INFINITY;
      return budget.limitMicros - budget.spentMicros - pendingMicros(id);
    },
  });
  return ({ keyId, accountId, budgetMicros, account: { tier } }: SpendingKey): readonly Budget[] | undefined => {
    const held = accounts.openAccountBudgetSync(accountId, planBudget(tier));
    const budgets = [
      ...(budgetMicros === null ? [] : [ofKey(keyId)]),
      ...(held === undefined ? [] : [ofAccount(accountId, tier)]),
    ];
    return budgets.length === 0 ? undefined : budgets;
  };
}
