// Reads the span of usage by day and hour from a query, and formats the answer.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { knownCost } from "../../catalog/known-cost.ts";
import { percentileMs } from "../../store/usage/latency.ts";
import { hourOf, type UsageSums } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { HourlyReport, LatencyView, UsageSumsView } from "../contract-usage.ts";

const DAYS_MAX = 366;
const DAYS = 30;
/** One week, for which hourly sums are kept; see `HOURLY_KEPT_MS`. */
const HOURS_MAX = 168;
const HOURS = 24;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

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
  cells: readonly (ModelSums & { readonly hour: number })[],
  { latency, isPriced }: { latency: readonly LatencyBucket[]; isPriced(model: string): boolean },
): HourlyReport {
  return {
    hours: Array.from({ length: toHour - fromHour + 1 }, (_, index) => isoHour(fromHour + index)),
    total: sumsView(cells, isPriced),
    cells: cells.map((cell) => ({ hour: isoHour(cell.hour), model: cell.model, ...sumsView([cell], isPriced) })),
    latency: latencyView(latency),
  };
}

/** One bucket of a latency histogram. */
export type LatencyBucket = Awaited<ReturnType<UsageStore["latencyByModel"]>>[number];

/** Latency is measured on this class of status only, since failed and cancelled requests would distort it. */
const ANSWERED = 2;

/** Percentiles of the latency of answered requests in these histograms. */
export function latencyView(rows: readonly LatencyBucket[]): LatencyView {
  const answered = rows.filter(({ statusClass }) => statusClass === ANSWERED);
  const whole = answered.map(({ bucket, requests }) => ({ bucket, count: requests }));
  const first = answered.map(({ bucket, firstBytes }) => ({ bucket, count: firstBytes }));
  return {
    p50_ms: percentileMs(whole, 0.5),
    p95_ms: percentileMs(whole, 0.95),
    first_byte_p50_ms: percentileMs(first, 0.5),
    first_byte_p95_ms: percentileMs(first, 0.95),
  };
}

/** Sums of one model. */
export type ModelSums = UsageSums & { readonly model: string };

/** Sums of rows in the form that pages show. */
export function sumsView(rows: readonly ModelSums[], isPriced: (model: string) => boolean): UsageSumsView {
  const sum = (pick: (row: UsageSums) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const [input, output] = [sum(({ inputTokens }) => inputTokens), sum(({ outputTokens }) => outputTokens)];
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    input_tokens: input,
    output_tokens: output,
    cost_usd: knownCost(
      { costMicros: sum(({ costMicros }) => costMicros), unpriced: sum(({ unpriced }) => unpriced) },
      input + output > 0 || rows.some(({ model, requests, errors }) => model !== "" && requests > errors),
      () => rows.every(({ model }) => model === "" || isPriced(model)),
    ),
  };
}

/** The requested span. Throws `ApiError`. */
export function daysOf(query: URLSearchParams): number {
  return spanOf(query, "days", { usual: DAYS, max: DAYS_MAX });
}

/** The requested span in hours. */
export function hoursOf(query: URLSearchParams): number {
  return spanOf(query, "hours", { usual: HOURS, max: HOURS_MAX });
}

function spanOf(query: URLSearchParams, name: string, { usual, max }: { usual: number; max: number }): number {
  const text = query.get(name) ?? String(usual);
  const span = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (span >= 1 && span <= max) return span;
  throw new ApiError("invalid_request", `${name} must be a whole number from 1 to ${max}.`, { param: name });
}

/** A number of whole days since the epoch in the form `2030-12-31`. */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** A number of whole hours since the epoch in the form `2030-12-31T23`. */
function isoHour(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString().slice(0, 13);
}
