// Timeouts that are nearly always cancelled. All timeouts of one length share one queue and one timer, so that setting
// and cancelling one costs a list entry: a request sets half a dozen.

/** A limit that was set. */
export interface Limit {
  /** Calls it off; once it has passed, or again, that does nothing. */
  cancel(): void;
}

/** Lengths come from the configuration; a caller that makes up more than this gets a timer for each. */
const LENGTHS_MAX = 100;

const queues = new Map<number, Queue>();

/** Calls `passed` in `ms` milliseconds or a little later, unless it is called off. Does not keep a finished program alive. */
export function limit(ms: number, passed: () => void): Limit {
  let queue = queues.get(ms);
  if (queue === undefined) {
    if (queues.size >= LENGTHS_MAX) return new LoneLimit(ms, passed);
    queue = new Queue(ms);
    queues.set(ms, queue);
  }
  return queue.add(passed);
}

/** The same for a length that will hardly come again. */
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

/** Limits of one length, in the order in which they pass. */
class Queue {
  readonly #ms: number;
  // Never passes itself; the first and the last hang on it, so that no end needs care.
  readonly #ring: Entry;
  #timed = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.#ring = new Entry(Number.POSITIVE_INFINITY, () => {});
  }

  add(passed: () => void): Limit {
    const entry = new Entry(performance.now() + this.#ms, passed);
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
        next.passed();
      }
    } finally {
      // What `passed` set meanwhile may have set the timer already.
      if (ring.next !== ring && !this.#timed) this.#wake(Math.max(1, Math.ceil(ring.next.dueMs - nowMs)));
    }
  }
}

class Entry implements Limit {
  readonly dueMs: number;
  readonly passed: () => void;
  previous: Entry = this;
  next: Entry = this;

  constructor(dueMs: number, passed: () => void) {
    this.dueMs = dueMs;
    this.passed = passed;
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
    // Alone: calling it off again changes nothing.
    this.previous = this;
    this.next = this;
  }
}
