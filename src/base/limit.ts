// Timeouts that are nearly always cancelled. All timeouts of one length share a queue and a timer, so that setting and
// cancelling one costs a list entry: a request sets half a dozen.

/** A pending timeout. */
export interface Limit {
  /** Cancels it; does nothing if it has passed or was cancelled. */
  cancel(): void;
}

/** Lengths come from the configuration; if there are more than this, each timeout gets its own timer. */
const LENGTHS_MAX = 100;

const queues = new Map<number, Queue>();

/**
 * Calls `passed` in `ms` milliseconds or slightly later, unless cancelled. Does not keep a finished program alive. `nowMs`: the time
 * by `performance.now()`, for callers that know it.
 */
export function limit(ms: number, passed: () => void, nowMs = performance.now()): Limit {
  return limitOf(ms, passed, undefined, nowMs);
}

/** The same for a function that is told what it is about, so that a busy caller needs no closure. */
export function limitOf<T>(ms: number, passed: (of: T) => void, of: T, nowMs: number): Limit {
  let queue = queues.get(ms);
  if (queue === undefined) {
    if (queues.size >= LENGTHS_MAX) return loneOf(ms, passed, of);
    queue = new Queue(ms);
    queues.set(ms, queue);
  }
  return queue.add(nowMs, passed as Passed, of);
}

// Apart, so that `limitOf` has no closure, which would cost each call an object for what it captures.
function loneOf<T>(ms: number, passed: (of: T) => void, of: T): Limit {
  return new LoneLimit(ms, () => passed(of));
}

type Passed = (of: unknown) => void;

/** The same for a length that will hardly be used again. */
export function lone(ms: number, passed: () => void): Limit {
  return new LoneLimit(ms, passed);
}

class LoneLimit implements Limit {
  readonly #timer: ReturnType<typeof setTimeout>;
  constructor(ms: number, passed: () => void) {
    this.#timer = setTimeout(passed, ms);
    this.#timer.unref();
  }
  cancel(): void {
    clearTimeout(this.#timer);
  }
}

/** Timeouts of one length, in order. */
class Queue {
  readonly #ms: number;
  // A sentinel that links the first and the last entry.
  readonly #ring: Entry;
  #timed = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.#ring = new Entry(Number.POSITIVE_INFINITY, () => {}, undefined);
  }

  add(nowMs: number, passed: Passed, of: unknown): Limit {
    const entry = new Entry(nowMs + this.#ms, passed, of);
    entry.putBefore(this.#ring);
    if (!this.#timed) this.#wake(this.#ms);
    return entry;
  }

  #wake(ms: number): void {
    this.#timed = true;
    setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timed = false;
    const ring = this.#ring;
    const nowMs = performance.now();
    try {
      while (ring.next.dueMs <= nowMs) {
        const { next } = ring;
        next.cancel();
        next.passed(next.of);
      }
    } finally {
      // A timeout that `passed` created may have set the timer already.
      if (ring.next !== ring && !this.#timed) this.#wake(Math.max(1, Math.ceil(ring.next.dueMs - nowMs)));
    }
  }
}

class Entry implements Limit {
  readonly dueMs: number;
  readonly passed: Passed;
  readonly of: unknown;
  previous: Entry = this;
  next: Entry = this;

  constructor(dueMs: number, passed: Passed, of: unknown) {
    this.dueMs = dueMs;
    this.passed = passed;
    this.of = of;
  }

  putBefore(other: Entry): void {
    this.previous = other.previous;
    this.next = other;
    other.previous.next = this;
    other.previous = this;
  }

  cancel(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    // Unlinked: cancelling it again changes nothing.
    this.previous = this;
    this.next = this;
  }
}
