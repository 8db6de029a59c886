// Amazon's event streams (`application/vnd.amazon.eventstream`) as server-sent events: binary frames with two checksums, of which
// each contains an event of the model in base64 (docs.aws.amazon.com/AmazonS3, "RESTSelectObjectAppendix", has the format;
// API_runtime_ResponseStream the events). A frame that cannot be read ends the stream with an error, as a cut connection does.

import { entryOf } from "../../base/json-object.ts";
import type { Transport } from "../provider.ts";

const TYPE = "application/vnd.amazon.eventstream";
/** The lengths of the frame and of its headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The format allows no longer frame. */
const FRAME_BYTES_MAX = 24 * 1024 * 1024;
/** The type of a header's value that is a text; all that are read are texts. */
const TEXT_TYPE = 7;
/** The bytes of the values of the other types, by the number of the type. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/** Turns event streams into server-sent events; all other answers pass. */
export function eventStreamTransport(transport: Transport): Transport {
  return async (url, init) => {
    const answer = await transport(url, init);
    if (answer.body === null || answer.headers.get("content-type")?.startsWith(TYPE) !== true) return answer;
    const headers = new Headers(answer.headers);
    headers.set("content-type", "text/event-stream");
    headers.delete("content-length");
    return new Response(asServerSentEvents(answer.body), { status: answer.status, headers });
  };
}

function asServerSentEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const frames = new FrameReader();
  const encoder = new TextEncoder();
  const readable = (bytes: Uint8Array): string => {
    try {
      return frames.push(bytes).map(serverSentEvent).join("");
    } catch (error) {
      // Nobody can cancel a stream that has failed, and the connection would stay open.
      reader.cancel(error).catch(() => undefined);
      throw error;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            if (frames.isWithin) throw new Error("The event stream ended within a frame.");
            return controller.close();
          }
          const text = readable(value);
          if (text !== "") return controller.enqueue(encoder.encode(text));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** A frame of the stream. */
export interface EventFrame {
  readonly headers: Readonly<Partial<Record<string, string>>>;
  readonly payload: Uint8Array;
}

/** Cuts bytes into frames. */
export class FrameReader {
  #kept: Uint8Array = new Uint8Array();

  /** Whether the bytes so far end within a frame. */
  get isWithin(): boolean {
    return this.#kept.byteLength > 0;
  }

  /** The frames that are now complete. Throws if one is damaged. */
  push(bytes: Uint8Array): EventFrame[] {
    const unread = this.isWithin ? Buffer.concat([this.#kept, bytes]) : bytes;
    const view = new DataView(unread.buffer, unread.byteOffset, unread.byteLength);
    const frames: EventFrame[] = [];
    let at = 0;
    while (unread.byteLength - at >= PRELUDE_BYTES) {
      const length = view.getUint32(at);
      const headersLength = view.getUint32(at + 4);
      check(unread.subarray(at, at + 8), view.getUint32(at + 8));
      if (length > FRAME_BYTES_MAX || PRELUDE_BYTES + headersLength + CHECKSUM_BYTES > length)
        throw new Error("A frame of the event stream has a wrong length.");
      if (unread.byteLength - at < length) break;
      const end = at + length - CHECKSUM_BYTES;
      check(unread.subarray(at, end), view.getUint32(end));
      const body = at + PRELUDE_BYTES + headersLength;
      frames.push({
        headers: textHeaders(unread.subarray(at + PRELUDE_BYTES, body)),
        payload: unread.subarray(body, end),
      });
      at += length;
    }
    this.#kept = unread.slice(at);
    return frames;
  }
}

function check(bytes: Uint8Array, checksum: number): void {
  if (Bun.hash.crc32(bytes) !== checksum) throw new Error("A frame of the event stream has a wrong checksum.");
}

function textHeaders(bytes: Uint8Array): Record<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.byteLength; ) {
    const nameEnd = at + 1 + view.getUint8(at);
    const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
    const type = view.getUint8(nameEnd);
    const size = VALUE_BYTES[type];
    const start = nameEnd + (size === undefined ? 3 : 1);
    at = start + (size ?? view.getUint16(nameEnd + 1));
    if (type === TEXT_TYPE) headers[name] = decoder.decode(bytes.subarray(start, at));
  }
  return headers;
}

/** The types of errors within a stream, in the words of the model's own protocol. */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  throttlingException: "rate_limit_error",
  validationException: "invalid_request_error",
  modelTimeoutException: "timeout_error",
  serviceUnavailableException: "overloaded_error",
};

function serverSentEvent({ headers, payload }: EventFrame): string {
  const text = new TextDecoder().decode(payload);
  const members = JSON.parse(text) as { bytes?: string; message?: string; originalMessage?: string };
  const failed = headers[":exception-type"] ?? headers[":error-code"];
  if (failed !== undefined) {
    const message = members.originalMessage ?? members.message ?? headers[":error-message"] ?? failed;
    const error = { type: entryOf(ERROR_TYPES, failed) ?? "api_error", message };
    return `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`;
  }
  if (members.bytes === undefined) return "";
  const event = Buffer.from(members.bytes, "base64").toString();
  const { type } = JSON.parse(event) as { type?: string };
  return `event: ${type ?? "message"}\ndata: ${event}\n\n`;
}
