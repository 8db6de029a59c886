// Takes the bytes of a connection after the head of an answer, and cuts out the bytes of the body. It does not depend on how the
// bytes are split.

import type { Framing } from "./answer-head.ts";
import { BrokenAnswer } from "./failures.ts";

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];
/** A line with the size of a chunk has at most this many characters, with its extensions. */
const SIZE_LINE_MAX = 1024;
/** 2^48 bytes, which no answer has. */
const SIZE_DIGITS_MAX = 12;
/** All lines after the last chunk together. */
const TRAILER_BYTES_MAX = 16 * 1024;
const SIZE_LINE = /^([0-9A-Fa-f]+)(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
const TRAILER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

type Step = "size" | "data" | "after-data" | "trailers" | "over";

/** Cuts one body out of the bytes of its connection. */
export class BodyCutter {
  readonly #isChunked: boolean;
  #step: Step;
  /** Bytes that are left of the body or of the chunk. */
  #left: number;
  #line = "";
  #trailerBytes = 0;
  /** How many bytes after the end were given to the last call of `push`. */
  surplus = 0;

  constructor(framing: Framing) {
    this.#isChunked = framing === "chunked";
    this.#left = framing === "close" ? Number.POSITIVE_INFINITY : framing === "chunked" ? 0 : framing;
    this.#step = framing === "chunked" ? "size" : framing === 0 ? "over" : "data";
  }

  /** Whether the body is complete. */
  get isOver(): boolean {
    return this.#step === "over";
  }

  /** The connection ended. Whether the body is complete by that. */
  endsHere(): boolean {
    if (this.#left === Number.POSITIVE_INFINITY) this.#step = "over";
    return this.isOver;
  }

  /** Takes bytes without cutting them, if they are exactly what is left of a body with a known length. */
  takesAsRest(count: number): boolean {
    if (this.#isChunked || this.#step !== "data" || count !== this.#left) return false;
    this.#left = 0;
    this.#step = "over";
    this.surplus = 0;
    return true;
  }

  /** Takes the next bytes, from `from` on, and passes on where those of the body are. Throws `BrokenAnswer`. */
  push(bytes: Buffer, from: number, pass: (bytes: Buffer, from: number, to: number) => void): void {
    let at = from;
    while (at < bytes.length && this.#step !== "over") {
      if (this.#step === "data") {
        const end = bytes.length - at > this.#left ? at + this.#left : bytes.length;
        pass(bytes, at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#step = this.#isChunked ? "after-data" : "over";
      } else {
        const after = this.#readPlain(bytes, at);
        at = after > at ? after : this.#readLine(bytes, at);
      }
    }
    this.surplus = bytes.length - at;
  }

  /**
   * Reads the end of a chunk, or a size without extensions, if it is there as a whole: nearly all are. Returns the position after
   * it; `from` if the line is to be read as others are.
   */
  #readPlain(bytes: Buffer, from: number): number {
    if (this.#line !== "") return from;
    let at = from;
    if (this.#step === "after-data") {
      if (bytes[at] !== CARRIAGE_RETURN || bytes[at + 1] !== LINE_FEED) return from;
      this.#step = "size";
      at += 2;
    }
    if (this.#step !== "size") return at;
    let size = 0;
    let end = at;
    for (let digit = hexDigit(bytes[end]); digit >= 0 && end - at < SIZE_DIGITS_MAX; digit = hexDigit(bytes[end])) {
      size = size * 16 + digit;
      end++;
    }
    if (end === at || bytes[end] !== CARRIAGE_RETURN || bytes[end + 1] !== LINE_FEED) return at;
    this.#left = size;
    this.#step = size === 0 ? "trailers" : "data";
    return end + 2;
  }

  #readLine(bytes: Buffer, at: number): number {
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = feed < 0 ? bytes.length : feed;
    const most = this.#step === "trailers" ? TRAILER_BYTES_MAX - this.#trailerBytes : SIZE_LINE_MAX;
    if (this.#line.length + end - at > most) throw new BrokenAnswer("A line within the answer is too long.");
    this.#line += bytes.toString("latin1", at, end);
    if (feed < 0) return end;
    const line = this.#line;
    this.#line = "";
    // A line feed alone is read as an end of line by some programs and not by others.
    if (line.charCodeAt(line.length - 1) !== CARRIAGE_RETURN)
      throw new BrokenAnswer("A line within the answer has no valid end.");
    this.#take(line.slice(0, -1));
    return feed + 1;
  }

  #take(line: string): void {
    if (this.#step === "after-data") {
      if (line !== "") throw new BrokenAnswer("A chunk of the answer is longer than it states.");
      this.#step = "size";
    } else if (this.#step === "size") {
      const digits = SIZE_LINE.exec(line)?.[1];
      if (digits === undefined || digits.length > SIZE_DIGITS_MAX)
        throw new BrokenAnswer("The size of a chunk of the answer is not a number.");
      this.#left = Number.parseInt(digits, 16);
      this.#step = this.#left === 0 ? "trailers" : "data";
    } else if (line === "") this.#step = "over";
    else {
      // Nobody asked for trailers, so they are checked and left out.
      this.#trailerBytes += line.length + 2;
      if (!TRAILER_LINE.test(line)) throw new BrokenAnswer("A line after the answer is no header.");
    }
  }
}

/** The value of a hexadecimal digit; -1 for any other byte, and beyond the end. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
