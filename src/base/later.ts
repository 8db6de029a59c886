// Values that are polled: an asker gets what is there at once, or is called back. Unlike a promise for each value, this costs
// nothing per value, so the busiest loops use it.

/** Stands for "nothing yet". */
export const LATER: unique symbol = Symbol("later");

/** A value, or nothing yet. */
export type Polled<T> = T | typeof LATER;

/**
 * Gives the next value; `LATER` if there is none yet, and then calls `wake` once when it is to be asked again. There may be nothing
 * even then.
 */
export type Poll<T> = (wake: () => void) => Polled<T>;

/** Waits for the next value. Rejects with what polling throws. */
export function whenPolled<T>(poll: Poll<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const ask = () => {
      try {
        const value = poll(ask);
        if (value !== LATER) resolve(value);
      } catch (error) {
        reject(error);
      }
    };
    ask();
  });
}

/** Lets a function that answers with promises be polled. */
export class PolledPromises<T> {
  readonly #next: () => Promise<T>;
  #isAsked = false;
  #answer: (() => T) | undefined;

  constructor(next: () => Promise<T>) {
    this.#next = next;
  }

  /** Whether a value was asked for, and not taken. */
  get isBusy(): boolean {
    return this.#isAsked;
  }

  /** Throws what the function rejected with. */
  poll(wake: () => void): Polled<T> {
    const answer = this.#answer;
    if (answer !== undefined) {
      this.#answer = undefined;
      this.#isAsked = false;
      return answer();
    }
    if (this.#isAsked) return LATER;
    this.#isAsked = true;
    this.#next().then(
      (value) => {
        this.#answer = () => value;
        wake();
      },
      (error: unknown) => {
        this.#answer = () => {
          throw error;
        };
        wake();
      },
    );
    return LATER;
  }
}
