// An account's own API keys: list, create, revoke. A key is shown once, in the answer that creates it.

import { requiredText } from "../../accounts/fields.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import { keyMayUse, keyModelsOf } from "../../catalog/key-models.ts";
import { isTierId, type TierGrant } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import { KEY_LIMIT_MAX, keyAddressesOf, requireRights } from "../../gateway/endpoints/managed-keys/fields.ts";
import { runLimitsOf } from "../../http/run-limits.ts";
import type { AccountBudget } from "../../store/access/account-budgets.ts";
import type { Account } from "../../store/access/accounts.ts";
import {
  HOUSE_KEY,
  KEYS_MAX,
  type KeyOrder,
  type KeySearch,
  type KeyState,
  LIVE_KEYS_MAX,
} from "../../store/access/key-listing.ts";
import type { KeyChange, KeyInfo, NewKey } from "../../store/access/key-rows.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import { dayOf } from "../../store/usage/record.ts";
import { keyBudgetNow } from "../../store/usage/spending.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { BudgetView, KeyView } from "../contract.ts";
import type { KeyListing, RotatedKey } from "../contract-keys.ts";
import { type Endpoint, type MemberRequest, member } from "./endpoint.ts";
import { optionalNumber, optionalSwitch, optionalTexts, optionalTime } from "./form.ts";

/** The events that the dashboard itself writes to an account's audit log. */
type NotedEvent =
  | "key_created"
  | "key_revoked"
  | "key_changed"
  | "key_rotated"
  | "key_debug_ended"
  | "run_allowed"
  | "decision_promoted"
  | "decision_promotion_refused"
  | "plan_set"
  | "account_removed"
  | "account_key_revoked"
  | "job_cancelled"
  | "invite_created"
  | "invite_withdrawn"
  | "breaker_reset"
  | "account_verified"
  | "account_admin_set"
  | "account_sessions_ended"
  | "account_reset_link_made";

export interface KeysApiDeps {
  readonly keys: Pick<
    KeyStore,
    "createKey" | "findKey" | "searchKeys" | "listKeys" | "countLiveKeys" | "revokeKey" | "updateKey" | "rotateKey"
  >;
  /** By day and key. */
  readonly usage: Pick<UsageStore, "sumsBySlot">;
  readonly clock: Clock;
  grants(): Readonly<Record<TierId, TierGrant>>;
  /** Writes to the account's audit log. */
  note(event: NotedEvent, visit: MemberRequest, detail: Readonly<Record<string, unknown>>): Promise<void>;
  /** Called after keys have changed, so that caches of them are discarded. */
  keysChanged(): void;
  /** Models without prices that accounts on a plan may use. */
  unpriced(tier: string): readonly string[];
  /** The budget of all keys of an account together. */
  budgetOf(account: Pick<Account, "id" | "tier">): Promise<AccountBudget | undefined>;
}

const NAME_CHARS_MAX = 100;
/** The number of keys that are listed at once. */
const LISTED_MAX = 500;
const MICROS_PER_USD = 1_000_000;
const BUDGET_USD_MAX = 1_000_000;
const DAY_MS = 86_400_000;
const PERIOD_DAYS_MAX = 366;
const HOUR_MS = 3_600_000;
/** The longest time for which a replaced key can stay valid. */
const GRACE_HOURS_MAX = 720;
const SPARK_DAYS = 7;

/** The endpoints of keys. */
export function keysApi(deps: KeysApiDeps): Endpoint[] {
  const { keys } = deps;
  return [
    member("GET", "/keys", async ({ who, query }): Promise<KeyListing> => {
      const { total, rows } = await keys.searchKeys({ accountId: who.account.id }, searchOf(query));
      const view = keyViewer(deps, who.account);
      const sparks = await sparksOf(deps, who.account.id);
      return { data: rows.map((key) => ({ ...view(key), requests_by_day: sparks(key.id) })), total };
    }),

    member("POST", "/keys", async (visit) => {
      const { account } = visit.who;
      const wanted = newKeyOf(await visit.body(), { account, deps });
      await refuseTooMany(deps, account.id);
      const made = await keys.createKey({ accountId: account.id, ...wanted });
      await deps.note("key_created", visit, { key_id: made.id, name: wanted.name });
      const unpriced = wanted.budgetMicros === null ? [] : deps.unpriced(account.tier);
      return { ...made, unpriced: unpriced.filter((id) => keyMayUse(wanted.models, { id })) };
    }),

    member("POST", "/keys/:id", async (visit) => {
      const { account } = visit.who;
      const before = await ownKey(deps, visit);
      const { noStore: _, passthrough: __, ...change } = newKeyOf(await visit.body(), { account, deps, before });
      if (!(await keys.updateKey(before.id, account.id, change))) throw noKey();
      deps.keysChanged();
      await deps.note("key_changed", visit, { key_id: before.id, name: change.name });
      return { success: true };
    }),

    member("POST", "/keys/:id/rotate", async (visit): Promise<RotatedKey> => {
      const { account } = visit.who;
      const { id, name } = await ownKey(deps, visit);
      const hours = optionalNumber(await visit.body(), "grace_hours", { least: 0, most: GRACE_HOURS_MAX }) ?? 0;
      const graceMs = hours * HOUR_MS;
      const made = await keys.rotateKey(id, { accountId: account.id, graceMs });
      if (made === undefined) throw noKey("It has expired or was revoked. Create a new key.");
      deps.keysChanged();
      await deps.note("key_rotated", visit, { key_id: id, name, hours });
      return { ...made, name, old_until: isoTime(deps.clock.now() + graceMs) };
    }),

    member("DELETE", "/keys/:id", async (visit) => {
      const id = visit.params["id"] ?? "";
      const revoked = !id.startsWith(HOUSE_KEY) && (await keys.revokeKey(id, { accountId: visit.who.account.id }));
      if (!revoked) throw noKey();
      deps.keysChanged();
      await deps.note("key_revoked", visit, { key_id: id });
      return { success: true };
    }),
  ];
}

/** The live key of the caller that the path names. Throws `ApiError` 404. */
async function ownKey({ keys }: Pick<KeysApiDeps, "keys">, visit: MemberRequest): Promise<KeyInfo> {
  const id = visit.params["id"] ?? "";
  const found = await keys.findKey(id, { accountId: visit.who.account.id });
  if (found === undefined || found.revokedAtMs !== null || id.startsWith(HOUSE_KEY)) throw noKey();
  return found;
}

function noKey(message = "There is no such key, or it was already revoked."): ApiError {
  return new ApiError("key_not_found", message);
}

const ORDERS: readonly KeyOrder[] = ["created", "name", "used", "spent"];
const STATES: readonly KeyState[] = ["live", "disabled", "expired", "revoked"];

/** Which keys a listing asks for. Words that are not known, as those of an old link, count as absent. */
function searchOf(query: URLSearchParams): KeySearch {
  const order = ORDERS.find((one) => one === query.get("order")) ?? "created";
  const state = STATES.find((one) => one === query.get("state"));
  const whole = (name: string, otherwise: number) => {
    const text = query.get(name) ?? "";
    return /^\d{1,7}$/.test(text) ? Number(text) : otherwise;
  };
  return {
    text: (query.get("find") ?? "").trim().slice(0, NAME_CHARS_MAX),
    ...{ order, descending: order !== "name", skip: whole("skip", 0) },
    limit: Math.min(LISTED_MAX, Math.max(1, whole("limit", LISTED_MAX))),
    isKept: query.get("state") === "kept",
    ...(state === undefined ? {} : { state }),
  };
}

/** Throws `ApiError` 400 if an account has as many keys as it may. */
export async function refuseTooMany(
  { keys }: { keys: Pick<KeyStore, "countLiveKeys" | "searchKeys"> },
  accountId: string,
): Promise<void> {
  const live = (await keys.countLiveKeys([accountId])).get(accountId) ?? 0;
  if (live >= LIVE_KEYS_MAX || (await keys.searchKeys({ accountId }, { limit: 1 })).total >= KEYS_MAX) {
    throw new ApiError("invalid_request", `An account has at most ${LIVE_KEYS_MAX} keys. Revoke some first.`);
  }
}

/** The requests of each key on each of the last days, the oldest first. */
async function sparksOf({ usage, clock }: Pick<KeysApiDeps, "usage" | "clock">, accountId: string) {
  const today = dayOf(clock.now());
  const span = { unit: "day" as const, from: today - SPARK_DAYS + 1, to: today };
  const byKey = Map.groupBy(await usage.sumsBySlot(span, "keyId", accountId), ({ name }) => name);
  return (id: string): number[] => {
    const counts = new Map(byKey.get(id)?.map(({ start, requests }) => [start, requests]));
    return Array.from({ length: SPARK_DAYS }, (_, at) => counts.get(today - SPARK_DAYS + 1 + at) ?? 0);
  };
}

function newKeyOf(
  body: Record<string, unknown>,
  { account, deps, before }: { account: Account; deps: KeysApiDeps; before?: KeyInfo },
): Omit<NewKey, "accountId"> & Partial<KeyChange> {
  const name = requiredText(body, "name").trim();
  if (name === "" || name.length > NAME_CHARS_MAX) {
    throw new ApiError("invalid_request", `A name has 1 to ${NAME_CHARS_MAX} characters.`, { param: "name" });
  }
  const planRpm = isTierId(account.tier) ? deps.grants()[account.tier].rpm : 0;
  // Only the operator may set a limit above the plan's.
  const rpmMax = account.admin ? KEY_LIMIT_MAX : Math.max(planRpm, before?.rpm ?? 0);
  const label = account.admin ? "Requests a minute" : `Requests a minute: your plan allows 1 to ${planRpm}`;
  const rpm = optionalNumber(body, "rpm", { least: 1, most: rpmMax, whole: true, label });
  const expiresAtMs = optionalTime(body, "expires_at");
  if (expiresAtMs !== undefined && expiresAtMs <= deps.clock.now()) {
    throw new ApiError("invalid_request", "The expiry time must be in the future.", { param: "expires_at" });
  }
  const budgetUsd = optionalNumber(body, "budget_usd", { least: 0, most: BUDGET_USD_MAX });
  const days = optionalNumber(body, "budget_period_days", { least: 1, most: PERIOD_DAYS_MAX, whole: true });
  if (days !== undefined && budgetUsd === undefined) {
    throw new ApiError("invalid_request", "A budget period requires a budget.", { param: "budget_usd" });
  }
  return {
    name,
    rpm: rpm ?? null,
    ...ownLimitsOf(body, { account, deps, before }),
    noStore: optionalSwitch(body, "no_store"),
    models: keyModelsOf(optionalTexts(body, "models"), "models"),
    passthrough: passthroughOf(body, account),
    expiresAtMs: expiresAtMs ?? null,
    budgetMicros: budgetUsd === undefined ? null : Math.round(budgetUsd * MICROS_PER_USD),
    budgetPeriodMs: days === undefined ? null : days * DAY_MS,
  };
}

const NO_RUN_LIMITS = { runMicros: null, runRequests: null, runRepeats: null };

/** The limits that are read as in the API of keys; what is absent is cleared. */
function ownLimitsOf(
  body: Record<string, unknown>,
  { account, deps, before }: { account: Account; deps: KeysApiDeps; before: KeyInfo | undefined },
) {
  const whole = { least: 1, most: KEY_LIMIT_MAX, whole: true };
  const limits = {
    tpm: optionalNumber(body, "tpm", { ...whole, label: "Tokens a minute" }) ?? null,
    parallel: optionalNumber(body, "parallel", { ...whole, label: "Requests at once" }) ?? null,
  };
  const grant = isTierId(account.tier) ? deps.grants()[account.tier] : undefined;
  if (!account.admin && grant !== undefined) requireRights(limits, { grant, before });
  return {
    ...limits,
    addresses: keyAddressesOf(optionalTexts(body, "addresses")),
    ...NO_RUN_LIMITS,
    ...runLimitsOf(body),
  };
}

/** Passthrough requests can do whatever the operator's own credentials allow. */
function passthroughOf(body: Readonly<Record<string, unknown>>, { admin }: Pick<Account, "admin">): boolean {
  const wanted = optionalSwitch(body, "passthrough");
  if (wanted && !admin) {
    const message = "Only an administrator may create a key that can call every path of a provider.";
    throw new ApiError("permission_denied", message, { param: "passthrough" });
  }
  return wanted;
}

const usd = (micros: number | null) => (micros === null ? null : micros / MICROS_PER_USD);

/** An account's budget in the form that pages show. */
export function budgetView(budget: AccountBudget | undefined): BudgetView | null {
  if (budget === undefined) return null;
  return {
    usd: budget.limitMicros / MICROS_PER_USD,
    spent_usd: budget.spentMicros / MICROS_PER_USD,
    period_days: budget.periodMs === null ? null : budget.periodMs / DAY_MS,
    resets_at: isoTime(budget.resetsAtMs),
    own: budget.own,
  };
}

/** Converts the keys of an account into the form that pages show. */
export function keyViewer(deps: Pick<KeysApiDeps, "unpriced" | "clock">, { tier }: Pick<Account, "tier">) {
  // Computed at most once, since it is the same for every key, and only if a key has a budget.
  let unpriced: readonly string[] | undefined;
  return (row: KeyInfo): KeyView => {
    if (row.budgetMicros === null) return keyView(row, { unpriced: [], nowMs: 0 });
    unpriced ??= deps.unpriced(tier);
    const unheld = unpriced.filter((id) => keyMayUse(row.models, { id }));
    return keyView(row, { unpriced: unheld, nowMs: deps.clock.now() });
  };
}

function keyView(row: KeyInfo, { unpriced, nowMs }: { unpriced: readonly string[]; nowMs: number }): KeyView {
  const budget = keyBudgetNow(row, nowMs);
  return {
    id: row.id,
    name: row.name,
    key: `${row.prefix}…${row.lastFour}`,
    ...{ rpm: row.rpm, tpm: row.tpm, parallel: row.parallel },
    budget_usd: usd(row.budgetMicros),
    spent_usd: usd(budget?.spentMicros ?? null),
    budget_period_days: row.budgetPeriodMs === null ? null : row.budgetPeriodMs / DAY_MS,
    budget_resets_at: isoTime(budget?.resetsAtMs ?? null),
    unpriced,
    requests_by_day: [],
    expires_at: isoTime(row.expiresAtMs),
    revoked_at: isoTime(row.revokedAtMs),
    created_at: isoTime(row.createdAtMs),
    last_used_at: isoTime(row.lastUsedAtMs),
    no_store: row.noStore,
    disabled: row.disabled,
    management: row.management !== null,
    debug_until: isoTime(row.debugUntilMs),
    models: row.models,
    addresses: row.addresses,
    runs: { usd: usd(row.runMicros), requests: row.runRequests, repeats: row.runRepeats },
    passthrough: row.passthrough,
  };
}
