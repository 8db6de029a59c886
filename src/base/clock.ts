// The only source of time for logic, so that tests can control it. Durations for figures may use performance.now().

/** Reads the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Smaller steps back are those of a comparison with another machine's clock; the time stands still meanwhile. */
const SET_BACK_MS = 1000;

/**
 * Makes times that never go back from those of a clock that may be set back: they then go on from where they were. For what lasts
 * for a while in this process's memory, such as a suspension; the time of day is the clock's own.
 */
export class ForwardTime {
  #lastMs = Number.NEGATIVE_INFINITY;
  #addedMs = 0;

  at(clockMs: number): number {
    const ms = clockMs + this.#addedMs;
    if (ms >= this.#lastMs) {
      this.#lastMs = ms;
      return ms;
    }
    if (this.#lastMs - ms >= SET_BACK_MS) this.#addedMs += this.#lastMs - ms;
    return this.#lastMs;
  }

  /** What the clock that was read last says, or would say, at such a time. */
  onClock(ms: number): number {
    return ms - this.#addedMs;
  }
}

/** A clock that never goes back. */
export interface ForwardClock extends Clock {
  /** The time of day of a moment on this clock, for those who are told of it. */
  timeOfDay(ms: number): number;
}

/** The clock, as one that never goes back. */
export function forwardClock(clock: Clock): ForwardClock {
  const time = new ForwardTime();
  const now = () => time.at(clock.now());
  const timeOfDay = (ms: number) => {
    now();
    return time.onClock(ms);
  };
  return { now, timeOfDay };
}

/** A clock that only moves when told to; for tests. */
export class FakeClock implements Clock {
  #now: number;
  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }
  now(): number {
    return this.#now;
  }
  /** Moves the time forward by `ms`, or sets the clock back by less than nothing. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
