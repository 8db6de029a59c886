// The description of a key for its holder.

import type { Clock } from "../../../base/clock.ts";
import { isoTime } from "../../../base/iso-time.ts";
import type { ScopedLimit } from "../../../shared-state/request-slots.ts";
import type { KeyInfo } from "../../../store/access/key-rows.ts";
import { keyBudgetNow } from "../../../store/usage/spending.ts";
import type { Caller } from "../../admission/caller.ts";

const MICROS_PER_USD = 1_000_000;

/** The body of `GET /v1/key`. Money is in US dollars, times are dates; null means none. */
export interface OwnKeyView {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  /** Requests per minute: the key's own limit, or else the plan's. */
  readonly rpm: number;
  /** Tokens per minute: the lowest limit that applies. */
  readonly tpm: number | null;
  /** Requests at once: the lowest limit that applies. */
  readonly parallel: number | null;
  readonly budget: number | null;
  /** The spending in the current period of the budget; of a key without a budget, all that it has spent. */
  readonly spent: number;
  readonly resets_at: string | null;
  readonly expires_at: string | null;
  /** Until then, requests and answers of the key are stored for its holder and the operator. Null: nothing is stored. */
  readonly debug_until: string | null;
  /** Patterns of the models that it may use. */
  readonly models: readonly string[];
}

/** What a key has spent: in all, and since the beginning of the day, the week and the month in UTC. */
export interface KeySpending {
  readonly allMicros: number;
  readonly dayMicros: number;
  readonly weekMicros: number;
  readonly monthMicros: number;
}

const DAY_MS = 86_400_000;
/** The first day since the epoch that is a Monday. */
const FIRST_MONDAY = 4;

/** Adds up the spending of days since the epoch. `pendingMicros` is not written yet, and belongs to today. */
export function keySpending(
  days: readonly { readonly day: number; readonly costMicros: number }[],
  { nowMs, pendingMicros }: { nowMs: number; pendingMicros: number },
): KeySpending {
  const [day, week, month] = dayStarts(nowMs);
  const since = (first: number) =>
    days.reduce((sum, { day, costMicros }) => sum + (day >= first ? costMicros : 0), pendingMicros);
  return {
    allMicros: since(0),
    dayMicros: since(day),
    weekMicros: since(week),
    monthMicros: since(month),
  };
}

/** The days since the epoch on which the day, the week and the month began, in UTC. */
export function dayStarts(nowMs: number): readonly [day: number, week: number, month: number] {
  const today = Math.floor(nowMs / DAY_MS);
  const now = new Date(nowMs);
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / DAY_MS;
  return [today, today - ((today - FIRST_MONDAY) % 7), month];
}

/** Describes a caller's own key. `planRpm`: the plan's rate limit. */
export function ownKeyView(
  caller: Pick<Caller, "rpm" | "budgets" | "limits"> & { readonly account: Pick<Caller["account"], "tier"> },
  row: KeyInfo,
  { clock, planRpm, spending }: { clock: Clock; planRpm: number; spending: KeySpending },
): OwnKeyView {
  const spent = spentMicros(caller, row, clock) ?? spending.allMicros;
  return {
    id: row.id,
    name: row.name,
    tier: caller.account.tier,
    rpm: caller.rpm ?? planRpm,
    tpm: lowest(caller.limits?.tpm),
    parallel: lowest(caller.limits?.parallel),
    budget: row.budgetMicros === null ? null : row.budgetMicros / MICROS_PER_USD,
    spent: spent / MICROS_PER_USD,
    resets_at: isoTime(keyBudgetNow(row, clock.now())?.resetsAtMs ?? null),
    expires_at: isoTime(row.expiresAtMs),
    debug_until: isoTime(debuggedUntilMs(row, clock.now())),
    models: row.models ?? ["*"],
  };
}

function lowest(limits: readonly ScopedLimit[] | undefined): number | null {
  return limits === undefined ? null : Math.min(...limits.map(({ limit }) => limit));
}

/** The spending in the current period, with amounts that are not yet written to the database; undefined without a budget. */
function spentMicros({ budgets }: Pick<Caller, "budgets">, row: KeyInfo, clock: Clock): number | undefined {
  const met = row.budgetMicros === null ? undefined : budgets?.find(({ of }) => of === "key");
  if (row.budgetMicros !== null && met !== undefined) return row.budgetMicros - met.leftMicros();
  return keyBudgetNow(row, clock.now())?.spentMicros;
}

/** Until when requests and answers of the key are stored; null if nothing is stored. */
function debuggedUntilMs({ debugUntilMs: untilMs }: KeyInfo, nowMs: number): number | null {
  return untilMs !== null && untilMs > nowMs ? untilMs : null;
}

/** The lengths of OpenRouter's periods; other periods have no name there. */
export const RESETS: Readonly<Record<number, string>> = {
  [DAY_MS]: "daily",
  [7 * DAY_MS]: "weekly",
  [30 * DAY_MS]: "monthly",
};

/**
 * The description in OpenRouter's format, with every member that its SDK requires
 * (openrouter.ai/docs/api/api-reference/api-keys/get-current-key). What this gateway does not have is null or zero.
 */
export function openRouterKey(
  { name, budget, spent, rpm, tier, expires_at }: OwnKeyView,
  spending: KeySpending,
  { periodMs, isManagement }: { readonly periodMs: number | null; readonly isManagement: boolean },
) {
  return {
    data: {
      label: name,
      ...openRouterUsage({ budget, spent }, spending, periodMs),
      is_free_tier: tier === "free",
      ...{ is_management_key: isManagement, is_provisioning_key: isManagement },
      ...{ creator_user_id: null, organization_id: null, workspace_id: null },
      allowed_data_regions: [],
      free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
      expires_at,
      rate_limit: { requests: rpm, interval: "1m", note: "Requests per minute of this key." },
    },
  };
}

/** What a key has spent, and its budget, in OpenRouter's format. */
export function openRouterUsage(
  { budget, spent }: Pick<OwnKeyView, "budget" | "spent">,
  spending: KeySpending,
  periodMs: number | null,
) {
  return {
    usage: spending.allMicros / MICROS_PER_USD,
    usage_daily: spending.dayMicros / MICROS_PER_USD,
    usage_weekly: spending.weekMicros / MICROS_PER_USD,
    usage_monthly: spending.monthMicros / MICROS_PER_USD,
    ...{ byok_usage: 0, byok_usage_daily: 0, byok_usage_weekly: 0, byok_usage_monthly: 0 },
    limit: budget,
    limit_remaining: budget === null ? null : Math.max(0, budget - spent),
    limit_reset: budget === null || periodMs === null ? null : (RESETS[periodMs] ?? null),
    include_byok_in_limit: false,
  };
}

/** The key's budget and all that it has spent, as OpenRouter's credits. */
export function openRouterCredits({ budget, spent }: OwnKeyView, { allMicros }: KeySpending) {
  const total = allMicros / MICROS_PER_USD;
  // What was spent in earlier periods was paid by earlier budgets, so that the difference is what is left.
  return { data: { total_credits: budget === null ? 0 : budget + Math.max(0, total - spent), total_usage: total } };
}
