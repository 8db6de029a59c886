// The only source of time for logic, so that tests can control it. Durations for figures may use performance.now().

/** Reads the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** A clock that only moves when told to; for tests. */
export class FakeClock implements Clock {
  #now: number;
  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }
  now(): number {
    return this.#now;
  }
  /** Moves the time forward by `ms`. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
