// The deadline of a request that does not stream. Its work ends when the client leaves or the time is up.

import { ApiError } from "../../base/errors.ts";
import { limit } from "../../base/limit.ts";

/** The limits of the work. */
export interface RequestDeadline {
  /** Aborts with an `ApiError` that states the reason. */
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** Restarts the time limit. Called while the client's upload continues, which has time limits of its own. */
  restart(): void;
}

/** Runs the work within the deadline and while the client is connected. Throws immediately if the client has already left. */
export async function withinDeadline<T>(
  request: Request,
  timeoutMs: number,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  let endsMs = performance.now() + timeoutMs;
  const abort = new AbortController();
  const onGone = () => abort.abort(clientGone());
  // The client may have left while its body was read or its model was looked up, before a listener was added.
  if (request.signal.aborted) throw clientGone();
  const passed = () => abort.abort(new ApiError("provider_timeout", "The provider did not answer in time."));
  let late = limit(timeoutMs, passed);
  let isOver = false;
  request.signal.addEventListener("abort", onGone, { once: true });
  try {
    return await work({
      signal: abort.signal,
      remainingMs: () => endsMs - performance.now(),
      restart() {
        if (isOver) return;
        late.cancel();
        late = limit(timeoutMs, passed);
        endsMs = performance.now() + timeoutMs;
      },
    });
  } finally {
    isOver = true;
    late.cancel();
    request.signal.removeEventListener("abort", onGone);
  }
}

/** The error with which the work for a client that left is aborted. */
export function clientGone(): ApiError {
  return new ApiError("request_timeout", "The client closed the connection.");
}
