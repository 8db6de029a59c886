// The cost of tokens. Prices are US dollars per million tokens, which equals micro-dollars per token: costs are whole
// micro-dollars, as stored.

import { lookUp } from "../base/look-up.ts";
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

/** What a vendor bills beside tokens. */
export interface Billing {
  /** By service tier or speed, as answers name it: the factor on the prices of tokens. Others cost the ordinary price. */
  readonly services?: Readonly<Record<string, number>> | undefined;
  /** US dollars for a web search that the provider runs. */
  readonly perSearch?: number | undefined;
  /** US dollars for a request with such searches, however many there are. */
  readonly perSearchedRequest?: number | undefined;
  /** US dollars for a request, whatever it contains. */
  readonly perRequest?: number | undefined;
}

export interface Prices extends PriceRow, Billing {
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

/** The prices with what the vendor bills beside tokens. What the prices state takes precedence. */
export function withBilling(prices: Prices | undefined, billing: Billing | undefined): Prices | undefined {
  if (prices === undefined || billing === undefined) return prices;
  const services = { ...billing.services, ...prices.services };
  const own = prices.perSearch === undefined ? billing : prices;
  return {
    ...prices,
    services,
    perSearch: own.perSearch,
    perSearchedRequest: own.perSearchedRequest,
    perRequest: prices.perRequest ?? billing.perRequest,
  };
}

/** What counts for spending: the cost of one answer in whole micro-dollars. An unknown cost counts as 0. */
export function costMicros(prices: Prices | undefined, usage: Measured): number {
  return knownCostMicros(prices, usage) ?? 0;
}

/**
 * The cost of one answer of any kind in whole micro-dollars, rounded to the nearest; undefined if it is unknown: without prices, and
 * for an answer that is measured in a unit alone that has no price.
 */
export function knownCostMicros(prices: Prices | undefined, usage: Measured): number | undefined {
  if (prices === undefined || isUnpriced(prices, usage)) return undefined;
  let row: PriceRow = prices;
  for (const tier of prices.tiers ?? []) if (usage.inputTokens > tier.above) row = tier;
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const forHour = Math.min(written, usage.cacheWriteHourTokens ?? 0);
  // Some upstreams report more cached tokens than input tokens; this must not become a credit.
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const factor = usage.service === undefined ? 1 : (lookUp(prices.services ?? NO_SERVICES, usage.service) ?? 1);
  const tokens =
    plain * row.input +
    cached * (row.cacheRead ?? row.input) +
    (written - forHour) * (row.cacheWrite ?? row.input) +
    forHour * (row.cacheWrite1h ?? HOUR_WRITE_FACTOR * row.input) +
    usage.outputTokens * (row.output ?? 0);
  const cost =
    tokens * factor +
    (usage.searches ?? 0) * (prices.perSearch ?? 0) * MICROS +
    ((usage.searches ?? 0) > 0 ? (prices.perSearchedRequest ?? 0) : 0) * MICROS +
    (prices.perRequest ?? 0) * MICROS +
    ((usage.seconds ?? 0) / 60) * (prices.perMinute ?? 0) * MICROS +
    (usage.images ?? 0) * (prices.perImage ?? 0) * MICROS +
    (usage.characters ?? 0) * (prices.perMillionCharacters ?? 0);
  return Math.max(0, Math.round(cost));
}

const NO_SERVICES: Readonly<Record<string, number>> = {};

/** Whether nothing was counted but units without a price. */
function isUnpriced(prices: Prices, usage: Measured): boolean {
  const { inputTokens, outputTokens, seconds = 0, images = 0, characters = 0 } = usage;
  if (inputTokens > 0 || outputTokens > 0 || prices.perRequest !== undefined) return false;
  const isPriced =
    (seconds > 0 && prices.perMinute !== undefined) ||
    (images > 0 && prices.perImage !== undefined) ||
    (characters > 0 && prices.perMillionCharacters !== undefined);
  return !isPriced && seconds + images + characters > 0;
}
