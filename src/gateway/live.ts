// A streamed answer on its way: opens the upstream, peeks at the first events so that an early failure is still an HTTP
// status (or another route), then pumps. Ends the upstream the moment nobody reads.

import { FrameCutter } from "../base/sse.ts";
import { BodyReader, callProvider } from "../upstream/call.ts";
import type { FrameRelay, UpstreamRequest } from "../upstream/dialect.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import { kindOfCode } from "./policy.ts";
import type { Turn } from "./turn.ts";

/** After the first event this long is waited for content, during which another route may still be tried. */
const CONTENT_GRACE_MS = 1000;

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
  /** Takes secrets out of the upstream's error text. */
  scrub(text: string): string;
}

/** Calls the provider and waits for content, an end or the grace. Throws `UpstreamFault` when it fails before content. */
export async function openLive(
  turn: Turn,
  request: UpstreamRequest,
  relay: FrameRelay,
  options: OpenOptions,
): Promise<LiveAnswer> {
  const { provider } = turn;
  const response = await callProvider(provider, request, { ...options, headers: turn.headers });
  const body = new BodyReader(response, provider.timeoutsMs.idle);
  const cutter = new FrameCutter();
  let pending = "";
  let ended = false;
  let reading: Promise<Uint8Array | undefined> | undefined;

  const take = (chunk: Uint8Array | undefined): void => {
    if (chunk === undefined) {
      pending += relay.push(cutter.end()) + relay.end();
      ended = true;
    } else pending += relay.push(cutter.push(chunk));
    if (ended || (!relay.finished && relay.fault === undefined)) return;
    // What the upstream still has to say after the end is nobody's; the terminator may be ours to send.
    pending += relay.end();
    ended = true;
  };

  let graceEndsMs = Number.POSITIVE_INFINITY;
  try {
    while (!ended && !relay.committed) {
      reading ??= body.read();
      const waitMs = graceEndsMs - performance.now();
      if (waitMs <= 0) break;
      const chunk = waitMs === Number.POSITIVE_INFINITY ? await reading : await within(reading, waitMs);
      if (chunk === LATE) break;
      reading = undefined;
      take(chunk);
      if (pending !== "") graceEndsMs = Math.min(graceEndsMs, performance.now() + CONTENT_GRACE_MS);
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
    throw new UpstreamFault(kindOfCode(relay.fault.code), relay.fault.message);
  }
  if (ended) letGo();

  function handOver(): string {
    const text = relay.fault === undefined ? pending : options.scrub(pending);
    pending = "";
    return text;
  }

  /** A whole answer's connection is worth keeping for the next call; a broken one's is not. */
  function letGo(): void {
    if (relay.fault === undefined) void body.drain();
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
        reading ??= body.read();
        const chunk = await reading;
        reading = undefined;
        take(chunk);
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

const LATE = Symbol("late");

async function within<T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
