// Reads an HTTP/1.1 response from a socket on demand: heads, and bodies with any kind of delimiter, each with a limit. The socket
// is paused in between, so the memory is limited, and very small chunks cannot block the program.

import type { Socket } from "node:net";
import { createPause } from "../base/time-slices.ts";

/** What went wrong in the exchange. */
export type WireFault = "connect" | "tls" | "reset" | "protocol" | "too_large";

/** A failed exchange. */
export class WireError extends Error {
  override name = "WireError";
  readonly fault: WireFault;
  constructor(fault: WireFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

const CHUNK_LINE_BYTES_MAX = 4096;
/** Maximum number of chunks in a body. Some servers flush each byte, but a body with more chunks is an attack. */
const CHUNKS_MAX = 250_000;
/** How many bytes of chunks are processed in each turn of the event loop. A socket may deliver half a megabyte at once. */
const PIECE_BYTES = 32 * 1024;
/** The size of the first block; most bodies need only one. */
const BLOCK_BYTES_FIRST = 64 * 1024;
const BLOCK_BYTES = 1024 * 1024;
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** Reads one socket in order. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #pause = createPause();
  #held: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  /** The text before the next empty line, which is read too. Lines may end without a carriage return (RFC 9112 2.2). */
  async head(bytesMax: number): Promise<string> {
    for (let from = 0; ; ) {
      const feed = this.#held.indexOf(LINE_FEED, from);
      const width = feed < 0 ? 0 : this.#emptyLineAt(feed + 1);
      if (width > 0) {
        const text = this.#held.toString("latin1", 0, feed);
        this.#held = this.#held.subarray(feed + 1 + width);
        return text;
      }
      // The bytes end within the next line.
      const isCut = feed >= 0 && feed + 2 >= this.#held.length;
      if (feed >= 0 && !isCut) {
        from = feed + 1;
        continue;
      }
      from = isCut ? feed : this.#held.length;
      if (this.#held.length > bytesMax) throw new WireError("protocol", "A line or head of the answer is too long.");
      await this.#more();
    }
  }

  /** Reads exactly `count` bytes. */
  async exactly(count: number): Promise<Uint8Array> {
    // The buffer is filled as data arrives. Joining tens of megabytes at the end would block the event loop.
    const all = Buffer.allocUnsafeSlow(count);
    let have = 0;
    for (;;) {
      const taken = this.#held.copy(all, have);
      have += taken;
      this.#held = this.#held.subarray(taken);
      if (have === count) return all;
      await this.#more();
    }
  }

  /** Reads everything until the server closes the connection. */
  async rest(bytesMax: number): Promise<Uint8Array> {
    const body = new Body(bytesMax);
    for (;;) {
      body.add(this.#held);
      await this.#pause();
      const more = await this.#next();
      if (more === undefined) return body.bytes();
      this.#held = more;
    }
  }

  /** Reads a chunked body, without its trailers. */
  async chunked(bytesMax: number): Promise<Uint8Array> {
    const body = new Body(bytesMax);
    const chunks = new Chunks(body);
    for (;;) {
      for (let at = 0; at < this.#held.length; at += PIECE_BYTES) {
        if (chunks.isLastIn(this.#held.subarray(at, at + PIECE_BYTES))) return body.bytes();
        await this.#pause();
      }
      this.#held = Buffer.alloc(0);
      await this.#more();
    }
  }

  /** The length of the empty line at `at`; 0 if that line is not empty. */
  #emptyLineAt(at: number): number {
    if (this.#held[at] === LINE_FEED) return 1;
    return this.#held[at] === CARRIAGE_RETURN && this.#held[at + 1] === LINE_FEED ? 2 : 0;
  }

  async #more(): Promise<void> {
    const more = await this.#next();
    if (more === undefined) throw new WireError("reset", "The connection broke off.");
    this.#held = this.#held.length === 0 ? more : Buffer.concat([this.#held, more]);
  }

  async #next(): Promise<Buffer | undefined> {
    const { done, value } = await this.#chunks.next();
    return done === true ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

/** Decodes a chunked body piece by piece. Chunks may be single bytes, so none is awaited by itself. */
class Chunks {
  readonly #body: Body;
  #count = 0;
  /** The number of bytes that are left of the current chunk. */
  #left = 0;
  #isAfterData = false;
  #line = "";

  constructor(body: Body) {
    this.#body = body;
  }

  isLastIn(piece: Buffer): boolean {
    let at = 0;
    while (at < piece.length) {
      if (this.#left > 0) {
        const end = Math.min(piece.length, at + this.#left);
        this.#body.add(piece, at, end);
        this.#left -= end - at;
        this.#isAfterData = this.#left === 0;
        at = end;
        continue;
      }
      const feed = piece.indexOf(LINE_FEED, at);
      this.#line += piece.toString("latin1", at, feed < 0 ? piece.length : feed);
      if (this.#line.length > CHUNK_LINE_BYTES_MAX) throw brokenChunk();
      if (feed < 0) return false;
      at = feed + 1;
      if (this.#isLast(this.#line.trim())) return true;
      this.#line = "";
    }
    return false;
  }

  #isLast(line: string): boolean {
    if (this.#isAfterData) {
      if (line !== "") throw brokenChunk();
      this.#isAfterData = false;
      return false;
    }
    const size = Number.parseInt(line, 16);
    if (!(size >= 0) || ++this.#count > CHUNKS_MAX) throw brokenChunk();
    this.#body.expect(size);
    this.#left = size;
    return size === 0;
  }
}

/** Collects bytes up to a limit, and joins them once. */
class Body {
  readonly #bytesMax: number;
  readonly #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #total = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws if this many more bytes would exceed the limit. */
  expect(count: number): void {
    if (this.#total + count > this.#bytesMax) throw tooLarge();
  }

  add(piece: Buffer, from = 0, to = piece.length): void {
    this.expect(to - from);
    this.#total += to - from;
    for (let at = from; at < to; ) {
      if (this.#used === this.#block.length) this.#open();
      const copied = piece.copy(this.#block, this.#used, at, to);
      this.#used += copied;
      at += copied;
    }
  }

  bytes(): Uint8Array {
    return Buffer.concat([...this.#full, this.#block.subarray(0, this.#used)]);
  }

  #open(): void {
    this.#full.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(this.#full.length === 1 ? BLOCK_BYTES_FIRST : BLOCK_BYTES);
    this.#used = 0;
  }
}

/** The response exceeds the limit. */
export function tooLarge(): WireError {
  return new WireError("too_large", "The answer is larger than allowed.");
}

function brokenChunk(): WireError {
  return new WireError("protocol", "The server sent a broken chunk.");
}
