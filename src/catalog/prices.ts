// The cost of tokens. Prices are US dollars per million tokens, which equals micro-dollars per token: costs are whole
// micro-dollars, as stored.

import type { Usage } from "../chat/event.ts";
import { HOUR_WRITE_FACTOR } from "../vendors/anthropic.ts";

/** US dollars per million tokens. A class without its own price costs as much as the class that contains it. */
export interface PriceRow {
  readonly input: number;
  /** Undefined for models without output. */
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** Of input that is written to a cache for an hour. */
  readonly cacheWrite1h?: number | undefined;
}

export interface Prices extends PriceRow {
  /** US dollars for a minute of audio, for an image, and for a million characters of speech. */
  readonly perMinute?: number | undefined;
  readonly perImage?: number | undefined;
  readonly perMillionCharacters?: number | undefined;
  /**
   * Rows for long prompts, by increasing `above`; the last one that the request's input tokens exceed applies to the whole
   * request.
   */
  readonly tiers?: readonly (PriceRow & { readonly above: number })[] | undefined;
}

/** The usage of a request in the unit by which its model is priced. */
export interface Measured extends Usage {
  /** Of audio. */
  readonly seconds?: number;
  readonly images?: number;
  /** Characters that are spoken. */
  readonly characters?: number;
}

const MICROS = 1_000_000;

/** The cost of one answer in whole micro-dollars, rounded to the nearest; 0 if no price is known. */
export function costMicros(prices: Prices | undefined, usage: Measured): number {
  if (prices === undefined) return 0;
  let row: PriceRow = prices;
  for (const tier of prices.tiers ?? []) if (usage.inputTokens > tier.above) row = tier;
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const forHour = Math.min(written, usage.cacheWriteHourTokens ?? 0);
  // Some upstreams report more cached tokens than input tokens; this must not become a credit.
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const cost =
    plain * row.input +
    cached * (row.cacheRead ?? row.input) +
    (written - forHour) * (row.cacheWrite ?? row.input) +
    forHour * (row.cacheWrite1h ?? HOUR_WRITE_FACTOR * row.input) +
    usage.outputTokens * (row.output ?? 0) +
    ((usage.seconds ?? 0) / 60) * (prices.perMinute ?? 0) * MICROS +
    (usage.images ?? 0) * (prices.perImage ?? 0) * MICROS +
    (usage.characters ?? 0) * (prices.perMillionCharacters ?? 0);
  return Math.max(0, Math.round(cost));
}
