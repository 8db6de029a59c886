// Forwards any call to a provider unchanged, and returns any answer: with the operator's credential, headers and time limits, but
// without retries and without reading the answer.

import type { Clock } from "../base/clock.ts";
import { type Limit, limit } from "../base/limit.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** The call to forward. */
export interface ForwardedCall {
  readonly method: string;
  /** An address below the provider's base URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The next bytes of the body; undefined at its end. Absent if there is no body. If it throws, the call ends. */
  readonly body?: (() => Promise<Uint8Array | undefined>) | undefined;
  /** The length of the body, if it is known. */
  readonly length?: number | undefined;
}

/** The answer, and a function that aborts it. */
export interface ForwardedAnswer {
  readonly response: Response;
  /** The credential that was used. */
  readonly secret: string;
  abort(): void;
}

/**
 * Sends the call and resolves when the headers of the answer arrive, whatever its status. Throws `UpstreamFault` if there was no
 * answer, the error of the body, or the signal's reason if it aborted.
 */
export async function forwardCall(
  provider: Provider,
  call: ForwardedCall,
  { signal, clock }: { signal: AbortSignal; clock: Pick<Clock, "now"> },
): Promise<ForwardedAnswer> {
  const secret = provider.keys.take(clock.now());
  const ended = new AbortController();
  const onAbort = () => ended.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  let patience: Limit | undefined;
  let isAnswered = false;
  // No answer is expected while the client's body is still being sent.
  const isSent = () => {
    if (isAnswered) return;
    const late = () => ended.abort(new UpstreamFault("timeout", "The provider did not begin to answer in time."));
    patience = limit(provider.timeoutsMs.firstByte, late);
  };
  const { body, length } = call;
  if (body === undefined) isSent();
  try {
    const response = await provider.transport(call.url, {
      method: call.method,
      headers: {
        ...call.headers,
        ...(length === undefined ? {} : { "content-length": String(length) }),
        ...provider.card.headers(secret),
        ...provider.extraHeaders,
      },
      ...(body === undefined ? {} : { body: streamOf(body, { sent: isSent, failed: (error) => ended.abort(error) }) }),
      signal: ended.signal,
      timeout: false,
      // A redirect would send the credential to another server.
      redirect: "manual",
    });
    // As in other calls, a credential that is refused or rate-limited is suspended.
    if (response.status === 401 || response.status === 429) provider.keys.rest(secret, clock.now());
    return { response, secret, abort: () => ended.abort() };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (ended.signal.aborted) throw ended.signal.reason;
    // There is no credential, or the body is too large to be signed.
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider could not be reached.", { cause: error });
  } finally {
    isAnswered = true;
    patience?.cancel();
  }
}

function streamOf(
  next: () => Promise<Uint8Array | undefined>,
  { sent, failed }: { sent(): void; failed(error: unknown): void },
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await next();
          if (bytes !== undefined) return controller.enqueue(bytes);
          sent();
          controller.close();
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
}
