// The cost of tokens. Prices are US dollars per million tokens, which equals micro-dollars per token: costs are whole
// micro-dollars, as stored.

import type { Usage } from "../chat/event.ts";

/** US dollars per million tokens. A class without its own price costs as much as the class that contains it. */
export interface PriceRow {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

export interface Prices extends PriceRow {
  /**
   * Rows for long prompts, by increasing `above`; the last one that the request's input tokens exceed applies to the whole
   * request.
   */
  readonly tiers?: readonly (PriceRow & { readonly above: number })[] | undefined;
}

/** The cost of one answer in whole micro-dollars, rounded to the nearest; 0 if no price is known. */
export function costMicros(prices: Prices | undefined, usage: Usage): number {
  if (prices === undefined) return 0;
  let row: PriceRow = prices;
  for (const tier of prices.tiers ?? []) if (usage.inputTokens > tier.above) row = tier;
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  // Some upstreams report more cached tokens than input tokens; this must not become a credit.
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const cost =
    plain * row.input +
    cached * (row.cacheRead ?? row.input) +
    written * (row.cacheWrite ?? row.input) +
    usage.outputTokens * row.output;
  return Math.max(0, Math.round(cost));
}
