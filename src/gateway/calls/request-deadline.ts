// The deadline of a request that does not stream. Its work ends when the client leaves or the time is up.

import { ApiError } from "../../base/errors.ts";
import { type Limit, limit } from "../../base/limit.ts";
import { Stop } from "../../base/stop-signal.ts";

/** The limits of the work. */
export interface RequestDeadline {
  /** Aborts with an `ApiError` that states the reason. */
  readonly signal: Stop;
  readonly remainingMs: () => number;
  /** Restarts the time limit. Called while the client's upload continues, which has time limits of its own. */
  readonly restart: () => void;
}

/** Runs the work within the deadline and while the client is connected. Throws immediately if the client has already left. */
export async function withinDeadline<T>(
  request: Request,
  timeoutMs: number,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  const { signal } = request;
  // The client may have left while its body was read or its model was looked up, before a listener was added.
  if (signal.aborted) throw clientGone();
  const deadline = new Deadline(timeoutMs);
  signal.addEventListener("abort", deadline.left, { once: true });
  try {
    return await work(deadline);
  } finally {
    deadline.end();
    signal.removeEventListener("abort", deadline.left);
  }
}

class Deadline implements RequestDeadline {
  readonly signal = new Stop();
  readonly #timeoutMs: number;
  #endsMs = 0;
  #late: Limit;
  #isOver = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#late = this.#begin();
  }

  readonly left = (): void => this.signal.abort(clientGone());

  readonly #passed = (): void =>
    this.signal.abort(new ApiError("provider_timeout", "The provider did not answer in time."));

  #begin(): Limit {
    this.#endsMs = performance.now() + this.#timeoutMs;
    return limit(this.#timeoutMs, this.#passed);
  }

  // Callers take these functions by themselves.
  readonly remainingMs = (): number => this.#endsMs - performance.now();

  readonly restart = (): void => {
    if (this.#isOver) return;
    this.#late.cancel();
    this.#late = this.#begin();
  };

  end(): void {
    this.#isOver = true;
    this.#late.cancel();
  }
}

/** The error with which the work for a client that left is aborted. */
export function clientGone(): ApiError {
  return new ApiError("request_timeout", "The client closed the connection.");
}
