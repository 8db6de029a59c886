// Opens a streamed answer. The first frames are buffered until there is content, so that an early failure still leads to an HTTP
// status or another route; then frames are relayed. The upstream call is aborted as soon as the client leaves.

import { LATER, type Polled, whenPolled } from "../../base/later.ts";
import type { BodyText } from "../../base/long-json.ts";
import { FrameCutter } from "../../base/sse.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import { type ChatEvent, failureOf } from "../../chat/event.ts";
import { callProvider } from "../../upstream/call.ts";
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
  const intake = new Intake(streamed, options.begun);
  try {
    await readOpening(intake, { body, provider, options });
  } catch (error) {
    body.cancel();
    if (options.signal.aborted) throw options.signal.reason;
    throw error instanceof UpstreamFault
      ? error
      : new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
  const { relay } = intake;
  if (relay.fault !== undefined && !relay.committed) {
    body.cancel();
    throw faultOfAnswer(relay.fault);
  }
  if (intake.ended) letGo(relay, body);

  const poll = (wake: () => void): Polled<string | undefined> => {
    if (intake.pending !== "") return intake.handOver();
    if (intake.ended) return undefined;
    try {
      const part = body.poll(wake);
      if (part === LATER) return LATER;
      intake.take(part?.bytes, part?.from, part?.to);
    } catch {
      // Whatever broke the connection, the client gets an error event of its protocol.
      intake.ended = true;
      intake.pending += relay.end();
    }
    if (intake.ended) letGo(relay, body);
    return intake.handOver();
  };
  return {
    attempt,
    relay,
    request,
    answer: response,
    next: () => whenPolled(poll),
    poll,
    cancel() {
      intake.ended = true;
      body.cancel();
    },
  };
}

/** Passes the upstream's bytes through the relay and buffers the output. */
class Intake {
  relay: FrameRelay;
  /** The text for the client that was not read yet. */
  pending = "";
  ended = false;
  readonly #cutter = new FrameCutter();
  /** Reports the upstream's first event; undefined afterwards. */
  #begun: (() => void) | undefined;

  constructor(relay: FrameRelay, begun: () => void) {
    this.relay = relay;
    this.#begun = begun;
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

  handOver(): string {
    const text = this.pending;
    this.pending = "";
    return text;
  }
}

/** Reads until there is content, the end, or more than any real opening. */
async function readOpening(
  intake: Intake,
  { body, provider, options }: { body: BodyReader; provider: Provider; options: OpenOptions },
): Promise<void> {
  let isFirst = true;
  while (!intake.ended && !intake.relay.committed && intake.pending.length < OPENING_CHARS_MAX) {
    const chunk = await body.read();
    if (isFirst && chunk !== undefined && isJson(chunk)) {
      intake.relay = options.whole(await eventsOfWhole(provider, body, chunk));
      intake.take(undefined);
      return;
    }
    isFirst = false;
    intake.take(chunk);
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
