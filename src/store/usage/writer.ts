// Writes usage off the request path: a bounded queue that is written at intervals and on close, in batches of one
// transaction each. A killed process loses what was not written yet. No token is ever dropped: when the queue is full,
// requests lose their own row but are still summed by account, key and model; beyond a limit of such groups, by model
// only.

import { uuid } from "../../base/ids.ts";
import { LabelReader } from "./parts.ts";
import { isFailure, type UsageRecord, UsageTally, withWholeAmounts } from "./record.ts";
import type { Spending } from "./spending.ts";
import type { UsageBatch } from "./sql.ts";
import { withStorableNames } from "./storable-names.ts";
import type { UsageStore } from "./usage.ts";

/** Options of a writer. */
export interface UsageWriterOptions {
  /** Config `usage.flush`. */
  readonly flushMs?: number;
  /** The limit of queued requests with a row of their own. */
  readonly queueMax?: number;
  /** Called when a write fails. Its records stay queued and are retried after the next interval. */
  readonly onError?: (error: unknown) => void;
}

// One minute of 160 requests per second, while the database is locked; about 5 MB.
const QUEUE_MAX = 10_000;
// About 3 ms of blocking work, or 20 ms if every row has a different key. The rest is written in the next iteration of
// the event loop. A queue of this length is written at once. A busy program thus writes large batches: each has its own
// transaction and statements for the sums, which would cost more than the rows of a small one.
const BATCH_MAX = 500;
// The limit of groups of (hour, account, key, model) for requests without a row. Further ones are grouped only by hour
// and model.
const OVERFLOW_GROUPS_MAX = 20_000;
// The number of failures of a key in one minute that get their own rows. Further ones share a row, so that a client in
// a loop does not fill the disk.
const FAILED_ROWS_PER_MINUTE = 60;
// The limit of keys whose failures are counted. Above it, counting starts again for all keys.
const FAILING_KEYS_MAX = 10_000;
const MINUTE_MS = 60_000;
// The longest pause between the last writes, since the program waits for them.
const LAST_PAUSE_MS = 250;

/** The failures of a key within a minute. */
interface FailingKey {
  readonly minute: number;
  rows: number;
}

/** Failures that share one row. */
interface SharedRow {
  readonly record: UsageRecord;
  repeats: number;
}

/**
 * The batch that is being written. If that fails, the same batch is retried unchanged, so that it is not counted twice.
 */
interface Flight extends UsageBatch {
  /** The number of records at the head of the queue that it contains. */
  readonly queued: number;
  /** Amounts by key, by account and by agent run. */
  readonly spent: readonly Spending[];
}

/** The only writer of usage. */
export class UsageWriter {
  readonly #store: Pick<UsageStore, "writeUsage">;
  readonly #flushMs: number;
  readonly #queueMax: number;
  readonly #onError: (error: unknown) => void;
  #queue: UsageRecord[] = [];
  readonly #labels = new LabelReader();
  #overflow = new UsageTally(this.#labels);
  readonly #failing = new Map<string, FailingKey>();
  #shared = new Map<string, SharedRow>();
  /** Amounts by the ids of keys, accounts and agent runs, which are all different. */
  readonly #pendingCost = new Map<string, number>();
  #flight: Flight | undefined;
  /** The current write; there is only one at a time. */
  #writing: Promise<boolean> | undefined;
  /** The reads that have begun and must end before the next write. */
  readonly #reading = new Set<Promise<unknown>>();
  readonly #written: ((spent: readonly Spending[]) => void)[] = [];
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

  /** Adds the usage of one request; never blocks and never throws. */
  record(given: UsageRecord): void {
    const record = withWholeAmounts(given);
    this.#addPendingCost(record, 1);
    const before = this.#queue.length;
    if (isFailure(record) && !this.#hasOwnRow(record)) this.#share(record);
    else if (before < this.#queueMax) this.#enqueue(record);
    else this.#countOnly(record);
    const isFull = before < BATCH_MAX && this.#queue.length === BATCH_MAX;
    if (this.#closed) void this.flush();
    else if (this.#timer === undefined) this.#writeIn(this.#flushMs);
    // Not while a batch is being written, nor before one is retried. Once, since each further timer would put the write off.
    else if (isFull && this.#writing === undefined && this.#flight === undefined) this.#writeIn(0);
  }

  /** Sets the only timer. */
  #writeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#tick(), ms);
  }

  /** The cost of a key or account that is not written yet, to be added to the spending in the database. */
  pendingCostMicros(id: string): number {
    return this.#pendingCost.get(id) ?? 0;
  }

  /** Calls `listener` with the written amounts at the moment when they stop being pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void {
    this.#written.push(listener);
  }

  /**
   * Reads spending from the database while nothing is written, since during a write it is unknown whether pending amounts are
   * already included. The next write waits for the reads that have begun, so that no read waits for more than one.
   */
  async readBetweenWrites<T>(read: () => Promise<T>): Promise<T> {
    while (this.#writing !== undefined) await this.#writing;
    const reading = read();
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }

  /** Figures for metrics and health. */
  get state(): { queued: number; rowsWithout: number; failures: number } {
    return { queued: this.#queue.length, rowsWithout: this.#rowsWithout, failures: this.#failures };
  }

  /** The requests whose usage is not written yet, with those that are summed and have no row of their own. Counts all of them. */
  get unwrittenRequests(): number {
    const { queued, sums } = this.#flight ?? { queued: 0, sums: [] };
    const later = this.#queue.slice(queued).filter(({ isCall }) => isCall !== true);
    return [...sums, ...this.#overflow.values()].reduce((count, { requests }) => count + requests, later.length);
  }

  /**
   * Writes everything that is queued. True if nothing is left. What is recorded meanwhile is left for the next write, unless the writer
   * was closed: on a busy node something always is.
   */
  async flush(): Promise<boolean> {
    // The current write may contain less than a batch, and the sums of requests without a row are in the next one.
    for (let left = 2 + Math.ceil(this.#queue.length / BATCH_MAX); this.#waits && (left > 0 || this.#closed); left--) {
      if (!(await this.#flushBatch())) return false;
    }
    return !this.#waits;
  }

  /**
   * Stops the timer and writes everything; wait for it before closing the store. A write that fails is repeated until `waitMs` have
   * passed, since nobody repeats it later. True if nothing is left.
   */
  async close(waitMs = 0): Promise<boolean> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pauseMs = Math.min(this.#flushMs, LAST_PAUSE_MS);
    for (const until = performance.now() + waitMs; !(await this.flush()); await Bun.sleep(pauseMs)) {
      if (performance.now() >= until) return false;
    }
    return true;
  }

  async #tick(): Promise<void> {
    const written = await this.#flushBatch();
    // A record may have set one meanwhile.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waits && !this.#closed) this.#writeIn(written && this.#queue.length >= BATCH_MAX ? 0 : this.#flushMs);
  }

  get #waits(): boolean {
    return this.#flight !== undefined || this.#queue.length > 0 || this.#overflow.size > 0 || this.#shared.size > 0;
  }

  /** Whether the failure is one of the first of its key in this minute, which get their own rows. */
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

  #enqueue(record: UsageRecord): void {
    this.#queue.push(record);
    // A run is charged with rows alone.
    if (record.runId !== undefined && record.costMicros !== 0) this.#changePending(record.runId, record.costMicros);
  }

  /** Adds a failure to the sums and to the shared row of its key and minute. */
  #share(record: UsageRecord): void {
    const uid = `${record.keyId}:${Math.floor(record.createdAtMs / MINUTE_MS)}`;
    const shared = this.#shared.get(uid);
    if (shared !== undefined) shared.repeats += 1;
    else if (this.#shared.size < this.#queueMax)
      this.#shared.set(uid, { record: withStorableNames(ofNoRun(record)), repeats: 1 });
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
    this.#overflow.add(withStorableNames(roomy ? record : unattributed(record)));
  }

  /** Writes the next batch, or waits for the current write. If it fails, the queue stays unchanged. */
  #flushBatch(): Promise<boolean> {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeBatch(): Promise<boolean> {
    if (!this.#waits) return true;
    if (this.#reading.size > 0) await Promise.allSettled(this.#reading);
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
    for (const listener of this.#written) listener(spent);
    return true;
  }

  #nextFlight(): Flight {
    const queued = this.#queue.slice(0, BATCH_MAX).map(withStorableNames);
    const tally = new UsageTally(this.#labels);
    for (const record of queued) tally.add(record);
    // A failed upstream call has a row but does not count as a request.
    const own = queued.map((record) => ({
      record,
      uid: null,
      repeats: record.isCall === true ? 0 : 1,
      isKeepable: true as const,
    }));
    const shared = [...this.#shared]
      .map(([uid, { record, repeats }]) => ({ record, uid, repeats }))
      .sort((a, b) => (a.uid < b.uid ? -1 : 1));
    const sums = [...tally.values(), ...this.#overflow.values()];
    this.#overflow = new UsageTally(this.#labels);
    this.#shared = new Map();
    return {
      id: uuid(),
      queued: queued.length,
      rows: [...own, ...shared],
      sums,
      spent: [...sums.flatMap(spentIn), ...queued.flatMap(spentInRun)],
    };
  }

  #addPendingCost({ keyId, accountId, projectId, costMicros }: UsageRecord, sign: 1 | -1): void {
    if (costMicros === 0) return;
    for (const id of [keyId, accountId, projectId ?? ""]) this.#changePending(id, sign * costMicros);
  }

  #changePending(id: string, micros: number): void {
    // The record belongs to no account, or its key to no project.
    if (id === "") return;
    const pending = this.pendingCostMicros(id) + micros;
    if (pending === 0) this.#pendingCost.delete(id);
    else this.#pendingCost.set(id, pending);
  }
}

function spentIn({ keyId, accountId, lastAtMs: atMs, costMicros, labels }: UsageBatch["sums"][number]): Spending[] {
  if (costMicros === 0) return [];
  const spent = [keyId, accountId].map((id) => ({ id, atMs, costMicros }));
  for (const sums of labels?.values() ?? []) {
    const { label, lastAtMs, costMicros } = sums;
    if (label.kind === "project" && costMicros > 0) spent.push({ id: label.name, atMs: lastAtMs, costMicros });
  }
  return spent;
}

function unattributed({ projectId: _project, tags: _tags, ...record }: UsageRecord): UsageRecord {
  return { ...record, accountId: "", keyId: "" };
}

function spentInRun({ runId, createdAtMs: atMs, costMicros }: UsageRecord): Spending[] {
  return runId === undefined || costMicros === 0 ? [] : [{ id: runId, atMs, costMicros }];
}

/** A row that several requests share belongs to no run. */
function ofNoRun({ runId: _run, ...record }: UsageRecord): UsageRecord {
  return record;
}
