// The OpenAPI description of POST /v1/messages, its token count and POST /v1/completions.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject, mapOf, oneOf, orNull } from "../../http/endpoint.ts";
import {
  ANY_SCHEMA,
  atLeastOne,
  CHAT_ERRORS,
  CHAT_HEADERS,
  MODEL,
  MODEL_HEADERS,
  numberWithin,
  passedOn,
  STREAM,
  STREAM_ERROR,
  THREAD,
} from "./shared.ts";

const BLOCK = Type.Object(
  {
    type: Type.String({
      description: "`text`, `image`, `document`, `tool_use`, `tool_result`, `thinking` and others.",
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

const COMMON = {
  model: MODEL,
  messages: Type.Array(TURN, { description: "The conversation so far, oldest first." }),
  system: Type.Optional(
    Type.Union([Type.String(), Type.Array(BLOCK)], { description: "What the system says, before the messages." }),
  ),
  tools: Type.Optional(
    Type.Array(
      Type.Object(
        {
          name: Type.Optional(Type.String({ minLength: 1 })),
          description: Type.Optional(Type.String()),
          input_schema: Type.Optional(ANY_SCHEMA),
          type: Type.Optional(Type.String({ description: "`custom`, or a tool that the provider runs." })),
        },
        { $id: "MessageTool", additionalProperties: true },
      ),
      { description: "What the model may call." },
    ),
  ),
  tool_choice: Type.Optional(anyObject("`{type: auto | any | none}` or `{type: tool, name}`.")),
  thinking: Type.Optional(anyObject("`{type: enabled, budget_tokens}`, `{type: adaptive}` or `{type: disabled}`.")),
  ...THREAD,
};

const BODY = Type.Object(
  {
    ...COMMON,
    max_tokens: Type.Integer({
      minimum: 0,
      description: "Most tokens to generate. 0 only fills the prompt cache, at providers that have one.",
    }),
    stream: STREAM,
    temperature: numberWithin(0, 1, "Randomness."),
    top_p: numberWithin(0, 1, "Nucleus sampling."),
    top_k: Type.Optional(Type.Integer({ minimum: 0, description: "The most likely tokens to choose from." })),
    stop_sequences: Type.Optional(Type.Array(Type.String(), { description: "Texts at which to stop." })),
    output_config: Type.Optional(anyObject("`effort`, and `format` with a JSON Schema.")),
    output_format: Type.Optional(anyObject("Older name of `output_config.format`.")),
    metadata: Type.Optional(anyObject("`user_id`, and `thread_id` where a client cannot send it outside.")),
    service_tier: passedOn("The provider's class of service."),
    speed: passedOn("The provider's speed."),
    container: passedOn("A container of the provider's tools."),
    mcp_servers: passedOn("MCP servers that the provider calls."),
    context_management: passedOn("Edits of the context by the provider; compaction is done here where it cannot."),
    compaction: passedOn("Compaction by protocol, done here for providers that cannot."),
    cache_control: passedOn("Marks the prompt for the provider's cache."),
    thread: passedOn("A conversation that is kept, with `type` `create` or `continue`."),
    diagnostics: passedOn("The provider's diagnostics."),
    billing_policy: passedOn("The provider's billing."),
    fallbacks: passedOn("The provider's own fallbacks."),
    fallback_credit_token: passedOn("The provider's own fallbacks."),
    inference_geo: passedOn("Where the provider computes."),
  },
  { $id: "MessageRequest", additionalProperties: true },
);

const USAGE = Type.Object(
  {
    input_tokens: Type.Integer({ description: "Without what was read from or written to a cache." }),
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
        description: "`end_turn`, `max_tokens`, `tool_use`, `stop_sequence`, `refusal`, `pause_turn` and others.",
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
        "`text_delta`, `input_json_delta`, `thinking_delta` or `signature_delta`; of the message: `stop_reason`.",
      ),
    ),
    usage: Type.Optional(anyObject("Tokens so far.")),
    error: Type.Optional(anyObject("What failed, with `code`, `message` and `request_id`.")),
  },
  { $id: "MessageEvent", additionalProperties: true },
);

/** Request headers of this family. */
const FAMILY_HEADERS = [
  {
    name: "anthropic-version",
    in: "header" as const,
    schema: Type.String({ description: "Not needed. From 2026-10-21 on, `system` is a role of messages." }),
  },
  {
    name: "anthropic-beta",
    in: "header" as const,
    schema: Type.String({ description: "Passed on to providers of the same format." }),
  },
];

const CREATE: ApiEndpoint = {
  method: "POST",
  path: "/v1/messages",
  id: "createMessage",
  group: "Chat",
  summary: "Answer a conversation (Anthropic messages)",
  description:
    "The format of Anthropic's Messages API, over every chat model. The key may come as `x-api-key` too. Errors have " +
    "`type: \"error\"` beside `error`, as that family's clients expect, and the request's id is in `request-id` as well.",
  access: "counted",
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
    description: "The answer; with `stream` named events.",
    schema: MESSAGE,
    headers: CHAT_HEADERS,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: CHAT_ERRORS,
};

const COUNT: ApiEndpoint = {
  method: "POST",
  path: "/v1/messages/count_tokens",
  id: "countMessageTokens",
  group: "Chat",
  summary: "Count the tokens of a request",
  description:
    "The same body as `POST /v1/messages`, without `max_tokens`. The model's provider is asked where it counts, else the " +
    "count is an estimate. Free of the rate limit.",
  access: "key",
  parameters: FAMILY_HEADERS,
  body: {
    schema: Type.Object(COMMON, { $id: "CountTokensRequest", additionalProperties: true }),
    examples: { plain: { model: "demo-echo", messages: [{ role: "user", content: "Say hello." }] } },
  },
  answer: {
    description: "The count.",
    schema: Type.Object({ input_tokens: Type.Integer() }, { $id: "TokenCount", additionalProperties: true }),
    headers: MODEL_HEADERS,
  },
  errors: [...CHAT_ERRORS, "trial_expired", "subscription_inactive"],
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
        logprobs: orNull(anyObject("`tokens`, `token_logprobs`, `top_logprobs` and `text_offset`.")),
        finish_reason: orNull(oneOf(["stop", "length", "content_filter"])),
      }),
    ),
    usage: Type.Optional(anyObject("`prompt_tokens`, `completion_tokens` and `total_tokens`.")),
  },
  { $id: "TextCompletion" },
);

const LEGACY: ApiEndpoint = {
  method: "POST",
  path: "/v1/completions",
  id: "createCompletion",
  group: "Chat",
  summary: "Continue a text (OpenAI completions, legacy)",
  description: "For clients that know no other format: a prompt in, one text out. New programs use chat completions.",
  access: "counted",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        prompt: Type.Union(
          [Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })],
          {
            description: "The text to continue. Of several prompts each has its answer, by `index`.",
          },
        ),
        max_tokens: atLeastOne("Most tokens to generate."),
        temperature: numberWithin(0, 2, "0.7 goes up where it is absent.", 0.7),
        top_p: numberWithin(0, 1, "Nucleus sampling."),
        n: atLeastOne("How many answers.", { maximum: 128, default: 1 }),
        stream: STREAM,
        stream_options: Type.Optional(anyObject("`include_usage`.")),
        usage: Type.Optional(anyObject("OpenRouter's wish for usage: `{include: true}`.")),
        logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Alternatives to each token." })),
        echo: Type.Optional(Type.Boolean({ description: "Put the prompt before the answer." })),
        stop: Type.Optional(
          Type.Union([Type.String(), Type.Array(Type.String())], { description: "Texts at which to stop." }),
        ),
        suffix: Type.Optional(Type.String({ description: "Must be empty: gaps are not filled." })),
        best_of: passedOn("Only in name: one answer is made."),
        presence_penalty: numberWithin(-2, 2, "Lower the chance of tokens that have appeared."),
        frequency_penalty: numberWithin(-2, 2, "Lower the chance of tokens by how often they have appeared."),
        logit_bias: Type.Optional(
          mapOf(Type.Number({ minimum: -100, maximum: 100 }), { description: "Bias by token id." }),
        ),
        seed: Type.Optional(Type.Integer({ description: "For repeatable sampling." })),
        user: Type.Optional(Type.String({ description: "Your end user." })),
        ...THREAD,
      },
      { $id: "CompletionRequest", additionalProperties: true },
    ),
    examples: { plain: { model: "demo-echo", prompt: "Once upon a time" } },
  },
  answer: {
    description: "The answer; with `stream` its chunks, and at last `data: [DONE]`.",
    schema: COMPLETION,
    headers: CHAT_HEADERS,
    events: { description: "One `data:` line.", schema: Type.Union([COMPLETION, STREAM_ERROR]) },
  },
  errors: CHAT_ERRORS,
};

/** The endpoints. */
export const MESSAGES: readonly ApiEndpoint[] = [CREATE, COUNT, LEGACY];
