// Authentication and admission of callers: keys with the budgets against which they count, and accounts for which the dashboard
// acts.

import type { AtOnce } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { lazily } from "../../base/lazily.ts";
import { callerModels } from "../../catalog/key-models.ts";
import type { TierGrant } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import { createKeyAuthenticator } from "../../http/key-authenticator.ts";
import type { RateLimiter } from "../../shared-state/rate-windows.ts";
import type { RequestSlots } from "../../shared-state/request-slots.ts";
import type { Reservations } from "../../shared-state/reservations.ts";
import type { TokenWindows } from "../../shared-state/token-windows.ts";
import type { AccountBudgetStore } from "../../store/access/account-budgets.ts";
import type { LiveKey } from "../../store/access/key-rows.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import type { Spending, SpendingWindow } from "../../store/usage/spending.ts";
import { createAdmission, verifiedCallers } from "./admit.ts";
import { createBudgets, createSpenders, type SpentBudget } from "./budgets.ts";
import type { Caller } from "./caller.ts";
import { takesXApiKey } from "./endpoints.ts";
import type { DebugRequest } from "./key-debugging.ts";
import type { KeyKind } from "./key-rules.ts";
import { limited } from "./limits.ts";

export interface CallersDeps {
  keys: Pick<KeyStore, "findLiveKey" | "findLiveKeyById" | "findKeyBudget">;
  accountBudgets: Pick<AccountBudgetStore, "openAccountBudget">;
  /** A project's budget and what was spent of it; undefined if it has none. */
  projectBudget(id: string): Promise<SpendingWindow | undefined>;
  /** Counts the writes to the database by other processes. */
  changeCounter(): number;
  clock: Clock;
  limiter: RateLimiter;
  slots: RequestSlots;
  tokens: TokenWindows;
  reservations: Reservations;
  grants(): Readonly<Record<TierId, TierGrant>>;
  requireVerifiedEmail(): boolean;
  /** The spending of a key, a project or an account that is not yet written to the database. */
  pendingMicros(id: string): number;
  /** Calls `listener` with the amounts at the moment at which they are no longer pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void;
  /** Runs `read` at a time when no spending is being written. */
  readBetweenWrites<T>(read: () => Promise<T>): Promise<T>;
  /** Called when something of a budget was spent, or when it was read. */
  budgetSpent(budget: SpentBudget): void;
  /** Measures the time of a database look-up. */
  time<T>(operation: string, work: () => Promise<T>): Promise<T>;
  /** Copies the messages of requests whose key is being debugged. */
  debug?: DebugRequest;
  /** The caller of a request without a key; undefined if it is not let in. */
  anonymous(
    request: Request,
    callerOf: (keyId: string) => Promise<Caller | undefined>,
  ): Promise<Caller | undefined> | undefined;
  /** Called for a request that exceeded its rate limit. */
  rejected(): void;
}

function metersOf(windows: TokenWindows, rejected: () => void) {
  const { createTokenMeters }: typeof import("./token-meters.ts") = require("./token-meters.ts");
  return createTokenMeters({ windows, rejected });
}

/** Creates authentication and admission. */
export function createCallers({
  keys,
  accountBudgets,
  clock,
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
    projectBudget: deps.projectBudget,
    clock,
    planBudget: (tier) => grants()[tier].budget,
    pendingMicros,
    whenWritten: deps.whenWritten,
    readBetweenWrites: deps.readBetweenWrites,
    spent: deps.budgetSpent,
  });
  const withLimits = (caller: Caller) => limited(caller, grants());
  const withBudgets = async (key: LiveKey | undefined): Promise<Caller | undefined> =>
    key &&
    withLimits({
      ...key,
      models: callerModels(key.models, key.project?.models ?? null),
      budgets: await budgetsOf(key),
    });
  const authenticator = createKeyAuthenticator<Caller>({
    findLiveKey: async (hash) => withBudgets(await time("find_live_key", () => keys.findLiveKey(hash))),
    changeCounter: deps.changeCounter,
    clock,
    takesXApiKey,
  });
  const callerOf = async (keyId: string) => {
    const key = await keys.findLiveKeyById(keyId);
    return key?.disabled ? undefined : withBudgets(key);
  };
  const identified = identifier(authenticator, (request) => deps.anonymous(request, callerOf));
  const opened = (kind: KeyKind) => verifiedCallers(identified, { kind, mustVerify: deps.requireVerifiedEmail });
  const changed = () => authenticator.invalidate();
  const meters = lazily(() => metersOf(deps.tokens, deps.rejected));
  /** The callers of requests that the dashboard makes for a session. */
  const vouched = new WeakMap<Request, Caller>();
  return {
    /** Called when keys or accounts have changed, so that cached copies are dropped. */
    changed,
    /** Called after a configuration change, as the plans' limits may be different. */
    reconfigure: changed,
    /** The caller of an endpoint that costs nothing. Other endpoints use `admit`. */
    authenticate: opened("ordinary"),
    /** The caller of an endpoint that takes a management key: its `management` says what it may manage. */
    authenticateManager: opened("management"),
    /** The caller of an endpoint that takes ordinary keys and management keys. */
    authenticateAny: opened("any"),
    budgets,
    budgetsOf,
    /** Counts the tokens of a recorded call. */
    used: (record: UsageRecord) => meters.ifMade()?.used(record),
    /** The holder of a key, for work that continues after its request; undefined once the key is revoked, expired or disabled. */
    callerOf,
    /** Runs `answer` for a caller that is known without a key; `admit` then admits the request as this caller's. */
    vouched: (answer: (request: Request) => Promise<Response>) => (request: Request, caller: Caller) => {
      // The request comes from within: an address was checked with the request that it is part of.
      vouched.set(request, { ...(caller.limits === undefined ? withLimits(caller) : caller), addresses: null });
      return answer(request);
    },
    admit: createAdmission({
      authenticate: (request) => vouched.get(request) ?? identified(request),
      ...{ limiter: deps.limiter, slots: deps.slots, clock, budgets },
      meter: (...request) => meters().open(...request),
      tierRpm: (tier) => grants()[tier].rpm,
      requireVerifiedEmail: deps.requireVerifiedEmail,
      rejected: deps.rejected,
      ...(deps.debug === undefined ? {} : { debug: deps.debug }),
    }),
  };
}

/** Finds the caller of a request; without a key only if the operator lets such requests in. */
function identifier(
  { authenticate }: Pick<ReturnType<typeof createKeyAuthenticator<Caller>>, "authenticate">,
  anonymous: (request: Request) => Promise<Caller | undefined> | undefined,
) {
  return (request: Request): AtOnce<Caller> => {
    try {
      return authenticate(request);
    } catch (error) {
      const isKeyless = error instanceof ApiError && error.apiCode === "missing_api_key";
      const found = isKeyless ? anonymous(request) : undefined;
      if (found === undefined) throw error;
      return found.then((caller) => {
        if (caller === undefined) throw error;
        return caller;
      });
    }
  };
}
