// Opens a streamed answer. The first frames are buffered until there is content, so that an early failure still leads to an HTTP
// status or another route; then frames are relayed. The upstream call is aborted as soon as the client leaves.

import { LATER, type Polled, whenPolled } from "../../base/later.ts";
import type { BodyText } from "../../base/long-json.ts";
import { FrameCutter } from "../../base/sse.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import { type ChatEvent, failureOf } from "../../chat/event.ts";
import type { TextTaker } from "../../http/sse-response.ts";
import { callProvider } from "../../upstream/call.ts";
import type { PartTaker } from "../../upstream/connection/wire-answer.ts";
import type { FrameRelay, UpstreamRequest } from "../../upstream/dialect.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { Provider } from "../../upstream/provider.ts";
import { BodyReader } from "../../upstream/read-answer.ts";
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
  const { provider } = attempt;
  const response = await callProvider(provider, request, { ...options, headers: attempt.headers });
  const body = new BodyReader(response, provider.timeoutsMs.idle);
  const live = new LiveStream({ attempt, request, answer: response, body, relay: streamed, begun: options.begun });
  try {
    await readOpening(live, { body, provider, options });
  } catch (error) {
    body.cancel();
    if (options.signal.aborted) throw options.signal.reason;
    throw error instanceof UpstreamFault
      ? error
      : new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
  const { relay } = live;
  if (relay.fault !== undefined && !relay.committed) {
    body.cancel();
    throw faultOfAnswer(relay.fault);
  }
  if (live.ended) letGo(relay, body);
  return live;
}

/** It keeps nothing between whole texts. */
const decoder = new TextDecoder();

type LiveParts = Pick<LiveAnswer, "attempt" | "request" | "answer" | "relay"> & {
  readonly body: BodyReader;
  readonly begun: () => void;
};

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

  constructor({ attempt, request, answer, body, relay, begun }: LiveParts) {
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
    this.#body.took(nowMs);
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

/** Reads until there is content, the end, or more than any real opening. */
async function readOpening(
  live: LiveStream,
  { body, provider, options }: { body: BodyReader; provider: Provider; options: OpenOptions },
): Promise<void> {
  let isFirst = true;
  while (!live.ended && !live.relay.committed && live.pending.length < OPENING_CHARS_MAX) {
    const chunk = await body.read();
    if (isFirst && chunk !== undefined && isJson(chunk)) {
      live.relay = options.whole(await eventsOfWhole(provider, body, chunk));
      live.take(undefined);
      return;
    }
    isFirst = false;
    live.take(chunk);
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
function isJson(chunk: Uint8Array): boolean {
  const first = chunk.find((byte) => byte > 32);
  return first === 123 || first === 91;
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
