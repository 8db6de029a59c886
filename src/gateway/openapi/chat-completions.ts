// The OpenAPI description of POST /v1/chat/completions.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { CHAT_FIELDS } from "../../wire/chat-completions/fields.ts";
import { ANY_SCHEMA, CHAT_ERRORS, CHAT_HEADERS, requestSchema, STREAM_ERROR } from "./shared.ts";

const PART = Type.Object(
  {
    type: Type.String({ description: "The type of the part: `text`, `image_url`, `input_audio` or `file`." }),
    text: Type.Optional(Type.String({ description: "The text of a `text` part." })),
    image_url: Type.Optional(
      Type.Union([
        Type.Object({
          url: Type.String({ description: "An http(s) URL, a base64 data URL, or the id of an uploaded file." }),
          detail: Type.Optional(
            Type.String({ description: "The resolution at which the model reads the image: `auto`, `low` or `high`." }),
          ),
        }),
        Type.String(),
      ]),
    ),
    input_audio: Type.Optional(Type.Object({ data: Type.String(), format: Type.String() })),
    file: Type.Optional(anyObject("The file: `file_id`, or `file_data` with `filename`.")),
  },
  { $id: "ChatPart", additionalProperties: true },
);

const TOOL_CALL = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ description: "`function` or `custom`." }),
    function: Type.Optional(
      Type.Object({
        name: Type.String(),
        arguments: Type.String({ description: "The arguments as JSON. The JSON is always valid and complete." }),
      }),
    ),
    custom: Type.Optional(Type.Object({ name: Type.String(), input: Type.String() })),
  },
  { $id: "ChatToolCall", additionalProperties: true },
);

const MESSAGE = Type.Object(
  {
    role: oneOf(["system", "developer", "user", "assistant", "tool", "function"]),
    content: Type.Optional(
      Type.Union([Type.String(), Type.Array(PART), Type.Null()], {
        description: "Text or a list of parts. It may be null or absent only if `tool_calls` is present.",
      }),
    ),
    name: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(TOOL_CALL, { description: "The tool calls of the assistant." })),
    tool_call_id: Type.Optional(Type.String({ description: "The id of the call that this `tool` message answers." })),
    reasoning_content: Type.Optional(Type.String({ description: "The model's reasoning. Send it back unchanged." })),
  },
  { $id: "ChatMessage", additionalProperties: true },
);

/** A tool in the nested form, with its definition in `function`. */
const TOOL = Type.Object(
  {
    type: Type.String({ description: "`function`, or `custom` for a tool that takes free text." }),
    function: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1 }),
          description: Type.Optional(Type.String()),
          parameters: Type.Optional(ANY_SCHEMA),
          strict: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { $id: "ChatTool", additionalProperties: true },
);

const USAGE = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Optional(anyObject("`cached_tokens` and other counts of the provider.")),
    completion_tokens_details: Type.Optional(anyObject("`reasoning_tokens` and other counts of the provider.")),
  },
  { $id: "ChatUsage", additionalProperties: true },
);

const FINISH = oneOf(["stop", "length", "tool_calls", "content_filter", "function_call"], {
  description: "The reason why the model stopped.",
});

const COMPLETION = Type.Object(
  {
    id: Type.String({ description: "Begins with `chatcmpl-`." }),
    object: Type.Literal("chat.completion"),
    created: Type.Integer({ description: "The time of creation as a Unix time in seconds." }),
    model: Type.String({ description: "The catalog id of the model that answered." }),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          message: Type.Object(
            {
              role: Type.Literal("assistant"),
              content: orNull(Type.String()),
              refusal: Type.Optional(orNull(Type.String())),
              reasoning_content: Type.Optional(orNull(Type.String())),
              tool_calls: Type.Optional(orNull(Type.Array(TOOL_CALL))),
            },
            { additionalProperties: true },
          ),
          logprobs: Type.Optional(orNull(anyObject("Log-probabilities of the tokens, if they were requested."))),
          finish_reason: FINISH,
        },
        { additionalProperties: true },
      ),
    ),
    usage: USAGE,
    system_fingerprint: Type.Optional(orNull(Type.String())),
  },
  { $id: "ChatCompletion", additionalProperties: true },
);

const CHUNK = Type.Object(
  {
    id: Type.String({ description: "The id of the answer. It is the same in all its chunks." }),
    object: Type.Literal("chat.completion.chunk"),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          delta: anyObject(
            "The first chunk has `role`, the following ones have fragments of `content`, `reasoning_content` or `tool_calls`, and the last one is empty.",
          ),
          finish_reason: orNull(FINISH),
        },
        { additionalProperties: true },
      ),
    ),
    usage: Type.Optional(orNull(USAGE)),
  },
  { $id: "ChatCompletionChunk", additionalProperties: true },
);

const BODY = requestSchema("ChatCompletionRequest", CHAT_FIELDS, {
  shapes: { messages: Type.Array(MESSAGE, { minItems: 1 }), tools: Type.Array(TOOL) },
});

const CHAT_COMPLETIONS: EndpointText = {
  id: "createChatCompletion",
  group: "Chat",
  summary: "Answer a conversation (OpenAI chat completions)",
  description:
    "Uses the format of OpenAI's chat completions API. Works with every chat model, regardless of its provider's protocol: " +
    "parameters that the provider does not support are left out and named in `x-sallyport-dropped`, or refused if the " +
    "answer would differ without them. Members that are not listed here are sent unchanged to providers of the same format.",
  body: {
    schema: BODY,
    examples: {
      plain: { model: "demo-echo", messages: [{ role: "user", content: "Say hello." }] },
      streaming: {
        model: "demo-echo",
        messages: [
          { role: "system", content: "Answer briefly." },
          { role: "user", content: "Say hello." },
        ],
        stream: true,
        stream_options: { include_usage: true },
      },
      tools: {
        model: "demo-echo",
        messages: [{ role: "user", content: "What is the weather in Oslo?" }],
        tools: [
          {
            type: "function",
            function: {
              name: "weather",
              description: "Weather of a city",
              parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
            },
          },
        ],
      },
    },
  },
  answer: {
    description: "The answer. With `stream`, its chunks follow, each in a `data:` line, and `data: [DONE]` at the end.",
    schema: COMPLETION,
    headers: CHAT_HEADERS,
    example: {
      id: "chatcmpl-01a204b1bec075d5af64b030967b5aa4",
      object: "chat.completion",
      created: 1795375087,
      model: "demo-echo",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Say hello." },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    },
    events: {
      description: "The content of one `data:` line: a chunk, or an error that ends the stream.",
      schema: Type.Union([CHUNK, STREAM_ERROR]),
    },
  },
  errors: CHAT_ERRORS,
};

/** The descriptions by path. */
export const CHAT_PATHS = { "/v1/chat/completions": CHAT_COMPLETIONS };
