// Builds the addresses, headers and bodies that engines are asked with.

import type { EngineContext, TimeRange } from "./engine.ts";

/** Values that are undefined or empty are left out; lists repeat the name. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An engine's address: its own origin, or the operator's, which replaces every origin and keeps its own path. */
export function address(context: EngineContext, origin: string, path: string, parameters: Parameters = {}): string {
  const base = (context.settings.baseUrl ?? origin).replace(/\/+$/, "");
  const query = encoded(parameters);
  return query === "" ? `${base}${path}` : `${base}${path}?${query}`;
}

/** Form encoding, as in queries and bodies. */
export function encoded(parameters: Parameters): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") continue;
    if (typeof value === "object") for (const one of value) pairs.append(name, one);
    else pairs.append(name, String(value));
  }
  return pairs.toString();
}

/** Headers for an interface that answers in JSON. */
export function jsonHeaders(context: EngineContext, more: Readonly<Record<string, string>> = {}) {
  return { accept: "application/json", "user-agent": context.settings.userAgent, ...more };
}

/** The items of one page: as many as are wanted, up to the engine's most. */
export function pageSize(context: EngineContext, most: number): number {
  return Math.min(Math.max(1, context.query.limit), most);
}

/** How many items stand before the page. */
export function offset(context: EngineContext, size: number): number {
  return (context.query.page - 1) * size;
}

/** The primary subtag of the query's language: `pt` of `pt-BR`. */
export function primaryLanguage(context: EngineContext): string | undefined {
  return context.query.language?.toLowerCase().split("-", 1)[0];
}

/** The region of the query's language: `br` of `pt-BR`. */
export function regionOf(context: EngineContext): string | undefined {
  return context.query.language?.match(/-([A-Za-z]{2})\b/)?.[1]?.toLowerCase();
}

const DAY_MS = 86_400_000;
const RANGE_DAYS: Readonly<Record<TimeRange, number>> = { day: 1, week: 7, month: 31, year: 365 };

/** Where the query's time range begins; undefined without one. */
export function rangeStart(context: EngineContext): Date | undefined {
  const { timeRange, nowMs } = context.query;
  return timeRange === undefined ? undefined : new Date(nowMs - RANGE_DAYS[timeRange] * DAY_MS);
}
