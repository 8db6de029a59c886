// The OpenAPI description of POST /v1/messages, its token count, and POST /v1/completions.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull } from "../../http/endpoint.ts";
import type { EndpointText, NamelessText } from "../../http/served-endpoint.ts";
import { COMPLETIONS_FIELDS } from "../../wire/completions/fields.ts";
import { MESSAGES_FIELDS } from "../../wire/messages/fields.ts";
import {
  ANY_SCHEMA,
  CHAT_ERRORS,
  CHAT_HEADERS,
  COUNT_ERRORS,
  MODEL_HEADERS,
  requestSchema,
  STREAM_ERROR,
} from "./shared.ts";

const BLOCK = Type.Object(
  {
    type: Type.String({
      description:
        "The type of the block: `text`, `image`, `document`, `tool_use`, `tool_result`, `thinking` and others.",
    }),
  },
  { $id: "MessageBlock", additionalProperties: true, description: "A content block of Anthropic's Messages API." },
);

const TURN = Type.Object(
  {
    role: Type.String({
      description:
        "`user` or `assistant`; `system` only with an `anthropic-beta` header or `anthropic-version` 2026-10-21 or later.",
    }),
    content: Type.Union([Type.String(), Type.Array(BLOCK)]),
  },
  { $id: "MessageTurn", additionalProperties: true },
);

const SHAPES = {
  messages: Type.Array(TURN),
  system: Type.Union([Type.String(), Type.Array(BLOCK)]),
  tools: Type.Array(
    Type.Object(
      {
        name: Type.Optional(Type.String({ minLength: 1 })),
        description: Type.Optional(Type.String()),
        input_schema: Type.Optional(ANY_SCHEMA),
        type: Type.Optional(Type.String({ description: "`custom`, or the type of a tool that the provider runs." })),
      },
      { $id: "MessageTool", additionalProperties: true },
    ),
  ),
};

const BODY = requestSchema("MessageRequest", MESSAGES_FIELDS, { shapes: SHAPES, required: ["max_tokens"] });

/** The members that count as input. */
const COUNTED = ["model", "messages", "system", "tools", "tool_choice", "thinking", "thread_id", "conversation_id"];

const USAGE = Type.Object(
  {
    input_tokens: Type.Integer({
      description: "Input tokens, without those that were read from or written to a cache.",
    }),
    output_tokens: Type.Integer(),
    cache_creation_input_tokens: Type.Optional(orNull(Type.Integer())),
    cache_read_input_tokens: Type.Optional(orNull(Type.Integer())),
  },
  { $id: "MessageUsage", additionalProperties: true },
);

const MESSAGE = Type.Object(
  {
    id: Type.String({ description: "Begins with `msg_`." }),
    type: Type.Literal("message"),
    role: Type.Literal("assistant"),
    model: Type.String(),
    content: Type.Array(BLOCK),
    stop_reason: orNull(
      Type.String({
        description:
          "The reason why the model stopped: `end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, `refusal`, `pause_turn` and others.",
      }),
    ),
    stop_sequence: Type.Optional(orNull(Type.String())),
    usage: USAGE,
  },
  { $id: "Message", additionalProperties: true },
);

const EVENT = Type.Object(
  {
    type: oneOf(
      [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
      ],
      { description: "The event's name." },
    ),
    message: Type.Optional(MESSAGE),
    index: Type.Optional(Type.Integer()),
    content_block: Type.Optional(BLOCK),
    delta: Type.Optional(
      anyObject(
        "A change of a block: `text_delta`, `input_json_delta`, `thinking_delta` or `signature_delta`; a change of the message: `stop_reason`.",
      ),
    ),
    usage: Type.Optional(anyObject("Tokens so far.")),
    error: Type.Optional(anyObject("The error, with `code`, `message` and `request_id`.")),
  },
  { $id: "MessageEvent", additionalProperties: true },
);

/** Request headers of Anthropic's formats. */
const FAMILY_HEADERS = [
  {
    name: "anthropic-version",
    in: "header" as const,
    schema: Type.String({ description: "Not required. From 2026-10-21 on, messages may have the role `system`." }),
  },
  {
    name: "anthropic-beta",
    in: "header" as const,
    schema: Type.String({ description: "Passed on to providers of the same format." }),
  },
];

const CREATE: EndpointText = {
  id: "createMessage",
  group: "Chat",
  summary: "Answer a conversation (Anthropic messages)",
  description:
    "Uses the format of Anthropic's Messages API, with every chat model. The key may also be sent as `x-api-key`. Errors have " +
    "`type: \"error\"` beside `error`, as Anthropic's clients expect, and the request's id is in the header `request-id` as well.",
  parameters: FAMILY_HEADERS,
  body: {
    schema: BODY,
    examples: {
      plain: { model: "demo-echo", max_tokens: 100, messages: [{ role: "user", content: "Say hello." }] },
      streaming: {
        model: "demo-echo",
        max_tokens: 100,
        stream: true,
        system: "Answer briefly.",
        messages: [{ role: "user", content: [{ type: "text", text: "Say hello." }] }],
      },
    },
  },
  answer: {
    description: "The answer. With `stream`, it is sent as named events.",
    schema: MESSAGE,
    headers: CHAT_HEADERS,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: CHAT_ERRORS,
};

const COUNT: NamelessText = {
  group: "Chat",
  summary: "Count the tokens of a request",
  description:
    "Takes the same body as `POST /v1/messages`, without `max_tokens`. The model's provider counts the tokens if it can, otherwise the " +
    "count is an estimate. The request does not count against the rate limit, but an account may only have so many bytes a minute counted.",
  parameters: FAMILY_HEADERS,
  body: {
    schema: requestSchema("CountTokensRequest", MESSAGES_FIELDS, { shapes: SHAPES, names: COUNTED }),
    examples: { plain: { model: "demo-echo", messages: [{ role: "user", content: "Say hello." }] } },
  },
  answer: {
    description: "The count.",
    schema: Type.Object({ input_tokens: Type.Integer() }, { $id: "TokenCount", additionalProperties: true }),
    headers: MODEL_HEADERS,
  },
  errors: COUNT_ERRORS,
};

const COMPLETION = Type.Object(
  {
    id: Type.String({ description: "Begins with `cmpl-`." }),
    object: Type.Literal("text_completion"),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        text: Type.String(),
        logprobs: orNull(anyObject("Log-probabilities: `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`.")),
        finish_reason: orNull(oneOf(["stop", "length", "content_filter"])),
      }),
    ),
    usage: Type.Optional(anyObject("Counts of tokens: `prompt_tokens`, `completion_tokens` and `total_tokens`.")),
  },
  { $id: "TextCompletion" },
);

const LEGACY: EndpointText = {
  id: "createCompletion",
  group: "Chat",
  summary: "Continue a text (OpenAI completions, legacy)",
  description:
    "For clients that support no other format. It takes a prompt and returns a text. New programs should use chat completions.",
  body: {
    schema: requestSchema("CompletionRequest", COMPLETIONS_FIELDS, { shapes: {} }),
    examples: { plain: { model: "demo-echo", prompt: "Once upon a time" } },
  },
  answer: {
    description: "The answer. With `stream`, its chunks follow, and `data: [DONE]` at the end.",
    schema: COMPLETION,
    headers: CHAT_HEADERS,
    events: { description: "One `data:` line.", schema: Type.Union([COMPLETION, STREAM_ERROR]) },
  },
  errors: CHAT_ERRORS,
};

/** The descriptions by path. */
export const MESSAGE_PATHS = { "/v1/messages": CREATE, "/v1/completions": LEGACY };

/** The other descriptions, by the names of their operations. */
export const MESSAGE_TEXTS = { countMessageTokens: COUNT };
