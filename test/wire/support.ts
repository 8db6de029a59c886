// Helpers for the tests of all client formats.

import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "../../src/base/errors.ts";
import { parseFrames } from "../../src/base/sse.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import type { ChatRequest } from "../../src/chat/request.ts";
import type { AnswerContext, EventWriter, StreamError, WireFormat } from "../../src/wire/format.ts";

/** A JSON object that a test creates. */
export type Json = Record<string, unknown>;

/** One parsed frame of a stream. */
export interface Sent {
  event: string | undefined;
  data: Json;
}

/** The frames of a stream. The terminator is not among them and is reported separately. */
export function readStream(text: string): { frames: Sent[]; done: boolean } {
  const raw = parseFrames(text);
  const done = raw.at(-1)?.data === "[DONE]";
  const frames = (done ? raw.slice(0, -1) : raw).map(({ event, data }) => ({ event, data: JSON.parse(data) as Json }));
  return { frames, done };
}

/** An exchange for a request body, decoded by the format itself. */
export function exchangeFor(format: WireFormat, body: Json, more: Partial<AnswerContext> = {}): AnswerContext {
  return {
    id: `${format.idPrefix}0123456789abcdef0123456789abcdef`,
    model: "catalog-model",
    createdSeconds: 1_700_000_000,
    nowSeconds: () => 1_700_000_002,
    requestId: "req-1",
    request: format.decode(body, {}),
    body,
    ...more,
  };
}

/** The request that belongs to a format's answers. It is the fixture that every new format needs. */
export function requestOf({ name }: WireFormat): Json {
  const file = join(import.meta.dir, "../golden/wire", name, "request.json");
  if (!existsSync(file)) throw new Error(`${name} has no request: ${file}`);
  return JSON.parse(readFileSync(file, "utf8")) as Json;
}

/** The whole text of a streamed answer. */
export function streamOf(writer: EventWriter, events: readonly ChatEvent[]): string {
  let out = "";
  for (const event of events) out += writer.push(event);
  return events.at(-1)?.type === "error" ? out : out + writer.end();
}

/** A stream error as the gateway creates it. */
export const interruption: StreamError = {
  message: "The provider ended the answer early.",
  type: "provider_error",
  code: "provider_stream_interrupted",
  param: null,
  request_id: "req-1",
};

/** Expects 400 `invalid_request` with the name of the parameter. */
export function expectRejected(decode: () => ChatRequest, param: string): void {
  let thrown: unknown;
  try {
    decode();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ApiError);
  const error = thrown as ApiError;
  expect({ code: error.apiCode, status: error.status, param: error.detail.param }).toEqual({
    code: "invalid_request",
    status: 400,
    param,
  });
}
