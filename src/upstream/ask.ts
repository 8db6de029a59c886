// Calls a provider with one of its credentials. Every call goes through here, whether its answer is whole or a stream.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import type { BodyText } from "../base/long-json.ts";
import type { Stop, StopSignal } from "../base/stop-signal.ts";
import { beginsAtOnce, callFailure, callProvider, checkedAnswer, hearCall } from "./call.ts";
import type { CallListener, StreamedBody } from "./connection/client.ts";
import { OwnAnswer } from "./connection/own-answer.ts";
import type { WireAnswer } from "./connection/wire-answer.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { readAnswer, textAtHand, type UpstreamAnswer } from "./read-answer.ts";

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

/** A whole answer of a provider, whose headers are only made where they are read. */
export class ProviderAnswer {
  readonly text: string;
  readonly #answer: UpstreamAnswer;

  constructor(answer: UpstreamAnswer, text: string) {
    this.#answer = answer;
    this.text = text;
  }

  get headers(): Headers {
    return this.#answer.headers;
  }
}

/**
 * Sends a request with the provider's next credential and reads the whole answer. Throws `UpstreamFault`, or the signal's reason
 * if it aborted.
 */
export async function fetchAnswer(
  provider: Provider,
  request: UpstreamRequest<BodyText>,
  { clock, signal, headers, choice }: AnswerOptions,
): Promise<ProviderAnswer> {
  const call = async (secret: string) => {
    const answer = await callProvider(provider, request, { signal, secret, headers });
    return new ProviderAnswer(answer, textAtHand(answer) ?? (await readAnswer(provider, answer, signal)));
  };
  return withKey(provider, clock, call, choice);
}

/** The next credential of a provider, or the preferred one, for one call. */
export class CallKey {
  readonly secret: string;
  readonly #provider: Provider;
  readonly #clock: Pick<Clock, "now">;
  readonly #choice: KeyChoice | undefined;

  constructor(provider: Provider, clock: Pick<Clock, "now">, choice: KeyChoice | undefined) {
    this.secret = provider.keys.take(clock.now(), choice?.wanted);
    this.#provider = provider;
    this.#clock = clock;
    this.#choice = choice;
  }

  /** The call succeeded. */
  worked(): void {
    this.#choice?.used(this.secret);
  }

  /** The call failed. A credential that is refused or rate-limited is suspended for a while. */
  failed(error: unknown): void {
    if (!(error instanceof UpstreamFault) || (error.kind !== "auth" && error.kind !== "rate_limited")) return;
    const ms = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1000;
    this.#provider.keys.rest(this.secret, this.#clock.now(), ms);
  }
}

/** Is told of a whole answer, once. Its functions must not throw. */
export interface WholeAnswerReader {
  answerRead(answer: ProviderAnswer): void;
  /** With what `fetchAnswer` throws. */
  answerFailed(error: unknown): void;
}

/**
 * Does what `fetchAnswer` does for a request that nearly always needs no promise. False if something is to be waited for before the
 * call: nothing was begun then. The reader may be told at once.
 */
export function hearAnswer(
  { provider, request, reader }: { provider: Provider; request: UpstreamRequest<BodyText>; reader: WholeAnswerReader },
  { clock, signal, headers, choice }: AnswerOptions & { readonly signal: Stop },
): boolean {
  if (!beginsAtOnce(provider, request)) return false;
  const key = new CallKey(provider, clock, choice);
  new HeardAnswer({ provider, signal, key, reader }).begin(request, headers);
  return true;
}

/** A call that is in progress. */
interface HeardParts {
  readonly provider: Provider;
  readonly signal: Stop;
  readonly key: CallKey;
  readonly reader: WholeAnswerReader;
}

class HeardAnswer implements CallListener {
  readonly #parts: HeardParts;

  constructor(parts: HeardParts) {
    this.#parts = parts;
  }

  begin(request: UpstreamRequest<BodyText>, headers: Readonly<Record<string, string>> | undefined): void {
    const { provider, signal, key } = this.#parts;
    hearCall({ provider, request, listener: this }, { signal, secret: key.secret, headers });
  }

  answered(wire: WireAnswer): void {
    const { provider } = this.#parts;
    const answer = new OwnAnswer(wire);
    const text = answer.ok ? textAtHand(answer) : undefined;
    if (text !== undefined) this.#took(answer, text);
    else this.#takeLater(answer, this.#rest(answer, checkedAnswer(provider, answer)));
  }

  #takeLater(answer: OwnAnswer, text: Promise<string>): void {
    text.then(
      (rest) => this.#took(answer, rest),
      (error: unknown) => this.#failed(error),
    );
  }

  refused(error: unknown): void {
    this.#failed(callFailure(this.#parts.signal, error));
  }

  async #rest(answer: OwnAnswer, checked: AtOnce<OwnAnswer>): Promise<string> {
    await checked;
    return readAnswer(this.#parts.provider, answer, this.#parts.signal);
  }

  #took(answer: OwnAnswer, text: string): void {
    const { key, reader } = this.#parts;
    key.worked();
    reader.answerRead(new ProviderAnswer(answer, text));
  }

  #failed(error: unknown): void {
    const { key, reader } = this.#parts;
    key.failed(error);
    reader.answerFailed(error);
  }
}

/** Is told of an answer, once. Its functions must not throw. */
export interface AnswerOpener {
  /** Its headers have arrived and report success. */
  answerOpened(answer: OwnAnswer): void;
  /** With what `openAnswer` throws. */
  answerFailed(error: unknown): void;
}

/** Does what `openAnswer` does, as `hearAnswer` does what `fetchAnswer` does. */
export function hearOpenAnswer(
  { provider, request, opener }: { provider: Provider; request: UpstreamRequest<BodyText>; opener: AnswerOpener },
  { clock, signal, headers, choice }: AnswerOptions & { readonly signal: Stop },
): boolean {
  if (!beginsAtOnce(provider, request)) return false;
  const key = new CallKey(provider, clock, choice);
  const listener = new OpenedCall(provider, { signal, key, opener });
  hearCall({ provider, request, listener }, { signal, secret: key.secret, headers });
  return true;
}

class OpenedCall implements CallListener {
  readonly #provider: Provider;
  readonly #parts: { readonly signal: Stop; readonly key: CallKey; readonly opener: AnswerOpener };

  constructor(provider: Provider, parts: { signal: Stop; key: CallKey; opener: AnswerOpener }) {
    this.#provider = provider;
    this.#parts = parts;
  }

  answered(wire: WireAnswer): void {
    const checked = checkedAnswer(this.#provider, new OwnAnswer(wire));
    if (!(checked instanceof Promise)) this.#opened(checked);
    else
      checked.then(
        (answer) => this.#opened(answer),
        (error: unknown) => this.#failed(error),
      );
  }

  refused(error: unknown): void {
    this.#failed(callFailure(this.#parts.signal, error));
  }

  #opened(answer: OwnAnswer): void {
    const { key, opener } = this.#parts;
    key.worked();
    opener.answerOpened(answer);
  }

  #failed(error: unknown): void {
    const { key, opener } = this.#parts;
    key.failed(error);
    opener.answerFailed(error);
  }
}

/** Sends a request and returns the answer once its headers report success, without reading it. */
export function openAnswer(
  provider: Provider,
  request: UpstreamRequest<BodyText>,
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
  const key = new CallKey(provider, clock, choice);
  try {
    const answer = await call(key.secret);
    key.worked();
    return answer;
  } catch (error) {
    key.failed(error);
    throw error;
  }
}
