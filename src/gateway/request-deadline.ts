// The deadline of a request that is answered whole. Its work ends when the client leaves or the time is up.

import { ApiError } from "../base/errors.ts";
import { limit } from "../base/limit.ts";

/** What is left to the work. */
export interface RequestDeadline {
  /** Aborted with the `ApiError` that tells why. */
  readonly signal: AbortSignal;
  remainingMs(): number;
}

/** Runs the work within the time and as long as the client is there; throws at once where it left before. */
export async function withinDeadline<T>(
  request: Request,
  timeoutMs: number,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  const endsMs = performance.now() + timeoutMs;
  const abort = new AbortController();
  const onGone = () => abort.abort(clientGone());
  // While its body was read or its model looked up: that event has been.
  if (request.signal.aborted) throw clientGone();
  const late = limit(timeoutMs, () =>
    abort.abort(new ApiError("provider_timeout", "The provider did not answer in time.")),
  );
  request.signal.addEventListener("abort", onGone, { once: true });
  try {
    return await work({ signal: abort.signal, remainingMs: () => endsMs - performance.now() });
  } finally {
    late.cancel();
    request.signal.removeEventListener("abort", onGone);
  }
}

/** Ends what is done for a client that left. */
export function clientGone(): ApiError {
  return new ApiError("request_timeout", "The client went away.");
}
