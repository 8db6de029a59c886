// Keeps the disk bounded while the server runs: what has expired is deleted in small steps that let requests in between,
// freed pages go back to the file system, and the write-ahead log is emptied.

import type { Store } from "./store.ts";

/** One kind of row to delete: deletes some and returns how many; 0 when none is left. */
export type Sweep = () => Promise<number>;

/** What upkeep does and how often. */
export interface UpkeepOptions {
  readonly sweeps: readonly Sweep[];
  readonly intervalMs?: number;
  /** Free pages (4 KiB) that stay in the file for the next rows. */
  readonly freePagesKept?: number;
  readonly onError?: (error: unknown) => void;
}

/** What a round came to. */
export interface UpkeepRound {
  readonly endedAtMs: number;
  readonly deleted: number;
  /** Steps that failed; the log says why. */
  readonly failed: number;
}

const INTERVAL_MS = 60_000;
/** Steps per kind and round: what is left waits for the next round. */
const STEPS_MAX = 1000;
/** 64 MiB. */
const FREE_PAGES_KEPT = 16_384;

/** Runs upkeep now and then until stopped. */
export class Upkeep {
  readonly #store: Store;
  readonly #options: UpkeepOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round: Promise<void> | undefined;
  #stopped = false;
  #last: UpkeepRound | undefined;

  constructor(store: Store, options: UpkeepOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Starts; the first round comes after one interval, so that it does not slow the start. */
  start(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#round = this.run().finally(() => {
        this.#timer = undefined;
        this.start();
      });
    }, this.#options.intervalMs ?? INTERVAL_MS);
    // Upkeep alone is no reason for the process to live.
    this.#timer.unref();
  }

  /** Stops after the step in progress; wait for it before closing the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** The last whole round; undefined before the first. */
  get last(): UpkeepRound | undefined {
    return this.#last;
  }

  /** One round. A sweep that fails is reported and does not keep the others from running. */
  async run(): Promise<void> {
    let deleted = 0;
    let failed = 0;
    for (const sweep of [...this.#options.sweeps, () => this.#vacuum()]) {
      try {
        for (let step = 0; step < STEPS_MAX && !this.#stopped; step++) {
          const count = await sweep();
          if (count === 0) break;
          if (this.#options.sweeps.includes(sweep)) deleted += count;
          await new Promise((resolve) => setImmediate(resolve));
        }
      } catch (error) {
        failed++;
        this.#options.onError?.(error);
      }
    }
    try {
      if (!this.#stopped) this.#store.checkpoint();
    } catch (error) {
      failed++;
      this.#options.onError?.(error);
    }
    if (!this.#stopped) this.#last = { endedAtMs: this.#store.clock.now(), deleted, failed };
  }

  async #vacuum(): Promise<number> {
    return await this.#store.tidy({ freePagesKept: this.#options.freePagesKept ?? FREE_PAGES_KEPT });
  }
}
