// Pulls an HTTP/1.1 answer off a socket as it is asked for: heads and bodies with an end of some kind, each bounded. The
// socket is paused in between, so memory stays bounded too, and no body is so finely cut that reading it stops the program.

import type { Socket } from "node:net";
import { createTurns } from "../base/turns.ts";

/** What went wrong on the wire. */
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
/** Servers that flush each byte exist; a body of more chunks than this is made to keep the reader busy. */
const CHUNKS_MAX = 250_000;
/** A socket may hand over half a megabyte at once; so much of the finest chunks is one turn's work. */
const PIECE_BYTES = 32 * 1024;
/** Most bodies need one. */
const BLOCK_BYTES_FIRST = 64 * 1024;
const BLOCK_BYTES = 1024 * 1024;
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** Reads one socket, in order. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #turn = createTurns();
  #held: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  /** The text before the next empty line, which is consumed too. Lines may end without a carriage return (RFC 9112 2.2). */
  async head(bytesMax: number): Promise<string> {
    for (let from = 0; ; ) {
      const feed = this.#held.indexOf(LINE_FEED, from);
      const width = feed < 0 ? 0 : this.#emptyLineAt(feed + 1);
      if (width > 0) {
        const text = this.#held.toString("latin1", 0, feed);
        this.#held = this.#held.subarray(feed + 1 + width);
        return text;
      }
      // The line after this end has not wholly come when the bytes end there.
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

  /** Exactly `count` bytes. */
  async exactly(count: number): Promise<Uint8Array> {
    // Filled as it comes: joining tens of megabytes at the end would hold up the event loop.
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

  /** Everything until the server closes. */
  async rest(bytesMax: number): Promise<Uint8Array> {
    const body = new Body(bytesMax);
    for (;;) {
      body.add(this.#held);
      await this.#turn();
      const more = await this.#next();
      if (more === undefined) return body.bytes();
      this.#held = more;
    }
  }

  /** A body in chunks, without its trailers. */
  async chunked(bytesMax: number): Promise<Uint8Array> {
    const body = new Body(bytesMax);
    const chunks = new Chunks(body);
    for (;;) {
      for (let at = 0; at < this.#held.length; at += PIECE_BYTES) {
        if (chunks.isLastIn(this.#held.subarray(at, at + PIECE_BYTES))) return body.bytes();
        await this.#turn();
      }
      this.#held = Buffer.alloc(0);
      await this.#more();
    }
  }

  /** Length of an empty line's end at `at`; 0 when there is something in the line. */
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

/** Takes a chunked body apart, piece by piece as it comes: chunks may be of one byte, and none is waited for by itself. */
class Chunks {
  readonly #body: Body;
  #count = 0;
  /** Of the chunk that is being read. */
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

/** Bytes of unknown number, under a cap; joined once. */
class Body {
  readonly #bytesMax: number;
  readonly #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #total = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws when so many more would be too many. */
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

/** The answer is longer than it may be. */
export function tooLarge(): WireError {
  return new WireError("too_large", "The answer is larger than allowed.");
}

function brokenChunk(): WireError {
  return new WireError("protocol", "The server sent a broken chunk.");
}
