// Makes a `Response` of an answer of the own client.

import type { WireAnswer } from "./wire-answer.ts";

/** The answer in the platform's own form. `compression`: the coding that is to be removed. */
export function responseOf(answer: {
  readonly wire: WireAnswer;
  readonly status: number;
  readonly headers: Headers;
  readonly compression: string | undefined;
}): Response {
  const { wire, status, headers, compression } = answer;
  // A response with one of these has no body.
  if (status === 204 || status === 205 || status === 304) {
    wire.stop(undefined);
    return new Response(null, { status, headers });
  }
  const body = streamOf(wire);
  const format = compression === undefined ? undefined : FORMATS.get(compression);
  // The types of the runtime lack the formats beyond those of the standard.
  const decoded = format === undefined ? body : body.pipeThrough(new DecompressionStream(format as CompressionFormat));
  return new Response(decoded, { status, headers });
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
  ["zstd", "zstd"],
]);

function streamOf(wire: WireAnswer): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const bytes = await wire.read();
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
      },
      cancel(reason) {
        wire.stop(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
