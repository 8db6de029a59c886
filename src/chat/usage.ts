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
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= TOKENS_MAX
    ? (value as number)
    : undefined;
}

/** Figures as a provider sent them, unvalidated. */
export interface ReportedUsage {
  /** All input, cached included. */
  input: unknown;
  /** All output, reasoning included. */
  output: unknown;
  cached?: unknown;
  cacheWrite?: unknown;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWriteHour?: unknown;
  reasoning?: unknown;
  /** Web searches that the provider ran. */
  searches?: unknown;
  /** The service tier or speed. */
  service?: unknown;
}

/** No answer has as many searches; larger figures are invalid. */
const SEARCHES_MAX = 10_000;
/** Words for what costs the ordinary price. */
const ORDINARY = /^(?:default|auto|standard|ordinary|normal|scale|on_demand|unspecified)?$/;
const SERVICE_WORD = /^[a-z0-9_-]{1,40}$/;

/**
 * The name of a service tier or speed in small letters; undefined for ordinary ones and for anything that is no name. Google writes
 * them with prefixes (`SERVICE_TIER_PRIORITY`, `ON_DEMAND_FLEX`).
 */
export function serviceName(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const name = value.toLowerCase().replace(/^(?:service_tier_|on_demand_)/, "");
  return SERVICE_WORD.test(name) && !ORDINARY.test(name) ? name : undefined;
}

/**
 * The usage in neutral form; undefined if nothing was reported. A side whose figure is missing or invalid is zero, which
 * `settledUsage` replaces by a count. Details that are invalid or larger than their side are left out.
 */
export function reportedUsage(reported: ReportedUsage): Usage | undefined {
  const usage: Usage = { inputTokens: tokenCount(reported.input) ?? 0, outputTokens: tokenCount(reported.output) ?? 0 };
  // No prompt is empty, so a provider that reports no tokens at all has counted nothing.
  if (usage.inputTokens === 0 && usage.outputTokens === 0) return undefined;
  const cachedTokens = partOf(usage.inputTokens, reported.cached);
  const cacheWriteTokens = partOf(usage.inputTokens - (cachedTokens ?? 0), reported.cacheWrite);
  const cacheWriteHourTokens = partOf(cacheWriteTokens ?? 0, reported.cacheWriteHour);
  const reasoningTokens = partOf(usage.outputTokens, reported.reasoning);
  if (cachedTokens !== undefined) usage.cachedTokens = cachedTokens;
  if (cacheWriteTokens !== undefined) usage.cacheWriteTokens = cacheWriteTokens;
  if (cacheWriteHourTokens) usage.cacheWriteHourTokens = cacheWriteHourTokens;
  if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens;
  const searches = tokenCount(reported.searches);
  if (searches !== undefined && searches > 0 && searches <= SEARCHES_MAX) usage.searches = searches;
  const service = serviceName(reported.service);
  if (service !== undefined) usage.service = service;
  return usage;
}

/** Combines two reports of one answer. The later one takes precedence, but a missing figure or a zero replaces nothing. */
export function laterUsage(known: Usage | undefined, later: Usage | undefined): Usage | undefined {
  if (known === undefined || later === undefined) return later ?? known;
  const input = later.inputTokens > 0 ? later : known;
  const output = later.outputTokens > 0 ? later : known;
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteHourTokens } = input;
  const { outputTokens, reasoningTokens, partial } = output;
  const searches = later.searches ?? known.searches;
  const service = later.service ?? known.service;
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(cacheWriteHourTokens === undefined ? {} : { cacheWriteHourTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(searches === undefined ? {} : { searches }),
    ...(service === undefined ? {} : { service }),
    ...(partial === undefined ? {} : { partial }),
  };
}

/** The web searches of an answer, whoever ran them; undefined for none. */
export function webSearchesOf({ searches, webSearches }: Usage): number | undefined {
  return searches === undefined || webSearches === undefined ? (searches ?? webSearches) : searches + webSearches;
}

/** The usage of two calls of one answer together. */
export function addedUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum = { ...one, ...other };
  for (const name of ADDED) {
    if (one[name] !== undefined || other[name] !== undefined) sum[name] = (one[name] ?? 0) + (other[name] ?? 0);
  }
  if (one.estimated === true) sum.estimated = true;
  return sum;
}

const ADDED = [
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "cacheWriteHourTokens",
  "reasoningTokens",
  "searches",
  "costUsd",
] as const satisfies readonly (keyof Usage)[];

/** The gateway's own counts, which are only made if they are needed. */
export interface OwnCounts {
  input(): number;
  /** Zero if nothing was written. */
  output(): number;
}

/**
 * The usage of an answer that the client sees, the usage record holds and the budgets take. It decides for every kind of model what is
 * believed of a provider's report: a side without a figure is counted by the gateway, and a figure for a part of the output only
 * counts if the gateway's count is smaller.
 */
export function settledUsage(told: Usage | undefined, own: OwnCounts): Usage {
  if (told !== undefined && isComplete(told)) return told;
  const { partial, ...usage } = told ?? { inputTokens: 0, outputTokens: 0, estimated: true };
  if (usage.inputTokens === 0) {
    usage.inputTokens = own.input();
    usage.estimated = true;
  }
  if (usage.outputTokens === 0 || partial === true) {
    const counted = own.output();
    if (counted > usage.outputTokens || partial === true) usage.estimated = true;
    usage.outputTokens = Math.max(usage.outputTokens, counted);
  }
  return usage;
}

/** Whether a report needs no count of the gateway's own. */
export function isComplete({ inputTokens, outputTokens, partial }: Usage): boolean {
  return inputTokens !== 0 && outputTokens !== 0 && partial === undefined;
}

/** The reports of one answer, in the order in which they arrive. */
export class ToldUsage {
  #usage: Usage | undefined;
  #raw: unknown;
  #isPartial = false;

  /** The combined report. */
  get usage(): Usage | undefined {
    return this.#isPartial && this.#usage !== undefined ? { ...this.#usage, partial: true } : this.#usage;
  }

  /** The last object that said something, as the provider sent it. */
  get raw(): unknown {
    return this.#raw;
  }

  tell(usage: Usage | undefined, raw: unknown): void {
    if (usage === undefined) return;
    if (usage.outputTokens > 0) this.#isPartial = usage.partial === true;
    this.#usage = laterUsage(this.#usage, usage);
    this.#raw = raw;
  }

  /** Called when a frame that reports nothing has output. */
  wrote(): void {
    if (this.#usage !== undefined) this.#isPartial = true;
  }

  /** Called with the events of a frame that reports nothing, which begin at `from`: more output makes an earlier report partial. */
  follow(events: readonly ChatEvent[], from: number): void {
    if (this.#usage === undefined || this.#isPartial) return;
    for (let at = from; at < events.length; at++) if (isOutput(events[at] as ChatEvent)) this.#isPartial = true;
  }
}

/** Whether an event holds something that the model wrote. */
export function isOutput({ type }: ChatEvent): boolean {
  return type.endsWith("-delta") || type === "tool-start" || type === "opaque" || type === "image";
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
  for (const name in usage) {
    const value = (usage as Readonly<Record<string, unknown>>)[name];
    const isSane = name.endsWith("_tokens")
      ? value === null || tokenCount(value) !== undefined
      : isSaneUsage(value, depth + 1);
    if (!isSane) return false;
  }
  return true;
}
