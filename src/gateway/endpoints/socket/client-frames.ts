// Reads what clients send over a connection, as far as the connection must know it. The rest of a request is read as the body of a
// POST is, with the same limits.

import { ApiError } from "../../../base/errors.ts";
import { type MemberSpan, spliceMembers, topLevelMembers } from "../../../base/json-splice.ts";

/** A request for an answer. */
export interface CreateFrame {
  readonly type: "response.create";
  /** The name of the lane; undefined for the unnamed one. */
  readonly streamId: string | undefined;
  readonly isWarmUp: boolean;
  /** The answer that it continues. */
  readonly continued: string | undefined;
  /** Whether new input may stop the answer. */
  readonly isSteerable: boolean;
  /** The body of the request. */
  readonly text: string;
}

/** New input for a running answer. */
export interface SteerFrame {
  readonly type: "response.steer";
  readonly text: string;
}

/** The members that concern the connection. */
const MEMBERS = {
  type: true,
  stream_id: true,
  stream: true,
  background: true,
  generate: true,
  previous_response_id: true,
  conversation: true,
  context_management: true,
};
/** What a POST does not have, and what is the same for all requests over a connection. */
const NOT_SENT = { type: undefined, stream_id: undefined, generate: undefined, background: undefined, stream: true };
/** Values of more characters are not read. */
const VALUE_CHARS_MAX = 1000;
const LANE_CHARS_MAX = 256;

/** An error about a message, with the lane that the message names. */
export class FrameError extends Error {
  override name = "FrameError";
  readonly error: ApiError;
  readonly streamId: string | undefined;

  constructor(error: ApiError, streamId: string | undefined) {
    super(error.message);
    this.error = error;
    this.streamId = streamId;
  }
}

/** Reads a message. Throws `FrameError`. */
export function readClientFrame(text: string): CreateFrame | SteerFrame {
  if (!/^\s*\{/.test(text) || !/\}\s*$/.test(text.slice(-100))) {
    throw new FrameError(new ApiError("invalid_json", "Expected a JSON object."), undefined);
  }
  const members = topLevelMembers(text, 0, MEMBERS);
  const value = (name: keyof typeof MEMBERS) => valueIn(text, members.get(name)?.at(-1));
  const streamId = laneOf(value("stream_id"));
  const type = value("type");
  if (type === "response.steer") return { type, text };
  if (type !== "response.create") {
    throw invalid(streamId, "type", "Invalid 'type': expected 'response.create' or 'response.steer'.");
  }
  if (value("background") === true) {
    throw invalid(streamId, "background", "Invalid 'background': not supported over WebSocket.");
  }
  const generate = value("generate") ?? true;
  if (typeof generate !== "boolean") throw invalid(streamId, "generate", "Invalid 'generate': expected a boolean.");
  const continued = value("previous_response_id");
  const isBound = (name: "conversation" | "context_management") => members.has(name) && (value(name) ?? null) !== null;
  return {
    type,
    streamId,
    isWarmUp: !generate,
    continued: typeof continued === "string" ? continued : undefined,
    isSteerable: !isBound("conversation") && !isBound("context_management"),
    text: spliceMembers(text, NOT_SENT),
  };
}

function laneOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "" && value.length <= LANE_CHARS_MAX) return value;
  throw invalid(
    undefined,
    "stream_id",
    `Invalid 'stream_id': expected a text of at most ${LANE_CHARS_MAX} characters that is not empty.`,
  );
}

function invalid(streamId: string | undefined, param: string, message: string): FrameError {
  return new FrameError(new ApiError("invalid_request", message, { param }), streamId);
}

/** The value of a member; `TOO_LONG` if it is not read, undefined if it is no JSON. */
function valueIn(text: string, span: MemberSpan | undefined): unknown {
  if (span === undefined) return undefined;
  if (span.valueEnd - span.valueStart > VALUE_CHARS_MAX) return TOO_LONG;
  try {
    return JSON.parse(text.slice(span.valueStart, span.valueEnd));
  } catch {
    return undefined;
  }
}

const TOO_LONG = Symbol("a long value");
