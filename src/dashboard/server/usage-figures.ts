// How usage by day and hour is asked for and shown.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { percentileMs } from "../../store/usage/latency.ts";
import { hourOf, type UsageSums } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { HourlyReport, LatencyView, UsageSumsView } from "../contract-usage.ts";

const DAYS_MAX = 366;
const DAYS = 30;
/** A week, as long as hourly sums are kept; see `HOURLY_KEPT_MS`. */
const HOURS_MAX = 168;
const HOURS = 24;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MICROS_PER_USD = 1_000_000;

/** Whole UTC hours since the epoch, both ends included. */
interface HourRange {
  readonly fromHour: number;
  readonly toHour: number;
}

/** The span of this many hours that ends with the current one. */
export function hourRange(clock: Clock, hours: number): HourRange {
  const toHour = hourOf(clock.now());
  return { fromHour: toHour - hours + 1, toHour };
}

/** The answer for a span. */
export function hourlyReport(
  { fromHour, toHour }: HourRange,
  cells: readonly (UsageSums & { readonly hour: number; readonly model: string })[],
  latency: readonly LatencyBucket[],
): HourlyReport {
  return {
    hours: Array.from({ length: toHour - fromHour + 1 }, (_, index) => isoHour(fromHour + index)),
    total: sumsView(cells),
    cells: cells.map((cell) => ({ hour: isoHour(cell.hour), model: cell.model, ...sumsView([cell]) })),
    latency: latencyView(latency),
  };
}

/** One bucket of a histogram of latency. */
export type LatencyBucket = Awaited<ReturnType<UsageStore["latencyByModel"]>>[number];

/** The class of status that says how fast answers are: what failed or was stopped says something else. */
const ANSWERED = 2;

/** Percentiles of the answered requests among these histograms. */
export function latencyView(rows: readonly LatencyBucket[]): LatencyView {
  const answered = rows.filter(({ statusClass }) => statusClass === ANSWERED);
  const whole = answered.map(({ bucket, requests }) => ({ bucket, count: requests }));
  const first = answered.map(({ bucket, firstBytes }) => ({ bucket, count: firstBytes }));
  return {
    p50_ms: percentileMs(whole, 0.5),
    p99_ms: percentileMs(whole, 0.99),
    first_byte_p50_ms: percentileMs(first, 0.5),
    first_byte_p99_ms: percentileMs(first, 0.99),
  };
}

/** Sums of rows, as pages show them. */
export function sumsView(rows: readonly UsageSums[]): UsageSumsView {
  const sum = (pick: (row: UsageSums) => number) => rows.reduce((total, row) => total + pick(row), 0);
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost_usd: sum(({ costMicros }) => costMicros) / MICROS_PER_USD,
  };
}

/** The span that is asked for. Throws `ApiError` 400. */
export function daysOf(query: URLSearchParams): number {
  return spanOf(query, "days", { usual: DAYS, max: DAYS_MAX });
}

/** The same in hours. */
export function hoursOf(query: URLSearchParams): number {
  return spanOf(query, "hours", { usual: HOURS, max: HOURS_MAX });
}

function spanOf(query: URLSearchParams, name: string, { usual, max }: { usual: number; max: number }): number {
  const text = query.get(name) ?? String(usual);
  const span = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (span >= 1 && span <= max) return span;
  throw new ApiError("invalid_request", `${name} must be a whole number from 1 to ${max}.`, { param: name });
}

/** `2030-12-31` of whole days since the epoch. */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** `2030-12-31T23` of whole hours since the epoch. */
function isoHour(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString().slice(0, 13);
}
