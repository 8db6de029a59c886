// One request's usage as the gateway reports it, and the sums that roll-ups are made of.

/** One request that reached an upstream. */
export interface UsageRecord {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The catalog id. */
  readonly model: string;
  readonly provider: string;
  readonly upstreamModel: string;
  /** The path that was called, as `/v1/chat/completions`. */
  readonly endpoint: string;
  /** HTTP status the client got. */
  readonly status: number;
  readonly errorCode: string | null;
  /** All prompt tokens, the cached ones included. */
  readonly inputTokens: number;
  /** All completion tokens, the reasoning ones included. */
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** The upstream reported no usage; the tokens were counted here. */
  readonly estimated: boolean;
  readonly costMicros: number;
  readonly latencyMs: number;
  readonly ttfbMs: number | null;
  readonly stream: boolean;
  readonly createdAtMs: number;
}

/** What roll-ups add up. */
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
}

/** Sums of one (UTC day, account, key, model). */
export interface UsageDelta extends UsageSums {
  /** Whole days since the epoch. */
  readonly day: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  firstAtMs: number;
  lastAtMs: number;
}

const DAY_MS = 86_400_000;

/** The UTC day of a time, in whole days since the epoch. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** Adds up records by day, account, key and model. */
export class UsageTally {
  readonly #deltas = new Map<string, UsageDelta>();

  get size(): number {
    return this.#deltas.size;
  }

  /** True when adding this record makes no new group. */
  has(record: UsageRecord): boolean {
    return this.#deltas.has(groupOf(record));
  }

  /** Adds one request. */
  add(record: UsageRecord): void {
    const group = groupOf(record);
    let delta = this.#deltas.get(group);
    if (delta === undefined) {
      delta = emptyDelta(record);
      this.#deltas.set(group, delta);
    }
    delta.requests += 1;
    if (record.errorCode !== null) delta.errors += 1;
    delta.inputTokens += record.inputTokens;
    delta.outputTokens += record.outputTokens;
    delta.cachedTokens += record.cachedTokens;
    delta.cacheWriteTokens += record.cacheWriteTokens;
    delta.reasoningTokens += record.reasoningTokens;
    delta.costMicros += record.costMicros;
    delta.firstAtMs = Math.min(delta.firstAtMs, record.createdAtMs);
    delta.lastAtMs = Math.max(delta.lastAtMs, record.createdAtMs);
  }

  values(): IterableIterator<UsageDelta> {
    return this.#deltas.values();
  }
}

function groupOf(record: UsageRecord): string {
  // A model id may hold any character but never a line break.
  return `${dayOf(record.createdAtMs)}\n${record.accountId}\n${record.keyId}\n${record.model}`;
}

function emptyDelta(record: UsageRecord): UsageDelta {
  return {
    day: dayOf(record.createdAtMs),
    accountId: record.accountId,
    keyId: record.keyId,
    model: record.model,
    firstAtMs: record.createdAtMs,
    lastAtMs: record.createdAtMs,
    requests: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    costMicros: 0,
  };
}
