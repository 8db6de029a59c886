// Builds the addresses, headers and bodies of requests to engines.

import type { EngineContext, TimeRange } from "./engine.ts";

/** Parameters of a query or form. Undefined and empty values are left out; a list repeats the name. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An address of an engine: its own origin, or the operator's, which replaces all of its origins and may have a path. */
export function address(context: EngineContext, origin: string, path: string, parameters: Parameters = {}): string {
  const base = (context.settings.baseUrl ?? origin).replace(/\/+$/, "");
  const query = encoded(parameters);
  return query === "" ? `${base}${path}` : `${base}${path}?${query}`;
}

/** Encodes parameters as in a form, for queries and bodies. */
export function encoded(parameters: Parameters): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") continue;
    if (typeof value === "object") for (const one of value) pairs.append(name, one);
    else pairs.append(name, String(value));
  }
  return pairs.toString();
}

/** The headers for an API that answers in JSON. */
export function jsonHeaders(context: EngineContext, more: Readonly<Record<string, string>> = {}) {
  return { accept: "application/json", "user-agent": context.settings.userAgent, ...more };
}

/** The headers and the body of a JSON request. */
export function jsonPost(context: EngineContext, body: unknown, more: Readonly<Record<string, string>> = {}) {
  const headers = jsonHeaders(context, { "content-type": "application/json", ...more });
  return { method: "POST", headers, body: JSON.stringify(body) } as const;
}

/**
 * The browser as which the gateway identifies itself. It is the same for the whole process, as engines that serve web pages treat
 * a client that changes it as a bot.
 */
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/** The headers for web pages. */
export function browserHeaders(context: EngineContext, more: Readonly<Record<string, string>> = {}) {
  return {
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-language": acceptLanguage(context.query.language),
    "user-agent": BROWSER,
    ...more,
  };
}

function acceptLanguage(language: string | undefined): string {
  const primary = language?.split("-", 1)[0] ?? "";
  if (language === undefined || language === "en") return "en-US,en;q=0.5";
  const own = primary === language ? language : `${language},${primary};q=0.7`;
  return primary === "en" ? own : `${own},en;q=0.3`;
}

/** The header for cookies. Cookies without a value are left out. */
export function cookies(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
}

/** The number of items on a page: as many as are wanted, up to the engine's maximum. */
export function pageSize(context: EngineContext, most: number): number {
  return Math.min(Math.max(1, context.query.limit), most);
}

/** The number of items before the page. */
export function offset(context: EngineContext, size: number): number {
  return (context.query.page - 1) * size;
}

/** The primary subtag of the query's language: `pt` for `pt-BR`. */
export function primaryLanguage(context: EngineContext): string | undefined {
  return context.query.language?.toLowerCase().split("-", 1)[0];
}

/** The region of the query's language: `br` for `pt-BR`. */
export function regionOf(context: EngineContext): string | undefined {
  return context.query.language?.match(/-([A-Za-z]{2})\b/)?.[1]?.toLowerCase();
}

const DAY_MS = 86_400_000;
const RANGE_DAYS: Readonly<Record<TimeRange, number>> = { day: 1, week: 7, month: 31, year: 365 };

/** The start of the query's time range; undefined without one. */
export function rangeStart(context: EngineContext): Date | undefined {
  const { timeRange, nowMs } = context.query;
  return timeRange === undefined ? undefined : new Date(nowMs - RANGE_DAYS[timeRange] * DAY_MS);
}
