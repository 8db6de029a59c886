// The gateway's own client in the form of `fetch`, for calls that need a `Response`.

import type { Transport } from "../provider.ts";
import type { StreamedBody, WireClient } from "./client.ts";
import { OwnAnswer } from "./own-answer.ts";

/** Callers of a transport have time limits of their own. */
const FIRST_BYTE_MS = 24 * 3_600_000;

/** Creates a transport over a client. */
export function ownTransport(client: WireClient, connectMs: number): Transport {
  return async (url, init) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const { body, signal } = init;
    signal?.throwIfAborted();
    const call = client.call({
      method: init.method ?? "GET",
      url,
      headers,
      body: wholeOf(body),
      upload: body instanceof ReadableStream ? uploadOf(body, headers) : undefined,
      connectMs,
      firstByteMs: FIRST_BYTE_MS,
      late: () => new Error("The server did not begin to answer."),
    });
    const stop = () => call.stop(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    return new OwnAnswer(await call.answer).asResponse();
  };
}

function wholeOf(body: BunFetchRequestInit["body"]): string | Uint8Array | undefined {
  if (body === undefined || body === null || body instanceof ReadableStream) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError("A body is a text, bytes or a stream.");
}

function uploadOf(body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>): StreamedBody {
  const reader = body.getReader();
  const length = headers["content-length"];
  return {
    type: headers["content-type"] ?? "",
    length: length === undefined ? undefined : Number(length),
    next: async () => (await reader.read()).value,
  };
}
