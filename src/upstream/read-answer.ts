// Reads the bodies of answers, with limits of size and of the time without data.

import { LATER, type Polled, PolledPromises } from "../base/later.ts";
import { type Limit, limit, lone } from "../base/limit.ts";
import type { StopSignal } from "../base/stop-signal.ts";
import { OwnAnswer } from "./connection/own-answer.ts";
import type { BodyPart, PartTaker } from "./connection/wire-answer.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** An answer of a provider whose headers have arrived. */
export type UpstreamAnswer = Response | OwnAnswer;

/** Maximum size of a whole answer. Answers with images in base64 are far smaller. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** How long and how far the rest of an answer is read after its end. */
const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;
/** How much of an error's body is read, and for how long. */
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_IDLE_MS = 30_000;
/** Bodies up to this size are read at once, with a single idle limit. */
const SMALL_BYTES = 1024 * 1024;
/** It keeps nothing between whole texts. */
const decoder = new TextDecoder();

/**
 * The controllers that abort the calls of answers. There is no other way to do so, since only its reader can cancel a body that
 * is being read.
 */
const calls = new WeakMap<Response, AbortController>();

/** Remembers what aborts the call of an answer. */
export function bindAbort(response: Response, abort: AbortController): void {
  calls.set(response, abort);
}

/** The text of an error; "" if it does not arrive. */
export async function readError(answer: UpstreamAnswer): Promise<string> {
  return readBody(answer, { bytesMax: ERROR_BYTES_MAX, idleMs: ERROR_IDLE_MS }, textOf).catch(() => "");
}

/**
 * Reads a whole answer as text, up to the limit. Throws `UpstreamFault` if it breaks off, stalls or is too large; the call is
 * then over.
 */
export async function readAnswer(provider: Provider, response: UpstreamAnswer, signal: StopSignal): Promise<string> {
  return readBounded(response, boundsOf(provider, signal));
}

/** Reads the whole answer as bytes, for answers that are only passed on. */
export async function readAnswerBytes(
  provider: Provider,
  response: UpstreamAnswer,
  signal: StopSignal,
): Promise<Uint8Array> {
  return readWithin(response, boundsOf(provider, signal), bytesOf);
}

function boundsOf({ timeoutsMs }: Provider, signal: StopSignal): Bounds {
  return { bytesMax: ANSWER_BYTES_MAX, idleMs: timeoutsMs.idle, signal };
}

interface Bounds {
  readonly bytesMax: number;
  readonly idleMs: number;
  readonly signal: StopSignal;
}

/** Reads the answer as text, with the given limits. */
export async function readBounded(response: UpstreamAnswer, bounds: Bounds): Promise<string> {
  return readWithin(response, bounds, textOf);
}

const textOf: Whole<string> = {
  small: (response) => response.text(),
  joined: (chunks, size) => decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)),
};

/**
 * The text of an answer that has arrived completely, as nearly all do with their heads; undefined for others, and for those that are
 * to be decompressed.
 */
export function textAtHand(answer: UpstreamAnswer): string | undefined {
  return isAtHand(answer) ? answer.wire.text() : undefined;
}

/** The same as bytes. */
export function bytesAtHand(answer: UpstreamAnswer): Uint8Array | undefined {
  return isAtHand(answer) ? ((answer.wire.read() as Uint8Array | undefined) ?? new Uint8Array(0)) : undefined;
}

function isAtHand(answer: UpstreamAnswer): answer is OwnAnswer {
  return answer instanceof OwnAnswer && answer.wire.isComplete && answer.compression === undefined;
}

const bytesOf: Whole<Uint8Array> = {
  small: (response) => response.bytes(),
  // A piece belongs to its reader, so a single one needs no copy.
  joined: (chunks, size) => (chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)),
};

/** The two ways to turn a body into a value: directly by the runtime, or from the pieces that arrived. */
interface Whole<T> {
  small(response: Response): Promise<T>;
  joined(chunks: readonly Uint8Array[], size: number): T;
}

async function readWithin<T>(response: UpstreamAnswer, { signal, ...limits }: Bounds, whole: Whole<T>): Promise<T> {
  try {
    return await readBody(response, limits, whole);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
}

async function readBody<T>(
  answer: UpstreamAnswer,
  { bytesMax, idleMs }: Omit<Bounds, "signal">,
  whole: Whole<T>,
): Promise<T> {
  if (isAtHand(answer)) {
    const bytes = answer.wire.read() as Uint8Array | undefined;
    return whole.joined(bytes === undefined ? [] : [bytes], bytes?.byteLength ?? 0);
  }
  const response = answer instanceof OwnAnswer && answer.compression !== undefined ? answer.asResponse() : answer;
  const call = response instanceof OwnAnswer ? undefined : calls.get(response);
  // The length counts encoded bytes, so it only limits a body that is not compressed.
  if (call !== undefined && response instanceof Response && isSmall(response)) {
    const patience = limit(idleMs, () => call.abort(stalled()));
    try {
      return await whole.small(response);
    } finally {
      patience.cancel();
    }
  }
  const body = new BodyReader(response, idleMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await body.read();
    if (chunk === undefined) break;
    size += chunk.byteLength;
    if (size > bytesMax) {
      body.cancel();
      throw new UpstreamFault("unavailable", "The provider's answer is too large.");
    }
    chunks.push(chunk);
  }
  return whole.joined(chunks, size);
}

function isSmall({ headers }: Response): boolean {
  const declared = Number(headers.get("content-length") ?? Number.NaN);
  return declared <= SMALL_BYTES && headers.get("content-encoding") === null;
}

const stalled = () => new UpstreamFault("timeout", "The provider stopped answering.");

/** The next bytes of an answer, and a way to end it early. */
interface Source {
  read(): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** `taker` may be given what arrives instead of being woken. */
  poll(wake: () => void, taker?: PartTaker): Polled<BodyPart | undefined>;
  cancel(): void;
}

function sourceOf(answer: UpstreamAnswer): Source {
  if (answer instanceof OwnAnswer && answer.compression === undefined) {
    const { wire } = answer;
    return {
      read: () => wire.read(),
      poll: (wake, taker) => wire.poll(wake, taker),
      cancel: () => wire.stop(undefined),
    };
  }
  const response = answer instanceof OwnAnswer ? answer.asResponse() : answer;
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  const read = async () => (await reader?.read())?.value;
  const polled = new PolledPromises(async () => {
    const bytes = await read();
    return bytes === undefined ? undefined : { bytes, from: 0, to: bytes.byteLength };
  });
  return {
    read,
    poll: (wake) => polled.poll(wake),
    // The stream may have failed already, and nobody needs the error.
    cancel: () => void reader?.cancel().catch(() => undefined),
  };
}

/** Reads a body with a time limit for pauses. */
export class BodyReader {
  readonly #source: Source;
  readonly #idleMs: number;
  #waitingSinceMs = 0;
  #limit: Limit | undefined;
  #idled = false;
  #over = false;

  constructor(answer: UpstreamAnswer, idleMs: number) {
    this.#source = sourceOf(answer);
    this.#idleMs = idleMs;
  }

  /** The next bytes; undefined at the end. Throws `UpstreamFault` `timeout` after a long pause, and network errors. */
  async read(): Promise<Uint8Array | undefined> {
    this.#wait();
    try {
      return this.#received(await this.#source.read());
    } catch (error) {
      this.#stop();
      throw this.#idled ? stalled() : error;
    }
  }

  /**
   * The same for those who do not want a promise for each part. Not to be mixed with `read` while it waits. A `taker` that is given
   * bytes instead has to say so by `took`.
   */
  poll(wake: () => void, taker?: PartTaker): Polled<BodyPart | undefined> {
    try {
      const value = this.#source.poll(wake, taker);
      if (value !== LATER) return this.#received(value);
      this.#wait();
      return LATER;
    } catch (error) {
      this.#stop();
      throw this.#idled ? stalled() : error;
    }
  }

  /** The taker was given bytes. `nowMs`: when, if it waits for the next ones; otherwise nobody does until the next poll. */
  took(nowMs: number | undefined): void {
    this.#waitingSinceMs = nowMs ?? 0;
  }

  #wait(): void {
    this.#waitingSinceMs = performance.now();
    // There is one timer for each body. It restarts if data has arrived meanwhile.
    if (this.#limit === undefined && !this.#over) this.#limit = limit(this.#idleMs, () => this.#watch());
  }

  #received<T>(value: T): T {
    if (this.#idled) throw stalled();
    if (value === undefined) this.#stop();
    else this.#waitingSinceMs = 0;
    return value;
  }

  /** Waits a short time for the end of the body after the answer is complete, so that the connection can be reused. */
  async drain(): Promise<void> {
    const patience = limit(DRAIN_MS, () => this.cancel());
    try {
      for (let size = 0; size < DRAIN_BYTES_MAX; ) {
        const chunk = await this.read();
        if (chunk === undefined) return;
        size += chunk.byteLength;
      }
      this.cancel();
    } catch {
      // The answer is complete, so an error after it does not matter.
    } finally {
      patience.cancel();
    }
  }

  /** Aborts the call, so that the provider sees the connection close. */
  cancel(): void {
    this.#stop();
    this.#source.cancel();
  }

  #watch(): void {
    // If nobody is waiting for data, the client is slow and not the provider.
    const waitedMs = this.#waitingSinceMs === 0 ? 0 : performance.now() - this.#waitingSinceMs;
    if (waitedMs < this.#idleMs) {
      this.#limit = lone(this.#idleMs - waitedMs, () => this.#watch());
      return;
    }
    this.#idled = true;
    this.cancel();
  }

  #stop(): void {
    this.#over = true;
    this.#limit?.cancel();
  }
}
