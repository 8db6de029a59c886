// Writes usage off the request path: a bounded queue, flushed in one transaction per interval and on close. A killed process
// loses at most what arrived since the last flush. No token is ever dropped: when the queue is full, requests lose their own
// row but still count in every sum.

import { uuid } from "../../base/ids.ts";
import { isFailure, type UsageRecord, UsageTally, withStorableNames, withWholeAmounts } from "./record.ts";
import type { Spending } from "./spending.ts";
import type { UsageBatch } from "./sql.ts";
import type { UsageStore } from "./usage.ts";

/** Options of a writer. */
export interface UsageWriterOptions {
  /** Config `usage.flush`. */
  readonly flushMs?: number;
  /** Maximum number of waiting requests with a row of their own. */
  readonly queueMax?: number;
  /** Called when a flush fails; its records stay queued and the next flush retries them. */
  readonly onError?: (error: unknown) => void;
}

// A minute of 160 requests per second while the database is locked; about 5 MB.
const QUEUE_MAX = 10_000;
// About 5 ms of blocking work, 20 ms if every row has a different key; the rest follows in the next iteration of the event
// loop.
const BATCH_MAX = 500;
// Groups of (day, account, key, model) that are kept apart after an overflow; above it only day and model are kept.
const OVERFLOW_GROUPS_MAX = 20_000;
// Failures of a key per minute that get their own row; further ones share one, so that a client in a loop does not fill the
// disk.
const FAILED_ROWS_PER_MINUTE = 60;
// Keys whose failures are counted at once; above it counting starts again.
const FAILING_KEYS_MAX = 10_000;
const MINUTE_MS = 60_000;

/** A key's failures within a minute. */
interface FailingKey {
  readonly minute: number;
  rows: number;
}

/** Failures that share a row. */
interface SharedRow {
  readonly record: UsageRecord;
  repeats: number;
}

/** The batch that is being written or will be retried unchanged: written twice, it would count twice. */
interface Flight extends UsageBatch {
  /** How many records at the head of the queue it covers. */
  readonly queued: number;
  /** By key and by account. */
  readonly spent: readonly Spending[];
}

/** The only writer of usage. */
export class UsageWriter {
  readonly #store: Pick<UsageStore, "writeUsage">;
  readonly #flushMs: number;
  readonly #queueMax: number;
  readonly #onError: (error: unknown) => void;
  #queue: UsageRecord[] = [];
  #overflow = new UsageTally();
  readonly #failing = new Map<string, FailingKey>();
  #shared = new Map<string, SharedRow>();
  /** By key and by account; their ids are distinct. */
  readonly #pendingCost = new Map<string, number>();
  #flight: Flight | undefined;
  /** The batch being written; further ones wait for it. */
  #writing: Promise<boolean> | undefined;
  #written: ((spent: readonly Spending[]) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  #rowsWithout = 0;
  #failures = 0;

  constructor(store: Pick<UsageStore, "writeUsage">, options: UsageWriterOptions = {}) {
    this.#store = store;
    this.#flushMs = options.flushMs ?? 250;
    this.#queueMax = options.queueMax ?? QUEUE_MAX;
    this.#onError = options.onError ?? (() => {});
  }

  /** Takes one request's usage; never blocks and never throws. */
  record(given: UsageRecord): void {
    const record = withWholeAmounts(given);
    this.#addPendingCost(record, 1);
    if (isFailure(record) && !this.#hasOwnRow(record)) this.#share(record);
    else if (this.#queue.length < this.#queueMax) this.#queue.push(record);
    else this.#countOnly(record);
    if (this.#closed) void this.flush();
    else this.#timer ??= setTimeout(() => void this.#tick(), this.#flushMs);
  }

  /** Cost that a key or account has run up since the last flush; to be added to the spending in the database. */
  pendingCostMicros(id: string): number {
    return this.#pendingCost.get(id) ?? 0;
  }

  /** Calls `listener` with the spent amounts at the moment they stop being pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void {
    this.#written = listener;
  }

  /** The current write: until it ends it is unknown whether pending amounts are already in the database. */
  get underWay(): Promise<unknown> | undefined {
    return this.#writing;
  }

  /** Figures for metrics and health. */
  get state(): { queued: number; rowsWithout: number; failures: number } {
    return { queued: this.#queue.length, rowsWithout: this.#rowsWithout, failures: this.#failures };
  }

  /** Writes all waiting records now. True if nothing is left. */
  async flush(): Promise<boolean> {
    while (this.#waits) {
      if (!(await this.#flushBatch())) return false;
    }
    return true;
  }

  /** Flushes and stops the timer; wait for it before closing the store. True if everything was written. */
  async close(): Promise<boolean> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return await this.flush();
  }

  async #tick(): Promise<void> {
    const written = await this.#flushBatch();
    this.#timer = undefined;
    if (this.#waits && !this.#closed) this.#timer = setTimeout(() => void this.#tick(), written ? 0 : this.#flushMs);
  }

  get #waits(): boolean {
    return this.#flight !== undefined || this.#queue.length > 0 || this.#overflow.size > 0 || this.#shared.size > 0;
  }

  /** Whether a failure is among the first of its key in this minute. */
  #hasOwnRow({ keyId, createdAtMs }: UsageRecord): boolean {
    const minute = Math.floor(createdAtMs / MINUTE_MS);
    let failing = this.#failing.get(keyId);
    if (failing?.minute !== minute) {
      if (this.#failing.size >= FAILING_KEYS_MAX) this.#failing.clear();
      failing = { minute, rows: 0 };
      this.#failing.set(keyId, failing);
    }
    failing.rows += 1;
    return failing.rows <= FAILED_ROWS_PER_MINUTE;
  }

  /** Counts a failure in every sum and in the shared row of its key and minute. */
  #share(record: UsageRecord): void {
    const uid = `${record.keyId}:${Math.floor(record.createdAtMs / MINUTE_MS)}`;
    const shared = this.#shared.get(uid);
    if (shared !== undefined) shared.repeats += 1;
    else if (this.#shared.size < this.#queueMax)
      this.#shared.set(uid, { record: withStorableNames(record), repeats: 1 });
    else this.#rowsWithout += 1;
    this.#addSums(record);
  }

  #countOnly(record: UsageRecord): void {
    this.#rowsWithout += 1;
    this.#addSums(record);
  }

  #addSums(record: UsageRecord): void {
    const roomy = this.#overflow.size < OVERFLOW_GROUPS_MAX || this.#overflow.has(record);
    if (!roomy) this.#addPendingCost(record, -1);
    this.#overflow.add(withStorableNames(roomy ? record : { ...record, accountId: "", keyId: "" }));
  }

  /** Writes the next batch, or waits for the current one. On failure nothing changes. */
  #flushBatch(): Promise<boolean> {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeBatch(): Promise<boolean> {
    if (!this.#waits) return true;
    this.#flight ??= this.#nextFlight();
    const { id, queued, rows, sums, spent } = this.#flight;
    try {
      await this.#store.writeUsage({ id, rows, sums });
    } catch (error) {
      this.#failures += 1;
      this.#onError(error);
      return false;
    }
    this.#flight = undefined;
    this.#queue = queued === this.#queue.length ? [] : this.#queue.slice(queued);
    for (const { id, costMicros } of spent) this.#changePending(id, -costMicros);
    this.#written?.(spent);
    return true;
  }

  #nextFlight(): Flight {
    const queued = this.#queue.slice(0, BATCH_MAX).map(withStorableNames);
    const tally = new UsageTally();
    for (const record of queued) tally.add(record);
    // A call within a request has a row and is no request.
    const own = queued.map((record) => ({ record, uid: uuid(), repeats: record.isCall === true ? 0 : 1 }));
    const shared = [...this.#shared]
      .map(([uid, { record, repeats }]) => ({ record, uid, repeats }))
      .sort((a, b) => (a.uid < b.uid ? -1 : 1));
    const sums = [...tally.values(), ...this.#overflow.values()];
    this.#overflow = new UsageTally();
    this.#shared = new Map();
    return { id: uuid(), queued: queued.length, rows: [...own, ...shared], sums, spent: sums.flatMap(spentIn) };
  }

  #addPendingCost({ keyId, accountId, costMicros }: UsageRecord, sign: 1 | -1): void {
    if (costMicros === 0) return;
    for (const id of [keyId, accountId]) this.#changePending(id, sign * costMicros);
  }

  #changePending(id: string, micros: number): void {
    // Without an account.
    if (id === "") return;
    const pending = this.pendingCostMicros(id) + micros;
    if (pending === 0) this.#pendingCost.delete(id);
    else this.#pendingCost.set(id, pending);
  }
}

function spentIn({ keyId, accountId, lastAtMs: atMs, costMicros }: UsageBatch["sums"][number]): Spending[] {
  return costMicros === 0 ? [] : [keyId, accountId].map((id) => ({ id, atMs, costMicros }));
}
