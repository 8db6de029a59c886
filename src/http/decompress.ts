// Decompresses request bodies.

import { ApiError } from "../base/errors.ts";
import { nodeZlib } from "../base/node-modules.ts";
import { bodyTooLarge } from "./body-errors.ts";

/** What decompresses a coding. Throws 400 for one that is not known. */
export function decoderOf(coding: string) {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return nodeZlib().createGunzip();
    case "deflate":
      return nodeZlib().createInflate();
    case "br":
      return nodeZlib().createBrotliDecompress();
    case "zstd":
      return nodeZlib().createZstdDecompress();
    default:
      throw new ApiError(
        "invalid_request",
        `Content-Encoding "${coding.slice(0, 40)}" is not supported: use gzip, deflate, br or zstd.`,
      );
  }
}

/** Decompresses as a stream, so that a decompression bomb is stopped at the limit. */
export function decompressedBody(
  bytes: Uint8Array,
  decoder: ReturnType<typeof decoderOf>,
  maxBytes: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    decoder.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > maxBytes) {
        decoder.destroy();
        reject(bodyTooLarge(maxBytes));
      } else chunks.push(chunk);
    });
    decoder.on("end", () => resolve(Buffer.concat(chunks, size)));
    decoder.on("error", (cause) =>
      reject(new ApiError("invalid_request", "The request body does not match its Content-Encoding.", { cause })),
    );
    decoder.end(bytes);
  });
}
