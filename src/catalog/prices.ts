// What tokens cost. Prices are US dollars per million tokens, which is micro-dollars per token: costs come out in whole
// micro-dollars, as they are stored.

import type { Usage } from "../chat/event.ts";

/** US dollars per million tokens. A class without a price of its own costs what the class it is part of costs. */
export interface PriceRow {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

export interface Prices extends PriceRow {
  /** Rows for long prompts, by rising `above`; the last one that the request's input tokens exceed rules the whole request. */
  readonly tiers?: readonly (PriceRow & { readonly above: number })[] | undefined;
}

/** The cost of one answer in whole micro-dollars, rounded to the nearest; 0 where no price is known. */
export function costMicros(prices: Prices | undefined, usage: Usage): number {
  if (prices === undefined) return 0;
  let row: PriceRow = prices;
  for (const tier of prices.tiers ?? []) if (usage.inputTokens > tier.above) row = tier;
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  // Some upstreams report more cached tokens than input tokens; that must not become a credit.
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const cost =
    plain * row.input +
    cached * (row.cacheRead ?? row.input) +
    written * (row.cacheWrite ?? row.input) +
    usage.outputTokens * row.output;
  return Math.max(0, Math.round(cost));
}
