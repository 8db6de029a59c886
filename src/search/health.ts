// The recent health of each engine, which determines the order of queries and is shown to people.

import type { Clock } from "../base/clock.ts";
import type { Failure } from "./failure.ts";

/** The health of an engine. Times are in milliseconds since the epoch. */
export interface EngineHealth {
  readonly asked: number;
  readonly failed: number;
  readonly lastOkAtMs?: number | undefined;
  readonly lastError?: { readonly kind: string; readonly message: string; readonly atMs: number } | undefined;
  /** Since when it has not answered. */
  readonly failingSinceMs?: number | undefined;
  /** Its average response time; absent before its first response. */
  readonly typicalMs?: number | undefined;
}

interface Entry {
  asked: number;
  failed: number;
  lastOkAtMs?: number | undefined;
  lastError?: { kind: string; message: string; atMs: number } | undefined;
  failingSinceMs?: number | undefined;
  /** The rate of its successes, weighted towards recent responses. */
  good: number;
  typicalMs?: number | undefined;
}

/** The weight of a new response. */
const NEW_PART = 0.2;
/** The success rate of a new engine, which is that of one that mostly succeeds. */
const GOOD_AT_FIRST = 0.9;
/** Engines whose success rates or times differ by less are treated as equal. */
const GOOD_STEP = 0.25;
const SPEED_STEP_MS = 2000;

/** Records the health of engines. Its size is that of the list of engines. */
export class HealthBook {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  succeeded(engine: string, tookMs: number): void {
    const entry = this.#entry(engine);
    entry.asked++;
    entry.good += NEW_PART * (1 - entry.good);
    entry.lastOkAtMs = this.#clock.now();
    entry.failingSinceMs = undefined;
    this.#took(entry, tookMs);
  }

  failed(engine: string, { kind, message }: Failure): void {
    const entry = this.#entry(engine);
    const atMs = this.#clock.now();
    entry.asked++;
    entry.failed++;
    entry.good -= NEW_PART * entry.good;
    entry.lastError = { kind, message, atMs };
    entry.failingSinceMs ??= atMs;
  }

  /**
   * Records an engine that was not awaited because others were faster. This is not a failure, but shows that the engine takes at
   * least this long.
   */
  dropped(engine: string, afterMs: number): void {
    const entry = this.#entry(engine);
    this.#took(entry, Math.max(afterMs, entry.typicalMs ?? 0));
  }

  of(engine: string): EngineHealth {
    const { good: _good, ...health } = this.#entries.get(engine) ?? { asked: 0, failed: 0, good: GOOD_AT_FIRST };
    return health;
  }

  /** The rank of an engine: 0 if it is healthy, and higher if it is queried later. */
  rank(engine: string): number {
    const { good = GOOD_AT_FIRST, typicalMs = 0 } = this.#entries.get(engine) ?? {};
    return Math.floor((1 - good) / GOOD_STEP) + Math.floor(typicalMs / SPEED_STEP_MS);
  }

  /** The state to store over a restart. */
  snapshot(): Record<string, Pick<EngineHealth, "lastOkAtMs" | "lastError" | "failingSinceMs">> {
    return Object.fromEntries(
      [...this.#entries].map(([name, { lastOkAtMs, lastError, failingSinceMs }]) => [
        name,
        { lastOkAtMs, lastError, failingSinceMs },
      ]),
    );
  }

  /** Restores what `snapshot` returned. */
  restore(saved: ReturnType<HealthBook["snapshot"]>): void {
    for (const [name, { lastOkAtMs, lastError, failingSinceMs }] of Object.entries(saved))
      Object.assign(this.#entry(name), { lastOkAtMs, lastError, failingSinceMs });
  }

  #entry(engine: string): Entry {
    let entry = this.#entries.get(engine);
    if (entry === undefined) {
      entry = { asked: 0, failed: 0, good: GOOD_AT_FIRST };
      this.#entries.set(engine, entry);
    }
    return entry;
  }

  #took(entry: Entry, ms: number): void {
    entry.typicalMs = entry.typicalMs === undefined ? ms : entry.typicalMs + NEW_PART * (ms - entry.typicalMs);
  }
}
