// A lighter form of the platform's abort signals: creating one, listening to it and aborting it costs a fraction of a microsecond
// instead of several. Most requests never need the platform's own.

/** What both kinds of signal have in common. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What a signal ends. */
export interface Stoppable {
  stop(reason: unknown): void;
}

/** A function, or what is stopped with the signal's reason. */
type Listener = (() => void) | Stoppable;

/** A signal with its own trigger. Each listener is called once. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  /** Nearly all have one listener. */
  #first: Listener | undefined;
  #others: Listener[] | undefined;
  #platform: AbortController | undefined;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const first = this.#first;
    const others = this.#others;
    this.#first = undefined;
    this.#others = undefined;
    if (first !== undefined) tell(first, reason);
    if (others !== undefined) for (const listener of others) tell(listener, reason);
    this.#platform?.abort(reason);
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#add(listener);
  }

  /** Stops what is given when the signal aborts. */
  stops(stoppable: Stoppable): void {
    this.#add(stoppable);
  }

  #add(listener: Listener): void {
    if (this.aborted) return;
    if (this.#first === undefined) this.#first = listener;
    else {
      this.#others ??= [];
      this.#others.push(listener);
    }
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others = this.#others?.filter((one) => one !== listener);
  }

  /** The platform's own signal for the same, for functions that need one. */
  get platform(): AbortSignal {
    if (this.#platform === undefined) {
      this.#platform = new AbortController();
      if (this.aborted) this.#platform.abort(this.reason);
    }
    return this.#platform.signal;
  }
}

function tell(listener: Listener, reason: unknown): void {
  if (typeof listener === "function") listener();
  else listener.stop(reason);
}

/** Stops what is given when a signal of either kind aborts. */
export function stopWith(signal: StopSignal, stoppable: Stoppable): void {
  if (signal instanceof Stop) signal.stops(stoppable);
  else signal.addEventListener("abort", () => stoppable.stop(signal.reason), { once: true });
}

/** A signal as the platform's own kind. */
export function platformSignal(signal: StopSignal): AbortSignal {
  return signal instanceof Stop ? signal.platform : (signal as AbortSignal);
}
