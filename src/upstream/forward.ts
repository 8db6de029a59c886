// A call to a provider that is passed on as it came, whatever it asks and whatever is answered: our credentials, the
// operator's headers and time limits, no retries and no reading of the answer.

import type { Clock } from "../base/clock.ts";
import { type Limit, limit } from "../base/limit.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** What goes up. */
export interface ForwardedCall {
  readonly method: string;
  /** Below the provider's base URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The next bytes of the body, undefined at its end; absent: there is no body. What it throws ends the call. */
  readonly body?: (() => Promise<Uint8Array | undefined>) | undefined;
  /** Of the body, where it is known. */
  readonly length?: number | undefined;
}

/** What came back, and how to end it before its end. */
export interface ForwardedAnswer {
  readonly response: Response;
  /** The credential that went with it. */
  readonly secret: string;
  abort(): void;
}

/**
 * Sends the call and resolves when the answer's headers are there, whatever its status. Throws `UpstreamFault` when none
 * came, what the body threw, or the signal's reason when it aborted.
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
  // While the client's body is still coming, the provider has nothing to answer.
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
      // A redirect would carry the credential elsewhere.
      redirect: "manual",
    });
    // As everywhere: a credential that was refused or limited is left alone for a while.
    if (response.status === 401 || response.status === 429) provider.keys.rest(secret, clock.now());
    return { response, secret, abort: () => ended.abort() };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (ended.signal.aborted) throw ended.signal.reason;
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
