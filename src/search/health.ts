// How each engine did lately: which one to ask first, and what a person is told of it.

import type { Clock } from "../base/clock.ts";
import type { Failure } from "./failure.ts";

/** What is known of an engine. Times in milliseconds since the epoch. */
export interface EngineHealth {
  readonly asked: number;
  readonly failed: number;
  readonly lastOkAtMs?: number | undefined;
  readonly lastError?: { readonly kind: string; readonly message: string; readonly atMs: number } | undefined;
  /** It has not answered since. */
  readonly failingSinceMs?: number | undefined;
  /** How long its answers take; absent before the first. */
  readonly typicalMs?: number | undefined;
}

interface Entry {
  asked: number;
  failed: number;
  lastOkAtMs?: number | undefined;
  lastError?: { kind: string; message: string; atMs: number } | undefined;
  failingSinceMs?: number | undefined;
  /** Share of good answers, the latest counting most. */
  good: number;
  typicalMs?: number | undefined;
}

/** How much one answer changes what is thought of an engine. */
const NEW_PART = 0.2;
/** An engine that was never asked stands beside one that mostly answers. */
const GOOD_AT_FIRST = 0.9;
/** Engines whose shares of good answers, or whose times, are closer than this do about as well. */
const GOOD_STEP = 0.25;
const SPEED_STEP_MS = 2000;

/** Keeps it; bounded by the list of engines. */
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

  /** Others were quicker, and it was not waited for: no failure, but it takes at least so long. */
  dropped(engine: string, afterMs: number): void {
    const entry = this.#entry(engine);
    this.#took(entry, Math.max(afterMs, entry.typicalMs ?? 0));
  }

  of(engine: string): EngineHealth {
    const { good: _good, ...health } = this.#entries.get(engine) ?? { asked: 0, failed: 0, good: GOOD_AT_FIRST };
    return health;
  }

  /** 0 for an engine that does well; the higher, the later it is asked. */
  rank(engine: string): number {
    const { good = GOOD_AT_FIRST, typicalMs = 0 } = this.#entries.get(engine) ?? {};
    return Math.floor((1 - good) / GOOD_STEP) + Math.floor(typicalMs / SPEED_STEP_MS);
  }

  /** What is worth keeping over a restart. */
  snapshot(): Record<string, Pick<EngineHealth, "lastOkAtMs" | "lastError" | "failingSinceMs">> {
    return Object.fromEntries(
      [...this.#entries].map(([name, { lastOkAtMs, lastError, failingSinceMs }]) => [
        name,
        { lastOkAtMs, lastError, failingSinceMs },
      ]),
    );
  }

  /** Takes back what `snapshot` gave. */
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
