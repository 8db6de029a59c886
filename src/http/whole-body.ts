// Bodies of which all bytes are known. The server writes a body of more than its own buffer past that buffer, and with it each header
// in pieces, name, colon, value and line end: an answer of 20 KB takes thirty system calls and three times the processor time of
// the rest. As a stream that gives all at once, it leaves with its headers in one write, and with the same `Content-Length`.

/** The server's buffer has 16 KiB, of which headers take a part. */
const WRITTEN_AT_ONCE = 14 * 1024;
/** Of larger bodies the pieces cost little, and these would be copied. */
const COPIED_MAX = 1024 * 1024;

/** A body in memory. Parts are bytes that follow one another. */
export type WholeContent = string | Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[];

/** The body for a `Response` that goes to the server. */
export function wholeBody(content: WholeContent): BodyInit {
  if (typeof content !== "string" && !(content instanceof Uint8Array)) return joinedBody(content);
  // A character has at least one byte.
  if (content.length > COPIED_MAX) return content;
  if (3 * content.length <= WRITTEN_AT_ONCE) return content;
  const bytes = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  if (bytes <= WRITTEN_AT_ONCE || bytes > COPIED_MAX) return content;
  return streamOf([content], bytes);
}

function joinedBody(parts: readonly Uint8Array<ArrayBuffer>[]): BodyInit {
  if (parts.length === 1) return wholeBody(parts[0] as Uint8Array<ArrayBuffer>);
  let bytes = 0;
  for (const part of parts) bytes += part.byteLength;
  // The stream copies what is written, so that nothing has to be joined before.
  return bytes <= WRITTEN_AT_ONCE || bytes > COPIED_MAX ? Buffer.concat(parts, bytes) : streamOf(parts, bytes);
}

function streamOf(parts: readonly (string | Uint8Array<ArrayBuffer>)[], bytes: number): ReadableStream {
  const source: Bun.DirectUnderlyingSource = {
    type: "direct",
    pull(controller) {
      for (const part of parts) controller.write(part);
      controller.end();
    },
  };
  // What fits below the mark waits for the end, so that the length is known.
  return new ReadableStream(source as unknown as UnderlyingSource, { highWaterMark: bytes + 1 });
}
