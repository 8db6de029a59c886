// Plans: their order, what an account may use, and when its trial or subscription has ended. Pure; the caller passes the
// time. (The 402 and 403 codes are in docs/reference/errors.md.)

import { ApiError } from "../base/errors.ts";
import type { TierId } from "../config/schema.ts";
import { TIER_IDS } from "../config/schema-server.ts";

const TIER_NAMES: Readonly<Record<TierId, string>> = { free: "Free", pro: "Pro", premium: "Premium" };

const DAY_MS = 86_400_000;

/** The limits of a plan, from the config. */
export interface TierGrant {
  /** Requests per minute of one key. */
  readonly rpm: number;
  /** Tokens a minute of one key; absent: no limit. */
  readonly tpm?: number | undefined;
  /** Requests at once of one key; absent: no limit. */
  readonly parallel?: number | undefined;
  /** How long a new account may use the plan; absent: no trial. */
  readonly trialMs?: number | undefined;
  /** The budget of an account; absent: no limit. */
  readonly budget?: TierBudget | undefined;
  /** The limits of one agent run. */
  readonly runs?: RunTerms | undefined;
}

/** What one agent run may do, and when it ends. At 0 there is no limit. */
export interface RunTerms {
  /** Its cost in micro-dollars. */
  readonly micros: number;
  readonly requests: number;
  /** Equal tool calls in a row. */
  readonly repeats: number;
  /** It ends after this time without a request. */
  readonly idleMs: number;
  /** It ends at this age. */
  readonly ageMs: number;
}

/** The amount per period; a null period: in total. */
export interface TierBudget {
  readonly limitMicros: number;
  readonly periodMs: number | null;
}

/** What determines an account's plan. Times are milliseconds since the epoch; null or absent: no end. */
export interface Subscriber {
  readonly tier: TierId;
  readonly trialEndsAtMs?: number | null | undefined;
  readonly subscriptionUntilMs?: number | null | undefined;
}

/** Whether a word names a plan. */
export function isTierId(word: unknown): word is TierId {
  return TIER_IDS.some((id) => id === word);
}

/** Whether the plan `held` includes `needed`. */
export function tierIncludes(held: TierId, needed: TierId): boolean {
  return TIER_IDS.indexOf(held) >= TIER_IDS.indexOf(needed);
}

/**
 * Throws 402 if the account's trial or subscription has ended. For inference, decisions and web tools; the catalog, tiers and
 * auth continue to work. An active subscription takes precedence over an ended trial.
 */
export function requireActivePlan(account: Subscriber, nowMs: number): void {
  const { trialEndsAtMs, subscriptionUntilMs } = account;
  if (subscriptionUntilMs != null) {
    if (subscriptionUntilMs > nowMs) return;
    throw new ApiError(
      "subscription_inactive",
      "Your subscription has ended. Ask the administrator of this gateway to extend it.",
    );
  }
  if (trialEndsAtMs != null && trialEndsAtMs <= nowMs) {
    throw new ApiError("trial_expired", "Your trial has ended. Ask the administrator of this gateway to extend it.");
  }
}

/** One entry of `GET /v1/tiers`. */
interface TierView {
  id: TierId;
  name: string;
  rpm: number;
  tpm: number | null;
  parallel: number | null;
  trial_days: number | null;
  models: string[];
}

/** The body of `GET /v1/tiers`: each plan with its listed models, and the caller's own plan. */
export function tiersView(
  grants: Readonly<Record<TierId, TierGrant>>,
  listed: readonly { readonly id: string; readonly tier: TierId }[],
  current: TierId,
): { object: "list"; data: TierView[]; current: TierId } {
  const data = TIER_IDS.map((id) => ({
    id,
    name: TIER_NAMES[id],
    rpm: grants[id].rpm,
    tpm: grants[id].tpm ?? null,
    parallel: grants[id].parallel ?? null,
    trial_days: grants[id].trialMs === undefined ? null : grants[id].trialMs / DAY_MS,
    models: listed.filter((model) => tierIncludes(id, model.tier)).map((model) => model.id),
  }));
  return { object: "list", data, current };
}
