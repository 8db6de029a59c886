// One request and its answer on a connection. The answer is handed over when its head has arrived, and its body as it arrives: if
// nobody takes the bytes, the connection is paused.

import { LATER, type Polled } from "../../base/later.ts";
import { type Limit, limitOf } from "../../base/limit.ts";
import { type AnswerHead, headEndOf, parseAnswerHead } from "./answer-head.ts";
import { BodyCutter } from "./body-cutter.ts";
import { BrokenAnswer } from "./failures.ts";
import type { BodyPart, PartTaker, WireAnswer } from "./wire-answer.ts";

/** A body that is sent as it arrives. */
export interface StreamedBody {
  /** The `Content-Type`. */
  readonly type: string;
  /** The length of the body; undefined if it is unknown. */
  readonly length: number | undefined;
  /** The next bytes; undefined at the end. If it throws, the call ends. */
  next(): Promise<Uint8Array | undefined>;
}

/** A body that is known: as text, as bytes, or as parts of bytes that are not copied. */
export type WireBody = string | Uint8Array | readonly Uint8Array[];

/** What carries an exchange: a connection. */
export interface Carrier {
  /** Whether it was idle for so long that its server may have closed it meanwhile. */
  readonly mayBeStale: boolean;
  send(request: ExchangeRequest): void;
  /** Sends a part of a body. */
  write(bytes: Uint8Array): void;
  /** Resolves when all bytes were taken, or the connection ended. */
  whenTaken(): Promise<void>;
  pause(): void;
  resume(): void;
  /** The exchange is complete; `isPersistent`: another one may follow. */
  release(isPersistent: boolean, idleSeconds: number | undefined): void;
  close(): void;
}

/** The request of an exchange. */
export interface ExchangeRequest {
  readonly method: string;
  readonly head: string;
  /** Whether the head is ASCII, so that it may be sent as text. */
  readonly isAscii: boolean;
  readonly body: WireBody | undefined;
  /** The length of the body in bytes. */
  readonly bodyBytes: number;
  readonly upload: StreamedBody | undefined;
  /** How long the server may take until its answer begins, counted from the call on, but not while the client still uploads. */
  readonly firstByteMs: number;
  /** Creates the error for an answer that does not begin in time. */
  late(): Error;
}

/** The parts of an answer that arrived and were not taken yet may have this many bytes before the connection is paused. */
const WAITING_BYTES_MAX = 256 * 1024;
const HEAD_BYTES_MAX = 64 * 1024;
/** Maximum number of interim answers (100, 103) before the final one. */
const INTERIM_MAX = 16;
/** The length of the empty line at the end of a head, with the line end before it. */
const HEAD_END_BYTES = 4;

/** Is told how an exchange goes on. */
export interface ExchangeListener {
  answered(answer: WireAnswer): void;
  refused(error: unknown): void;
  /** Starts the exchange again on a new connection, after one that was used before turned out to be closed. */
  again(exchange: CallExchange): void;
}

/** One exchange. */
export class CallExchange implements WireAnswer {
  readonly request: ExchangeRequest;
  readonly #told: ExchangeListener;
  #connection: Carrier | undefined;
  #partialHead: Buffer | undefined;
  #interims = 0;
  #head: AnswerHead | undefined;
  #cutter: BodyCutter | undefined;
  #first: Buffer | undefined;
  /** Where the bytes of the body begin and end in the first part. */
  #firstAt = 0;
  #firstEnd = 0;
  #others: Uint8Array[] | undefined;
  #waiting = 0;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;
  #wake: (() => void) | undefined;
  #taker: PartTaker | undefined;
  #error: unknown;
  #isOver = false;
  #isSent = false;
  #patience: Limit | undefined;
  #pass: ((bytes: Buffer, from: number, to: number) => void) | undefined;

  constructor(request: ExchangeRequest, told: ExchangeListener) {
    this.request = request;
    this.#told = told;
    this.#wait();
  }

  get head(): AnswerHead {
    return this.#head as AnswerHead;
  }

  get isComplete(): boolean {
    return this.#cutter?.isOver === true;
  }

  #wait(): void {
    this.#patience = limitOf(this.request.firstByteMs, stopLate, this, performance.now());
  }

  /** The connection is being opened. */
  waitsFor(connection: Carrier): void {
    this.#connection = connection;
  }

  /** The connection is there: sends the request. */
  ready(connection: Carrier): void {
    this.#connection = connection;
    const { upload } = this.request;
    connection.send(this.request);
    if (upload === undefined) this.#isSent = true;
    else void this.#upload(upload, connection);
  }

  async #upload(upload: StreamedBody, connection: Carrier): Promise<void> {
    const isChunked = upload.length === undefined;
    let bytesLeft = upload.length ?? 0;
    try {
      for (;;) {
        // While the call waits for the client's data, the provider's time limit does not run.
        this.#patience?.cancel();
        const bytes = await upload.next();
        if (this.#isOver) return;
        if (this.#head === undefined) this.#wait();
        if (bytes === undefined) break;
        if (bytes.byteLength === 0) continue;
        bytesLeft -= bytes.byteLength;
        if (!isChunked && bytesLeft < 0) throw new Error("The body is longer than its stated length.");
        if (isChunked) connection.write(Buffer.from(`${bytes.byteLength.toString(16)}\r\n`));
        connection.write(bytes);
        if (isChunked) connection.write(CRLF);
        await connection.whenTaken();
        if (this.#isOver) return;
      }
      if (!isChunked && bytesLeft > 0) throw new Error("The body is shorter than its stated length.");
      if (isChunked) connection.write(LAST_CHUNK);
      this.#isSent = true;
    } catch (error) {
      this.stop(error);
    }
  }

  received(bytes: Buffer): void {
    const isNew = this.#head === undefined;
    try {
      let at = 0;
      if (isNew) {
        at = this.#readHead(bytes);
        if (at < 0) return;
      }
      this.#readBody(this.#partialHead ?? bytes, at);
    } catch (error) {
      this.failed(error);
    }
    // Only now, so that an answer that arrived with its head is complete.
    if (isNew && this.#head !== undefined) this.#told.answered(this);
  }

  /** The position of the body in the bytes (with those that were held back before them); -1 if the head is not complete. */
  #readHead(bytes: Buffer): number {
    const before = this.#partialHead;
    const received = before === undefined ? bytes : Buffer.concat([before, bytes]);
    // The end may be split over two reads.
    let from = before === undefined ? 0 : Math.max(0, before.length - HEAD_END_BYTES + 1);
    let start = 0;
    for (;;) {
      const end = headEndOf(received, from);
      if ((end < 0 ? received.length : end) - start > HEAD_BYTES_MAX)
        throw new BrokenAnswer("The head of the answer is too long.");
      if (end < 0) {
        this.#partialHead = start === 0 ? received : received.subarray(start);
        return -1;
      }
      const head = parseAnswerHead(received, start, end, this.request.method);
      start = end + HEAD_END_BYTES;
      from = start;
      if (head.status >= 200) {
        this.#partialHead = before === undefined ? undefined : received;
        this.#begin(head);
        return start;
      }
      if (head.status === 101 || ++this.#interims > INTERIM_MAX)
        throw new BrokenAnswer("The server sent interim answers that nobody asked for.");
    }
  }

  #begin(head: AnswerHead): void {
    this.#head = head;
    this.#cutter = new BodyCutter(head.framing);
    this.#patience?.cancel();
  }

  #readBody(bytes: Buffer, at: number): void {
    const cutter = this.#cutter as BodyCutter;
    this.#partialHead = undefined;
    if (at < bytes.length) {
      if (this.#first === undefined && cutter.takesAsRest(bytes.length - at)) this.#keepRest(bytes, at);
      else {
        // Made once, and only for bodies that come in pieces.
        this.#pass ??= this.#keeping();
        cutter.push(bytes, at, this.#pass);
      }
    }
    if (cutter.isOver) this.#complete(cutter.surplus === 0);
    else if (this.#waiting > WAITING_BYTES_MAX && this.#reading === undefined && this.#wake === undefined)
      this.#connection?.pause();
    this.#deliver();
  }

  #keeping(): (bytes: Buffer, from: number, to: number) => void {
    return (bytes, from, to) => this.#keep(bytes, from, to);
  }

  /** A view of the bytes is only made for those who read bytes. */
  #keepRest(bytes: Buffer, at: number): void {
    this.#waiting += bytes.length - at;
    this.#begins(bytes, at, bytes.length);
  }

  #begins(bytes: Buffer, from: number, to: number): void {
    this.#first = bytes;
    this.#firstAt = from;
    this.#firstEnd = to;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.#waiting += to - from;
    if (this.#first === undefined) this.#begins(bytes, from, to);
    else if (this.#first === bytes) {
      // What stood between the two is not needed any more.
      bytes.copyWithin(this.#firstEnd, from, to);
      this.#firstEnd += to - from;
    } else {
      this.#others ??= [];
      this.#others.push(bytes.subarray(from, to));
    }
  }

  /** All bytes of the answer have arrived. Without `isClean` there were further ones, which belong to no request. */
  #complete(isClean: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const connection = this.#connection;
    this.#connection = undefined;
    const { isPersistent, idleSeconds } = this.head;
    connection?.release(isClean && this.#isSent && isPersistent, idleSeconds);
  }

  #deliver(): void {
    if (this.#first === undefined && !this.#isOver) return;
    const wake = this.#wake;
    if (wake !== undefined) {
      if (this.#isTaken()) return;
      this.#wake = undefined;
      wake();
      return;
    }
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    if (this.#first === undefined && this.#error !== undefined) reading.reject(this.#error);
    else reading.resolve(this.#take());
  }

  /** Gives what arrived to the taker. Returns false if the one who waits is to be woken. */
  #isTaken(): boolean {
    const bytes = this.#first;
    const taker = this.#taker;
    if (taker === undefined || bytes === undefined || this.#others !== undefined || this.#isOver) return false;
    this.#first = undefined;
    this.#waiting = 0;
    return taker.took(bytes, this.#firstAt, this.#firstEnd);
  }

  #take(): Buffer | undefined {
    const part = this.#takePart();
    if (part === undefined) return undefined;
    const { bytes, from, to } = part;
    return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
  }

  #takePart() {
    const bytes = this.#first;
    const others = this.#others;
    const [from, to] = [this.#firstAt, this.#firstEnd];
    this.#first = undefined;
    this.#others = undefined;
    this.#waiting = 0;
    if (bytes === undefined) return undefined;
    if (others === undefined) return { bytes, from, to };
    const joined = Buffer.concat([bytes.subarray(from, to), ...others]);
    return { bytes: joined, from: 0, to: joined.length };
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    if (this.#hasNext()) return this.#take();
    this.#reading = Promise.withResolvers();
    return this.#reading.promise;
  }

  poll(wake: () => void, taker?: PartTaker): Polled<BodyPart | undefined> {
    if (this.#hasNext()) return this.#takePart();
    this.#wake = wake;
    this.#taker = taker;
    return LATER;
  }

  /** Whether there are bytes, or the end. Throws what broke the answer. */
  #hasNext(): boolean {
    this.#connection?.resume();
    if (this.#first === undefined && this.#error !== undefined) throw this.#error;
    return this.#first !== undefined || this.#isOver;
  }

  text(): string {
    const part = this.#takePart();
    if (part === undefined) return "";
    const { bytes, from, to } = part;
    const isMarked = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;
    return bytes.toString("utf8", isMarked ? from + 3 : from, to);
  }

  /** The server closed the connection; without `isOrderly` it broke. */
  ended(isOrderly: boolean, cause: unknown): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (this.#head !== undefined && isOrderly && this.#cutter?.endsHere() === true) {
      this.#isOver = true;
      this.#deliver();
      return;
    }
    const isUnused = this.#head === undefined && this.#partialHead === undefined && this.#interims === 0;
    // The server closed the connection before it saw the request. Bodies that are read once cannot be sent again.
    if (isUnused && connection?.mayBeStale === true && this.request.upload === undefined) {
      this.#told.again(this);
      return;
    }
    this.failed(new BrokenAnswer("The connection ended before the answer did.", { cause }));
  }

  /** The exchange cannot go on. */
  failed(error: unknown): void {
    this.stop(error);
  }

  stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = reason ?? new BrokenAnswer("The answer was not needed any more.");
    this.#patience?.cancel();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
    if (this.#head === undefined) this.#told.refused(this.#error);
    // Those who hear of the same reason, such as that the client has left, do so before the reader does.
    else if (this.#wake !== undefined) queueMicrotask(() => this.#deliver());
    else this.#deliver();
  }
}

function stopLate(exchange: CallExchange): void {
  exchange.stop(exchange.request.late());
}

const CRLF = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
