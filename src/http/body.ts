// Request bodies: limited in size (decompressed bytes) and in time, decompressed, decoded and parsed. Every refusal is an
// ApiError: 400, 408 or 413.

import { isUtf8 } from "node:buffer";
import { ApiError } from "../base/errors.ts";
import { giveBack } from "../base/give-back.ts";
import { JSON_LEVELS_MAX, jsonExcess } from "../base/json-depth.ts";
import { type LargeJsonBounds, lookOver } from "../base/json-scan.ts";
import { spliceMembers } from "../base/json-splice.ts";
import { type BodyText, editedText, parseLongJson, stringOf } from "../base/long-json.ts";
import { longStep, turnShare } from "../base/long-steps.ts";
import type { BodyHold } from "./body-budget.ts";
import { bodyCutOff, bodyTooLarge, bodyTooSlow } from "./body-errors.ts";
import { decoderOf, decompressedBody } from "./decompress.ts";
import { maybeExchangeOf } from "./exchange.ts";
import {
  type BodyListener,
  type BodyTimes,
  hearSmallText,
  isSmall,
  STALL_MS,
  smallBytes,
  smallText,
  TOTAL_MS,
} from "./small-body.ts";

export interface BodyLimits extends BodyTimes {
  /** Maximum size of a body in decompressed bytes. */
  maxBytes: number;
  /** Maximum number of objects, lists and strings in a JSON body (see `JsonBounds`); default 100,000. */
  valuesMax?: number;
}

const VALUES_MAX = 100_000;
/** Unescaping one escape takes about fifteen nanoseconds. */
const ESCAPES_PER_VALUE = 16;
/** Larger bodies are decoded and parsed one at a time, in steps between which other work runs. */
const STEP_BYTES_MIN = 512 * 1024;

/** Reads the body's bytes and decompresses them. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const bytes = await boundedBody(request, limits);
  maybeExchangeOf(request)?.wire?.body(bytes);
  return bytes;
}

async function boundedBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  if (isSmall(request)) return smallBytes(request, limits);
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const isPlain = coding === "identity" || coding === "";
  const unpack = isPlain ? undefined : decoderOf(coding);
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > limits.maxBytes) throw bodyTooLarge(limits.maxBytes);
  // A body without a stated length, or a compressed one, counts with the maximum.
  const hold = await room(request, isPlain && declared >= 0 ? declared : limits.maxBytes);
  const read = await readAll(request, declared, limits);
  const bytes = unpack === undefined ? read : await decompressedBody(read, unpack, limits.maxBytes);
  hold?.shrinkTo(bytes.byteLength);
  return bytes;
}

async function room(request: Request, bytes: number): Promise<BodyHold | undefined> {
  try {
    return await maybeExchangeOf(request)?.holdBody(bytes);
  } catch (error) {
    throw error instanceof ApiError ? error : bodyCutOff(error);
  }
}

/**
 * Reads a body that is a JSON object, as text and parsed. Throws 400 `invalid_json`, or `invalid_request` for another content
 * type or a body that is no object.
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<JsonBody> {
  const read = await readJsonText(request, limits);
  const { text, body } = read;
  if (typeof text === "string") return { text, body };
  // Few need the text of a long body.
  return {
    get text() {
      return stringOf(text);
    },
    body,
  };
}

/** A body as text and as a JSON object. */
interface JsonBody<Text extends BodyText = string> {
  readonly text: Text;
  readonly body: Record<string, unknown>;
}

/** The same, without making a string of a long body. */
export async function readJsonText(request: Request, limits: BodyLimits): Promise<JsonBody<BodyText>> {
  requireJsonType(request);
  if (isPlainSmall(request)) return jsonOfSmall(request, await smallText(request, limits), limits);
  const { text, value } = await readLargerValue(request, limits);
  return addressed(request, text, asObject(value));
}

/**
 * The same for those who want no promise: tells the listener the text, of which `jsonOfSmall` makes the body. False if the body is not
 * small; nothing was begun then. Throws as `readJsonText` does for another content type.
 */
export function hearSmallJson(request: Request, limits: BodyLimits, listener: BodyListener<string>): boolean {
  requireJsonType(request);
  if (!isPlainSmall(request)) return false;
  hearSmallText(request, limits, listener);
  return true;
}

/** The body of which the text was read. Throws as `readJsonText` does. */
export function jsonOfSmall(request: Request, text: string, limits: BodyLimits): JsonBody<BodyText> {
  return addressed(request, text, asObject(parseWithin(text, limits)));
}

/** A body with what the request's address says in place of it. */
function addressed(request: Request, text: BodyText, body: Record<string, unknown>): JsonBody<BodyText> {
  const alias = maybeExchangeOf(request)?.alias;
  if (alias === undefined) return { text, body };
  const { model, members } = alias;
  if (members !== undefined) return { text, body: { ...body, ...members } };
  return model === undefined ? { text, body } : withModel({ text, body }, model);
}

/** Adds the model that the address names, so that the body may leave it out. */
function withModel({ text, body }: JsonBody<BodyText>, model: string): JsonBody<BodyText> {
  return { text: editedText(text, (outline) => spliceMembers(outline, { model })), body: { ...body, model } };
}

/**
 * Reads a body that is any JSON value, as text and parsed. Throws 400 `invalid_json`, or `invalid_request` for another content
 * type.
 */
export async function readJsonValue(request: Request, limits: BodyLimits): Promise<JsonValue> {
  requireJsonType(request);
  if (isPlainSmall(request)) {
    const text = await smallText(request, limits);
    return { text, value: parseWithin(text, limits) };
  }
  return readLargerValue(request, limits);
}

/** A JSON value as text and parsed. */
interface JsonValue {
  readonly text: BodyText;
  readonly value: unknown;
}

function requireJsonType({ headers }: Request): void {
  const type = headers.get("content-type");
  if (type === null || type === "application/json" || isJsonType(type)) return;
  throw new ApiError("invalid_request", `Expected Content-Type: application/json, got "${type.slice(0, 100)}".`);
}

/** Whether a body is small, and nobody copies it. */
function isPlainSmall(request: Request): boolean {
  return isSmall(request) && maybeExchangeOf(request)?.wire === undefined;
}

async function readLargerValue(request: Request, limits: BodyLimits): Promise<JsonValue> {
  const bytes = await readBody(request, limits);
  if (bytes.byteLength < STEP_BYTES_MIN) {
    const text = decoder.decode(bytes);
    return { text, value: parseWithin(text, limits) };
  }
  const exchange = maybeExchangeOf(request);
  const sinceMs = beganMs(request);
  const pause = () => longStep(sinceMs);
  return oneAtATime(async () => {
    // This lets the code that waits for the previous body run first.
    await pause();
    if (request.signal.aborted) throw bodyCutOff(request.signal.reason);
    const utf8 = plainUtf8(bytes);
    await pause();
    const look = await lookOver(utf8, boundsOf(limits), pause);
    refuse(look.excess, limits);
    await pause();
    // The copy of the messages needs the bytes for longer.
    if (exchange?.wire === undefined) exchange?.atEnd(() => giveBack(utf8));
    const parsed = await parseLongJson(utf8, look, pause).catch(() => refuseJson(decoder.decode(utf8)));
    await pause();
    return parsed;
  });
}

/** When a request began, by which its steps come in order. */
function beganMs(request: Request): number {
  return maybeExchangeOf(request)?.startedMs ?? performance.now();
}

/** The bytes without a byte order mark and without errors, as they are decoded. */
function plainUtf8(bytes: Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = bytes;
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  if (!isMarked && isUtf8(bytes)) return Buffer.from(buffer, byteOffset, byteLength);
  return Buffer.from(decoder.decode(bytes));
}

let last: Promise<unknown> = Promise.resolve();

/** Runs `work` when the previous work has ended, whether or not it succeeded. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work, work);
  // What it gave is not kept until the next body comes: the values of a long body take more than its bytes.
  const end = () => undefined;
  last = done.then(end, end);
  return done;
}

function boundsOf({ valuesMax = VALUES_MAX }: BodyLimits): LargeJsonBounds {
  return { levels: JSON_LEVELS_MAX, values: valuesMax, escapes: ESCAPES_PER_VALUE * valuesMax };
}

function refuse(excess: keyof LargeJsonBounds | undefined, limits: BodyLimits): void {
  const { values, escapes } = boundsOf(limits);
  if (excess === "levels") {
    throw new ApiError("invalid_request", `The request body is nested more than ${JSON_LEVELS_MAX} levels deep.`);
  }
  if (excess === "values") {
    throw new ApiError(
      "request_too_large",
      `The request body holds more than ${values} objects, lists and texts (keys among them; of other values ten count as one).`,
    );
  }
  if (excess === "escapes") {
    throw new ApiError(
      "request_too_large",
      `The request body holds more than ${escapes} escapes (such as \\n and \\u00e9) in texts of less than 64 KiB: send characters as they are, in UTF-8.`,
    );
  }
}

function parseWithin(text: string, limits: BodyLimits): unknown {
  refuse(jsonExcess(text, boundsOf(limits)), limits);
  try {
    return JSON.parse(text);
  } catch {
    return refuseJson(text);
  }
}

function refuseJson(text: string): never {
  throw new ApiError(
    "invalid_json",
    text.trim() === "" ? "The request body is empty; expected a JSON object." : "The request body is not valid JSON.",
  );
}

function asObject(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("invalid_request", "The request body must be a JSON object.");
  }
  return body as Record<string, unknown>;
}

function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

const decoder = new TextDecoder();

/** How many bytes are copied at once, as megabytes of an unread body may arrive together. Fresh memory takes 2 ms for each. */
const COPIED_BYTES = 1024 * 1024;

/** Bodies that arrive together are copied in turns. */
const copies = turnShare(COPIED_BYTES);

/** Waits for one turn of the event loop, after which data in the socket has been received. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function readAll(request: Request, declared: number, limits: BodyLimits): Promise<Uint8Array> {
  // Reading an incomplete body takes 320 KB of buffers, so that what is in the socket is received first.
  await turn();
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  try {
    return await readRest(reader, reader.readMany(), { ...limits, declared, sinceMs: beganMs(request) });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw bodyCutOff(error);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type ManyRead = ReturnType<Reader["readMany"]>;

/** Reads the rest of a body within the time limits. `next` is the read in progress. */
async function readRest(
  reader: Reader,
  next: ManyRead,
  limits: BodyLimits & { declared: number; sinceMs: number },
): Promise<Uint8Array> {
  const { maxBytes, stallMs = STALL_MS, totalMs = TOTAL_MS, declared, sinceMs } = limits;
  const body = declared >= STEP_BYTES_MIN ? intoOne(declared, sinceMs) : inPieces();
  const startedMs = performance.now();
  let lastMs = startedMs;
  let late = false;
  // Older requests may go first for long, which is no pause of the client's.
  let isCopying = false;
  // There is one timer for each body. It restarts if data has arrived meanwhile.
  const watch = () => {
    const now = performance.now();
    if (isCopying) lastMs = now;
    const leftMs = Math.min(lastMs + stallMs, startedMs + totalMs) - now;
    if (leftMs > 0) timer = setTimeout(watch, leftMs);
    else {
      late = true;
      giveUp(reader);
    }
  };
  let timer = setTimeout(watch, Math.min(stallMs, totalMs));
  try {
    for (let reading = next; ; reading = reader.readMany()) {
      // Reads all available data in one step, including the end.
      const { done, value } = await reading;
      if (late) throw bodyTooSlow();
      isCopying = true;
      for (const chunk of value) {
        const copied = body.add(chunk);
        if (copied !== undefined) await copied;
      }
      isCopying = false;
      lastMs = performance.now();
      if (body.size() > maxBytes) {
        giveUp(reader);
        throw bodyTooLarge(maxBytes);
      }
      if (done) break;
    }
  } catch (error) {
    throw late ? bodyTooSlow() : error;
  } finally {
    clearTimeout(timer);
  }
  return body.whole();
}

/** Collects the parts of a body. */
interface Gathered {
  add(chunk: Uint8Array): void | Promise<void>;
  size(): number;
  whole(): Uint8Array | Promise<Uint8Array>;
}

/** Collects a large body of known length into one buffer as it arrives, so that it is in memory only once. */
function intoOne(declared: number, sinceMs: number): Gathered {
  // Until they are written, these bytes take no memory.
  const bytes = Buffer.allocUnsafeSlow(declared);
  let size = 0;
  return {
    async add(chunk) {
      for (let at = 0; at < chunk.byteLength; at += COPIED_BYTES) {
        const part = chunk.subarray(at, at + COPIED_BYTES);
        const wait = copies(part.byteLength, sinceMs);
        if (wait !== undefined) await wait;
        // The server ensures that a body is not longer than declared.
        bytes.set(part, size);
        size += part.byteLength;
      }
      giveBack(chunk);
    },
    size: () => size,
    whole: () => bytes.subarray(0, size),
  };
}

function inPieces(): Gathered {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const whole = () => (chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size));
  return {
    add(chunk) {
      size += chunk.byteLength;
      chunks.push(chunk);
    },
    size: () => size,
    whole: () =>
      size < STEP_BYTES_MIN
        ? whole()
        : oneAtATime(async () => {
            await turn();
            return whole();
          }),
  };
}

function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  // If the body has failed meanwhile, it need not be cancelled.
  reader.cancel().catch(() => undefined);
}
