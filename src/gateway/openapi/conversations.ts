// The OpenAPI description of conversations that clients of the Responses API store here.

import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/errors.ts";
import { type ApiEndpoint, type ApiParameter, anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";

const CONVERSATION = Type.Object(
  {
    id: Type.String({ description: "Begins with `conv_`." }),
    object: Type.Literal("conversation"),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    metadata: anyObject("Texts of yours."),
  },
  { $id: "Conversation" },
);

const ITEM = anyObject("An item, as `output` and `input` of `POST /v1/responses` have them, with its `id`.");

const ITEMS = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(ITEM),
    has_more: Type.Boolean(),
    first_id: orNull(Type.String()),
    last_id: orNull(Type.String()),
  },
  { $id: "ConversationItemList" },
);

const METADATA = anyObject("Texts of yours, by names of yours.");
const NEW_ITEMS = Type.Array(ITEM, { maxItems: 20, description: "Items to append, oldest first." });

const ID = pathId("id", "Id of the conversation.", "conv_01a204b1c159705394b214d6bf6f3ad5");
const ITEM_ID = pathId("item", "Id of the item.", "msg_01a204b1c159705394b214d6bf6f3ad5");
const INCLUDE: ApiParameter = {
  name: "include",
  in: "query",
  schema: Type.Array(Type.String(), { description: "`reasoning.encrypted_content` shows sealed reasoning." }),
};
const PAGE: readonly ApiParameter[] = [
  {
    name: "limit",
    in: "query",
    schema: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "Most items." }),
  },
  {
    name: "order",
    in: "query",
    schema: oneOf(["asc", "desc"], { description: "`asc`: oldest first.", default: "desc" }),
  },
  { name: "after", in: "query", schema: Type.String({ description: "Items after this one." }) },
  INCLUDE,
];

type Told = Omit<ApiEndpoint, "method" | "path" | "group" | "access" | "errors">;

const endpoint = (
  method: ApiEndpoint["method"],
  path: string,
  { errors, ...told }: Told & { errors: readonly ErrorCode[] },
): ApiEndpoint => ({ method, path, group: "Conversations", access: "key", errors, ...told });

const MISSING: readonly ErrorCode[] = ["conversation_not_found"];
const ITEM_MISSING: readonly ErrorCode[] = [...MISSING, "conversation_item_not_found"];
/** The error for keys that may not store. */
const KEEPING: readonly ErrorCode[] = [...MISSING, "storage_not_allowed"];
const MESSAGE = { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] };

/** The endpoints. */
export const CONVERSATION_DOCS: readonly ApiEndpoint[] = [
  endpoint("POST", "/v1/conversations", {
    id: "createConversation",
    summary: "Begin a conversation",
    description:
      "A history that is kept here and that `POST /v1/responses` goes on from by `conversation`, over every provider. Your " +
      "account's alone.",
    body: {
      required: false,
      schema: Type.Object(
        { metadata: Type.Optional(METADATA), items: Type.Optional(NEW_ITEMS) },
        { $id: "NewConversation", additionalProperties: true },
      ),
      examples: { plain: { metadata: { topic: "support" }, items: [MESSAGE] } },
    },
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: KEEPING,
  }),
  endpoint("GET", "/v1/conversations/:id", {
    id: "getConversation",
    summary: "Read a conversation",
    description: "Without its items.",
    parameters: [ID],
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: MISSING,
  }),
  endpoint("POST", "/v1/conversations/:id", {
    id: "changeConversation",
    summary: "Give a conversation other metadata",
    description: "What is sent takes the place of what was there.",
    parameters: [ID],
    body: {
      schema: Type.Object({ metadata: METADATA }, { $id: "ConversationChange", additionalProperties: true }),
      examples: { plain: { metadata: { topic: "support" } } },
    },
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: KEEPING,
  }),
  endpoint("DELETE", "/v1/conversations/:id", {
    id: "deleteConversation",
    summary: "Delete a conversation",
    description: "Its items are gone.",
    parameters: [ID],
    answer: {
      description: "It is deleted.",
      schema: Type.Object({
        id: Type.String(),
        object: Type.Literal("conversation.deleted"),
        deleted: Type.Literal(true),
      }),
    },
    errors: MISSING,
  }),
  endpoint("GET", "/v1/conversations/:id/items", {
    id: "listConversationItems",
    summary: "List a conversation's items",
    description: "Newest first, unless `order` says otherwise.",
    parameters: [ID, ...PAGE],
    answer: { description: "The items.", schema: ITEMS },
    errors: [...ITEM_MISSING, "invalid_request"],
  }),
  endpoint("POST", "/v1/conversations/:id/items", {
    id: "addConversationItems",
    summary: "Append items to a conversation",
    description: "As if they had been said.",
    parameters: [ID, INCLUDE],
    body: {
      schema: Type.Object({ items: NEW_ITEMS }, { $id: "NewConversationItems", additionalProperties: true }),
      examples: { plain: { items: [MESSAGE] } },
    },
    answer: { description: "The items that were appended.", schema: ITEMS },
    errors: KEEPING,
  }),
  endpoint("GET", "/v1/conversations/:id/items/:item", {
    id: "getConversationItem",
    summary: "Read one item",
    description: "Of a conversation of your account.",
    parameters: [ID, ITEM_ID, INCLUDE],
    answer: { description: "The item.", schema: ITEM },
    errors: ITEM_MISSING,
  }),
  endpoint("DELETE", "/v1/conversations/:id/items/:item", {
    id: "deleteConversationItem",
    summary: "Delete one item",
    description: "Answers with its conversation.",
    parameters: [ID, ITEM_ID],
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: ITEM_MISSING,
  }),
];
