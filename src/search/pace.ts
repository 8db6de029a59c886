// The rate limit of each network, over all searches. A request that would come too early is delayed.

import type { Clock } from "../base/clock.ts";
import type { RequestRate } from "./engine.ts";

/** A time at which a request may be sent. */
export interface RequestSlot {
  /** How long to wait until that time. */
  readonly waitMs: number;
  /** Cancels the request. */
  cancel(): void;
}

/** Maximum number of requests that wait for one network. */
const WAITING_MAX = 100;

/**
 * Assigns the times of requests. Each network has one list, which is no longer than the network's limit plus the waiting
 * requests.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #byNetwork = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next possible time; undefined if it is more than `waitMaxMs` away, or too many requests wait. */
  next(network: string, { requests, perMs }: RequestRate, waitMaxMs: number): RequestSlot | undefined {
    const nowMs = this.#clock.now();
    const known = this.#byNetwork.get(network) ?? [];
    // If the clock was set back, a network must not be blocked for that long.
    const isAhead = (known.at(-1) ?? 0) > nowMs + WAITING_MAX * perMs;
    const times = isAhead ? [] : known.filter((timeMs) => timeMs > nowMs - perMs);
    this.#byNetwork.set(network, times);
    const before = times[times.length - requests];
    const timeMs = Math.max(nowMs, before === undefined ? nowMs : before + perMs);
    const waiting = times.reduce((count, other) => (other > nowMs ? count + 1 : count), 0);
    if (timeMs - nowMs > waitMaxMs || waiting >= WAITING_MAX) return undefined;
    times.push(timeMs);
    return {
      waitMs: timeMs - nowMs,
      cancel: () => {
        const list = this.#byNetwork.get(network) ?? [];
        const at = list.lastIndexOf(timeMs);
        // Waiting requests keep their times, with which the limit is kept as well.
        if (at >= 0) list.splice(at, 1);
      },
    };
  }
}
