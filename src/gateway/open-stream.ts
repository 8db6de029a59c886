// A streamed answer on its way: opens the upstream, holds its opening back until content comes so that an early failure is
// still an HTTP status (or another route), then pumps. Ends the upstream the moment nobody reads.

import { FrameCutter } from "../base/sse.ts";
import type { ChatEvent } from "../chat/event.ts";
import { BodyReader, callProvider } from "../upstream/call.ts";
import type { FrameRelay, UpstreamRequest } from "../upstream/dialect.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { faultOfAnswer } from "./policy.ts";
import type { Turn } from "./route-call.ts";

/** More than this is not held back while content is waited for: no real opening is as long. */
const OPENING_CHARS_MAX = 256 * 1024;

/** An upstream stream that has begun. */
export interface LiveAnswer {
  turn: Turn;
  relay: FrameRelay;
  request: UpstreamRequest;
  responseHeaders: Headers;
  /** The next text for the client; undefined at the end. Never throws: a break becomes the family's error event. */
  next(): Promise<string | undefined>;
  cancel(): void;
}

export interface OpenOptions {
  signal: AbortSignal;
  secret: string;
  /** Told of the upstream's first event. */
  begun(): void;
  /** The relay of an answer that came whole. */
  whole(events: readonly ChatEvent[]): FrameRelay;
}

/** Calls the provider and waits for content or an end. Throws `UpstreamFault` when it fails before content. */
export async function openLive(
  turn: Turn,
  request: UpstreamRequest,
  streamed: FrameRelay,
  options: OpenOptions,
): Promise<LiveAnswer> {
  let relay = streamed;
  const { provider } = turn;
  const response = await callProvider(provider, request, { ...options, headers: turn.headers });
  const body = new BodyReader(response, provider.timeoutsMs.idle);
  const cutter = new FrameCutter();
  let pending = "";
  let ended = false;
  let isFirst = true;
  let begun = false;

  const take = (chunk: Uint8Array | undefined): void => {
    if (chunk === undefined) {
      pending += relay.push(cutter.end()) + relay.end();
      ended = true;
    } else {
      const block = cutter.push(chunk);
      if (!begun && block.includes("data:")) {
        begun = true;
        options.begun();
      }
      pending += relay.push(block);
    }
    if (ended || (!relay.finished && relay.fault === undefined)) return;
    // What the upstream still has to say after the end is nobody's; the terminator may be ours to send.
    pending += relay.end();
    ended = true;
  };

  try {
    while (!ended && !relay.committed && pending.length < OPENING_CHARS_MAX) {
      const chunk = await body.read();
      if (isFirst && chunk !== undefined && isJson(chunk)) {
        relay = options.whole(await eventsOfWhole(provider, body, chunk));
        take(undefined);
        break;
      }
      isFirst = false;
      take(chunk);
    }
  } catch (error) {
    body.cancel();
    if (options.signal.aborted) throw options.signal.reason;
    throw error instanceof UpstreamFault
      ? error
      : new UpstreamFault("unavailable", "The provider's answer broke off.", { cause: error });
  }
  if (relay.fault !== undefined && !relay.committed) {
    body.cancel();
    throw faultOfAnswer(relay.fault);
  }
  if (ended) letGo();

  function handOver(): string {
    const text = pending;
    pending = "";
    return text;
  }

  /** A whole answer's connection is worth keeping for the next call; a broken one's is not, and what was cut short is ended. */
  function letGo(): void {
    if (relay.fault === undefined && relay.cutShort !== true) void body.drain();
    else body.cancel();
  }

  return {
    turn,
    relay,
    request,
    responseHeaders: response.headers,
    async next() {
      if (pending !== "") return handOver();
      if (ended) return undefined;
      try {
        take(await body.read());
      } catch {
        // Whatever broke the connection, the client learns it by the family's own error event.
        ended = true;
        pending += relay.end();
      }
      if (ended) letGo();
      return handOver();
    },
    cancel() {
      ended = true;
      body.cancel();
    },
  };
}

/** Of a whole answer where a stream was asked for this much is read. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024;

/** True when a body begins as JSON does and no event stream can. */
function isJson(chunk: Uint8Array): boolean {
  const first = chunk.find((byte) => byte > 32);
  return first === 123 || first === 91;
}

/**
 * What a provider says that answers with JSON where a stream was asked for: an error, or a server's that knows no streams.
 * Throws `UpstreamFault` for what is no good answer.
 */
async function eventsOfWhole(provider: Provider, body: BodyReader, first: Uint8Array): Promise<ChatEvent[]> {
  const chunks = [first];
  let size = first.byteLength;
  for (let chunk = await body.read(); chunk !== undefined && size < WHOLE_BYTES_MAX; chunk = await body.read()) {
    chunks.push(chunk);
    size += chunk.byteLength;
  }
  const events = eventsOf(provider, Buffer.concat(chunks));
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  if (events.at(-1)?.type !== "finish") throw new UpstreamFault("unavailable", "The provider gave no stream.");
  return events;
}

function eventsOf(provider: Provider, bytes: Uint8Array): ChatEvent[] {
  try {
    return provider.dialect.events(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // Half an answer, or none.
    return [];
  }
}
