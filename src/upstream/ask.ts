// A provider asked with one of its keys: the way every call goes that wants one whole answer, and every call that streams.

import type { Clock } from "../base/clock.ts";
import { callProvider, readAnswer } from "./call.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** How a provider is asked. */
export interface AnswerOptions {
  readonly clock: Clock;
  /** Ends the call: the client went, or a deadline passed. */
  readonly signal: AbortSignal;
  /** Further headers, as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly choice?: KeyChoice | undefined;
}

/** Which of a provider's keys is taken, where it is not just the next one. */
export interface KeyChoice {
  /** Fingerprint (`Bun.hash`) of the key, which is skipped while it rests. */
  readonly wanted: number | bigint | undefined;
  /** The key that worked. */
  used(secret: string): void;
}

/** One whole answer. */
export interface ProviderAnswer {
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends one request with the provider's next key and reads the whole answer. Throws `UpstreamFault`, or the signal's reason
 * when it aborted.
 */
export function fetchAnswer(
  provider: Provider,
  request: UpstreamRequest,
  options: AnswerOptions,
): Promise<ProviderAnswer> {
  const { clock, signal, headers } = options;
  const call = async (secret: string): Promise<ProviderAnswer> => {
    const how = headers === undefined ? { signal, secret } : { signal, secret, headers };
    const response = await callProvider(provider, request, how);
    return { headers: response.headers, text: await readAnswer(provider, response, signal) };
  };
  return withKey(provider, clock, call, options.choice);
}

/**
 * Runs a call with the provider's next key, or the one of choice. A key that is refused or limited is skipped for a
 * while.
 */
export async function withKey<T>(
  provider: Provider,
  clock: Pick<Clock, "now">,
  call: (secret: string) => Promise<T>,
  choice?: KeyChoice | undefined,
): Promise<T> {
  const secret = provider.keys.take(clock.now(), choice?.wanted);
  try {
    const answer = await call(secret);
    choice?.used(secret);
    return answer;
  } catch (error) {
    if (error instanceof UpstreamFault && (error.kind === "auth" || error.kind === "rate_limited")) {
      const ms = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1000;
      provider.keys.rest(secret, clock.now(), ms);
    }
    throw error;
  }
}
