// The endpoints under /v1/conversations. A conversation belongs to an account; for other accounts it is unknown. If compaction
// is disabled, there are no conversations.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import type { Element } from "../../../chat/entries.ts";
import { type BodyLimits, readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import { conversationItem, metadataOf, newItems } from "../../../wire/responses/conversation.ts";
import { requireKeeping, type TextOwner } from "../../admission/kept-text.ts";
import { conversationNotFound } from "../../rules/not-found.ts";
import type {
  ConversationItem,
  HeldConversation,
  ItemPage,
  KeptConversations,
} from "../../stages/history/kept-conversations.ts";
import { asksEncrypted } from "../responses/stored-responses.ts";
import { gatewayText } from "../texts.ts";

export interface ConversationEndpointsDeps {
  conversations: KeptConversations;
  /** The setting `compaction.enabled`. If it is off, no text is stored. */
  enabled(): boolean;
  bodyLimits(): BodyLimits;
  /** Reserves space. Returns a function that ends the reservation, or undefined if there is no space. */
  claim(accountId: string, bytes: number): Promise<(() => void) | undefined>;
  /** Replaces references in items by the stored items. */
  resolve(accountId: string, items: readonly unknown[]): Promise<readonly unknown[]>;
  /** Called when a conversation or one of its items was deleted, so that its summaries are deleted too. */
  forget(accountId: string, id: string): void;
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<TextOwner>;
}

const PAGE = 20;
const PAGE_MAX = 100;

/** Makes an endpoint that reads or deletes what an account has. */
const owning = endpointsBehind("key", async ({ authenticate }: ConversationEndpointsDeps, request) =>
  holderOf(await authenticate(request), request),
);

/** Makes an endpoint that stores text. */
const storing = endpointsBehind("key", async ({ authenticate }: ConversationEndpointsDeps, request) => {
  const caller = await authenticate(request);
  requireKeeping(caller);
  return holderOf(caller, request);
});

function holderOf({ accountId }: TextOwner, request: Request): string {
  exchangeOf(request).holder = accountId;
  return accountId;
}

/** The endpoints of conversations. */
const CONVERSATIONS: readonly ServedEndpoint<ConversationEndpointsDeps>[] = [
  storing("POST", "/v1/conversations", {
    describe: gatewayText("createConversation"),
    handle: async (deps, { request, caller: accountId }) => {
      const { conversations, enabled } = deps;
      if (!enabled()) throw new ApiError("conversation_not_found", "This gateway does not store conversations.");
      const isEmpty = request.body === null || request.headers.get("content-length") === "0";
      const body = isEmpty ? {} : await read(deps, request);
      const metadata = metadataOf(body);
      const items = body["items"] == null ? [] : newItems(body);
      const made = await conversations.create(accountId, metadata);
      if (items.length > 0) {
        try {
          await add(deps, { accountId, id: made.id }, items);
        } catch (error) {
          await conversations.remove(accountId, made.id);
          throw error;
        }
      }
      return Response.json(view(made));
    },
  }),
  owning("GET", "/v1/conversations/:id", {
    describe: gatewayText("getConversation"),
    handle: async (deps, { params: { id }, caller: accountId }) =>
      Response.json(view(await found(deps, accountId, id))),
  }),
  storing("POST", "/v1/conversations/:id", {
    describe: gatewayText("changeConversation"),
    handle: async (deps, { request, params: { id }, caller: accountId }) => {
      const conversation = await found(deps, accountId, id);
      const metadata = metadataOf(await read(deps, request));
      if (!(await deps.conversations.change(accountId, id, metadata))) throw conversationNotFound(id);
      return Response.json(view({ ...conversation, metadata }));
    },
  }),
  owning("DELETE", "/v1/conversations/:id", {
    describe: gatewayText("deleteConversation"),
    handle: async ({ conversations, forget }, { params: { id }, caller: accountId }) => {
      forget(accountId, id);
      if (!(await conversations.remove(accountId, id))) throw conversationNotFound(id);
      return Response.json({ id, object: "conversation.deleted", deleted: true });
    },
  }),
];

/** The endpoints of a conversation's items. */
const ITEMS: readonly ServedEndpoint<ConversationEndpointsDeps>[] = [
  owning("GET", "/v1/conversations/:id/items", {
    describe: gatewayText("listConversationItems"),
    handle: async (deps, { request, params: { id }, caller: accountId }) => {
      await found(deps, accountId, id);
      const page = pageOf(new URL(request.url).searchParams);
      const listed = await deps.conversations.list(accountId, id, page);
      if (listed === undefined) throw itemNotFound(page.after ?? "", id);
      return Response.json(itemList(listed.items, request, listed.hasMore));
    },
  }),
  storing("POST", "/v1/conversations/:id/items", {
    describe: gatewayText("addConversationItems"),
    handle: async (deps, { request, params: { id }, caller: accountId }) => {
      await found(deps, accountId, id);
      const added = await add(deps, { accountId, id }, newItems(await read(deps, request)));
      return Response.json(itemList(added, request, false));
    },
  }),
  owning("GET", "/v1/conversations/:id/items/:item", {
    describe: gatewayText("getConversationItem"),
    handle: async (deps, { request, params, caller: accountId }) => {
      await found(deps, accountId, params.id);
      const item = await deps.conversations.item(accountId, params.id, params.item);
      if (item === undefined) throw itemNotFound(params.item, params.id);
      const encrypted = asksEncrypted(new URL(request.url).searchParams);
      return Response.json(conversationItem(item.item, item.id, { encrypted }));
    },
  }),
  owning("DELETE", "/v1/conversations/:id/items/:item", {
    describe: gatewayText("deleteConversationItem"),
    handle: async (deps, { params: { id, item }, caller: accountId }) => {
      const conversation = await found(deps, accountId, id);
      if (!(await deps.conversations.removeItem(accountId, id, item))) throw itemNotFound(item, id);
      deps.forget(accountId, id);
      return Response.json(view(conversation));
    },
  }),
];

/** The endpoints under /v1/conversations. */
export const CONVERSATION_ENDPOINTS: readonly ServedEndpoint<ConversationEndpointsDeps>[] = [
  ...CONVERSATIONS,
  ...ITEMS,
];

async function found(
  { enabled, conversations }: ConversationEndpointsDeps,
  accountId: string,
  id: string,
): Promise<HeldConversation> {
  const conversation = enabled() ? await conversations.find(accountId, id) : undefined;
  if (conversation === undefined) throw conversationNotFound(id);
  return conversation;
}

async function read({ bodyLimits }: ConversationEndpointsDeps, request: Request): Promise<Element> {
  return (await readJsonBody(request, bodyLimits())).body;
}

/** Appends items if there is enough space. */
async function add(
  { conversations, resolve, claim }: ConversationEndpointsDeps,
  { accountId, id }: { accountId: string; id: string },
  items: readonly unknown[],
): Promise<ConversationItem[]> {
  const whole = (await resolve(accountId, items)) as Element[];
  const release = await claim(accountId, JSON.stringify(whole).length);
  if (release === undefined) {
    throw new ApiError("request_too_large", "This account's storage is used up. Delete files first.", {
      param: "items",
    });
  }
  try {
    const added = await conversations.append(accountId, id, whole);
    if (added === undefined) throw conversationNotFound(id);
    return added;
  } finally {
    release();
  }
}

function view({ id, createdAtMs, metadata }: HeldConversation): Element {
  return { id, object: "conversation", created_at: Math.floor(createdAtMs / 1000), metadata };
}

function itemList(items: readonly ConversationItem[], request: Request, hasMore: boolean): Element {
  const encrypted = asksEncrypted(new URL(request.url).searchParams);
  const data = items.map(({ id, item }) => conversationItem(item, id, { encrypted }));
  const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null };
  return { object: "list", data, has_more: hasMore, ...ends };
}

function pageOf(query: URLSearchParams): ItemPage {
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw new ApiError("invalid_request", "Invalid 'order': expected 'asc' or 'desc'.", { param: "order" });
  }
  const given = query.get("limit");
  const limit = given === null ? PAGE : Number(given);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new ApiError("invalid_request", `Invalid 'limit': expected an integer from 1 to ${PAGE_MAX}.`, {
      param: "limit",
    });
  }
  return { order, limit, after: query.get("after") ?? undefined };
}

function itemNotFound(itemId: string, id: string): ApiError {
  const message = `There is no item '${itemId.slice(0, 100)}' in the conversation '${id.slice(0, 100)}'.`;
  return new ApiError("conversation_item_not_found", message);
}
