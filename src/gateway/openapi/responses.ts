// The OpenAPI description of POST /v1/responses and of stored responses.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import {
  atLeastOne,
  CHAT_ERRORS,
  CHAT_HEADERS,
  MODEL,
  MODEL_HEADERS,
  numberWithin,
  passedOn,
  STREAM,
  THREAD,
} from "./shared.ts";

const ITEM = Type.Object(
  { type: Type.Optional(Type.String({ description: "`message` where it is absent." })) },
  {
    $id: "ResponseItem",
    additionalProperties: true,
    description:
      "An item as OpenAI's Responses API has them: `message` (`role`, `content` as text or parts `input_text`, " +
      "`input_image`, `input_file`), `function_call`, `function_call_output`, `reasoning`, `compaction` and others.",
  },
);

const RESPONSE = Type.Object(
  {
    id: Type.String({ description: "Begins with `resp_`." }),
    object: Type.Literal("response"),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    completed_at: Type.Optional(orNull(Type.Integer())),
    status: oneOf(["completed", "incomplete", "failed", "in_progress", "queued", "cancelled"]),
    model: Type.String(),
    output: Type.Array(ITEM, { description: "What was generated: messages, calls, reasoning." }),
    usage: orNull(
      Type.Object(
        {
          input_tokens: Type.Integer(),
          output_tokens: Type.Integer(),
          total_tokens: Type.Integer(),
          input_tokens_details: Type.Optional(anyObject("`cached_tokens`.")),
          output_tokens_details: Type.Optional(anyObject("`reasoning_tokens`.")),
        },
        { $id: "ResponseUsage", additionalProperties: true },
      ),
    ),
    error: orNull(anyObject("`code` and `message`.")),
    incomplete_details: orNull(anyObject("`reason`: `max_output_tokens`, `content_filter` or `steered`.")),
  },
  {
    $id: "Response",
    additionalProperties: true,
    description: "An answer. Beside these members it repeats the request's parameters, as OpenAI's does.",
  },
);

/** Events in order; other kinds of output have their own events. */
const EVENTS = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.content_part.added",
  "response.output_text.delta",
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
  "response.completed",
];

const EVENT = Type.Object(
  {
    type: Type.String({
      description: `The event's name. In order: ${EVENTS.map((name) => `\`${name}\``).join(", ")}. Calls and reasoning have delta and done events of their own; \`response.incomplete\` and \`response.failed\` end a stream too.`,
    }),
    sequence_number: Type.Optional(Type.Integer({ description: "Rises with every event." })),
    output_index: Type.Optional(Type.Integer()),
    content_index: Type.Optional(Type.Integer()),
    item_id: Type.Optional(Type.String()),
    delta: Type.Optional(Type.String({ description: "The next piece of text or arguments." })),
    text: Type.Optional(Type.String({ description: "The whole text, when it is done." })),
    item: Type.Optional(ITEM),
    part: Type.Optional(anyObject("A content part.")),
    response: Type.Optional(RESPONSE),
    error: Type.Optional(anyObject("What failed, with `code`, `message` and `request_id`.")),
  },
  { $id: "ResponseEvent", additionalProperties: true },
);

const BODY = Type.Object(
  {
    model: MODEL,
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(ITEM)], {
        description: "Text, or a list of items. May be absent only beside `prompt` or `conversation`.",
      }),
    ),
    instructions: Type.Optional(orNull(Type.String({ description: "What the system says, before the input." }))),
    stream: STREAM,
    max_output_tokens: atLeastOne("Most tokens to generate."),
    temperature: numberWithin(0, 2, "0.7 goes up where it is absent and the model does not reason.", 0.7),
    top_p: numberWithin(0, 1, "Nucleus sampling."),
    top_logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Alternatives to each token." })),
    presence_penalty: numberWithin(-2, 2, "Lower the chance of tokens that have appeared."),
    frequency_penalty: numberWithin(-2, 2, "Lower the chance of tokens by how often they have appeared."),
    tools: Type.Optional(
      Type.Array(anyObject("A tool, flat (`{type, name, parameters}`) or nested as in chat completions."), {
        description: "What the model may call: functions, custom tools, and tools that the provider runs.",
      }),
    ),
    tool_choice: Type.Optional(
      Type.Union([Type.String(), anyObject("The tool to call.")], {
        description: "`auto`, `none`, `required`, or the tool to call.",
      }),
    ),
    parallel_tool_calls: Type.Optional(Type.Boolean({ description: "Whether several calls may come at once." })),
    reasoning: Type.Optional(anyObject("`effort` and `summary`.")),
    text: Type.Optional(anyObject("`format` (`text`, `json_object`, `json_schema`) and `verbosity`.")),
    include: Type.Optional(
      Type.Array(Type.String(), { description: "As `reasoning.encrypted_content`, `message.output_text.logprobs`." }),
    ),
    previous_response_id: Type.Optional(
      Type.String({ minLength: 1, description: "Go on from this stored answer, which must be your account's." }),
    ),
    store: Type.Optional(
      Type.Boolean({
        description: "Keep the answer, so that it can be read and continued. Default: the gateway's own.",
      }),
    ),
    ...THREAD,
    metadata: Type.Optional(anyObject("Handed back in the answer.")),
    user: Type.Optional(Type.String({ description: "Your end user." })),
    service_tier: Type.Optional(Type.String({ description: "The provider's class of service." })),
    background: passedOn("Answer later."),
    stream_options: Type.Optional(anyObject("`include_obfuscation`.")),
    conversation: passedOn("A conversation that is kept."),
    prompt: passedOn("A prompt that the provider keeps."),
    context_management: passedOn("Compaction by protocol, done here for providers that cannot."),
    truncation: passedOn("What to do with input that is too long."),
    max_tool_calls: passedOn("Most calls of the provider's own tools."),
    moderation: passedOn("Moderation of the request."),
    access_programs: passedOn("Access programs of the provider."),
    client_metadata: passedOn("What the client says of itself."),
    image: passedOn("Settings of generated images."),
    prompt_cache_key: passedOn("Keeps requests together that share a beginning."),
    prompt_cache_options: passedOn("How long a prompt is cached."),
    prompt_cache_retention: passedOn("How long a prompt is cached."),
    safety_identifier: passedOn("A hashed name of your end user."),
  },
  { $id: "ResponseRequest", additionalProperties: true },
);

const ID = pathId("id", "Id of the answer.", "resp_01a204b1c159705394b214d6bf6f3ad5");
const INCLUDE = {
  name: "include",
  in: "query" as const,
  schema: Type.Array(Type.String(), {
    description: "`reasoning.encrypted_content` shows sealed reasoning, which is hidden otherwise.",
  }),
};

const CREATE: ApiEndpoint = {
  method: "POST",
  path: "/v1/responses",
  id: "createResponse",
  group: "Chat",
  summary: "Answer a conversation (OpenAI responses)",
  description:
    "The format of OpenAI's Responses API, over every chat model. Answers are kept where `store` says so and can be " +
    "continued by `previous_response_id`. With the request header `x-sallyport-event-types: short` item events carry " +
    "their type without the prefix `response.`. A last input item `{type: compaction_trigger}` asks for a compaction.",
  access: "counted",
  body: {
    schema: BODY,
    examples: {
      plain: { model: "demo-echo", input: "Say hello." },
      streaming: { model: "demo-echo", input: [{ role: "user", content: "Say hello." }], stream: true },
    },
  },
  answer: {
    description: "The answer; with `stream` named events, and at last `data: [DONE]`.",
    schema: RESPONSE,
    headers: CHAT_HEADERS,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: [...CHAT_ERRORS, "previous_response_not_found", "storage_not_allowed"],
};

const COMPACT: ApiEndpoint = {
  method: "POST",
  path: "/v1/responses/compact",
  id: "compactResponse",
  group: "Chat",
  summary: "Compact a conversation now",
  description:
    "The pass that otherwise runs when a conversation no longer fits. With `thread_id` the stored thread is compacted; " +
    "with `input` that list, and nothing is stored: `output` then ends with one sealed `compaction` item, which can be " +
    "handed back as input.",
  access: "counted",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        ...THREAD,
        input: Type.Optional(Type.Union([Type.String(), Type.Array(ITEM)], { description: "What to compact." })),
      },
      { $id: "CompactRequest", additionalProperties: true },
    ),
    examples: { input: { model: "demo-echo", input: [{ role: "user", content: "Say hello." }] } },
  },
  answer: {
    description: "The compacted conversation.",
    schema: Type.Object(
      {
        id: Type.String(),
        object: Type.Literal("response.compaction"),
        created_at: Type.Integer(),
        thread_id: Type.Optional(Type.String()),
        model: Type.String(),
        compacted: Type.Boolean({ description: "False where there was nothing to shorten." }),
        messages_before: Type.Integer(),
        messages_after: Type.Integer(),
        tokens_before: Type.Integer(),
        tokens_after: Type.Integer(),
        output: Type.Array(ITEM),
        usage: anyObject("What the compaction itself cost, in tokens."),
      },
      { $id: "Compaction" },
    ),
  },
  errors: CHAT_ERRORS,
};

const READ: ApiEndpoint = {
  method: "GET",
  path: "/v1/responses/:id",
  id: "getResponse",
  group: "Chat",
  summary: "Read a stored answer",
  description: "Your account's answers alone, for as long as they are kept.",
  access: "key",
  parameters: [
    ID,
    INCLUDE,
    { name: "stream", in: "query", schema: Type.Boolean({ description: "Replay the answer as events." }) },
    {
      name: "starting_after",
      in: "query",
      schema: Type.Integer({ minimum: 0, description: "Replay from the event after this sequence number." }),
    },
  ],
  answer: {
    description: "The answer; with `stream` its events.",
    schema: RESPONSE,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: ["response_not_found", "invalid_request"],
};

const INPUT_ITEMS: ApiEndpoint = {
  method: "GET",
  path: "/v1/responses/:id/input_items",
  id: "listResponseInputItems",
  group: "Chat",
  summary: "List what a stored answer was asked",
  description: "The input items of the answer's own request, newest first.",
  access: "key",
  parameters: [
    ID,
    INCLUDE,
    {
      name: "order",
      in: "query",
      schema: oneOf(["asc", "desc"], { description: "`asc`: oldest first.", default: "desc" }),
    },
  ],
  answer: {
    description: "The items.",
    schema: Type.Object(
      {
        object: Type.Literal("list"),
        data: Type.Array(ITEM),
        has_more: Type.Boolean(),
        first_id: orNull(Type.String()),
        last_id: orNull(Type.String()),
      },
      { $id: "ResponseItemList" },
    ),
  },
  errors: ["response_not_found"],
};

const REMOVE: ApiEndpoint = {
  method: "DELETE",
  path: "/v1/responses/:id",
  id: "deleteResponse",
  group: "Chat",
  summary: "Delete a stored answer",
  description: "It can be neither read nor continued afterwards.",
  access: "key",
  parameters: [ID],
  answer: {
    description: "It is deleted.",
    schema: Type.Object({ id: Type.String(), object: Type.Literal("response"), deleted: Type.Literal(true) }),
  },
  errors: ["response_not_found"],
};

const SOCKET: ApiEndpoint = {
  method: "GET",
  path: "/v1/responses",
  id: "openResponsesSocket",
  group: "Chat",
  summary: "Responses over WebSocket (not offered)",
  description: "Answers 426 to an upgrade, at which clients fall back to `POST`, and 405 to everything else.",
  access: "open",
  answer: { isPromise: true, description: "Not given by this version." },
  errors: ["upgrade_required", "method_not_allowed"],
};

const INPUT_TOKENS: ApiEndpoint = {
  method: "POST",
  path: "/v1/responses/input_tokens",
  id: "countResponseInputTokens",
  group: "Chat",
  summary: "Count the input tokens of a request",
  description:
    "The same body as `POST /v1/responses`. The model's provider is asked where it counts, else the count is an estimate. " +
    "Free of the rate limit.",
  access: "key",
  body: { schema: BODY, examples: { plain: { model: "demo-echo", input: "Say hello." } } },
  answer: {
    description: "The count.",
    schema: Type.Object(
      { object: Type.Literal("response.input_tokens"), input_tokens: Type.Integer() },
      { $id: "InputTokenCount" },
    ),
    headers: MODEL_HEADERS,
  },
  errors: [...CHAT_ERRORS, "previous_response_not_found", "trial_expired", "subscription_inactive"],
};

/** The endpoints. */
export const RESPONSE_ENDPOINTS: readonly ApiEndpoint[] = [
  CREATE,
  COMPACT,
  READ,
  INPUT_ITEMS,
  REMOVE,
  SOCKET,
  INPUT_TOKENS,
];
