// The deadline of a request that does not stream. Its work ends when the client leaves or the time is up.

import { ApiError } from "../../base/errors.ts";
import { type Limit, limitOf } from "../../base/limit.ts";
import { Stop } from "../../base/stop-signal.ts";
import { maybeExchangeOf } from "../../http/exchange.ts";

/** The limits of the work. */
export interface RequestDeadline {
  /** Aborts with an `ApiError` that states the reason. */
  readonly signal: Stop;
  readonly remainingMs: () => number;
  /** Restarts the time limit. Called while the client's upload continues, which has time limits of its own. */
  readonly restart: () => void;
}

/**
 * How old a request is before its connection is watched. The runtime's signal and its listener take a tenth of the time of a request
 * whose answer is there sooner.
 */
const WATCHED_AFTER_MS = 20;

/** Runs the work within the deadline and while the client is connected. Throws immediately if the client has already left. */
export async function withinDeadline<T>(
  request: Request,
  timeoutMs: number,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(request, timeoutMs);
  try {
    // Callers take the functions by themselves.
    return await work({
      signal: deadline.signal,
      remainingMs: () => deadline.remainingMs(),
      restart: () => deadline.restart(),
    });
  } finally {
    deadline.end();
  }
}

/** The same for callers that end it themselves, which costs a request less. */
export class Deadline {
  readonly signal = new Stop();
  readonly #request: Request;
  readonly #timeoutMs: number;
  #endsMs = 0;
  #late: Limit;
  #unwatched: Limit | undefined;
  #watched: AbortSignal | undefined;
  #isOver = false;

  /** Throws if the client has left. */
  constructor(request: Request, timeoutMs: number) {
    this.#request = request;
    this.#timeoutMs = timeoutMs;
    const startedMs = maybeExchangeOf(request)?.startedMs;
    const nowMs = performance.now();
    const isNew = startedMs !== undefined && nowMs - startedMs < WATCHED_AFTER_MS;
    // The client of an older request may have left while its body was read or its model was looked up.
    if (!isNew && request.signal.aborted) throw clientGone();
    if (isNew) this.#unwatched = limitOf(WATCHED_AFTER_MS, watch, this, nowMs);
    else this.watch();
    this.#late = this.#begin(nowMs);
  }

  /** Listens for the client's leaving. */
  watch(): void {
    const { signal } = this.#request;
    if (signal.aborted) this.handleEvent();
    else {
      this.#watched = signal;
      signal.addEventListener("abort", this, { once: true });
    }
  }

  /** The client has left. */
  handleEvent(): void {
    this.signal.abort(clientGone());
  }

  #begin(nowMs: number): Limit {
    this.#endsMs = nowMs + this.#timeoutMs;
    return limitOf(this.#timeoutMs, expire, this, nowMs);
  }

  remainingMs(): number {
    return this.#endsMs - performance.now();
  }

  restart(): void {
    if (this.#isOver) return;
    this.#late.cancel();
    this.#late = this.#begin(performance.now());
  }

  end(): void {
    this.#isOver = true;
    this.#late.cancel();
    this.#unwatched?.cancel();
    this.#watched?.removeEventListener("abort", this);
  }
}

function watch(deadline: Deadline): void {
  deadline.watch();
}

function expire({ signal }: Deadline): void {
  signal.abort(new ApiError("provider_timeout", "The provider did not answer in time."));
}

/** The error with which the work for a client that left is aborted. */
export function clientGone(): ApiError {
  return new ApiError("request_timeout", "The client closed the connection.");
}
