// Caches recent results and shares searches in progress, so that engines do not get the same query twice.

import type { Clock } from "../base/clock.ts";
import { untilAborted } from "../base/until-aborted.ts";

/** How long a result can be reused. */
export const KEPT_MS = 120_000;
const ENTRIES_MAX = 500;
/** The maximum size of all cached results, in characters of text. */
const CHARS_MAX = 8_000_000;

interface Entry<T> {
  readonly value: T;
  readonly untilMs: number;
  readonly chars: number;
}

/** The cached results, of which the oldest are dropped first. */
export class RecentAnswers<T> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry<T>>();
  #chars = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const nowMs = this.#clock.now();
    // If the clock was set back, a result must not be kept longer.
    if (entry.untilMs > nowMs && entry.untilMs <= nowMs + KEPT_MS) return entry.value;
    this.#drop(key, entry);
    return undefined;
  }

  keep(key: string, value: T, { chars, forMs = KEPT_MS }: { chars: number; forMs?: number }): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#drop(key, before);
    if (chars > CHARS_MAX) return;
    this.#entries.set(key, { value, untilMs: this.#clock.now() + forMs, chars });
    this.#chars += chars;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= ENTRIES_MAX && this.#chars <= CHARS_MAX) break;
      this.#drop(oldest, entry);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#chars = 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  #drop(key: string, { chars }: Entry<T>): void {
    this.#entries.delete(key);
    this.#chars -= chars;
  }
}

interface Flight<T> {
  readonly work: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Does work once for all callers that wait for it, and aborts it when the last of them leaves. */
export class SharedWork<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #most: number;

  /** `most`: the maximum number of concurrent tasks; further ones are refused. */
  constructor(most: number) {
    this.#most = most;
  }

  get running(): number {
    return this.#flights.size;
  }

  /** Whether another task would exceed the limit. */
  isFull(key: string): boolean {
    return this.#flights.size >= this.#most && !this.#flights.has(key);
  }

  /** The result of the work with this key, which is started unless it is in progress. Rejects with the signal's reason. */
  async join(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, begin);
    flight.waiting++;
    try {
      return await untilAborted(flight.work, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) {
        // The work is being aborted, so new callers start it again.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.stop.abort();
      }
    }
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const work = begin(stop.signal);
    const flight: Flight<T> = { work, stop, waiting: 0 };
    this.#flights.set(key, flight);
    const forget = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    work.then(forget, forget);
    return flight;
  }
}
