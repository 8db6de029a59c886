// The description of a key for its holder.

import type { Clock } from "../../base/clock.ts";
import type { KeyInfo } from "../../store/access/keys.ts";
import { leftMicros } from "../../store/usage/spending.ts";
import type { Caller } from "../caller.ts";

const MICROS_PER_USD = 1_000_000;

/** The body of `GET /v1/key`. Money is in US dollars, times are dates; null means none. */
export interface OwnKeyView {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  /** Requests per minute: the key's own limit, or else the plan's. */
  readonly rpm: number;
  readonly budget: number | null;
  /** The spending in the current period of the budget. */
  readonly spent: number;
  readonly resets_at: string | null;
  readonly expires_at: string | null;
  /** Until then, requests and answers of the key are stored for its holder and the operator. Null: nothing is stored. */
  readonly debug_until: string | null;
  /** Patterns of the models that it may use. */
  readonly models: readonly string[];
}

/** Describes a caller's own key. `planRpm`: the plan's rate limit. */
export function ownKeyView(
  caller: Pick<Caller, "rpm" | "account" | "budgets">,
  row: KeyInfo,
  { clock, planRpm }: { clock: Clock; planRpm: number },
): OwnKeyView {
  const spent = spentMicros(caller, row, clock);
  return {
    id: row.id,
    name: row.name,
    tier: caller.account.tier,
    rpm: caller.rpm ?? planRpm,
    budget: row.budgetMicros === null ? null : row.budgetMicros / MICROS_PER_USD,
    spent: spent / MICROS_PER_USD,
    resets_at: isoTime(resetsAtMs(row, clock)),
    expires_at: isoTime(row.expiresAtMs),
    debug_until: isoTime(debuggedUntilMs(row, clock.now())),
    models: row.models ?? ["*"],
  };
}

/** The cached spending includes amounts that are not yet written to the database. */
function spentMicros({ budgets }: Pick<Caller, "budgets">, row: KeyInfo, clock: Clock): number {
  const { budgetMicros: limitMicros } = row;
  if (limitMicros === null) return 0;
  const met = budgets?.find(({ of }) => of === "key");
  if (met !== undefined) return limitMicros - met.leftMicros();
  const { budgetPeriodMs: periodMs, budgetWindowStartMs: windowStartMs } = row;
  return limitMicros - leftMicros({ limitMicros, periodMs, windowStartMs, spentMicros: row.spentMicros }, clock.now());
}

/** When the next period of the budget begins: a whole number of periods after the first. */
function resetsAtMs({ budgetMicros, budgetPeriodMs, budgetWindowStartMs }: KeyInfo, clock: Clock): number | null {
  if (budgetMicros === null || budgetPeriodMs === null || budgetWindowStartMs === null) return null;
  const periods = Math.floor((clock.now() - budgetWindowStartMs) / budgetPeriodMs) + 1;
  return budgetWindowStartMs + Math.max(1, periods) * budgetPeriodMs;
}

/** Until when requests and answers of the key are stored; null if nothing is stored. */
function debuggedUntilMs({ debugUntilMs: untilMs }: KeyInfo, nowMs: number): number | null {
  return untilMs !== null && untilMs > nowMs ? untilMs : null;
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** The description in OpenRouter's format (openrouter.ai/docs/api-reference/limits). */
export function openRouterKey({ name, budget, spent, rpm, tier }: OwnKeyView) {
  return {
    data: {
      label: name,
      usage: spent,
      limit: budget,
      limit_remaining: budget === null ? null : Math.max(0, budget - spent),
      is_free_tier: tier === "free",
      rate_limit: { requests: rpm, interval: "1m" },
    },
  };
}

/** The key's budget and spending as OpenRouter's credits. */
export function openRouterCredits({ budget, spent }: OwnKeyView) {
  return { data: { total_credits: budget ?? 0, total_usage: spent } };
}
