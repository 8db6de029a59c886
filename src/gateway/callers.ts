// Authentication and admission: keys with the budgets they count against, and the accounts for which the dashboard acts.

import type { Clock } from "../base/clock.ts";
import type { TierGrant } from "../catalog/tiers.ts";
import type { TierId } from "../config/schema.ts";
import { createKeyAuthenticator } from "../http/key-authenticator.ts";
import type { RateLimiter } from "../shared-state/rate-windows.ts";
import type { Reservations } from "../shared-state/reservations.ts";
import type { AccountBudgetStore } from "../store/access/account-budgets.ts";
import type { KeyStore, LiveKey } from "../store/access/keys.ts";
import type { Spending } from "../store/usage/spending.ts";
import { createAdmission, verifiedCallers } from "./admit.ts";
import { createBudgets, createSpenders } from "./budgets.ts";
import type { Caller } from "./caller.ts";
import { takesXApiKey } from "./endpoints.ts";
import type { DebugRequest } from "./key-debugging.ts";

export interface CallersDeps {
  keys: Pick<KeyStore, "findLiveKey" | "findLiveKeyById" | "findKeyBudget">;
  accountBudgets: Pick<AccountBudgetStore, "openAccountBudget">;
  /** Changes when another process has written to the database. */
  changeCounter(): number;
  clock: Clock;
  limiter: RateLimiter;
  reservations: Reservations;
  grants(): Readonly<Record<TierId, TierGrant>>;
  requireVerifiedEmail(): boolean;
  /** Spent by a key or an account and not yet written. */
  pendingMicros(id: string): number;
  /** Calls back with the spent amounts at the moment they stop being pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void;
  /** The current write, if there is one. */
  writing(): Promise<unknown> | undefined;
  /** Measures a database look-up. */
  time<T>(operation: string, work: () => Promise<T>): Promise<T>;
  /** Copies what passes for a key that is being debugged. */
  debug?: DebugRequest;
  /** A request exceeded its rate limit. */
  rejected(): void;
}

/** Builds authentication and admission. */
export function createCallers({
  keys,
  accountBudgets,
  clock,
  limiter,
  reservations,
  grants,
  pendingMicros,
  time,
  ...deps
}: CallersDeps) {
  const budgets = createBudgets(reservations);
  const budgetsOf = createSpenders({
    keys,
    accounts: accountBudgets,
    clock,
    planBudget: (tier) => grants()[tier].budget,
    pendingMicros,
    whenWritten: deps.whenWritten,
    writing: deps.writing,
  });
  const withBudgets = async (key: LiveKey | undefined): Promise<Caller | undefined> =>
    key && { ...key, budgets: await budgetsOf(key) };
  const authenticator = createKeyAuthenticator<Caller>({
    findLiveKey: async (hash) => withBudgets(await time("find_live_key", () => keys.findLiveKey(hash))),
    changeCounter: deps.changeCounter,
    clock,
    takesXApiKey,
  });
  const changed = () => authenticator.invalidate();
  /** Callers for which a dashboard session acts. */
  const vouched = new WeakMap<Request, Caller>();
  return {
    /** Keys or accounts have changed: their cached copies are stale. */
    changed,
    /** The plans' limits may have changed. */
    reconfigure: changed,
    /** The caller of a free endpoint; other endpoints use `admit`. */
    authenticate: verifiedCallers((request) => authenticator.authenticate(request), deps.requireVerifiedEmail),
    budgets,
    budgetsOf,
    /** The holder of a key, for work that outlives its request; undefined once the key is revoked or expired. */
    callerOf: async (keyId: string) => withBudgets(await keys.findLiveKeyById(keyId)),
    /** Runs `answer` for a caller known without a key: `admit` admits the request as theirs. */
    vouched: (answer: (request: Request) => Promise<Response>) => (request: Request, caller: Caller) => {
      vouched.set(request, caller);
      return answer(request);
    },
    admit: createAdmission({
      authenticate: (request) => vouched.get(request) ?? authenticator.authenticate(request),
      limiter,
      clock,
      tierRpm: (tier) => grants()[tier].rpm,
      requireVerifiedEmail: deps.requireVerifiedEmail,
      budgets,
      rejected: deps.rejected,
      ...(deps.debug === undefined ? {} : { debug: deps.debug }),
    }),
  };
}
