// Sends a stream of server-sent events. Text is read from the source only as fast as the client reads, keepalives are sent during
// silence, and the source is ended when the client leaves.

import { LATER, type Poll, type Polled, PolledPromises } from "../base/later.ts";
import { type Limit, limit, lone } from "../base/limit.ts";
import type { StopSignal } from "../base/stop-signal.ts";

/** The source of a stream's text. */
export interface SseSource {
  /** The next text; "" if there is none yet, undefined at the end. Must not throw: a failure is sent as text. */
  next(): Promise<string | undefined>;
  /** The same without a promise for each text; if present, it is used instead. Must not throw. */
  poll?(wake: () => void): Polled<string | undefined>;
  /**
   * Told before the first poll of one to whom texts may be given as they come, without a poll for each, while the source has
   * answered a poll by "later".
   */
  pushTo?(taker: TextTaker): void;
  /** Called when the client has left, or the server is forced to stop; at most once, and never after the end. */
  cancel(): void;
}

/** Takes texts as they come. */
export interface TextTaker {
  /**
   * `text`: also as bytes, which are copied. Returns false if it was not taken, since the client reads too slowly or has left; then
   * it is to be polled for.
   */
  took(text: string | Uint8Array, nowMs: number): boolean;
}

export interface SseOptions {
  /** The text of a keepalive. */
  keepalive: string;
  /** How long the stream is silent before a keepalive is sent. */
  keepaliveMs?: number;
  /** How long a client may leave data unread; 10 min by default. */
  unreadMs?: number;
  headers?: Readonly<Record<string, string>>;
  /** Aborts when the client leaves, even if nothing is being written. */
  signal: StopSignal;
}

const KEEPALIVE_MS = 15_000;
/** A client that has read nothing for this long counts as gone, even if its connection is open. */
const UNREAD_MS = 600_000;

/** The headers of every stream. */
export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** The streaming response, whose chunks are text. */
export function sseResponse(source: SseSource, options: SseOptions): Response {
  return new Response(sseStream(source, options), { headers: { ...SSE_HEADERS, ...options.headers } });
}

/** What a streaming response sends. */
function sseStream(source: SseSource, options: SseOptions): ReadableStream {
  const sending = new Sending(source, options);
  // The runtime's own kind of stream: what is written is sent at once, and no promise or queue stands between.
  return new ReadableStream({
    type: "direct",
    pull: (sink: Sink) => sending.start(sink),
    cancel: () => sending.stop(true),
  } as unknown as UnderlyingDefaultSource);
}

/** A stream of events of which the edge makes the response, with all headers at once. */
export class EventStream {
  readonly stream: ReadableStream;

  constructor(source: SseSource, options: Omit<SseOptions, "headers">) {
    this.stream = sseStream(source, options);
  }

  /** The response without the headers of the edge. */
  response(): Response {
    return new Response(this.stream, { headers: SSE_HEADERS });
  }
}

/** Where a stream is written. */
interface Sink {
  /** A promise if the client has to read before more may be written; the text is taken in any case. */
  write(text: string | Uint8Array): number | Promise<number>;
  flush(): unknown;
  end(): unknown;
}

/** One stream that is being sent. */
class Sending implements TextTaker {
  readonly #source: SseSource;
  readonly #options: SseOptions;
  readonly #poll: Poll<string | undefined>;
  readonly #wake = () => this.#run();
  readonly #onAbort = () => this.stop(true);
  readonly #over = Promise.withResolvers<void>();
  #sink: Sink | undefined;
  #isOver = false;
  /** The client has not read what was written last, so nothing more is written. */
  #isUnread = false;
  #lastSentMs = performance.now();
  #silence: Limit | undefined;

  constructor(source: SseSource, options: SseOptions) {
    this.#source = source;
    this.#options = options;
    if (source.poll === undefined) {
      const texts = new PolledPromises(() => source.next());
      this.#poll = (wake) => texts.poll(wake);
    } else this.#poll = source.poll.bind(source);
    source.pushTo?.(this);
    const { signal, keepaliveMs = KEEPALIVE_MS } = options;
    if (signal.aborted) {
      this.stop(true);
      return;
    }
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#silence = limit(keepaliveMs, () => this.#watch());
  }

  /** The response is being sent. Resolves when it is complete. */
  start(sink: Sink): Promise<void> {
    this.#sink = sink;
    this.#run();
    return this.#over.promise;
  }

  /** The source failed, against its promise. The runtime reports it and cuts the answer off, so that its reader may ask again. */
  #fail(error: unknown): void {
    this.#sink = undefined;
    this.#over.reject(error);
    this.stop(true);
  }

  /** `gone`: the client does not want the rest. */
  stop(gone: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#silence?.cancel();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    if (gone) this.#source.cancel();
    this.#sink?.end();
    this.#over.resolve();
  }

  #run(): void {
    while (!this.#isOver && !this.#isUnread) {
      let text: Polled<string | undefined>;
      try {
        text = this.#poll(this.#wake);
      } catch (error) {
        this.#fail(error);
        return;
      }
      // The client may have left meanwhile.
      if (text === LATER || this.#isOver) return;
      if (text === undefined) this.stop(false);
      else if (text !== "") this.#send(text, performance.now());
    }
  }

  took(text: string | Uint8Array, nowMs: number): boolean {
    if (this.#isOver || this.#isUnread) return false;
    this.#send(text, nowMs);
    return true;
  }

  #send(text: string | Uint8Array, nowMs: number): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    this.#lastSentMs = nowMs;
    const taken = sink.write(text);
    sink.flush();
    if (typeof taken === "number") return;
    this.#isUnread = true;
    const isRead = () => {
      this.#isUnread = false;
      this.#run();
    };
    // It fails if the connection does, of which the signal tells.
    taken.then(isRead, () => this.stop(true));
  }

  /** There is one timer for each stream. It restarts if something was sent meanwhile. */
  #watch(): void {
    const { keepalive, keepaliveMs = KEEPALIVE_MS, unreadMs = UNREAD_MS } = this.#options;
    const nowMs = performance.now();
    const silentMs = nowMs - this.#lastSentMs;
    // Nobody reads an answer of which the runtime has not asked for the beginning.
    const isUnread = this.#isUnread || this.#sink === undefined;
    if (isUnread && silentMs >= unreadMs) {
      this.stop(true);
      return;
    }
    let waitMs = isUnread ? keepaliveMs : keepaliveMs - silentMs;
    if (waitMs <= 0) {
      this.#send(keepalive, nowMs);
      waitMs = keepaliveMs;
    }
    this.#silence = lone(waitMs, () => this.#watch());
  }
}
