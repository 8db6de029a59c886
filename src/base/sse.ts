// Server-sent events: splits a byte stream into whole frames, and parses frames. Bounded: a frame that never ends is an
// error, not a growing buffer.

/** One frame. `data` lines are joined with "\n", by the standard. */
export interface SseFrame {
  event: string | undefined;
  data: string;
}

/** A frame larger than this is refused; the largest real ones carry a whole answer or an image. */
const FRAME_CHARS_MAX = 32 * 1024 * 1024;

/** The first byte of a byte order mark. */
const BOM_START = 0xef;

/** Thrown when a frame exceeds its limit. */
export class SseOverflow extends Error {
  override name = "SseOverflow";
}

/**
 * Splits a stream of bytes into text blocks of whole frames, independently of how the bytes are chunked. Line ends become
 * "\n", a byte order mark is dropped and invalid UTF-8 becomes U+FFFD.
 */
export class FrameCutter {
  #decoder: TextDecoder | undefined;
  #isFirst = true;
  /** Whether the decoder holds the beginning of a character. */
  #isSplit = false;
  #rest = "";
  #restEndsInNewline = false;
  #endedInCr = false;

  /** Whether all that was taken ended with a frame, so that the next bytes may be read by themselves. */
  get isBetweenFrames(): boolean {
    return this.#rest === "" && !this.#isSplit && !this.#endedInCr && !this.#isFirst;
  }

  /** Takes the bytes between two positions, returns the text of the frames they complete: it ends in an empty line, or is "". */
  push(bytes: Uint8Array, from = 0, to = bytes.byteLength): string {
    return to <= from ? "" : this.#cut(this.#decode(bytes, from, to));
  }

  #decode(bytes: Uint8Array, from: number, to: number): string {
    // Between whole characters no state is needed, and nearly all parts of streams begin and end there.
    const isMarked = this.#isFirst && bytes[from] === BOM_START;
    const endsWhole = (bytes[to - 1] as number) < 0x80;
    const isWhole = endsWhole && !this.#isSplit && !isMarked;
    this.#isSplit = !endsWhole;
    if (isWhole && bytes instanceof Buffer) {
      this.#isFirst = false;
      return bytes.toString("utf8", from, to);
    }
    // Only the first character is a mark of the byte order.
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: !isMarked });
    this.#isFirst = false;
    return this.#decoder.decode(bytes.subarray(from, to), { stream: true });
  }

  /** The stream ended: returns the rest as a last frame (some servers omit the final empty line); "" if there is none. */
  end(): string {
    const whole = this.#cut(this.#decoder?.decode() ?? "");
    const rest = this.#rest;
    this.#rest = "";
    return whole + (rest.trim() === "" ? "" : `${rest.replace(/\n*$/, "")}\n\n`);
  }

  #cut(decoded: string): string {
    let text = decoded;
    if (decoded !== "") {
      if (this.#endedInCr && text.startsWith("\n")) text = text.slice(1);
      this.#endedInCr = decoded.endsWith("\r");
    }
    if (text.includes("\r")) text = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    const completes = text.includes("\n\n") || (this.#restEndsInNewline && text.startsWith("\n"));
    const unread = this.#rest === "" ? text : this.#rest + text;
    if (!completes) {
      // `unread` stays an unflattened rope here, so that a large frame in small chunks takes linear time.
      if (unread.length > FRAME_CHARS_MAX) throw new SseOverflow("An event of the stream is too large.");
      this.#rest = unread;
      if (text !== "") this.#restEndsInNewline = text.endsWith("\n");
      return "";
    }
    const end = unread.lastIndexOf("\n\n") + 2;
    this.#rest = unread.slice(end);
    this.#restEndsInNewline = this.#rest.endsWith("\n");
    return unread.slice(0, end);
  }
}

/** Parses the frames of a block that ends at a frame boundary. Comments and frames without data are left out. */
export function parseFrames(block: string): SseFrame[] {
  const frames: SseFrame[] = [];
  let at = 0;
  while (at < block.length) {
    let end = block.indexOf("\n\n", at);
    if (end < 0) end = block.length;
    const frame = parseFrame(block.slice(at, end));
    if (frame !== undefined) frames.push(frame);
    at = end + 2;
  }
  return frames;
}

/** Parses one frame (without its empty line); undefined if it has no data. */
export function parseFrame(text: string): SseFrame | undefined {
  // By far the most common case: one data line.
  if (text.startsWith("data: ") && !text.includes("\n")) return { event: undefined, data: text.slice(6) };
  let event: string | undefined;
  let data: string | undefined;
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0 || line === "") continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (field === "event") event = value;
  }
  return data === undefined ? undefined : { event, data };
}
