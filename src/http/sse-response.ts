// Sends a stream of Server-Sent Events: pulls from its source only as fast as the client reads, fills silence with
// keepalives, and ends the source when the client goes.

/** Where the text of a stream comes from. */
export interface SseSource {
  /** The next text, "" for nothing yet, undefined at the end. Must not throw: a failure is text of its own. */
  next(): Promise<string | undefined>;
  /** The client went away, or the server is being forced to stop; called at most once, never after the end. */
  cancel(): void;
}

export interface SseOptions {
  /** What is sent in silence. */
  keepalive: string;
  /** Contract §3 "silence in a stream": 15 s. */
  keepaliveMs?: number;
  headers?: Readonly<Record<string, string>>;
  /** The request's signal: aborts when the client goes, even while nothing is being written. */
  signal: AbortSignal;
}

const KEEPALIVE_MS = 15_000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** The streaming response. */
export function sseResponse(source: SseSource, options: SseOptions): Response {
  const encoder = new TextEncoder();
  const keepalive = encoder.encode(options.keepalive);
  const every = options.keepaliveMs ?? KEEPALIVE_MS;
  let over = false;
  let lastSentMs = performance.now();
  let timer: ReturnType<typeof setInterval> | undefined;

  const stop = (gone: boolean) => {
    if (over) return;
    over = true;
    clearInterval(timer);
    options.signal.removeEventListener("abort", onAbort);
    if (gone) source.cancel();
  };
  const onAbort = () => stop(true);

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (options.signal.aborted) {
          stop(true);
          return;
        }
        options.signal.addEventListener("abort", onAbort, { once: true });
        // One slow clock per stream instead of a timer per chunk.
        timer = setInterval(
          () => {
            // A client that does not read is not silent upstream: nothing is queued for it.
            if (over || (controller.desiredSize ?? 0) < 0) return;
            if (performance.now() - lastSentMs < every) return;
            lastSentMs = performance.now();
            controller.enqueue(keepalive);
          },
          Math.max(10, Math.floor(every / 3)),
        );
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
          controller.enqueue(encoder.encode(text));
          return;
        }
      },
      cancel() {
        stop(true);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: { ...HEADERS, ...options.headers } });
}
