// An answer on a connection of the gateway's own client, with what its readers need of a `Response`, which is only made where one
// is needed.

import type { WireAnswer } from "./exchange.ts";

/** An answer whose head has arrived. */
export class OwnAnswer {
  readonly wire: WireAnswer;
  readonly status: number;
  #headers: Headers | undefined;

  constructor(wire: WireAnswer) {
    this.wire = wire;
    this.status = wire.head.status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The value of a header, by its name in lower case; the first, if there are several. */
  header(name: string): string | null {
    const { fields } = this.wire.head;
    for (let at = 0; at < fields.length; at += 2) if (fields[at] === name) return fields[at + 1] as string;
    return null;
  }

  get headers(): Headers {
    if (this.#headers !== undefined) return this.#headers;
    const headers = new Headers();
    const { fields } = this.wire.head;
    for (let at = 0; at < fields.length; at += 2) headers.append(fields[at] as string, fields[at + 1] as string);
    this.#headers = headers;
    return headers;
  }

  /** The same answer as the platform's own kind, decompressed. */
  asResponse(): Response {
    const { status, headers } = this;
    // A response with one of these has no body.
    if (status === 204 || status === 205 || status === 304) {
      this.wire.stop(undefined);
      return new Response(null, { status, headers });
    }
    return new Response(this.#decoded(this.#stream()), { status, headers });
  }

  #stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { wire } = this;
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

  #decoded(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const format = compressionOf(this);
    if (format === undefined) return body;
    // The types of the runtime lack the formats beyond those of the standard.
    return body.pipeThrough(new DecompressionStream(format as CompressionFormat));
  }
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
  ["zstd", "zstd"],
]);

/** The compression of an answer; undefined if it has none. The client does not ask for one, but the operator's headers may. */
export function compressionOf(answer: Pick<OwnAnswer, "header">): string | undefined {
  const coding = answer.header("content-encoding");
  return coding === null ? undefined : FORMATS.get(coding.toLowerCase());
}
