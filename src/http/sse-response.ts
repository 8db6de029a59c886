// Sends a stream of server-sent events: pulls from its source only as fast as the client reads, fills silence with
// keepalives, and ends the source when the client leaves.

import { type Limit, limit, lone } from "../base/limit.ts";

/** The source of a stream's text. */
export interface SseSource {
  /** The next text, "" for nothing yet, undefined at the end. Must not throw: a failure is sent as text. */
  next(): Promise<string | undefined>;
  /** The client left, or the server is forced to stop; called at most once, never after the end. */
  cancel(): void;
}

export interface SseOptions {
  /** The text of a keepalive. */
  keepalive: string;
  /** Silence before a keepalive is sent. */
  keepaliveMs?: number;
  /** How long a client may leave sent data unread; default 10 min. */
  unreadMs?: number;
  headers?: Readonly<Record<string, string>>;
  /** The request's signal: aborts when the client leaves, even while nothing is being written. */
  signal: AbortSignal;
}

const KEEPALIVE_MS = 15_000;
/** A client that has read nothing for this long is gone, whatever its connection says. */
const UNREAD_MS = 600_000;

/** Headers of every stream. */
export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** The streaming response, for the server to send: the chunks of its body are text. */
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

  // Text is passed on as text: the runtime encodes it into what it sends, which saves a copy of every block.
  const stream = new ReadableStream<string>(
    {
      start(controller) {
        if (options.signal.aborted) {
          stop(true);
          return;
        }
        options.signal.addEventListener("abort", onAbort, { once: true });
        // One timer per stream, restarted if something was sent meanwhile.
        const watch = () => {
          const silentMs = performance.now() - lastSentMs;
          // What was queued last is still there: the client does not read, so nothing more is queued.
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
            // The client left meanwhile; closing an already cancelled stream would throw.
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
