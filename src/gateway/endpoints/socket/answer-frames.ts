// The frames of an answer over a connection: the events of its stream without the framing of server-sent events, each with the
// name of the lane.

import type { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import { parseFrames } from "../../../base/sse.ts";

/** An event of an answer. */
export interface AnswerFrame {
  readonly type: string;
  /** Its JSON. */
  readonly text: string;
}

/** Cuts the text of a stream into events. */
export class AnswerFrames {
  readonly #decoder = new TextDecoder();
  #rest = "";

  push(chunk: string | Uint8Array): AnswerFrame[] {
    const text = typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true });
    const unread = this.#rest === "" ? text : this.#rest + text;
    const end = unread.lastIndexOf("\n\n") + 2;
    // `lastIndexOf` gives -1 if no frame is complete.
    if (end < 2) {
      this.#rest = unread;
      return [];
    }
    this.#rest = unread.slice(end);
    const frames: AnswerFrame[] = [];
    for (const { event, data } of parseFrames(end === unread.length ? unread : unread.slice(0, end))) {
      if (data.startsWith("{")) frames.push({ type: event ?? typeIn(data), text: data });
    }
    return frames;
  }
}

function typeIn(data: string): string {
  return /"type"\s*:\s*"([\w.]{1,100})"/.exec(data)?.[1] ?? "";
}

/** The JSON of an event with the name of its lane. */
export function inLane(text: string, streamId: string | undefined): string {
  return streamId === undefined ? text : `{"stream_id":${JSON.stringify(streamId)},${text.slice(1)}`;
}

/** The object that a text is the JSON of; empty if it is none. */
export function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The event for a request that failed before its answer. */
export function errorFrame(error: ApiError, streamId: string | undefined): string {
  const body = error.body();
  const after = error.detail.retryAfterSeconds;
  const headers = after === undefined ? {} : { headers: { "retry-after": String(Math.max(1, Math.ceil(after))) } };
  return frameOf({ type: "error", status: error.status, error: { ...body, ...headers } }, streamId);
}

/** The same for an error that the endpoint answered with. */
export async function refusedFrame(response: Response, streamId: string | undefined): Promise<string> {
  const { error, ...rest } = recordIn(await response.text());
  const after = response.headers.get("retry-after");
  const headers = after === null ? {} : { headers: { "retry-after": after } };
  const shown = isRecord(error)
    ? error
    : { message: "The request failed.", type: "api_error", code: null, param: null };
  return frameOf({ type: "error", status: response.status, ...rest, error: { ...shown, ...headers } }, streamId);
}

/** The JSON of an event that the connection itself makes. */
export function frameOf(event: Readonly<Record<string, unknown>>, streamId: string | undefined): string {
  return inLane(JSON.stringify(event), streamId);
}
