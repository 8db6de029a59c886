// Rate limit per network, over all searches. A request that comes too early gets a later slot.

import type { Clock } from "../base/clock.ts";
import type { RequestRate } from "./engine.ts";

/** A time at which a request may be sent. */
export interface RequestSlot {
  /** How long to wait for it. */
  readonly waitMs: number;
  /** Cancels the request. */
  cancel(): void;
}

/** Requests that may wait for one network. */
const WAITING_MAX = 100;

/** Hands out the slots. One list per network of an engine, no longer than the network's limit plus the waiting requests. */
export class Pace {
  readonly #clock: Clock;
  readonly #byNetwork = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next slot; undefined if it is later than `waitMaxMs`, or too many wait. */
  next(network: string, { requests, perMs }: RequestRate, waitMaxMs: number): RequestSlot | undefined {
    const nowMs = this.#clock.now();
    const known = this.#byNetwork.get(network) ?? [];
    // A clock that was set back must not block a network for that long.
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
        // Waiting requests keep their later slots: the limit holds either way.
        if (at >= 0) list.splice(at, 1);
      },
    };
  }
}
