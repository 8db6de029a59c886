// Opens a streamed answer. The first frames are buffered until there is content, so that an early failure still leads to an HTTP
// status or another route; then frames are relayed. The upstream call is aborted as soon as the client leaves.

import { LATER, type Polled, whenPolled } from "../../base/later.ts";
import type { BodyText } from "../../base/long-json.ts";
import { FrameCutter } from "../../base/sse.ts";
import type { Stop, StopSignal } from "../../base/stop-signal.ts";
import { type ChatEvent, failureOf } from "../../chat/event.ts";
import type { TextTaker } from "../../http/sse-response.ts";
import { callFailure, callProvider, checkedAnswer, hearCall } from "../../upstream/call.ts";
import type { CallListener } from "../../upstream/connection/client.ts";
import { OwnAnswer } from "../../upstream/connection/own-answer.ts";
import type { BodyPart, PartTaker, WireAnswer } from "../../upstream/connection/wire-answer.ts";
import type { FrameRelay, UpstreamRequest } from "../../upstream/dialect.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { Provider } from "../../upstream/provider.ts";
import { BodyReader, type UpstreamAnswer } from "../../upstream/read-answer.ts";
import { faultOfAnswer } from "../rules/policy.ts";
import type { RouteAttempt } from "./route-call.ts";

/** Maximum size of the buffer before content arrives; no real answer has such a long opening. */
const OPENING_CHARS_MAX = 256 * 1024;

/** An upstream stream that has begun. */
export interface LiveAnswer {
  attempt: RouteAttempt;
  relay: FrameRelay;
  request: UpstreamRequest<BodyText>;
  answer: { readonly headers: Headers };
  /**
   * The next text for the client; undefined at the end. Never throws: if the connection breaks, the text is an error event of the
   * client's protocol.
   */
  next(): Promise<string | undefined>;
  /** The same for those who do not want a promise for each text. */
  poll(wake: () => void): Polled<string | undefined>;
  /** From the next poll on, texts that are waited for are given to this one, as long as it takes them. */
  pushTo(taker: TextTaker | undefined): void;
  cancel(): void;
}

export interface OpenOptions {
  signal: StopSignal;
  secret: string;
  /** Called for the upstream's first event. */
  begun(): void;
  /** Creates the relay for an answer that was not streamed. */
  whole(events: readonly ChatEvent[]): FrameRelay;
}

/** Calls the provider and waits for content or the end. Throws `UpstreamFault` if the call fails before any content. */
export async function openLive(
  attempt: RouteAttempt,
  request: UpstreamRequest<BodyText>,
  streamed: FrameRelay,
  options: OpenOptions,
): Promise<LiveAnswer> {
  const answer = await callProvider(attempt.provider, request, { ...options, headers: attempt.headers });
  return new Promise((streamOpened, streamFailed) => {
    new Opening({ attempt, request, answer, relay: streamed }, options, { streamOpened, streamFailed }).read();
  });
}

/** It keeps nothing between whole texts. */
const decoder = new TextDecoder();

/** Is told of a stream once there is content or the end, or of the failure before; once. Its functions must not throw. */
export interface LiveListener {
  streamOpened(live: LiveAnswer): void;
  /** With what `openLive` throws. */
  streamFailed(error: unknown): void;
}

/** What a call is made of whose stream is heard. */
export interface HeardCall {
  readonly attempt: RouteAttempt;
  readonly request: UpstreamRequest<BodyText>;
  readonly relay: FrameRelay;
  readonly options: OpenOptions & { readonly signal: Stop };
  readonly listener: LiveListener;
}

/** Does what `openLive` does for those who want no promise. `beginsAtOnce` must be true. The listener may be told at once. */
export function hearLive(call: HeardCall): void {
  const { attempt, request, options } = call;
  const { provider, headers } = attempt;
  const { signal, secret } = options;
  hearCall({ provider, request, listener: new HeardLive(call) }, { signal, secret, headers });
}

class HeardLive implements CallListener {
  readonly #call: HeardCall;

  constructor(call: HeardCall) {
    this.#call = call;
  }

  answered(wire: WireAnswer): void {
    const { attempt, request, relay, options, listener } = this.#call;
    const answer = new OwnAnswer(wire);
    const checked = checkedAnswer(attempt.provider, answer);
    if (checked instanceof Promise) checked.catch((error: unknown) => listener.streamFailed(error));
    else new Opening({ attempt, request, answer, relay }, options, listener).read();
  }

  refused(error: unknown): void {
    const { options, listener } = this.#call;
    listener.streamFailed(callFailure(options.signal, error));
  }
}

/** The beginning of a stream, which is read until there is content, the end, or more than any real opening. */
class Opening {
  readonly #live: LiveStream;
  readonly #body: BodyReader;
  readonly #options: OpenOptions;
  readonly #listener: LiveListener;
  readonly #wake = () => this.read();
  #isFirst = true;

  constructor(parts: AnswerParts, options: OpenOptions, listener: LiveListener) {
    this.#body = new BodyReader(parts.answer, parts.attempt.provider.timeoutsMs.idle);
    this.#live = new LiveStream(parts, this.#body, options.begun);
    this.#options = options;
    this.#listener = listener;
  }

  /** Reads what has arrived, and is called again when more does. */
  read(): void {
    const live = this.#live;
    try {
      while (!live.ended && !live.relay.committed && live.pending.length < OPENING_CHARS_MAX) {
        const part = this.#body.poll(this.#wake);
        if (part === LATER) return;
        if (this.#isFirst && part !== undefined && isJson(part)) {
          this.#readWhole(part.bytes.slice(part.from, part.to));
          return;
        }
        this.#isFirst = false;
        live.take(part?.bytes, part?.from, part?.to);
      }
    } catch (error) {
      this.#broke(error);
      return;
    }
    this.#isRead();
  }

  #readWhole(first: Uint8Array): void {
    const live = this.#live;
    eventsOfWhole(live.attempt.provider, this.#body, first)
      .then((events) => {
        live.relay = this.#options.whole(events);
        live.take(undefined);
      })
      .then(
        () => this.#isRead(),
        (error: unknown) => this.#broke(error),
      );
  }

  #isRead(): void {
    const live = this.#live;
    const { relay } = live;
    if (relay.fault !== undefined && !relay.committed) {
      this.#body.cancel();
      this.#listener.streamFailed(faultOfAnswer(relay.fault));
      return;
    }
    if (live.ended) letGo(relay, this.#body);
    this.#listener.streamOpened(live);
  }

  #broke(cause: unknown): void {
    this.#body.cancel();
    const { signal } = this.#options;
    if (signal.aborted) this.#listener.streamFailed(signal.reason);
    else if (cause instanceof UpstreamFault) this.#listener.streamFailed(cause);
    else this.#listener.streamFailed(new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause }));
  }
}

type AnswerParts = Pick<LiveAnswer, "attempt" | "request" | "relay"> & { readonly answer: UpstreamAnswer };

/** Passes the upstream's bytes through the relay and buffers the output, unless somebody takes it at once. */
class LiveStream implements LiveAnswer, PartTaker {
  readonly attempt: RouteAttempt;
  readonly request: UpstreamRequest<BodyText>;
  readonly answer: LiveAnswer["answer"];
  relay: FrameRelay;
  /** The text for the client that was not read yet. */
  pending = "";
  ended = false;
  readonly #body: BodyReader;
  readonly #cutter = new FrameCutter();
  #taker: TextTaker | undefined;
  /** Reports the upstream's first event; undefined afterwards. */
  #begun: (() => void) | undefined;

  constructor({ attempt, request, answer, relay }: AnswerParts, body: BodyReader, begun: () => void) {
    this.attempt = attempt;
    this.request = request;
    this.answer = answer;
    this.relay = relay;
    this.#body = body;
    this.#begun = begun;
  }

  next(): Promise<string | undefined> {
    return whenPolled((wake) => this.poll(wake));
  }

  poll(wake: () => void): Polled<string | undefined> {
    if (this.pending !== "") return this.#handOver();
    if (this.ended) return undefined;
    try {
      const part = this.#body.poll(wake, this.#taker === undefined ? undefined : this);
      if (part === LATER) return LATER;
      this.take(part?.bytes, part?.from, part?.to);
    } catch {
      this.#broke();
    }
    if (this.ended) letGo(this.relay, this.#body);
    return this.#handOver();
  }

  pushTo(taker: TextTaker | undefined): void {
    this.#taker = taker;
  }

  took(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.ended) return false;
    const nowMs = performance.now();
    const isTaken = this.#passedOn(bytes, from, to, nowMs);
    if (!this.ended) this.#body.took(isTaken ? nowMs : undefined);
    return isTaken;
  }

  /** Gives the taker what becomes of bytes that arrived. Returns false if it is to poll for it. */
  #passedOn(bytes: Uint8Array, from: number, to: number, nowMs: number): boolean {
    if (this.pending === "" && this.#cutter.isBetweenFrames) {
      const frame = this.relay.rewritten?.(bytes, from, to);
      if (frame !== undefined) {
        if (this.#taker?.took(frame, nowMs) === true) return true;
        this.pending = decoder.decode(frame);
        return false;
      }
    }
    try {
      this.take(bytes, from, to);
    } catch {
      this.#broke();
    }
    if (this.ended) {
      letGo(this.relay, this.#body);
      return false;
    }
    if (this.pending === "") return true;
    if (this.#taker?.took(this.pending, nowMs) !== true) return false;
    this.pending = "";
    return true;
  }

  cancel(): void {
    this.ended = true;
    this.#body.cancel();
  }

  /** Whatever broke the connection, the client gets an error event of its protocol. */
  #broke(): void {
    this.ended = true;
    this.pending += this.relay.end();
  }

  take(chunk: Uint8Array | undefined, from = 0, to = chunk?.byteLength): void {
    const { relay } = this;
    if (chunk === undefined) {
      this.pending += relay.push(this.#cutter.end()) + relay.end();
      this.ended = true;
    } else {
      const block = this.#cutter.push(chunk, from, to);
      if (this.#begun !== undefined && block.includes("data:")) {
        this.#begun();
        this.#begun = undefined;
      }
      this.pending += relay.push(block);
      relay.output.own();
    }
    if (this.ended || (!relay.finished && relay.fault === undefined)) return;
    // Bytes after the upstream's end are ignored, but the relay may still have to write the terminator.
    this.pending += relay.end();
    this.ended = true;
  }

  #handOver(): string {
    const text = this.pending;
    this.pending = "";
    return text;
  }
}

/**
 * Releases the connection: that of a complete answer is reused, one that broke is not, and one that was not read to its end is
 * closed.
 */
function letGo(relay: FrameRelay, body: BodyReader): void {
  if (relay.fault === undefined && relay.cutShort !== true) void body.drain();
  else body.cancel();
}

/** Maximum size of a complete answer if a stream was requested. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024;

/** Whether a body begins like JSON. No event stream begins like this. */
function isJson({ bytes, from, to }: BodyPart): boolean {
  let at = from;
  while (at < to && bytes[at]! <= 32) at++;
  return at < to && (bytes[at] === 123 || bytes[at] === 91);
}

/**
 * Reads the answer of a provider that sent JSON although a stream was requested: an error, or the answer of a server without
 * streams. Throws `UpstreamFault` for other bodies.
 */
async function eventsOfWhole(provider: Provider, body: BodyReader, first: Uint8Array): Promise<ChatEvent[]> {
  const chunks = [first];
  let size = first.byteLength;
  for (let chunk = await body.read(); chunk !== undefined && size < WHOLE_BYTES_MAX; chunk = await body.read()) {
    chunks.push(chunk);
    size += chunk.byteLength;
  }
  const events = eventsOf(provider, Buffer.concat(chunks));
  const failure = failureOf(events);
  if (failure !== undefined) throw faultOfAnswer(failure);
  if (events.at(-1)?.type !== "finish")
    throw new UpstreamFault("unavailable", "The provider did not answer with a stream.");
  return events;
}

function eventsOf(provider: Provider, bytes: Uint8Array): ChatEvent[] {
  try {
    return provider.dialect.events(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // The answer is incomplete or empty.
    return [];
  }
}
