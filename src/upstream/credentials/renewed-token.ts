// A token that is fetched once for all calls, and again before it ends. Calls use the old one while a new one is fetched, so only
// the first call, and calls after an outage of the token server, wait.

import type { AtOnce } from "../../base/at-once.ts";
import { type Clock, forwardClock } from "../../base/clock.ts";
import { untilAborted } from "../../base/until-aborted.ts";

/** A value that ends. */
export interface Token<T> {
  readonly value: T;
  /** When it ends, in milliseconds since the epoch; infinite if it does not. */
  readonly endsMs: number;
}

/** A token is renewed this long before its end, or after half of its time if that is less. */
const BEFORE_END_MS = 5 * 60_000;
/** The shortest time between two renewals. Metadata servers repeat a token until it is nearly over. */
const INTERVAL_MS = 5_000;
/** For so long calls get the error of a failed attempt, so that many of them do not ask a failing server at once. */
const FAILURE_MS = 1_000;

/** The current token. */
export class RenewedToken<T> {
  readonly #fetch: () => Promise<Token<T>>;
  /** What ends is told in the time of day, and kept in one that never goes back. */
  readonly #wallClock: Clock;
  readonly #clock: Clock;
  #token: Token<T> | undefined;
  #renewMs = 0;
  #flight: Promise<Token<T>> | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;

  constructor(fetch: () => Promise<Token<T>>, clock: Clock) {
    this.#fetch = fetch;
    this.#wallClock = clock;
    this.#clock = forwardClock(clock);
  }

  /** The value, synchronously if there is one. Throws what the fetch throws, or the signal's reason. */
  get(signal?: AbortSignal): AtOnce<T> {
    const nowMs = this.#clock.now();
    const token = this.#token;
    if (token !== undefined && token.endsMs > nowMs) {
      // If it fails, the old token is still used, and the next attempt comes after the interval.
      if (nowMs >= this.#renewMs) this.#renew().catch(() => undefined);
      return token.value;
    }
    const failure = this.#failure;
    if (failure !== undefined && nowMs < failure.untilMs) throw failure.error;
    return untilAborted(this.#renew(), signal).then(({ value }) => value);
  }

  /** Drops a value that was refused. False if it has only just been fetched, so that another one would not be better. */
  drop(value: T): boolean {
    const nowMs = this.#clock.now();
    const token = this.#token;
    // Another call has dropped it already.
    if (token === undefined || token.value !== value) return true;
    if (nowMs < this.#fetchedMs + INTERVAL_MS) return false;
    this.#token = undefined;
    return true;
  }

  #fetchedMs = 0;

  #renew(): Promise<Token<T>> {
    this.#flight ??= this.#fetched().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  async #fetched(): Promise<Token<T>> {
    try {
      const { value, endsMs } = await this.#fetch();
      const nowMs = this.#clock.now();
      const leftMs = endsMs - this.#wallClock.now();
      const token = { value, endsMs: nowMs + leftMs };
      this.#token = token;
      this.#failure = undefined;
      this.#fetchedMs = nowMs;
      this.#renewMs = Math.max(
        nowMs + Math.min(INTERVAL_MS, leftMs / 2),
        token.endsMs - Math.min(BEFORE_END_MS, leftMs / 2),
      );
      return token;
    } catch (error) {
      const nowMs = this.#clock.now();
      this.#renewMs = nowMs + INTERVAL_MS;
      this.#failure = { error, untilMs: nowMs + FAILURE_MS };
      throw error;
    }
  }
}
