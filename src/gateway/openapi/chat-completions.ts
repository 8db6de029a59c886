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

const FORMAT = Type.Object(
  {
    type: Type.String({ description: "The format: `text`, `json_object` or `json_schema`." }),
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
  { additionalProperties: true, description: "The format that the answer must have." },
);

const NAMES = (maxItems: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems, description }));

const PROVIDER = Type.Object(
  {
    order: NAMES(50, "The names of the providers to try first, in this order."),
    only: NAMES(50, "The names of the only providers that may be used."),
    allow_fallbacks: Type.Optional(
      Type.Boolean({ default: true, description: "Whether other providers may follow those of `order`." }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "Which of the model's providers may answer: `order`, `only` and `allow_fallbacks`, as at OpenRouter. A provider that reads this member itself gets it unchanged.",
  },
);

const BODY = Type.Object(
  {
    model: MODEL,
    models: NAMES(
      10,
      "The ids of further models, as at OpenRouter. They are asked in this order if `model` cannot answer.",
    ),
    provider: Type.Optional(PROVIDER),
    messages: Type.Array(MESSAGE, { minItems: 1, description: "The messages of the conversation, oldest first." }),
    stream: STREAM,
    stream_options: Type.Optional(
      Type.Object(
        {
          include_usage: Type.Optional(
            Type.Boolean({ description: "Whether to send a last chunk with `usage` before `[DONE]`." }),
          ),
        },
        { additionalProperties: true },
      ),
    ),
    temperature: numberWithin(
      0,
      2,
      "The sampling temperature. If it is absent, 0.7 is sent to models that do not reason.",
      0.7,
    ),
    top_p: numberWithin(0, 1, "Nucleus sampling."),
    top_k: Type.Optional(
      Type.Number({ minimum: -1, description: "The number of most likely tokens to sample from; -1 means all." }),
    ),
    max_tokens: atLeastOne(
      "The maximum number of tokens to generate, at most the model's `max_output_tokens`. If neither limit is given, it is 4096, or the model's limit if that is lower.",
    ),
    max_completion_tokens: atLeastOne("The same as `max_tokens`. It takes precedence if both are sent."),
    n: atLeastOne("The number of answers to generate. Most upstreams give only one.", { maximum: 128, default: 1 }),
    stop: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], { description: "Texts at which generation stops." }),
    ),
    presence_penalty: numberWithin(-2, 2, "Makes tokens that have already appeared less likely."),
    frequency_penalty: numberWithin(-2, 2, "Makes tokens less likely the more often they have appeared."),
    logit_bias: Type.Optional(mapOf(Type.Number(), { description: "A bias for each token id." })),
    logprobs: Type.Optional(Type.Boolean({ description: "Return log-probabilities." })),
    top_logprobs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 20,
        description: "The number of alternatives to return for each token. Requires `logprobs`.",
      }),
    ),
    seed: Type.Optional(Type.Number({ description: "A seed for repeatable sampling, if the upstream supports it." })),
    tools: Type.Optional(Type.Array(TOOL, { description: "The tools that the model may call." })),
    tool_choice: Type.Optional(
      Type.Union([Type.String(), anyObject("`{type: function, function: {name}}`")], {
        description: "`auto`, `none`, `required`, or the tool to call. The default is `auto` if there are tools.",
      }),
    ),
    parallel_tool_calls: Type.Optional(
      Type.Boolean({ description: "Whether the model may make several calls in one turn." }),
    ),
    functions: Type.Optional(
      Type.Array(anyObject("A function, as in `tools`."), { description: "The older form of `tools`." }),
    ),
    function_call: Type.Optional(
      Type.Unknown({
        description: "The older form of `tool_choice`: `auto`, `none`, or `{name}` of the function to call.",
      }),
    ),
    response_format: Type.Optional(FORMAT),
    reasoning_effort: Type.Optional(
      Type.String({
        description:
          "How much the model reasons: `minimal`, `low`, `medium`, `high`, or another value that the model supports.",
      }),
    ),
    reasoning: Type.Optional(
      Type.Object(
        {
          effort: Type.Optional(Type.String()),
          max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
          enabled: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: true, description: "The form of `reasoning_effort` that OpenRouter uses." },
      ),
    ),
    verbosity: Type.Optional(Type.String({ description: "How detailed the answer is: `low`, `medium` or `high`." })),
    ...THREAD,
    store: Type.Optional(Type.Boolean({ description: "Passed on to the provider. It does not affect compaction." })),
    metadata: Type.Optional(anyObject("Passed on.")),
    user: Type.Optional(Type.String({ description: "Identifies your end user for the provider's abuse checks." })),
    usage: Type.Optional(anyObject("OpenRouter's way to request usage: `{include: true}`.")),
    service_tier: Type.Optional(Type.String({ description: "The provider's service tier." })),
    modalities: passedOn("Kinds of output."),
    audio: passedOn("The voice and format of spoken output."),
    prediction: passedOn("Text that the answer will mostly repeat."),
    moderation: passedOn("Settings for the moderation of the request."),
    web_search_options: passedOn("Settings for the provider's own web search."),
    prompt_cache_key: passedOn(
      "A key that groups requests with the same beginning, so that they use the same prompt cache.",
    ),
    prompt_cache_options: passedOn("How long a prompt is cached."),
    prompt_cache_retention: passedOn("How long a prompt is cached."),
    safety_identifier: passedOn("A hashed identifier of your end user."),
  },
  { $id: "ChatCompletionRequest", additionalProperties: true },
);

/** The chat completions endpoint. */
export const CHAT_COMPLETIONS: ApiEndpoint = {
  method: "POST",
  path: "/v1/chat/completions",
  id: "createChatCompletion",
  group: "Chat",
  summary: "Answer a conversation (OpenAI chat completions)",
  description:
    "Uses the format of OpenAI's chat completions API. Works with every chat model, regardless of its provider's protocol: " +
    "parameters that the provider does not support are left out and named in `x-sallyport-dropped`, or refused if the " +
    "answer would differ without them. Members that are not listed here are sent unchanged to providers of the same format.",
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
