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
  const isSame = (name: string) => given[name] === own[name];
  const isSameOrAbsent = (name: string) => given[name] == null || given[name] === (own[name] ?? 0);
  if (
    usage.costUsd === undefined &&
    kept === given &&
    format.totals.every(isSame) &&
    (format.figures ?? []).every(isSameOrAbsent) &&
    haveSameDetails(format.read(given), usage)
  ) {
    return given;
  }
  const out: Record<string, unknown> = { ...kept, ...own };
  for (const [name, value] of Object.entries(own)) {
    if (typeof value === "object") out[name] = { ...(isRecord(kept[name]) ? kept[name] : {}), ...value };
  }
  return out;
}

function haveSameDetails(told: Usage | undefined, usage: Usage): boolean {
  const details = ["cachedTokens", "cacheWriteTokens", "reasoningTokens"] as const;
  return details.every((name) => told?.[name] === undefined || told[name] === usage[name]);
}

/** The object without figures that are larger than the side to which they belong. */
function withinSides(given: Loose, usage: Usage, { inputParts, outputParts }: UsageFormat): Loose {
  let kept = given;
  const bound = (name: string, most: number) => {
    const value = given[name];
    const within = typeof value === "number" ? (isWithin(value, most) ? value : undefined) : boundedParts(value, most);
    if (within === value) return;
    const { [name]: _dropped, ...rest } = kept;
    kept = within === undefined ? rest : { ...rest, [name]: within };
  };
  for (const name of inputParts) bound(name, usage.inputTokens);
  for (const name of outputParts) bound(name, usage.outputTokens);
  return kept;
}

function boundedParts(value: unknown, most: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value);
  const kept = parts.filter(([, part]) => typeof part !== "number" || isWithin(part, most));
  return kept.length === parts.length ? value : Object.fromEntries(kept);
}

function isWithin(part: number, most: number): boolean {
  const count = tokenCount(part);
  return count !== undefined && count <= most;
}
