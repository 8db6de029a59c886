// Small request bodies, which nearly all are: the runtime keeps them until they are complete, without a stream.

import { ApiError } from "../base/errors.ts";
import { limit } from "../base/limit.ts";
import { bodyCutOff, bodyTooLarge, bodyTooSlow } from "./body-errors.ts";

/** How slowly a body may arrive. */
export interface BodyTimes {
  /** The longest pause within a body, and the longest time for a small one; 30 s by default. */
  stallMs?: number;
  /** The longest time for a whole body; 10 min by default. */
  totalMs?: number;
}

export const STALL_MS = 30_000;
export const TOTAL_MS = 600_000;
/** Bodies up to this size are not counted in the budget: only ten thousand of them would matter. */
const SMALL_BYTES_MAX = 16 * 1024;

/** Whether a body is small and plain, as nearly all are. It then needs no room, and its size is known. */
export function isSmall({ headers }: Request): boolean {
  const declared = headers.get("content-length");
  return declared !== null && Number(declared) <= SMALL_BYTES_MAX && headers.get("content-encoding") === null;
}

/** Is told of a body, once. Its functions must not throw. */
export interface BodyListener<T> {
  bodyRead(body: T): void;
  /** With 408, 413, or 400 if the client left. */
  bodyRefused(error: unknown): void;
}

/** A body that is read with the next turn of the event loop. */
class Waiting<T> {
  readonly #request: Request;
  readonly #limits: SmallLimits;
  readonly #read: (request: Request) => Promise<T>;
  readonly #listener: BodyListener<T>;

  constructor(
    request: Request,
    limits: SmallLimits,
    read: (request: Request) => Promise<T>,
    listener: BodyListener<T>,
  ) {
    this.#request = request;
    this.#limits = limits;
    this.#read = read;
    this.#listener = listener;
  }

  read(): void {
    const listener = this.#listener;
    let whole: Promise<T>;
    try {
      whole = this.#read(this.#request);
    } catch (error) {
      listener.bodyRefused(bodyCutOff(error));
      return;
    }
    if (Bun.peek.status(whole) === "fulfilled") listener.bodyRead(Bun.peek(whole) as T);
    else tellLater(readRest(whole, this.#limits), listener);
  }
}

function tellLater<T>(whole: Promise<T>, listener: BodyListener<T>): void {
  whole.then(
    (body) => listener.bodyRead(body),
    (error: unknown) => listener.bodyRefused(error),
  );
}

/** The bodies that wait for the same turn, with one callback for all. */
let waiting: Pick<Waiting<unknown>, "read">[] = [];

function readAll(): void {
  const all = waiting;
  waiting = [];
  for (const one of all) one.read();
}

const textOf = (request: Request) => request.text();
const bytesOf = (request: Request) => request.bytes();

/** A limit of a body's size, and of its time. */
interface SmallLimits extends BodyTimes {
  readonly maxBytes: number;
}

/** Reads a small body as text. Throws 408, 413, or 400 if the client left. */
export function smallText(request: Request, limits: SmallLimits): Promise<string> {
  return new Promise((bodyRead, bodyRefused) => readSmall(request, limits, textOf, { bodyRead, bodyRefused }));
}

/** The same for those who want no promise. Tells the listener later, never at once. */
export function hearSmallText(request: Request, limits: SmallLimits, listener: BodyListener<string>): void {
  readSmall(request, limits, textOf, listener);
}

/** Reads a small body as bytes. */
export function smallBytes(request: Request, limits: SmallLimits): Promise<Uint8Array> {
  return new Promise((bodyRead, bodyRefused) => readSmall(request, limits, bytesOf, { bodyRead, bodyRefused }));
}

function refuseLater<T>(listener: BodyListener<T>, maxBytes: number): void {
  queueMicrotask(() => listener.bodyRefused(bodyTooLarge(maxBytes)));
}

function readSmall<T>(
  request: Request,
  limits: SmallLimits,
  read: (request: Request) => Promise<T>,
  listener: BodyListener<T>,
): void {
  if (limits.maxBytes < SMALL_BYTES_MAX && Number(request.headers.get("content-length")) > limits.maxBytes) {
    refuseLater(listener, limits.maxBytes);
    return;
  }
  // Most bodies arrive together with their headers and are complete one turn later.
  if (waiting.push(new Waiting(request, limits, read, listener)) === 1) setImmediate(readAll);
}

/** Waits for a body of which a part is missing. */
async function readRest<T>(whole: Promise<T>, limits: SmallLimits): Promise<T> {
  const { stallMs = STALL_MS, totalMs = TOTAL_MS } = limits;
  const late = Promise.withResolvers<never>();
  // The pieces of such a body are not seen, so the whole must arrive within the longest pause.
  const patience = limit(Math.min(totalMs, stallMs), () => late.reject(bodyTooSlow()));
  try {
    return await Promise.race([whole, late.promise]);
  } catch (error) {
    throw error instanceof ApiError ? error : bodyCutOff(error);
  } finally {
    patience.cancel();
  }
}
