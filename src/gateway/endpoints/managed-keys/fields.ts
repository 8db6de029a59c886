// Reads the settings of a key from a request body. A member that is absent changes nothing, and null clears a setting.

import { ApiError } from "../../../base/errors.ts";
import { parseDurationMs } from "../../../base/quantity.ts";
import { isStorable } from "../../../base/storable.ts";
import { keyModelsOf } from "../../../catalog/key-models.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import { runLimitsOf } from "../../../http/run-limits.ts";
import { parseCidr } from "../../../net/address.ts";
import type { KeyChange, KeyInfo } from "../../../store/access/key-rows.ts";

type Body = Readonly<Record<string, unknown>>;

/** The settings that a body may give. */
export type KeySettings = Partial<KeyChange> & { readonly passthrough?: boolean; readonly noStore?: boolean };

const MICROS_PER_USD = 1_000_000;
const NAME_CHARS_MAX = 100;
/** The highest limit that a key may have, of requests or tokens. */
export const KEY_LIMIT_MAX = 1_000_000_000;
const BUDGET_USD_MAX = 1_000_000;
const PERIOD_MS_MAX = 366 * 86_400_000;
const ADDRESSES_MAX = 100;
const GRACE_MS_MAX = 30 * 86_400_000;

/** The error for a member of a body. */
export function wrong(param: string, expected: string): ApiError {
  return new ApiError("invalid_request", `Invalid '${param}': expected ${expected}.`, { param });
}

/** A member if the body has it: null, or what `read` makes of it. */
function given<T>(body: Body, name: string, read: (value: unknown) => T): T | null | undefined {
  const value = body[name];
  return value === undefined || value === null ? value : read(value);
}

function withoutAbsent<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** Reads the settings. `nowMs`: an expiry must be later. Throws `ApiError` 400. */
export function keySettingsOf(body: Body, nowMs: number): KeySettings {
  const whole = (name: string) =>
    given(body, name, (value) => {
      if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= KEY_LIMIT_MAX)
        return value as number;
      throw wrong(name, `a whole number from 1 to ${KEY_LIMIT_MAX}, or null`);
    });
  return withoutAbsent({
    name: body["name"] === undefined ? undefined : nameOf(body["name"]),
    rpm: whole("rpm"),
    tpm: whole("tpm"),
    parallel: whole("parallel"),
    budgetMicros: given(body, "budget", (value) => microsOf("budget", value)),
    budgetPeriodMs: given(body, "budget_period", (value) => durationOf("budget_period", value, PERIOD_MS_MAX)),
    models: given(body, "models", (value) => keyModelsOf(textsOf("models", value), "models")),
    addresses: given(body, "addresses", keyAddressesOf),
    expiresAtMs: given(body, "expires_at", (value) => laterTimeOf("expires_at", value, nowMs)),
    projectId: given(body, "project", (value) => textOf("project", value)),
    disabled: switchOf(body, "disabled"),
    passthrough: switchOf(body, "passthrough"),
    noStore: switchOf(body, "no_store"),
    ...runLimitsOf(body),
  });
}

function nameOf(value: unknown): string {
  const name = typeof value === "string" ? value.trim() : "";
  if (name !== "" && name.length <= NAME_CHARS_MAX && isStorable(name)) return name;
  throw wrong("name", `a text of 1 to ${NAME_CHARS_MAX} characters`);
}

/** A text of a body. Throws `ApiError` 400. */
export function textOf(param: string, value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= 200 && isStorable(value)) return value;
  throw wrong(param, "a text of 1 to 200 characters");
}

function microsOf(param: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= BUDGET_USD_MAX) return Math.round(value * MICROS_PER_USD);
  throw wrong(param, `a number of US dollars from 0 to ${BUDGET_USD_MAX}, or null`);
}

function durationOf(param: string, value: unknown, most: number): number {
  const ms = typeof value === "string" ? parseDurationMs(value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= most) return ms;
  throw wrong(param, `a time such as "1h" or "30d", of at most ${most / 86_400_000} days`);
}

/** For how long a replaced secret works, in milliseconds. Throws `ApiError` 400. */
export function graceOf(body: Body): number {
  const { grace } = body;
  return grace === undefined || grace === null || grace === "0s" ? 0 : durationOf("grace", grace, GRACE_MS_MAX);
}

function textsOf(param: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw wrong(param, "a list of texts");
}

/** The addresses from which a key may be used; null: any. Throws `ApiError` 400. */
export function keyAddressesOf(value: unknown): readonly string[] | null {
  const ranges = [...new Set(textsOf("addresses", value))];
  if (ranges.length <= ADDRESSES_MAX && ranges.every((range) => range.length < 60 && parseCidr(range) !== undefined))
    return ranges.length === 0 ? null : ranges;
  throw wrong("addresses", `at most ${ADDRESSES_MAX} addresses or ranges such as "10.0.0.0/8"`);
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

function laterTimeOf(param: string, value: unknown, nowMs: number): number {
  const ms = typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (ms > nowMs) return ms;
  throw wrong(param, "a time in the future such as 2030-12-31T23:59:59Z");
}

function switchOf(body: Body, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw wrong(name, "true or false");
}

/**
 * Refuses settings that the owner of the key does not have: limits above the plan's, and passthrough, are the operator's to give.
 * What the key has may stay. Throws `ApiError` 403.
 */
export function requireRights(
  wanted: KeySettings,
  { grant, before }: { grant: TierGrant; before: KeyInfo | undefined },
): void {
  for (const name of ["rpm", "tpm", "parallel"] as const) {
    const most = grant[name];
    const value = wanted[name];
    if (most === undefined || value == null || value <= Math.max(most, before?.[name] ?? 0)) continue;
    const message = `Invalid '${name}': the plan allows ${most}, and only the operator gives a key more.`;
    throw new ApiError("permission_denied", message, { param: name });
  }
  if (wanted.passthrough !== true || before?.passthrough === true) return;
  const message = "Only an administrator may create a key that can call every path of a provider.";
  throw new ApiError("permission_denied", message, { param: "passthrough" });
}
