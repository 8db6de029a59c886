// What the OpenAPI descriptions of several chat endpoints share: errors, response headers, parameters.

import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/errors.ts";

/** Errors of the requested model and its provider. */
export const MODEL_ERRORS: readonly ErrorCode[] = [
  "model_not_found",
  "wrong_model_family",
  "tier_required",
  "unsupported_parameter",
  "provider_rate_limited",
  "provider_unavailable",
  "provider_auth_failed",
  "provider_model_missing",
  "provider_answer_invalid",
  "provider_circuit_open",
  "provider_timeout",
];

/** The same for chats. */
export const CHAT_ERRORS: readonly ErrorCode[] = [
  ...MODEL_ERRORS,
  "image_input_not_supported",
  // An image that is to be fetched.
  "url_not_allowed",
  "tools_not_supported",
  "max_tokens_exceeded",
  "context_length_exceeded",
  "invalid_compaction",
  "file_not_found",
  "thread_not_found",
  "conversation_not_found",
  "tool_arguments_invalid",
  "provider_stream_interrupted",
];

/** Response headers with the model and the route. */
export const MODEL_HEADERS = {
  "x-sallyport-model": "Id of the catalog's model that answered.",
  "x-sallyport-route": "Provider and upstream model that answered, as `openai/gpt-4o`.",
};

/** Response headers of chats. */
export const CHAT_HEADERS = {
  ...MODEL_HEADERS,
  "x-sallyport-dropped": "Parameters that this upstream cannot take and that were left out, comma-separated.",
  "x-sallyport-compaction":
    "What was done to shorten the conversation: `cleared`, `reused`, `compacted` or `truncated`, then `; before=N; after=N` in tokens.",
  "x-sallyport-stop-reason": "The upstream's own reason for ending, where the format has another word for it.",
};

/** The model. */
export const MODEL = Type.String({
  minLength: 1,
  description: "A model's id or alias, as `GET /v1/models` lists it. Case does not matter.",
});

/** Parameters that name a conversation. */
export const THREAD = {
  thread_id: Type.Optional(
    Type.String({
      description:
        "Names the conversation, by any text of yours: older messages are then compacted when the history no longer fits the model.",
    }),
  ),
  conversation_id: Type.Optional(Type.String({ description: "The same as `thread_id`, which wins." })),
};

/** Whether to stream. */
export const STREAM = Type.Optional(
  Type.Boolean({ default: false, description: "Answer with server-sent events as the text is generated." }),
);

/** A JSON Schema from the caller. */
export const ANY_SCHEMA = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  description: "A JSON Schema.",
});

/** A parameter that is sent to providers that support it and dropped, and named in `x-sallyport-dropped`, for others. */
export function passedOn(description: string) {
  return Type.Optional(Type.Unknown({ description: `${description} Passed on to providers that take it.` }));
}

/** A penalty or a temperature: a number within bounds. */
export function numberWithin(minimum: number, maximum: number, description: string, fallback?: number) {
  return Type.Optional(
    Type.Number({ minimum, maximum, description, ...(fallback === undefined ? {} : { default: fallback }) }),
  );
}

/** A count of at least 1. */
export function atLeastOne(description: string, more: { maximum?: number; default?: number } = {}) {
  return Type.Optional(Type.Integer({ minimum: 1, description, ...more }));
}

/** The shape of an error in a stream. */
export const STREAM_ERROR = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      code: Type.String(),
      param: Type.Unsafe<string | null>({ type: ["string", "null"] }),
      request_id: Type.String(),
      details: Type.Optional(Type.Unknown()),
    }),
  },
  { $id: "StreamError", description: "Something failed after the stream had begun. Nothing follows it." },
);

/** What is said of forms that pass through. */
export const UPLOAD_LIMITS =
  " Files pass through to the provider and are not held here: at most `server.max_upload`. Send `model` before them; " +
  "behind them it is found within the first 25 MiB. If the provider fails, an upload of up to 25 MiB is sent to the next one.";

/** A file of a form. */
export const FILE_PART = (description: string) =>
  Type.Unsafe<string>({ type: "string", contentMediaType: "application/octet-stream", description });
