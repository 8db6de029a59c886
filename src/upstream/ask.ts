// Calls a provider with one of its credentials. Every call goes through here, whether its answer is whole or a stream.

import type { Clock } from "../base/clock.ts";
import type { StopSignal } from "../base/stop-signal.ts";
import { callProvider } from "./call.ts";
import type { StreamedBody } from "./connection/client.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { readAnswer, type UpstreamAnswer } from "./read-answer.ts";

/** Options of a call. */
export interface AnswerOptions {
  readonly clock: Clock;
  /** Aborts if the client left or a deadline passed. */
  readonly signal: StopSignal;
  /** Additional headers, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly choice?: KeyChoice | undefined;
  /** Creates the body that is sent instead of the request's own. */
  readonly upload?: (() => StreamedBody) | undefined;
}

/** Prefers one of a provider's credentials over the next one in turn. */
export interface KeyChoice {
  /** The fingerprint (`Bun.hash`) of the preferred credential. It is not used while it is suspended. */
  readonly wanted: number | bigint | undefined;
  /** Called with the credential that worked. */
  used(secret: string): void;
}

/** A whole answer of a provider. */
export interface ProviderAnswer {
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request with the provider's next credential and reads the whole answer. Throws `UpstreamFault`, or the signal's reason
 * if it aborted.
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

/** Sends a request and returns the answer once its headers report success, without reading it. */
export function openAnswer(
  provider: Provider,
  request: UpstreamRequest,
  options: AnswerOptions,
): Promise<UpstreamAnswer> {
  const { clock, signal, headers = {}, upload } = options;
  const call = (secret: string) => callProvider(provider, request, { signal, secret, headers, upload: upload?.() });
  return withKey(provider, clock, call, options.choice);
}

/**
 * Runs a call with the provider's next credential, or the preferred one. A credential that is refused or rate-limited is
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
