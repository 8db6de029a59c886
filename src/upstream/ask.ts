// Calls a provider with one of its credentials: used by every call, whether for a whole answer or a stream.

import type { Clock } from "../base/clock.ts";
import { callProvider, readAnswer, type StreamedBody } from "./call.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** Options of a call. */
export interface AnswerOptions {
  readonly clock: Clock;
  /** Aborts the call: the client left, or a deadline passed. */
  readonly signal: AbortSignal;
  /** Further headers, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly choice?: KeyChoice | undefined;
  /** Makes what goes up in the place of the request's body. */
  readonly upload?: (() => StreamedBody) | undefined;
}

/** Selects one of a provider's credentials, if it is not just the next one. */
export interface KeyChoice {
  /** Fingerprint (`Bun.hash`) of the credential, which is skipped while it is suspended. */
  readonly wanted: number | bigint | undefined;
  /** Called with the credential that worked. */
  used(secret: string): void;
}

/** One whole answer. */
export interface ProviderAnswer {
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends one request with the provider's next credential and reads the whole answer. Throws `UpstreamFault`, or the signal's
 * reason if it aborted.
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

/** The same without reading the answer, whose headers say success. */
export function openAnswer(provider: Provider, request: UpstreamRequest, options: AnswerOptions): Promise<Response> {
  const { clock, signal, headers = {}, upload } = options;
  const call = (secret: string) => callProvider(provider, request, { signal, secret, headers, upload: upload?.() });
  return withKey(provider, clock, call, options.choice);
}

/**
 * Runs a call with the provider's next credential, or the selected one. A credential that is refused or rate-limited is
 * suspended for a while.
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
