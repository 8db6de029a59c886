// The limits of agent runs that a key or a project has of its own, as bodies and answers name them: `runs: {usd, requests, repeats}`.

import { ApiError } from "../base/errors.ts";

/** The limits that a key or a project sets; null: none. */
export interface OwnRunLimits {
  readonly runMicros: number | null;
  readonly runRequests: number | null;
  readonly runRepeats: number | null;
}

/** The same as clients see them; null: none. */
export interface RunLimitsView {
  /** US dollars. */
  readonly usd: number | null;
  readonly requests: number | null;
  readonly repeats: number | null;
}

/** No limit is higher: those of the plans in the configuration. */
export const RUN_LIMITS_MAX = { usd: 1_000_000_000, requests: 1_000_000_000, repeats: 1000 } as const;

const MICROS_PER_USD = 1_000_000;
const COLUMNS = { usd: "runMicros", requests: "runRequests", repeats: "runRepeats" } as const;
type LimitName = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as LimitName[];

/** The member `runs` of a body: what is absent stays, null or 0 takes a limit away. Throws `ApiError` 400. */
export function runLimitsOf(body: Readonly<Record<string, unknown>>): Partial<OwnRunLimits> {
  const { runs } = body;
  if (runs === undefined) return {};
  if (runs === null) return { runMicros: null, runRequests: null, runRepeats: null };
  if (typeof runs !== "object" || Array.isArray(runs)) throw wrong("runs", "an object, or null");
  const given = runs as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((name) => !(NAMES as string[]).includes(name));
  if (unknown !== undefined) throw wrong("runs", `an object with the members ${NAMES.join(", ")}`);
  return Object.fromEntries(
    NAMES.filter((name) => given[name] !== undefined).map((name) => [COLUMNS[name], limitOf(name, given[name])]),
  );
}

function limitOf(name: LimitName, value: unknown): number | null {
  if (value === null || value === 0) return null;
  const most = RUN_LIMITS_MAX[name];
  const isUsd = name === "usd";
  const number = typeof value === "number" && value <= most ? value : 0;
  const stored = isUsd ? Math.round(number * MICROS_PER_USD) : number;
  if (Number.isInteger(stored) && stored > 0) return stored;
  throw wrong(
    `runs.${name}`,
    isUsd
      ? `US dollars from 0.000001 to ${most}, or 0 or null for no limit`
      : `a whole number from 1 to ${most}, or 0 or null for no limit`,
  );
}

/** Shows the limits. */
export function runLimitsView({ runMicros, runRequests, runRepeats }: OwnRunLimits): RunLimitsView {
  return {
    usd: runMicros === null ? null : runMicros / MICROS_PER_USD,
    requests: runRequests,
    repeats: runRepeats,
  };
}

function wrong(param: string, expected: string): ApiError {
  return new ApiError("invalid_request", `Invalid '${param}': expected ${expected}.`, { param });
}
