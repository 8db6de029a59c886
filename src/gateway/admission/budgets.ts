// The budgets against which a caller's requests count, and the errors for requests that exceed them.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import type { TierBudget } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { Budget, BudgetRefusal, Reservation, Reservations } from "../../shared-state/reservations.ts";
import type { AccountBudget, AccountBudgetStore } from "../../store/access/account-budgets.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import {
  afterSpending,
  leftMicros,
  resetsAtMs,
  type Spending,
  type SpendingWindow,
} from "../../store/usage/spending.ts";
import type { Caller } from "./caller.ts";

/** Enforces the budgets of callers. */
export interface Budgets {
  /** Throws 402 or 429 if no request of this caller can be admitted. */
  admit(caller: Pick<Caller, "budgets">): void;
  /**
   * Reserves the maximum cost of a request until its exchange ends. Throws 402 or 429 if that exceeds a budget. Call it only for
   * callers with budgets. If the answer continues after the exchange, share the hold. `within`: the reservation of the request to
   * which this one belongs.
   */
  reserve(
    budgets: readonly Budget[],
    exchange: Pick<Exchange, "atEnd">,
    micros: number,
    within?: Reservation,
  ): Promise<Reservation>;
}

/** Seconds in Retry-After of a temporary refusal, as most answers take a few seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Creates the budgets over the given reservations. */
export function createBudgets(reservations: Reservations): Budgets {
  return {
    admit({ budgets }) {
      const refusal = budgets === undefined ? undefined : reservations.refusal(budgets);
      if (refusal !== undefined) throw errorOf(refusal);
    },
    async reserve(budgets, exchange, micros, within) {
      const reservation = await reservations.reserve(budgets, micros, within);
      if ("why" in reservation) throw errorOf(reservation);
      exchange.atEnd(() => reservation.release());
      return reservation;
    },
  };
}

function errorOf({ budget, why }: BudgetRefusal): Error {
  if (why === "spent") return budget.refused?.() ?? usedUp(budget);
  return new ApiError(
    "rate_limit_exceeded",
    `Requests in progress may use up the budget of this ${budget.of}. Try again when they have ended.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

const MICROS_PER_USD = 1_000_000;
/** Who may raise a budget. */
const RAISED_BY = {
  key: "the key's owner",
  project: "its owners and managers",
  account: "the operator",
  run: "its owner",
};

/** Tells whose budget is used up, how much of how much was spent, and when it is full again. */
function usedUp(budget: Budget): ApiError {
  const { of } = budget;
  const terms = budget.terms?.();
  if (terms === undefined) return new ApiError("budget_exceeded", `The budget of this ${of} is used up.`);
  const limit = terms.limitMicros / MICROS_PER_USD;
  const spent = (terms.limitMicros - budget.leftMicros()) / MICROS_PER_USD;
  const resets = isoTime(terms.resetsAtMs);
  const renewal = resets === null ? "It is never reset" : `It is reset on ${resets.slice(0, 16).replace("T", " ")} UTC`;
  const message = `The budget of this ${of} is used up: $${spent} of $${limit}. ${renewal}; ${RAISED_BY[of]} can raise it.`;
  return new ApiError("budget_exceeded", message, { details: { scope: of, spent, limit, resets_at: resets } });
}

/** How the budgets of callers are found. */
export interface SpendersDeps {
  readonly keys: Pick<KeyStore, "findKeyBudget">;
  readonly accounts: Pick<AccountBudgetStore, "openAccountBudget">;
  /** A project's budget and what was spent of it; undefined if it has none. */
  projectBudget(id: string): Promise<SpendingWindow | undefined>;
  readonly clock: Clock;
  /** The budget of accounts on a plan. */
  planBudget(tier: TierId): TierBudget | undefined;
  /** The spending of a key, a project or an account that is not yet written to the database. */
  pendingMicros(id: string): number;
  /** Calls `listener` with the amounts at the moment at which they are no longer pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void;
  /** Runs `read` at a time when no spending is being written. */
  readBetweenWrites<T>(read: () => Promise<T>): Promise<T>;
  /** Called when something of a budget was spent, or when it was read. It must be quick: it is called for each request. */
  spent(budget: SpentBudget): void;
}

/** Whose budget it is. */
interface Spender {
  /** Of the key, the project or the account. */
  readonly id: string;
  readonly of: Budget["of"];
  /** The account, or the one that the key or the project belongs to. */
  readonly accountId: string;
  /** The name of the key or the project. */
  readonly name?: string | null | undefined;
}

/** What is spent of a budget. */
export interface SpentBudget extends Spender {
  readonly window: SpendingWindow;
}

type Look = () => Promise<SpendingWindow | undefined>;

interface ProjectOfKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly budgetMicros: number | null;
}

/** A key, its project and its account. */
interface SpendingKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly name?: string | null;
  readonly budgetMicros: number | null;
  readonly project?: ProjectOfKey | null;
  readonly account: { readonly tier: TierId };
}

/** Maximum number of cached budgets, far more than the cached callers with three budgets each. */
const WINDOWS_MAX = 40_000;

/**
 * Finds the budgets of a caller, when its key is looked up rather than for each request. The spending is cached from then on and
 * updated with every write, so that a request is checked without a query.
 */
export function createSpenders({
  keys,
  accounts,
  projectBudget,
  clock,
  planBudget,
  pendingMicros,
  whenWritten,
  readBetweenWrites,
  spent: noteSpent,
}: SpendersDeps) {
  const windows = new Map<string, SpentBudget>();
  const keep = (budget: SpentBudget) => {
    windows.set(budget.id, budget);
    noteSpent(budget);
  };
  whenWritten((spent) => {
    for (const one of spent) {
      const known = windows.get(one.id);
      if (known !== undefined) keep({ ...known, window: afterSpending(known.window, one) });
    }
  });
  const read = async (spender: Spender, look: Look) => {
    const { id } = spender;
    // Most keys and accounts have no budget and need not wait for a write.
    if ((await look()) === undefined) {
      windows.delete(id);
      return undefined;
    }
    return readBetweenWrites(async () => {
      const window = await look();
      windows.delete(id);
      if (window === undefined) return undefined;
      if (windows.size >= WINDOWS_MAX) windows.delete(windows.keys().next().value as string);
      keep({ ...spender, window });
      return window;
    });
  };
  const budget = (spender: Spender, { known, look }: { known: SpendingWindow; look: Look }): Budget => {
    const { id, of } = spender;
    const windowNow = () => windows.get(id)?.window ?? known;
    return {
      id,
      of,
      refresh: () => read(spender, look),
      terms: () => {
        const window = windowNow();
        return { limitMicros: window.limitMicros, resetsAtMs: resetsAtMs(window, clock.now()) };
      },
      leftMicros: () => leftMicros(windowNow(), clock.now()) - pendingMicros(id),
    };
  };
  return async (key: SpendingKey): Promise<readonly Budget[] | undefined> => {
    const { keyId, accountId, budgetMicros, project, account, name } = key;
    const ownKey: Spender = { id: keyId, of: "key", accountId, name };
    const ownAccount: Spender = { id: accountId, of: "account", accountId };
    const ownProject: Spender | undefined =
      project?.budgetMicros == null
        ? undefined
        : { id: project.id, of: "project", accountId: project.accountId, name: project.name };
    const lookAtKey = () => keys.findKeyBudget(keyId);
    const lookAtAccount = async () => windowOf(await accounts.openAccountBudget(accountId, planBudget(account.tier)));
    const lookAtProject = () => projectBudget(ownProject?.id ?? "");
    const [ofKey, ofProject, ofAccount] = await Promise.all([
      budgetMicros === null ? undefined : read(ownKey, lookAtKey),
      ownProject === undefined ? undefined : read(ownProject, lookAtProject),
      read(ownAccount, lookAtAccount),
    ]);
    const budgets = [
      ...(ofKey === undefined ? [] : [budget(ownKey, { known: ofKey, look: lookAtKey })]),
      ...(ofProject === undefined || ownProject === undefined
        ? []
        : [budget(ownProject, { known: ofProject, look: lookAtProject })]),
      ...(ofAccount === undefined ? [] : [budget(ownAccount, { known: ofAccount, look: lookAtAccount })]),
    ];
    return budgets.length === 0 ? undefined : budgets;
  };
}

function windowOf(budget: AccountBudget | undefined): SpendingWindow | undefined {
  if (budget === undefined) return undefined;
  const { limitMicros, periodMs, spentMicros, resetsAtMs } = budget;
  const windowStartMs = periodMs === null || resetsAtMs === null ? null : resetsAtMs - periodMs;
  return { limitMicros, periodMs, windowStartMs, spentMicros };
}
