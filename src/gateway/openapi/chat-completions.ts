// The OpenAPI description of POST /v1/chat/completions.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject, mapOf, oneOf, orNull } from "../../http/endpoint.ts";
import {
  ANY_SCHEMA,
  atLeastOne,
  CHAT_ERRORS,
  CHAT_HEADERS,
  MODEL,
  numberWithin,
  passedOn,
  STREAM,
  STREAM_ERROR,
  THREAD,
} from "./shared.ts";

const PART = Type.Object(
  {
    type: Type.String({ description: "`text`, `image_url`, `input_audio` or `file`." }),
    text: Type.Optional(Type.String({ description: "The text of a `text` part." })),
    image_url: Type.Optional(
      Type.Union([
        Type.Object({
          url: Type.String({ description: "An http(s) URL, a base64 data URL, or the id of an uploaded file." }),
          detail: Type.Optional(Type.String({ description: "`auto`, `low` or `high`." })),
        }),
        Type.String(),
      ]),
    ),
    input_audio: Type.Optional(Type.Object({ data: Type.String(), format: Type.String() })),
    file: Type.Optional(anyObject("`file_id`, or `file_data` with `filename`.")),
  },
  { $id: "ChatPart", additionalProperties: true },
);

const TOOL_CALL = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ description: "`function` or `custom`." }),
    function: Type.Optional(
      Type.Object({ name: Type.String(), arguments: Type.String({ description: "JSON, always valid and whole." }) }),
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
        description: "Text, or a list of parts. Null or absent only beside `tool_calls`.",
      }),
    ),
    name: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(TOOL_CALL, { description: "What the assistant called." })),
    tool_call_id: Type.Optional(Type.String({ description: "Which call this `tool` message answers." })),
    reasoning_content: Type.Optional(
      Type.String({ description: "What the model thought, handed back as it was received." }),
    ),
  },
  { $id: "ChatMessage", additionalProperties: true },
);

/** A tool in the nested form. */
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
    prompt_tokens_details: Type.Optional(anyObject("`cached_tokens` and what else the provider counts.")),
    completion_tokens_details: Type.Optional(anyObject("`reasoning_tokens` and what else the provider counts.")),
  },
  { $id: "ChatUsage", additionalProperties: true },
);

const FINISH = oneOf(["stop", "length", "tool_calls", "content_filter", "function_call"], {
  description: "Why the model stopped.",
});

const COMPLETION = Type.Object(
  {
    id: Type.String({ description: "Begins with `chatcmpl-`." }),
    object: Type.Literal("chat.completion"),
    created: Type.Integer({ description: "Unix time in seconds." }),
    model: Type.String({ description: "The catalog's id of the model that answered." }),
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
          logprobs: Type.Optional(orNull(anyObject("Log-probabilities, where they were asked for."))),
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
    id: Type.String({ description: "The same in all chunks of one answer." }),
    object: Type.Literal("chat.completion.chunk"),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          delta: anyObject(
            "First `role`; then fragments of `content`, `reasoning_content` or `tool_calls`; at last nothing.",
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

const FORMAT = Type.Object(
  {
    type: Type.String({ description: "`text`, `json_object` or `json_schema`." }),
    json_schema: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1 }),
          schema: Type.Optional(ANY_SCHEMA),
          strict: Type.Optional(Type.Boolean()),
          description: Type.Optional(Type.String()),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true, description: "What the answer must look like." },
);

const BODY = Type.Object(
  {
    model: MODEL,
    messages: Type.Array(MESSAGE, { minItems: 1, description: "The conversation so far, oldest first." }),
    stream: STREAM,
    stream_options: Type.Optional(
      Type.Object(
        { include_usage: Type.Optional(Type.Boolean({ description: "A last chunk with `usage` before `[DONE]`." })) },
        { additionalProperties: true },
      ),
    ),
    temperature: numberWithin(0, 2, "0.7 goes up where it is absent and the model does not reason.", 0.7),
    top_p: numberWithin(0, 1, "Nucleus sampling."),
    top_k: Type.Optional(Type.Number({ minimum: -1, description: "The most likely tokens to choose from; -1: all." })),
    max_tokens: atLeastOne(
      "Most tokens to generate; at most the model's `max_output_tokens`. Where neither limit is given, 4096 or the model's limit if that is lower.",
    ),
    max_completion_tokens: atLeastOne("The same as `max_tokens`; wins when both are sent."),
    n: atLeastOne("How many answers. Most upstreams give one.", { maximum: 128, default: 1 }),
    stop: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], { description: "Texts at which to stop." }),
    ),
    presence_penalty: numberWithin(-2, 2, "Lower the chance of tokens that have appeared."),
    frequency_penalty: numberWithin(-2, 2, "Lower the chance of tokens by how often they have appeared."),
    logit_bias: Type.Optional(mapOf(Type.Number(), { description: "Bias by token id." })),
    logprobs: Type.Optional(Type.Boolean({ description: "Return log-probabilities." })),
    top_logprobs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 20, description: "How many alternatives to each token; needs `logprobs`." }),
    ),
    seed: Type.Optional(Type.Number({ description: "For repeatable sampling, where the upstream can." })),
    tools: Type.Optional(Type.Array(TOOL, { description: "What the model may call." })),
    tool_choice: Type.Optional(
      Type.Union([Type.String(), anyObject("`{type: function, function: {name}}`")], {
        description: "`auto`, `none`, `required`, or the tool to call. Default `auto` where there are tools.",
      }),
    ),
    parallel_tool_calls: Type.Optional(Type.Boolean({ description: "Whether several calls may come at once." })),
    functions: Type.Optional(
      Type.Array(anyObject("A function, as in `tools`."), { description: "Older form of `tools`." }),
    ),
    function_call: Type.Optional(Type.Unknown({ description: "Older form of `tool_choice`." })),
    response_format: Type.Optional(FORMAT),
    reasoning_effort: Type.Optional(
      Type.String({ description: "`minimal`, `low`, `medium`, `high` and what else the model knows." }),
    ),
    reasoning: Type.Optional(
      Type.Object(
        {
          effort: Type.Optional(Type.String()),
          max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
          enabled: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: true, description: "OpenRouter's form of `reasoning_effort`." },
      ),
    ),
    verbosity: Type.Optional(Type.String({ description: "`low`, `medium` or `high`." })),
    ...THREAD,
    store: Type.Optional(Type.Boolean({ description: "Passed on; has no effect on compaction." })),
    metadata: Type.Optional(anyObject("Passed on.")),
    user: Type.Optional(Type.String({ description: "Your end user, for the provider's abuse checks." })),
    usage: Type.Optional(anyObject("OpenRouter's wish for usage: `{include: true}`.")),
    service_tier: Type.Optional(Type.String({ description: "The provider's class of service." })),
    modalities: passedOn("Kinds of output."),
    audio: passedOn("Voice and format of spoken output."),
    prediction: passedOn("Text that the answer will mostly repeat."),
    moderation: passedOn("Moderation of the request."),
    web_search_options: passedOn("The provider's own web search."),
    prompt_cache_key: passedOn("Keeps requests together that share a beginning."),
    prompt_cache_options: passedOn("How long a prompt is cached."),
    prompt_cache_retention: passedOn("How long a prompt is cached."),
    safety_identifier: passedOn("A hashed name of your end user."),
  },
  { $id: "ChatCompletionRequest", additionalProperties: true },
);

/** The endpoint. */
export const CHAT_COMPLETIONS: ApiEndpoint = {
  method: "POST",
  path: "/v1/chat/completions",
  id: "createChatCompletion",
  group: "Chat",
  summary: "Answer a conversation (OpenAI chat completions)",
  description:
    "The format of OpenAI's chat completions. Works with every chat model, whichever protocol its provider speaks: " +
    "parameters that the provider does not take are left out and named in `x-sallyport-dropped`, or refused where the " +
    "answer would be another one. Members that are not listed here go up unchanged to providers of the same format.",
  access: "counted",
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
    description: "The answer; with `stream` its chunks, each a `data:` line, and at last `data: [DONE]`.",
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
      description: "One `data:` line: a chunk, or an error that ends the stream.",
      schema: Type.Union([CHUNK, STREAM_ERROR]),
    },
  },
  errors: CHAT_ERRORS,
};
