// The cost of tokens. Prices are US dollars per million tokens, which equals micro-dollars per token: costs are whole
// micro-dollars, as stored.

import type { BilledClass } from "../base/billed-class.ts";
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
  const cost = new WholeCost();
  eachClass(prices, usage, cost);
  return Math.max(0, Math.round(cost.micros));
}

/** What one answer is billed by, by class, without classes of which nothing was used. The costs add up to `costMicros`. */
export function billedClasses(prices: Prices | undefined, usage: Measured): BilledClass[] {
  const bill = new ClassCosts(prices !== undefined && !isUnpriced(prices, usage));
  eachClass(prices ?? NO_PRICES, usage, bill);
  return bill.classes;
}

/** Is told of each class: its amount and its exact cost in micro-dollars; undefined for a unit without a price. */
interface ClassTaker {
  take(name: string, amount: number, micros: number | undefined): void;
}

class WholeCost implements ClassTaker {
  micros = 0;

  take(_name: string, _amount: number, micros: number | undefined): void {
    this.micros += micros ?? 0;
  }
}

class ClassCosts implements ClassTaker {
  readonly classes: BilledClass[] = [];
  readonly #isKnown: boolean;
  #cost = 0;

  constructor(isKnown: boolean) {
    this.#isKnown = isKnown;
  }

  take(name: string, amount: number, micros: number | undefined): void {
    if (amount <= 0) return;
    const before = Math.round(this.#cost);
    this.#cost += micros ?? 0;
    // Each class is rounded such that all of them together are rounded as one cost is.
    const costMicros = this.#isKnown && micros !== undefined ? Math.round(this.#cost) - before : undefined;
    this.classes.push({ name, amount: Math.round(amount), costMicros });
  }
}

const NO_PRICES: Prices = { input: 0 };
const MS_PER_SECOND = 1000;

/** Tells the taker of the classes of one answer. An object instead of closures, since every answer is billed. */
class Tariff {
  readonly #taker: ClassTaker;
  readonly #suffix: string;
  readonly #factor: number;
  /** Whether tokens are billed. Images and sounds without a price of their own are paid as tokens. */
  readonly #hasTokens: boolean;

  constructor(
    taker: ClassTaker,
    { suffix, factor, hasTokens }: { suffix: string; factor: number; hasTokens: boolean },
  ) {
    this.#taker = taker;
    this.#suffix = suffix;
    this.#factor = factor;
    this.#hasTokens = hasTokens;
  }

  tokens(name: string, amount: number, price: number): void {
    // Not for an amount that is no number either.
    if (amount > 0)
      this.#taker.take(this.#suffix === "" ? name : name + this.#suffix, amount, amount * price * this.#factor);
  }

  units(name: string, amount: number, price: number | undefined, each = MICROS): void {
    this.#taker.take(name, amount, price === undefined ? undefined : amount * price * each);
  }

  media(name: string, amount: number, price: number | undefined, each?: number): void {
    if (amount > 0 && (price !== undefined || !this.#hasTokens)) this.units(name, amount, price, each);
  }
}

function eachClass(prices: Prices, usage: Measured, taker: ClassTaker): void {
  let row: PriceRow = prices;
  let suffix = "";
  for (const tier of prices.tiers ?? NO_TIERS) {
    if (usage.inputTokens <= tier.above) continue;
    row = tier;
    suffix = ` above ${tier.above}`;
  }
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const forHour = Math.min(written, usage.cacheWriteHourTokens ?? 0);
  // Some upstreams report more cached tokens than input tokens; this must not become a credit.
  const plain = Math.max(0, usage.inputTokens - cached - written);
  const factor = usage.service === undefined ? 1 : (lookUp(prices.services ?? NO_SERVICES, usage.service) ?? 1);
  const hasTokens = usage.inputTokens !== 0 || usage.outputTokens !== 0;
  const tariff = new Tariff(taker, { suffix, factor, hasTokens });
  tariff.tokens("input", plain, row.input);
  tariff.tokens("cached_input", cached, row.cacheRead ?? row.input);
  tariff.tokens("cache_write", written - forHour, row.cacheWrite ?? row.input);
  tariff.tokens("cache_write_1h", forHour, row.cacheWrite1h ?? HOUR_WRITE_FACTOR * row.input);
  tariff.tokens("output", usage.outputTokens, row.output ?? 0);
  const { searches = 0, seconds = 0, images = 0, characters = 0 } = usage;
  if (searches > 0) {
    tariff.units("searches", searches, prices.perSearch ?? (prices.perSearchedRequest === undefined ? undefined : 0));
    if (prices.perSearchedRequest !== undefined) tariff.units("searched_requests", 1, prices.perSearchedRequest);
  }
  if (prices.perRequest !== undefined) tariff.units("requests", 1, prices.perRequest);
  tariff.media("audio_ms", seconds * MS_PER_SECOND, prices.perMinute, MICROS / 60 / MS_PER_SECOND);
  tariff.media("images", images, prices.perImage);
  tariff.media("characters", characters, prices.perMillionCharacters, 1);
}

const NO_TIERS: NonNullable<Prices["tiers"]> = [];
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
