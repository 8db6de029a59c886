// Reads numbers and times from the dashboard's forms; an error names the field.

import { optionalText } from "../../accounts/fields.ts";
import { ApiError } from "../../base/errors.ts";

/** The number under `name`; undefined when it is missing. Throws `ApiError` 400 when it is out of range. */
export function optionalNumber(
  body: Readonly<Record<string, unknown>>,
  name: string,
  { least, most, whole = false, label = name }: { least: number; most: number; whole?: boolean; label?: string },
): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  const fits = typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (fits) return value;
  const kind = whole ? "a whole number" : "a number";
  throw new ApiError("invalid_request", `${label}: expected ${kind} from ${least} to ${most}.`, { param: name });
}

/** The switch under `name`; false when it is missing. */
export function optionalSwitch(body: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new ApiError("invalid_request", `${name}: expected true or false.`, { param: name });
}

/** The texts under `name`; empty when they are missing. */
export function optionalTexts(body: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = body[name] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new ApiError("invalid_request", `${name}: expected a list of strings.`, { param: name });
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** The time under `name`, in milliseconds since the epoch; undefined when it is missing. */
export function optionalTime(body: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const text = optionalText(body, name);
  if (text === undefined) return undefined;
  const ms = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ApiError("invalid_request", `${name}: expected a time such as 2030-12-31T23:59:59Z.`, { param: name });
}

/**
 * The position where a page of a listing begins: `before` is the last entry of the preceding page. Throws `ApiError`
 * 400.
 */
export function pageOf(query: URLSearchParams): { beforeId?: number } {
  const before = query.get("before");
  if (before === null) return {};
  if (/^[1-9]\d{0,14}$/.test(before)) return { beforeId: Number(before) };
  throw new ApiError("invalid_request", "before must be a whole number above 0.", { param: "before" });
}

/** The same for entries whose ids are names. Throws `ApiError` 400. */
export function namedPageOf(query: URLSearchParams): { beforeId?: string } {
  const before = query.get("before");
  if (before === null) return {};
  if (/^[\w-]{1,64}$/.test(before)) return { beforeId: before };
  throw new ApiError("invalid_request", "before must be the id of an entry.", { param: "before" });
}
