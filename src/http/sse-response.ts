// Sends a stream of server-sent events. Text is read from the source only as fast as the client reads, keepalives are sent during
// silence, and the source is ended when the client leaves.

import { type Limit, limit, lone } from "../base/limit.ts";

/** The source of a stream's text. */
export interface SseSource {
  /** The next text; "" if there is none yet, undefined at the end. Must not throw: a failure is sent as text. */
  next(): Promise<string | undefined>;
  /** Called when the client has left, or the server is forced to stop; at most once, and never after the end. */
  cancel(): void;
}

export interface SseOptions {
  /** The text of a keepalive. */
  keepalive: string;
  /** How long the stream is silent before a keepalive is sent. */
  keepaliveMs?: number;
  /** How long a client may leave data unread; 10 min by default. */
  unreadMs?: number;
  headers?: Readonly<Record<string, string>>;
  /** The signal of the request, which aborts when the client leaves, even if nothing is being written. */
  signal: AbortSignal;
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
  const { keepalive, keepaliveMs = KEEPALIVE_MS, unreadMs = UNREAD_MS } = options;
  let over = false;
  let lastSentMs = performance.now();
  let silence: Limit | undefined;

  const stop = (gone: boolean) => {
    if (over) return;
    over = true;
    silence?.cancel();
    options.signal.removeEventListener("abort", onAbort);
    if (gone) source.cancel();
  };
  const onAbort = () => stop(true);

  // Text is passed on as text. The runtime encodes it when it is sent, which saves a copy of each block.
  const stream = new ReadableStream<string>(
    {
      start(controller) {
        if (options.signal.aborted) {
          stop(true);
          return;
        }
        options.signal.addEventListener("abort", onAbort, { once: true });
        // There is one timer for each stream. It restarts if something was sent meanwhile.
        const watch = () => {
          const silentMs = performance.now() - lastSentMs;
          // The client has not read what was queued last, so nothing more is queued.
          const unread = (controller.desiredSize ?? 0) < 0;
          if (unread && silentMs >= unreadMs) {
            stop(true);
            controller.close();
            return;
          }
          let waitMs = unread ? keepaliveMs : keepaliveMs - silentMs;
          if (waitMs <= 0) {
            lastSentMs = performance.now();
            controller.enqueue(keepalive);
            waitMs = keepaliveMs;
          }
          silence = lone(waitMs, watch);
        };
        silence = limit(keepaliveMs, watch);
      },
      async pull(controller) {
        for (;;) {
          const text = await source.next();
          if (over) {
            // The client has left meanwhile, and closing a cancelled stream would throw.
            return;
          }
          if (text === undefined) {
            stop(false);
            controller.close();
            return;
          }
          if (text === "") continue;
          lastSentMs = performance.now();
          controller.enqueue(text);
          return;
        }
      },
      cancel() {
        stop(true);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: { ...SSE_HEADERS, ...options.headers } });
}
