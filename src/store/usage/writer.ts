// Writes usage off the request path: a bounded queue, flushed in one transaction per interval and on close. A killed
// process loses at most what came since the last flush. No token is ever dropped: when the queue is full, requests lose
// their own row but still count in every sum.

import { uuid } from "../../base/ids.ts";
import type { Store } from "../engine/open.ts";
import { isFailure, type UsageRecord, UsageTally } from "./record.ts";
import { usageStatements } from "./sql.ts";

/** How a writer behaves. */
export interface UsageWriterOptions {
  /** Config `usage.flush`. */
  readonly flushMs?: number;
  /** Most requests that wait with a row of their own. */
  readonly queueMax?: number;
  /** Told when a flush fails; its records stay queued and the next flush tries again. */
  readonly onError?: (error: unknown) => void;
}

// A minute of 160 requests a second while the database is locked; about 5 MB.
const QUEUE_MAX = 10_000;
// About 5 ms of blocking work, 20 ms where every row is another key's; the rest follows in the next turn of the event
// loop.
const BATCH_MAX = 500;
// Groups of (day, account, key, model) that overflow keeps apart; beyond it only day and model are kept.
const OVERFLOW_GROUPS_MAX = 20_000;
// Failures of a key in one minute that get a row each; further ones share one, so that a client in a loop fills no disk.
const FAILED_ROWS_PER_MINUTE = 60;
// Keys whose failures are counted at once; beyond it the count starts anew.
const FAILING_KEYS_MAX = 10_000;
const MINUTE_MS = 60_000;

/** The failures of a key within a minute. */
interface FailingKey {
  readonly minute: number;
  rows: number;
}

/** Failures that share a row. */
interface SharedRow {
  readonly record: UsageRecord;
  repeats: number;
}

/** The one place that writes usage. */
export class UsageWriter {
  readonly #store: Store;
  readonly #sql: ReturnType<typeof usageStatements>;
  readonly #flushMs: number;
  readonly #queueMax: number;
  readonly #onError: (error: unknown) => void;
  #queue: UsageRecord[] = [];
  #overflow = new UsageTally();
  readonly #failing = new Map<string, FailingKey>();
  #shared = new Map<string, SharedRow>();
  /** By key and by account; their ids are never the same. */
  #pendingCost = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  #rowsWithout = 0;
  #failures = 0;

  constructor(store: Store, options: UsageWriterOptions = {}) {
    this.#store = store;
    this.#sql = usageStatements(store);
    this.#flushMs = options.flushMs ?? 250;
    this.#queueMax = options.queueMax ?? QUEUE_MAX;
    this.#onError = options.onError ?? (() => {});
  }

  /** Takes one request's usage; never blocks and never throws. */
  record(record: UsageRecord): void {
    this.#addPendingCost(record);
    if (isFailure(record) && !this.#hasOwnRow(record)) this.#share(record);
    else if (this.#queue.length < this.#queueMax) this.#queue.push(record);
    else this.#countOnly(record);
    if (this.#closed) this.flush();
    else this.#timer ??= setTimeout(() => this.#tick(), this.#flushMs);
  }

  /** Cost that a key or an account has run up since the last flush; belongs on top of what the database says it spent. */
  pendingCostMicros(id: string): number {
    return this.#pendingCost.get(id) ?? 0;
  }

  /** Figures for metrics and health. */
  get state(): { queued: number; rowsWithout: number; failures: number } {
    return { queued: this.#queue.length, rowsWithout: this.#rowsWithout, failures: this.#failures };
  }

  /** Writes everything that waits, now. True when nothing is left. */
  flush(): boolean {
    while (this.#waits) {
      if (!this.#flushBatch()) return false;
    }
    return true;
  }

  /** Flushes and stops the timer; call before closing the store. True when everything was written. */
  close(): boolean {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.flush();
  }

  #tick(): void {
    this.#timer = undefined;
    const written = this.#flushBatch();
    if (this.#waits && !this.#closed) this.#timer = setTimeout(() => this.#tick(), written ? 0 : this.#flushMs);
  }

  get #waits(): boolean {
    return this.#queue.length > 0 || this.#overflow.size > 0 || this.#shared.size > 0;
  }

  /** Whether a failure is among the first of its key in its minute. */
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

  /** Counts a failure in every sum and in the one row of its key and minute. */
  #share(record: UsageRecord): void {
    const uid = `${record.keyId}:${Math.floor(record.createdAtMs / MINUTE_MS)}`;
    const shared = this.#shared.get(uid);
    if (shared !== undefined) shared.repeats += 1;
    else if (this.#shared.size < this.#queueMax) this.#shared.set(uid, { record, repeats: 1 });
    else this.#rowsWithout += 1;
    this.#addSums(record);
  }

  #countOnly(record: UsageRecord): void {
    this.#rowsWithout += 1;
    this.#addSums(record);
  }

  #addSums(record: UsageRecord): void {
    const roomy = this.#overflow.size < OVERFLOW_GROUPS_MAX || this.#overflow.has(record);
    this.#overflow.add(roomy ? record : { ...record, accountId: "", keyId: "" });
  }

  /** One transaction; on failure everything stays as it was. */
  #flushBatch(): boolean {
    const batch = this.#queue.length <= BATCH_MAX ? this.#queue : this.#queue.slice(0, BATCH_MAX);
    const overflow = this.#overflow;
    const shared = this.#shared;
    if (batch.length === 0 && overflow.size === 0 && shared.size === 0) return true;
    try {
      this.#store.transaction(() => this.#write(batch, overflow, shared));
    } catch (error) {
      this.#failures += 1;
      this.#onError(error);
      return false;
    }
    this.#queue = batch.length === this.#queue.length ? [] : this.#queue.slice(batch.length);
    this.#overflow = new UsageTally();
    this.#shared = new Map();
    this.#recountPendingCost();
    return true;
  }

  #write(batch: readonly UsageRecord[], overflow: UsageTally, shared: ReadonlyMap<string, SharedRow>): void {
    const tally = new UsageTally();
    const known = new Map<string, boolean>();
    const isKnown = (accountId: string): boolean => {
      let answer = known.get(accountId);
      if (answer === undefined) {
        answer = accountId !== "" && this.#sql.accountExists(accountId);
        known.set(accountId, answer);
      }
      return answer;
    };
    for (const record of batch) {
      if (isKnown(record.accountId)) this.#sql.insertRow({ record, uid: uuid(), repeats: 1 });
      tally.add(record);
    }
    for (const [uid, { record, repeats }] of shared) {
      if (isKnown(record.accountId)) this.#sql.insertRow({ record, uid, repeats });
    }
    for (const sums of [tally, overflow]) {
      for (const delta of sums.values()) this.#sql.addSums(delta, isKnown(delta.accountId));
    }
  }

  #recountPendingCost(): void {
    this.#pendingCost.clear();
    for (const record of this.#queue) this.#addPendingCost(record);
  }

  #addPendingCost({ keyId, accountId, costMicros }: UsageRecord): void {
    if (costMicros === 0) return;
    for (const id of [keyId, accountId]) this.#pendingCost.set(id, this.pendingCostMicros(id) + costMicros);
  }
}
