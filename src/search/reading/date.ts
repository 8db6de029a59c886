// Converts the dates in responses to ISO 8601. An invalid date gives none, as a wrong one would be worse.

import { entryOf } from "../../base/json-object.ts";

/** Reads a date in any form that engines use: ISO 8601, RFC 822, seconds or milliseconds, 20260102T030405Z, "2 days ago". */
export function isoDate(value: unknown, nowMs?: number): string | undefined {
  if (typeof value === "number") return fromMs(value >= MS_LEAST ? value : value * 1000);
  if (typeof value !== "string") return undefined;
  if (value.length > DATE_CHARS_MAX) return undefined;
  const text = value.trim();
  if (/^\d{9,13}$/.test(text)) return isoDate(Number(text));
  const compact = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?$/.exec(text);
  if (compact !== null) {
    const [, year, month, day, hour = "00", minute = "00", second = "00"] = compact;
    return fromMs(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`));
  }
  if (/^\d{4}(?:-\d\d(?:-\d\d)?)?$/.test(text)) return Number.isNaN(Date.parse(text)) ? undefined : text;
  const ago = /\b(\d+|an?)\s+(second|minute|hour|day|week|month|year)s?\s+ago\b/i.exec(text);
  if (ago !== null) return nowMs === undefined ? undefined : before(nowMs, ago[1] ?? "", ago[2] ?? "");
  if (!/\d{4}/.test(text)) return undefined;
  const iso = fromMs(Date.parse(HAS_ZONE.test(text) ? text : `${text}${/T\d\d:\d\d/.test(text) ? "Z" : " UTC"}`));
  // A date such as "3 March 2024" has no time either.
  return /\d:\d\d/.test(text) ? iso : iso?.slice(0, 10);
}

/** Reads year, month and day from a list, as Crossref sends them. A missing month or day is left out. */
export function dateOfParts(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const numbers = parts.filter((part): part is number => Number.isInteger(part) && part > 0);
  const [year, ...rest] = numbers;
  if (year === undefined || numbers.length !== parts.length) return undefined;
  return isoDate(
    [String(year).padStart(4, "0"), ...rest.slice(0, 2).map((part) => String(part).padStart(2, "0"))].join("-"),
  );
}

const DATE_CHARS_MAX = 100;
/** Larger numbers are milliseconds: as seconds, this one would be in the year 5138. */
const MS_LEAST = 100_000_000_000;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d|\b(?:GMT|UTC|[ECMP][SD]T))\s*(?:\([^)]*\))?$/;

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
  month: 2_629_800,
  year: 31_557_600,
};

function before(nowMs: number, count: string, unit: string): string | undefined {
  const seconds = entryOf(SECONDS, unit.toLowerCase()) ?? Number.NaN;
  const many = /^an?$/i.test(count) ? 1 : Number(count);
  const iso = fromMs(nowMs - many * seconds * 1000);
  // A date such as "3 days ago" has no time.
  return seconds >= 86_400 ? iso?.slice(0, 10) : iso;
}

function fromMs(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || ms <= 0 ? undefined : date.toISOString().replace(".000Z", "Z");
}
