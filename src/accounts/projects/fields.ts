// Reads the settings of a project from a body. Null takes a limit away; what is absent stays as it is.

import { ApiError } from "../../base/errors.ts";
import { parseDurationMs } from "../../base/quantity.ts";
import { runLimitsOf } from "../../http/run-limits.ts";
import { PROJECT_ROLES, type Project, type ProjectRole, type ProjectSettings } from "../../store/access/projects.ts";
import { requiredText } from "../fields.ts";

type Body = Readonly<Record<string, unknown>>;

/** Characters of a name. */
export const NAME_CHARS_MAX = 100;
/** No limit is higher. */
export const PROJECT_LIMIT_MAX = 1_000_000_000;
/** No budget is larger, in US dollars. */
export const BUDGET_USD_MAX = 1_000_000_000;
const MICROS_PER_USD = 1_000_000;
const PERIOD_MAX_MS = 10 * 366 * 86_400_000;

/** Validates patterns of models, and throws `ApiError` 400 that names `field`. */
export type ReadModels = (patterns: readonly string[], field: string) => readonly string[] | null;

/** The settings in a body. `before`: those of a project that there is. */
export function settingsOf(body: Body, readModels: ReadModels, before?: Project): Partial<ProjectSettings> {
  const limits = {
    ...limitOf(body, "rpm"),
    ...limitOf(body, "tpm"),
    ...limitOf(body, "parallel"),
    ...modelsOf(body, readModels),
    ...budgetOf(body, before),
    ...runLimitsOf(body),
  };
  return body["name"] === undefined ? limits : { ...limits, name: projectNameOf(body) };
}

/** The name in a body. */
export function projectNameOf(body: Body): string {
  const name = requiredText(body, "name").trim();
  if (name !== "" && name.length <= NAME_CHARS_MAX) return name;
  throw fault("name", `1 to ${NAME_CHARS_MAX} characters`);
}

/** The role in a body. */
export function roleOf(body: Body): ProjectRole {
  const role = PROJECT_ROLES.find((one) => one === (body["role"] ?? "member"));
  if (role === undefined) throw fault("role", `one of ${PROJECT_ROLES.join(", ")}`);
  return role;
}

function limitOf<Name extends "rpm" | "tpm" | "parallel">(
  body: Body,
  name: Name,
): Partial<Record<Name, number | null>> {
  const value = body[name];
  if (value === undefined) return {};
  if (value !== null && !isWithin(value, 1, PROJECT_LIMIT_MAX))
    throw fault(name, `a whole number from 1 to ${PROJECT_LIMIT_MAX}, or null`);
  return { [name]: value } as Partial<Record<Name, number | null>>;
}

function modelsOf(body: Body, readModels: ReadModels): Pick<ProjectSettings, "models"> | undefined {
  const value = body["models"];
  if (value === undefined) return undefined;
  if (value === null) return { models: null };
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string"))
    throw fault("models", "a list of strings, or null");
  return { models: readModels(value, "models") };
}

function budgetOf(body: Body, before: Project | undefined): Partial<ProjectSettings> {
  const usd = body["budget"];
  const isUsd = typeof usd === "number" && usd >= 0 && usd <= BUDGET_USD_MAX;
  if (usd !== undefined && usd !== null && !isUsd) throw fault("budget", "an amount in US dollars, or null");
  const amount = usd === undefined ? {} : { budgetMicros: isUsd ? Math.round(usd * MICROS_PER_USD) : null };
  const period = body["budget_period"];
  if (period === undefined) return amount;
  const { budgetMicros = before?.budgetMicros ?? null } = amount;
  if (period === null) return { ...amount, budgetPeriodMs: null };
  if (budgetMicros === null)
    throw new ApiError("invalid_request", "A budget period requires a budget.", { param: "budget" });
  const periodMs = typeof period === "string" ? parseDurationMs(period) : undefined;
  if (periodMs === undefined || !isWithin(periodMs, 1000, PERIOD_MAX_MS))
    throw fault("budget_period", 'a time such as "30d", or null');
  return { ...amount, budgetPeriodMs: periodMs };
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function fault(param: string, expected: string): ApiError {
  return new ApiError("invalid_request", `Invalid '${param}': expected ${expected}.`, { param });
}
