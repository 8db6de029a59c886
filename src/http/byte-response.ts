// Sends bytes as a stream. They are read from the source only as fast as the client reads, and the source is ended when the
// client leaves.

import { type Limit, limit } from "../base/limit.ts";

/** The source of the bytes. */
export interface ByteSource {
  /**
   * The next bytes; undefined at the end. An error that it throws aborts the response, so the client sees that it is
   * incomplete.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Called when the client has disconnected, at most once and never after the end. */
  cancel(): void;
}

/** A client that has read nothing for this long counts as disconnected, even if its connection is open. */
const UNREAD_MS = 600_000;

/** The response, for the server to send. `signal`: the request's, which aborts when the client leaves. */
export function byteResponse(
  source: ByteSource,
  {
    signal,
    headers,
    unreadMs = UNREAD_MS,
  }: { signal: AbortSignal; headers: Record<string, string>; unreadMs?: number },
): Response {
  let over = false;
  let unread: Limit | undefined;
  const stop = (gone: boolean) => {
    if (over) return;
    over = true;
    unread?.cancel();
    signal.removeEventListener("abort", onAbort);
    if (gone) source.cancel();
  };
  const onAbort = () => stop(true);
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (signal.aborted) return stop(true);
        signal.addEventListener("abort", onAbort, { once: true });
        unread = limit(unreadMs, () => {
          stop(true);
          controller.error(undefined);
        });
      },
      async pull(controller) {
        unread?.cancel();
        try {
          const bytes = await source.next();
          // The client has disconnected meanwhile, and closing a cancelled stream would throw.
          if (over) return;
          if (bytes === undefined) {
            stop(false);
            controller.close();
            return;
          }
          unread = limit(unreadMs, () => {
            stop(true);
            controller.error(undefined);
          });
          controller.enqueue(bytes);
        } catch {
          if (over) return;
          stop(false);
          // With an error, the server would print it, but the source has already reported it.
          controller.error(undefined);
        }
      },
      cancel: () => stop(true),
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers });
}
