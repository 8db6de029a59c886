// Validates the token usage that providers report: it goes into permanent records and to clients, and no provider is trusted
// to count correctly.

import type { ChatEvent, Usage } from "./event.ts";

/** No request has as many tokens; larger figures are invalid. */
const TOKENS_MAX = 1e10;
/** Other figures besides tokens, such as costs in small units. */
const FIGURE_MAX = 1e15;
/** Usage objects are flat, with details in objects and lists. */
const DEPTH_MAX = 4;

/** A token count: a non-negative integer within bounds; undefined for anything else. */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value >= 0) || value > TOKENS_MAX) return undefined;
  return Math.round(value);
}

/** Figures as a provider sent them, unvalidated. */
export interface ReportedUsage {
  /** All input, cached included. */
  input: unknown;
  /** All output, reasoning included. */
  output: unknown;
  cached?: unknown;
  cacheWrite?: unknown;
  reasoning?: unknown;
}

/**
 * The usage in neutral form; undefined if there is none, or if input or output is invalid: then it is counted here. Invalid
 * details, or details larger than their total, are left out.
 */
export function reportedUsage({ input, output, cached, cacheWrite, reasoning }: ReportedUsage): Usage | undefined {
  const inputTokens = tokenCount(input);
  const outputTokens = tokenCount(output);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  if ((inputTokens === undefined && input != null) || (outputTokens === undefined && output != null)) return undefined;
  const usage: Usage = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
  const cachedTokens = partOf(usage.inputTokens, cached);
  const cacheWriteTokens = partOf(usage.inputTokens - (cachedTokens ?? 0), cacheWrite);
  const reasoningTokens = partOf(usage.outputTokens, reasoning);
  if (cachedTokens !== undefined) usage.cachedTokens = cachedTokens;
  if (cacheWriteTokens !== undefined) usage.cacheWriteTokens = cacheWriteTokens;
  if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens;
  return usage;
}

function partOf(whole: number, value: unknown): number | undefined {
  const count = tokenCount(value);
  return count === undefined || count > whole ? undefined : count;
}

/** The sum of the present counts; a present value that is not a count makes it invalid (NaN). */
export function tokenSum(...values: readonly unknown[]): number | undefined {
  const given = values.filter((value) => value != null);
  return given.length === 0
    ? undefined
    : given.reduce<number>((sum, value) => sum + (tokenCount(value) ?? Number.NaN), 0);
}

/** Whether a usage object may be relayed unchanged: all counts are valid, and no figure is out of bounds. */
export function isSaneUsage(usage: unknown, depth = 0): boolean {
  if (typeof usage === "number") return usage >= 0 && usage <= FIGURE_MAX;
  if (typeof usage !== "object" || usage === null) return true;
  if (depth > DEPTH_MAX) return false;
  return Object.entries(usage).every(([name, value]) => {
    if (name.endsWith("_tokens")) return value === null || tokenCount(value) !== undefined;
    return isSaneUsage(value, depth + 1);
  });
}

/** Everything that a model wrote, for counting. */
export function outputText(events: readonly ChatEvent[]): string {
  return events.map((event) => ("text" in event ? event.text : "")).join("");
}
