// Limits disk use while the server runs: deletes expired rows in small steps between which requests run, returns free
// pages to the file system, and truncates the write-ahead log.

import type { Store } from "./store.ts";

/** Deletes a batch of one kind of row and returns how many; 0 when none is left. */
export type Sweep = () => Promise<number>;

/** The work of upkeep and its interval. */
export interface UpkeepOptions {
  readonly sweeps: readonly Sweep[];
  readonly intervalMs?: number;
  /** Free pages (4 KiB) that stay in the file for the next rows. */
  readonly freePagesKept?: number;
  readonly onError?: (error: unknown) => void;
}

/** The result of a round. */
export interface UpkeepRound {
  readonly endedAtMs: number;
  readonly deleted: number;
  /** The number of failed steps; the log has their causes. */
  readonly failed: number;
}

const INTERVAL_MS = 60_000;
/** The limit of steps for each kind of row in one round; the rest waits for the next round. */
const STEPS_MAX = 1000;
/** 64 MiB. */
const FREE_PAGES_KEPT = 16_384;

/** Runs upkeep at intervals until it is stopped. */
export class Upkeep {
  readonly #store: Store;
  readonly #options: UpkeepOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round: Promise<void> | undefined;
  readonly #sweeps: Sweep[];
  #stopped = false;
  #last: UpkeepRound | undefined;

  constructor(store: Store, options: UpkeepOptions) {
    this.#store = store;
    this.#options = options;
    this.#sweeps = [...options.sweeps];
  }

  /** Adds a sweep of what is kept elsewhere. */
  add(sweep: Sweep): void {
    this.#sweeps.push(sweep);
  }

  /** Starts. The first round runs after one interval, so that it does not slow down the start. */
  start(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#round = this.run().finally(() => {
        this.#timer = undefined;
        this.start();
      });
    }, this.#options.intervalMs ?? INTERVAL_MS);
    // The timer alone must not keep the process alive.
    this.#timer.unref();
  }

  /** Stops after the current step; wait for it before closing the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** The last complete round; undefined before the first one. */
  get last(): UpkeepRound | undefined {
    return this.#last;
  }

  /** Runs one round. A failing sweep is reported and does not prevent the others. */
  async run(): Promise<void> {
    let deleted = 0;
    let failed = 0;
    for (const sweep of [...this.#sweeps, () => this.#vacuum()]) {
      try {
        for (let step = 0; step < STEPS_MAX && !this.#stopped; step++) {
          const count = await sweep();
          if (count === 0) break;
          if (this.#sweeps.includes(sweep)) deleted += count;
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
