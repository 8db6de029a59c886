// The record of one request as the gateway reports it, and the sums of which roll-ups consist.

import { ANSWERED, type FailedRoute, type KeptTry } from "../../base/attempt.ts";
import type { BilledClass } from "../../base/billed-class.ts";
import { latencyBucket } from "./latency.ts";
import { addClass, addToClasses, type ClassSums, type Label, LabelReader } from "./parts.ts";

/** The error code of a request that its client aborted; this is not a failure. */
export const STOPPED = "client_gone";

/** One request of a caller with a valid key, or, with `isCall`, the cost of one failed upstream call within it. */
export interface UsageRecord {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The catalog id; "" if no model is involved or none was found yet. */
  readonly model: string;
  /** The provider that answered, or the last one that failed; "" if none was called. */
  readonly provider: string;
  /** Where no provider was called, the name that the client asked for in vain; "" if it asked for none. */
  readonly upstreamModel: string;
  /** The path of the request, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  /** The HTTP status that the client received. */
  readonly status: number;
  readonly errorCode: string | null;
  /** All prompt tokens, including cached ones. */
  readonly inputTokens: number;
  /** All completion tokens, including reasoning. */
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** The upstream reported no usage, so the gateway counted the tokens. */
  readonly estimated: boolean;
  readonly costMicros: number;
  readonly latencyMs: number;
  readonly ttfbMs: number | null;
  readonly stream: boolean;
  readonly createdAtMs: number;
  /** The routes that failed: those before the one that answered, or all of them. */
  readonly attempts?: readonly FailedRoute[];
  /** `performance.now()` when the request arrived, and when the answering route was called; needed for `attempts`. */
  readonly arrivedMs?: number;
  readonly askedMs?: number;
  /** The id of the answer as the client knows it, or its prefix alone if the digits of the request's id follow. */
  readonly answerId?: string;
  /** The project of the key, the tags and the agent run of the request. */
  readonly projectId?: string;
  readonly tags?: readonly string[];
  readonly runId?: string;
  /** The part of the written tokens that is kept for an hour. */
  readonly cacheWriteHourTokens?: number;
  /** The service tier or speed that the answer named; absent for the ordinary one. */
  readonly service?: string;
  /** Web searches that the provider ran. */
  readonly searches?: number;
  /** True if no price is known for what was used. The cost is 0 then. */
  readonly unpriced?: true;
  /** What the provider bills, by class; the costs add up to `costMicros`. */
  readonly classes?: readonly BilledClass[];
  /** True for a failed upstream call that cost tokens. The request itself has its own record. */
  readonly isCall?: true;
}

/** The members that are numbers. */
export const AMOUNTS = [
  "status",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "costMicros",
  "latencyMs",
  "ttfbMs",
  "createdAtMs",
] as const satisfies readonly (keyof UsageRecord)[];

/** The record with whole amounts. A record that the database refuses would block all later ones. */
export function withWholeAmounts(record: UsageRecord): UsageRecord {
  return hasWholeAmounts(record) ? record : rounded(record);
}

function rounded(record: UsageRecord): UsageRecord {
  const whole = (amount: number) => (Number.isSafeInteger(Math.round(amount)) ? Math.round(amount) : 0);
  const amounts = AMOUNTS.map((name) => [name, record[name] === null ? null : whole(record[name])]);
  return { ...record, ...Object.fromEntries(amounts) };
}

function hasWholeAmounts(record: UsageRecord): boolean {
  for (const name of AMOUNTS) {
    const amount = record[name];
    if (amount !== null && !Number.isSafeInteger(amount)) return false;
  }
  return true;
}

/** The stored form of a request's attempts; undefined if the first route answered, as in most requests. */
export function triesOf(record: UsageRecord): KeptTry[] | undefined {
  const { attempts = [], arrivedMs, askedMs, provider, upstreamModel: model, latencyMs } = record;
  const first = attempts[0];
  if (first === undefined) return undefined;
  const since = (ms: number) => Math.max(0, Math.round(ms - (arrivedMs ?? first.startedMs)));
  const tries = attempts.map(({ startedMs, ...attempt }) => ({ ...attempt, at: since(startedMs) }));
  if (askedMs === undefined || isFailure(record)) return tries;
  const at = since(askedMs);
  return [...tries, { provider, model, kind: ANSWERED, status: 200, ms: Math.max(0, latencyMs - at), at }];
}

/** Whether the request failed. A request that its client aborted did not fail. */
export function isFailure({ status, errorCode }: Pick<UsageRecord, "status" | "errorCode">): boolean {
  return errorCode !== STOPPED && (errorCode !== null || status >= 400);
}

/** The sums of a roll-up. */
export interface UsageSums {
  requests: number;
  /** Requests that ended with an error. */
  errors: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  costMicros: number;
  /** Upstream calls without a known price, which are not part of the cost. */
  unpriced: number;
}

/** Sums of one (UTC hour, account, key, model). */
export interface UsageDelta extends UsageSums {
  /** Whole hours since the epoch. */
  readonly hour: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  firstAtMs: number;
  lastAtMs: number;
  /** By class of status and bucket. */
  readonly latency: Map<number, LatencyCount>;
  /** By label; undefined if no request had one. */
  labels: Map<string, LabelSums> | undefined;
  /** What providers bill; undefined if no provider was called. */
  classes: Map<string, ClassSums> | undefined;
}

/** Sums of the requests with one label. */
export interface LabelSums extends UsageSums {
  readonly label: Label;
  lastAtMs: number;
}

/** The number of requests with one class of status in one bucket of latency. */
export interface LatencyCount {
  /** The first digit of the status, such as 2 for 2xx; 0 for requests that the client aborted. */
  readonly statusClass: number;
  readonly bucket: number;
  requests: number;
  firstBytes: number;
}

const HOUR_MS = 3_600_000;
/** Hours in a day. */
const DAY_HOURS = 24;
const DAY_MS = 86_400_000;

/** The UTC day of a time, in whole days since the epoch. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** The UTC hour of a time, in whole hours since the epoch. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS);
}

/** The day that an hour belongs to, both whole since the epoch. */
export function dayOfHour(hour: number): number {
  return Math.floor(hour / DAY_HOURS);
}

/** Adds up records by hour, account, key and model. */
export class UsageTally {
  readonly #deltas = new Map<string, UsageDelta>();
  /** The group of the last record, to which the next one nearly always belongs too. */
  #last: UsageDelta | undefined;
  /** Some of its classes, which are compared sooner than they are looked up. */
  #billed: ClassSums[] = [];
  readonly #labels: LabelReader;

  /** `labels`: knows which tags have sums of their own, beyond this tally. */
  constructor(labels = new LabelReader()) {
    this.#labels = labels;
  }

  get size(): number {
    return this.#deltas.size;
  }

  /** Whether the group of this record already exists. */
  has(record: UsageRecord): boolean {
    return this.#deltas.has(groupOf(record));
  }

  /** Adds one record. */
  add(record: UsageRecord): void {
    const delta = this.#groupOf(record);
    if (record.isCall !== true) addLatency(delta, record);
    addAmounts(delta, record);
    const labels = this.#labels.of(record, record.accountId, dayOf(record.createdAtMs));
    if (labels !== undefined) addLabels(delta, labels, record);
    if (record.classes !== undefined) this.#addBilled(delta, record.classes, record);
    delta.firstAtMs = Math.min(delta.firstAtMs, record.createdAtMs);
    delta.lastAtMs = Math.max(delta.lastAtMs, record.createdAtMs);
  }

  #addBilled(delta: UsageDelta, classes: readonly BilledClass[], record: UsageRecord): void {
    const { provider, upstreamModel: model, service = "" } = record;
    for (const { name, amount, costMicros } of classes) {
      const unpriced = costMicros === undefined ? amount : 0;
      const known = classIn(this.#billed, name, record);
      if (known !== undefined) {
        addClass(known, { amount, unpriced, costMicros: costMicros ?? 0 });
        continue;
      }
      delta.classes ??= new Map();
      const one = { provider, model, service, class: name, amount, unpriced, costMicros: costMicros ?? 0 };
      const sums = addToClasses(delta.classes, one);
      if (this.#billed.length < BILLED_MAX) this.#billed.push(sums);
    }
  }

  #groupOf(record: UsageRecord): UsageDelta {
    const last = this.#last;
    if (last !== undefined && isOf(last, record)) return last;
    this.#billed = [];
    const group = groupOf(record);
    let delta = this.#deltas.get(group);
    if (delta === undefined) {
      delta = emptyDelta(record);
      this.#deltas.set(group, delta);
    }
    this.#last = delta;
    return delta;
  }

  values(): IterableIterator<UsageDelta> {
    return this.#deltas.values();
  }
}

function addAmounts(sums: UsageSums, record: UsageRecord): void {
  if (record.isCall !== true) {
    sums.requests += 1;
    if (isFailure(record)) sums.errors += 1;
  }
  sums.inputTokens += record.inputTokens;
  sums.outputTokens += record.outputTokens;
  sums.cachedTokens += record.cachedTokens;
  sums.cacheWriteTokens += record.cacheWriteTokens;
  sums.reasoningTokens += record.reasoningTokens;
  sums.costMicros += record.costMicros;
  if (record.unpriced === true) sums.unpriced += 1;
}

function addLabels(delta: UsageDelta, labels: readonly Label[], record: UsageRecord): void {
  delta.labels ??= new Map();
  for (const label of labels) {
    const place = `${label.kind} ${label.name}`;
    let sums = delta.labels.get(place);
    if (sums === undefined) {
      sums = { label, lastAtMs: record.createdAtMs, ...noSums() };
      delta.labels.set(place, sums);
    }
    addAmounts(sums, record);
    sums.lastAtMs = Math.max(sums.lastAtMs, record.createdAtMs);
  }
}

/** One group of requests has a few classes of one model. */
const BILLED_MAX = 8;

function classIn(billed: readonly ClassSums[], name: string, record: UsageRecord): ClassSums | undefined {
  const { provider, upstreamModel, service = "" } = record;
  for (const sums of billed) {
    if (sums.class === name && sums.model === upstreamModel && sums.provider === provider && sums.service === service)
      return sums;
  }
  return undefined;
}

function addLatency(delta: UsageDelta, record: UsageRecord): void {
  const statusClass = record.errorCode === STOPPED ? 0 : Math.floor(record.status / 100);
  countOf(delta, statusClass, latencyBucket(record.latencyMs)).requests += 1;
  if (record.ttfbMs !== null) countOf(delta, statusClass, latencyBucket(record.ttfbMs)).firstBytes += 1;
}

function countOf({ latency }: UsageDelta, statusClass: number, bucket: number): LatencyCount {
  // Buckets have two digits.
  const place = statusClass * 100 + bucket;
  let count = latency.get(place);
  if (count === undefined) {
    count = { statusClass, bucket, requests: 0, firstBytes: 0 };
    latency.set(place, count);
  }
  return count;
}

function isOf(delta: UsageDelta, { createdAtMs, accountId, keyId, model }: UsageRecord): boolean {
  return (
    delta.keyId === keyId &&
    delta.model === model &&
    delta.accountId === accountId &&
    delta.hour === hourOf(createdAtMs)
  );
}

function groupOf(record: UsageRecord): string {
  // Only the model may contain a line break, and it is the last part, so different groups have different texts.
  return `${hourOf(record.createdAtMs)}\n${record.accountId}\n${record.keyId}\n${record.model}`;
}

function emptyDelta(record: UsageRecord): UsageDelta {
  return {
    hour: hourOf(record.createdAtMs),
    accountId: record.accountId,
    keyId: record.keyId,
    model: record.model,
    firstAtMs: record.createdAtMs,
    lastAtMs: record.createdAtMs,
    ...noSums(),
    latency: new Map(),
    labels: undefined,
    classes: undefined,
  };
}

function noSums(): UsageSums {
  return {
    requests: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    costMicros: 0,
    unpriced: 0,
  };
}
