// The OpenAPI description of POST /v1/responses and of stored responses.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import type { EndpointText, NamelessText } from "../../http/served-endpoint.ts";
import { RESPONSES_FIELDS } from "../../wire/responses/fields.ts";
import { CHAT_ERRORS, CHAT_HEADERS, COUNT_ERRORS, MODEL, MODEL_HEADERS, requestSchema, THREAD } from "./shared.ts";

const ITEM = Type.Object(
  {
    type: Type.Optional(
      Type.String({ description: "The type of the item. If it is absent, the item is a `message`." }),
    ),
  },
  {
    $id: "ResponseItem",
    additionalProperties: true,
    description:
      "An item as in OpenAI's Responses API: `message` (`role`, `content` as text or parts `input_text`, " +
      "`input_image`, `input_file`), `function_call`, `function_call_output`, `reasoning`, `compaction` and others.",
  },
);

const RESPONSE = Type.Object(
  {
    id: Type.String({ description: "Begins with `resp_`." }),
    object: Type.Literal("response"),
    created_at: Type.Integer({ description: "The time of creation as a Unix time in seconds." }),
    completed_at: Type.Optional(orNull(Type.Integer())),
    status: oneOf(["completed", "incomplete", "failed", "in_progress", "queued", "cancelled"]),
    model: Type.String(),
    output: Type.Array(ITEM, { description: "The generated messages, calls and reasoning." }),
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
    incomplete_details: orNull(
      anyObject("Why the answer is incomplete. `reason` is `max_output_tokens`, `content_filter` or `steered`."),
    ),
  },
  {
    $id: "Response",
    additionalProperties: true,
    description: "An answer. Besides these members it repeats the request's parameters, as OpenAI's answers do.",
  },
);

/** The events of a text answer in their order. Other kinds of output have their own events. */
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
    sequence_number: Type.Optional(Type.Integer({ description: "A number that increases with every event." })),
    output_index: Type.Optional(Type.Integer()),
    content_index: Type.Optional(Type.Integer()),
    item_id: Type.Optional(Type.String()),
    delta: Type.Optional(Type.String({ description: "The next piece of the text or the arguments." })),
    text: Type.Optional(Type.String({ description: "The whole text, when it is complete." })),
    item: Type.Optional(ITEM),
    part: Type.Optional(anyObject("A content part.")),
    response: Type.Optional(RESPONSE),
    error: Type.Optional(anyObject("The error, with `code`, `message` and `request_id`.")),
  },
  { $id: "ResponseEvent", additionalProperties: true },
);

const BODY = requestSchema("ResponseRequest", RESPONSES_FIELDS, {
  shapes: { input: Type.Union([Type.String(), Type.Array(ITEM)]) },
});

const ID = pathId("id", "The id of the answer.", "resp_01a204b1c159705394b214d6bf6f3ad5");
const INCLUDE = {
  name: "include",
  in: "query" as const,
  schema: Type.Array(Type.String(), {
    description: "`reasoning.encrypted_content` includes sealed reasoning, which is left out otherwise.",
  }),
};

const CREATE: EndpointText = {
  id: "createResponse",
  group: "Chat",
  summary: "Answer a conversation (OpenAI responses)",
  description:
    "Uses the format of OpenAI's Responses API, with every chat model. Answers are stored if `store` is true and can be " +
    "continued by `previous_response_id`. With the request header `x-sallyport-event-types: short`, item events have " +
    "their type without the prefix `response.`. If the last input item is `{type: compaction_trigger}`, the conversation is compacted.",
  body: {
    schema: BODY,
    examples: {
      plain: { model: "demo-echo", input: "Say hello." },
      streaming: { model: "demo-echo", input: [{ role: "user", content: "Say hello." }], stream: true },
    },
  },
  answer: {
    description: "The answer. With `stream`, it is sent as named events, with `data: [DONE]` at the end.",
    schema: RESPONSE,
    headers: CHAT_HEADERS,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: [...CHAT_ERRORS, "previous_response_not_found", "storage_not_allowed"],
};

const COMPACT: NamelessText = {
  group: "Chat",
  summary: "Compact a conversation now",
  description:
    "Compacts a conversation, as the gateway otherwise does when it no longer fits. With `thread_id`, the stored thread is compacted; " +
    "with `input`, that list is compacted and nothing is stored. `output` then ends with one sealed `compaction` item, which can be " +
    "sent back as input.",
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
    headers: { "x-sallyport-compaction": CHAT_HEADERS["x-sallyport-compaction"] },
    schema: Type.Object(
      {
        id: Type.String(),
        object: Type.Literal("response.compaction"),
        created_at: Type.Integer(),
        thread_id: Type.Optional(Type.String()),
        model: Type.String(),
        compacted: Type.Boolean({ description: "False if there was nothing to shorten." }),
        messages_before: Type.Integer(),
        messages_after: Type.Integer(),
        tokens_before: Type.Integer(),
        tokens_after: Type.Integer(),
        output: Type.Array(ITEM),
        usage: anyObject("The tokens that the compaction itself used."),
      },
      { $id: "Compaction" },
    ),
  },
  errors: CHAT_ERRORS,
};

const READ: NamelessText = {
  group: "Chat",
  summary: "Read a stored answer",
  description: "Only your account's answers can be read, as long as they are stored.",
  parameters: [
    ID,
    INCLUDE,
    {
      name: "stream",
      in: "query",
      schema: Type.Boolean({ description: "Whether to send the answer again as events." }),
    },
    {
      name: "starting_after",
      in: "query",
      schema: Type.Integer({
        minimum: 0,
        description: "The sequence number of an event. Only the events after it are sent.",
      }),
    },
  ],
  answer: {
    description: "The answer. With `stream`, its events are sent.",
    schema: RESPONSE,
    events: { description: "One event's `data:`.", schema: EVENT },
  },
  errors: ["response_not_found", "invalid_request"],
};

const INPUT_ITEMS: NamelessText = {
  group: "Chat",
  summary: "List the input items of a stored answer",
  description: "Lists the input items of the request that produced the answer, newest first.",
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

const REMOVE: NamelessText = {
  group: "Chat",
  summary: "Delete a stored answer",
  description: "Afterwards it can neither be read nor continued.",
  parameters: [ID],
  answer: {
    description: "It is deleted.",
    schema: Type.Object({ id: Type.String(), object: Type.Literal("response"), deleted: Type.Literal(true) }),
  },
  errors: ["response_not_found"],
};

const SOCKET: NamelessText = {
  group: "Chat",
  summary: "Responses over WebSocket",
  description:
    "The connection takes `response.create` messages, whose members are those of `POST /v1/responses` without `stream` and `background`, " +
    "and answers with the events of the stream, one in each message. Each counts as a request does. `stream_id` names a lane: the " +
    "requests of one lane are answered one after another, up to 16 at a time of at most 32 lanes. The newest answer of each lane " +
    "can be continued from by `previous_response_id`, even with `store: false`. `generate: false` only holds the content for what " +
    "follows. `response.steer` gives a running answer new input: it is stopped, and its successor continues with the input. A " +
    "connection lasts 60 minutes. While many connections are open, a message may be shorter than a body of a POST: a longer one closes " +
    "its connection with 1009. Without an upgrade the answer is 426.",
  answer: { status: 101, description: "The connection is a WebSocket." },
  errors: ["upgrade_required", "missing_api_key", "invalid_api_key", "server_busy"],
};

const INPUT_TOKENS: NamelessText = {
  group: "Chat",
  summary: "Count the input tokens of a request",
  description:
    "Takes the same body as `POST /v1/responses`. The model's provider counts the tokens if it can, otherwise the count is an estimate. " +
    "The request does not count against the rate limit, but an account may only have so many bytes a minute counted.",
  body: { schema: BODY, examples: { plain: { model: "demo-echo", input: "Say hello." } } },
  answer: {
    description: "The count.",
    schema: Type.Object(
      { object: Type.Literal("response.input_tokens"), input_tokens: Type.Integer() },
      { $id: "InputTokenCount" },
    ),
    headers: MODEL_HEADERS,
  },
  errors: [...COUNT_ERRORS, "previous_response_not_found"],
};

/** The descriptions by path. */
export const RESPONSE_PATHS = { "/v1/responses": CREATE };

/** The other descriptions, by the names of their operations. */
export const RESPONSE_TEXTS = {
  compactResponse: COMPACT,
  getResponse: READ,
  listResponseInputItems: INPUT_ITEMS,
  deleteResponse: REMOVE,
  openResponsesSocket: SOCKET,
  countResponseInputTokens: INPUT_TOKENS,
};
