// The usage object of a relayed answer: the upstream's own if it says what was settled, otherwise a corrected one. Clients, the
// usage record and the budgets thus have the same figures.

import { isRecord } from "../base/json-object.ts";
import type { Usage } from "./event.ts";
import { isSaneUsage, tokenCount } from "./usage.ts";

type Loose = Readonly<Record<string, unknown>>;

/** How a protocol writes usage. */
export interface UsageFormat {
  read(raw: Loose): Usage | undefined;
  write(usage: Usage): Loose;
  /** The members that hold the totals, which must all be there. */
  readonly totals: readonly string[];
  /** The members that may be absent, but otherwise have the settled figure. */
  readonly figures?: readonly string[];
  /** The members, or objects of members, that are parts of the input and of the output. */
  readonly inputParts: readonly string[];
  readonly outputParts: readonly string[];
}

/** The usage object for the client. */
export function shownUsage(raw: unknown, usage: Usage, format: UsageFormat): Loose {
  const own = format.write(usage);
  if (typeof raw !== "object" || raw === null || !isSaneUsage(raw)) return own;
  const given = raw as Loose;
  const kept = withinSides(given, usage, format);
  if (kept === given && saysTheSame(given, own, usage, format)) return given;
  const out: Record<string, unknown> = { ...kept, ...own };
  for (const [name, value] of Object.entries(own)) {
    if (typeof value === "object") out[name] = { ...(isRecord(kept[name]) ? kept[name] : {}), ...value };
  }
  return out;
}

const NO_FIGURES: readonly string[] = [];

/** Whether the upstream's object has the settled figures. */
function saysTheSame(given: Loose, own: Loose, usage: Usage, format: UsageFormat): boolean {
  if (usage.costUsd !== undefined) return false;
  for (const name of format.totals) if (given[name] !== own[name]) return false;
  for (const name of format.figures ?? NO_FIGURES)
    if (given[name] != null && given[name] !== (own[name] ?? 0)) return false;
  return haveSameDetails(format.read(given), usage);
}

const DETAILS = ["cachedTokens", "cacheWriteTokens", "reasoningTokens"] as const;

function haveSameDetails(told: Usage | undefined, usage: Usage): boolean {
  if (told === undefined) return true;
  for (const name of DETAILS) if (told[name] !== undefined && told[name] !== usage[name]) return false;
  return true;
}

/** The object without figures that are larger than the side to which they belong. */
function withinSides(given: Loose, usage: Usage, { inputParts, outputParts }: UsageFormat): Loose {
  let kept = given;
  for (const name of inputParts) kept = withinSide(kept, name, usage.inputTokens);
  for (const name of outputParts) kept = withinSide(kept, name, usage.outputTokens);
  return kept;
}

function withinSide(kept: Loose, name: string, most: number): Loose {
  const value = kept[name];
  if (value === undefined) return kept;
  const within = typeof value === "number" ? (isWithin(value, most) ? value : undefined) : boundedParts(value, most);
  if (within === value) return kept;
  const { [name]: _dropped, ...rest } = kept;
  return within === undefined ? rest : { ...rest, [name]: within };
}

function boundedParts(value: unknown, most: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  const given = value as Loose;
  for (const name in given) if (!isPartWithin(given[name], most)) return partsWithin(given, most);
  return value;
}

function partsWithin(given: Loose, most: number): Loose {
  return Object.fromEntries(Object.entries(given).filter(([, part]) => isPartWithin(part, most)));
}

function isPartWithin(part: unknown, most: number): boolean {
  return typeof part !== "number" || isWithin(part, most);
}

function isWithin(part: number, most: number): boolean {
  const count = tokenCount(part);
  return count !== undefined && count <= most;
}
