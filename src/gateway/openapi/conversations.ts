// The OpenAPI description of the conversations that clients of the Responses API store here.

import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/errors.ts";
import { type ApiParameter, anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

const CONVERSATION = Type.Object(
  {
    id: Type.String({ description: "Begins with `conv_`." }),
    object: Type.Literal("conversation"),
    created_at: Type.Integer({ description: "The time of creation as a Unix time in seconds." }),
    metadata: anyObject("Texts of yours."),
  },
  { $id: "Conversation" },
);

const ITEM = anyObject("An item as in `input` and `output` of `POST /v1/responses`, with its `id`.");

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

const METADATA = anyObject("Your own key-value pairs.");
const NEW_ITEMS = Type.Array(ITEM, { maxItems: 20, description: "Items to append, oldest first." });

const ID = pathId("id", "The id of the conversation.", "conv_01a204b1c159705394b214d6bf6f3ad5");
const ITEM_ID = pathId("item", "The id of the item.", "msg_01a204b1c159705394b214d6bf6f3ad5");
const INCLUDE: ApiParameter = {
  name: "include",
  in: "query",
  schema: Type.Array(Type.String(), { description: "`reasoning.encrypted_content` includes sealed reasoning." }),
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
  { name: "after", in: "query", schema: Type.String({ description: "The id of an item. The list begins after it." }) },
  INCLUDE,
];

const told = ({
  errors,
  ...text
}: Omit<NamelessText, "group" | "errors"> & { errors: readonly ErrorCode[] }): NamelessText => ({
  group: "Conversations",
  errors,
  ...text,
});

const MISSING: readonly ErrorCode[] = ["conversation_not_found"];
const ITEM_MISSING: readonly ErrorCode[] = [...MISSING, "conversation_item_not_found"];
/** The errors of endpoints that store data, which need a key that may store. */
const KEEPING: readonly ErrorCode[] = [...MISSING, "storage_not_allowed"];
const MESSAGE = { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] };

/** The conversation endpoints. */
export const CONVERSATION_TEXTS = {
  createConversation: told({
    summary: "Begin a conversation",
    description:
      "Creates a history that is stored here. `POST /v1/responses` continues it by `conversation`, with any provider. Your " +
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
  getConversation: told({
    summary: "Read a conversation",
    description: "Without its items.",
    parameters: [ID],
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: MISSING,
  }),
  changeConversation: told({
    summary: "Replace the metadata of a conversation",
    description: "The metadata in the request replaces all previous metadata.",
    parameters: [ID],
    body: {
      schema: Type.Object({ metadata: METADATA }, { $id: "ConversationChange", additionalProperties: true }),
      examples: { plain: { metadata: { topic: "support" } } },
    },
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: KEEPING,
  }),
  deleteConversation: told({
    summary: "Delete a conversation",
    description: "Its items are deleted too.",
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
  listConversationItems: told({
    summary: "List a conversation's items",
    description: "The newest items come first, unless `order` is `asc`.",
    parameters: [ID, ...PAGE],
    answer: { description: "The items.", schema: ITEMS },
    errors: [...ITEM_MISSING, "invalid_request"],
  }),
  addConversationItems: told({
    summary: "Append items to a conversation",
    description: "The items become part of the history, as if they had been sent in a chat.",
    parameters: [ID, INCLUDE],
    body: {
      schema: Type.Object({ items: NEW_ITEMS }, { $id: "NewConversationItems", additionalProperties: true }),
      examples: { plain: { items: [MESSAGE] } },
    },
    answer: { description: "The appended items.", schema: ITEMS },
    errors: KEEPING,
  }),
  getConversationItem: told({
    summary: "Read one item",
    description: "The conversation must belong to your account.",
    parameters: [ID, ITEM_ID, INCLUDE],
    answer: { description: "The item.", schema: ITEM },
    errors: ITEM_MISSING,
  }),
  deleteConversationItem: told({
    summary: "Delete one item",
    description: "Answers with the conversation that contained the item.",
    parameters: [ID, ITEM_ID],
    answer: { description: "The conversation.", schema: CONVERSATION },
    errors: ITEM_MISSING,
  }),
};
