// Request bodies: bounded in size (decompressed bytes) and in time, decompressed, decoded and parsed. Every refusal is an
// ApiError: 400, 408 or 413.

import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { ApiError } from "../base/errors.ts";

export interface BodyLimits {
  /** Largest body, in decompressed bytes. */
  maxBytes: number;
  /** Longest silence; default 30 s (contract §3 "slow clients"). */
  stallMs?: number;
  /** Longest body of all; default 10 min. */
  totalMs?: number;
}

const STALL_MS = 30_000;
const TOTAL_MS = 600_000;
/** Bodies up to this size are read in one go: at the slowest pace that the stall limit lets through they take no longer. */
const SMALL_BYTES = 16 * 1024;

/** The body's bytes, decompressed. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes);
  const coding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (coding === "identity" || coding === "") {
    if (declared <= SMALL_BYTES) return readSmall(request, limits, () => request.bytes());
    return readAll(request, limits);
  }
  const unpack = decoderOf(coding);
  return decompress(await readAll(request, limits), unpack, limits.maxBytes);
}

/** A JSON object body, as text and parsed. Throws 400 `invalid_json`, or `invalid_request` for another content type or no object. */
export async function readJson(
  request: Request,
  limits: BodyLimits,
): Promise<{ text: string; body: Record<string, unknown> }> {
  const type = request.headers.get("content-type");
  if (type !== null && type !== "application/json" && !isJsonType(type)) {
    throw new ApiError("invalid_request", `Expected Content-Type: application/json, got "${type.slice(0, 100)}".`);
  }
  const text = isSmallPlain(request)
    ? await readSmall(request, limits, () => request.text())
    : decoder.decode(await readBody(request, limits));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ApiError(
      "invalid_json",
      text.trim() === "" ? "The request body is empty; expected a JSON object." : "The request body is not valid JSON.",
    );
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("invalid_request", "The request body must be a JSON object.");
  }
  return { text, body: body as Record<string, unknown> };
}

function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError("request_too_large", `The request body is larger than ${maxBytes} bytes.`);
}

const tooSlow = () => new ApiError("request_timeout", "The request body did not arrive in time.");

const decoder = new TextDecoder();

function isSmallPlain(request: Request): boolean {
  return (
    request.headers.get("content-encoding") === null &&
    Number(request.headers.get("content-length") ?? Number.NaN) <= SMALL_BYTES
  );
}

async function readSmall<T>(request: Request, limits: BodyLimits, read: () => Promise<T>): Promise<T> {
  if (Number(request.headers.get("content-length")) > limits.maxBytes) throw tooLarge(limits.maxBytes);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), (limits.stallMs ?? STALL_MS) * 2);
  });
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw cutOff(error);
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let late = false;
  const cut = () => {
    late = true;
    void reader.cancel(tooSlow());
  };
  const total = setTimeout(cut, limits.totalMs ?? TOTAL_MS);
  let stall = setTimeout(cut, limits.stallMs ?? STALL_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) throw tooSlow();
      if (done) break;
      clearTimeout(stall);
      stall = setTimeout(cut, limits.stallMs ?? STALL_MS);
      size += value.byteLength;
      if (size > limits.maxBytes) {
        void reader.cancel();
        throw tooLarge(limits.maxBytes);
      }
      chunks.push(value);
    }
  } catch (error) {
    if (late) throw tooSlow();
    if (error instanceof ApiError) throw error;
    throw cutOff(error);
  } finally {
    clearTimeout(total);
    clearTimeout(stall);
  }
  return Buffer.concat(chunks, size);
}

/** The client went away in the middle of its body: nobody reads the answer, but it must be one. */
function cutOff(cause: unknown): ApiError {
  return new ApiError("invalid_request", "The request body ended early.", { cause });
}

function decoderOf(coding: string) {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    default:
      throw new ApiError(
        "invalid_request",
        `Content-Encoding "${coding.slice(0, 40)}" is not supported: use gzip, deflate, br or zstd.`,
      );
  }
}

/** Streams through the decoder, so that a small bomb is cut at the limit instead of unpacked. */
function decompress(bytes: Uint8Array, decoder: ReturnType<typeof decoderOf>, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    decoder.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > maxBytes) {
        decoder.destroy();
        reject(tooLarge(maxBytes));
      } else chunks.push(chunk);
    });
    decoder.on("end", () => resolve(Buffer.concat(chunks, size)));
    decoder.on("error", (cause) =>
      reject(new ApiError("invalid_request", "The request body is not what its Content-Encoding says.", { cause })),
    );
    decoder.end(bytes);
  });
}
