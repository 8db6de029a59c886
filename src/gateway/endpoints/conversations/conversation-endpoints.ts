// The functions behind /v1/conversations. A conversation belongs to an account; for other accounts it is unknown. If compaction
// is disabled, there are no conversations.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import type { Element } from "../../../chat/entries.ts";
import { type BodyLimits, readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { conversationItem, metadataOf, newItems } from "../../../wire/responses/conversation.ts";
import { requireKeeping, type TextOwner } from "../../admission/kept-text.ts";
import type {
  ConversationItem,
  HeldConversation,
  ItemPage,
  KeptConversations,
} from "../../stages/history/kept-conversations.ts";
import { asksEncrypted } from "../responses/stored-responses.ts";

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

export type ConversationEndpoints = ReturnType<typeof createConversationEndpoints>;

const PAGE = 20;
const PAGE_MAX = 100;

/** Creates the functions behind the routes. */
export function createConversationEndpoints(deps: ConversationEndpointsDeps) {
  const shared = sharedSteps(deps);
  return { ...conversationVerbs(deps, shared), ...itemVerbs(deps, shared) };
}

type Shared = ReturnType<typeof sharedSteps>;

/** The steps that several of the functions share. */
function sharedSteps(deps: ConversationEndpointsDeps) {
  const { conversations, enabled, authenticate } = deps;
  const owner = async (request: Request): Promise<string> => {
    const { accountId } = await authenticate(request);
    exchangeOf(request).holder = accountId;
    return accountId;
  };
  /** Identifies the caller of a request that stores text. */
  const writer = async (request: Request): Promise<string> => {
    requireKeeping(await authenticate(request));
    return owner(request);
  };
  const found = async (accountId: string, id: string): Promise<HeldConversation> => {
    const conversation = enabled() ? await conversations.find(accountId, id) : undefined;
    if (conversation === undefined) throw conversationNotFound(id);
    return conversation;
  };
  const read = async (request: Request): Promise<Element> => (await readJsonBody(request, deps.bodyLimits())).body;
  /** Appends items if there is enough space. */
  const add = async (accountId: string, id: string, items: readonly unknown[]): Promise<ConversationItem[]> => {
    const whole = (await deps.resolve(accountId, items)) as Element[];
    const release = await deps.claim(accountId, JSON.stringify(whole).length);
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
  };
  return { owner, writer, found, read, add };
}

function conversationVerbs(deps: ConversationEndpointsDeps, { owner, writer, found, read, add }: Shared) {
  const { conversations, enabled } = deps;
  return {
    async create(request: Request): Promise<Response> {
      const accountId = await writer(request);
      if (!enabled()) throw new ApiError("conversation_not_found", "This gateway does not store conversations.");
      const body = await readMaybe(request, read);
      const metadata = metadataOf(body);
      const items = body["items"] == null ? [] : newItems(body);
      const made = await conversations.create(accountId, metadata);
      if (items.length > 0) {
        try {
          await add(accountId, made.id, items);
        } catch (error) {
          await conversations.remove(accountId, made.id);
          throw error;
        }
      }
      return Response.json(view(made));
    },

    async get(request: Request, id: string): Promise<Response> {
      return Response.json(view(await found(await owner(request), id)));
    },

    /** Changes the metadata of a conversation. */
    async change(request: Request, id: string): Promise<Response> {
      const accountId = await writer(request);
      const conversation = await found(accountId, id);
      const metadata = metadataOf(await read(request));
      if (!(await conversations.change(accountId, id, metadata))) throw conversationNotFound(id);
      return Response.json(view({ ...conversation, metadata }));
    },

    async remove(request: Request, id: string): Promise<Response> {
      const accountId = await owner(request);
      deps.forget(accountId, id);
      if (!(await conversations.remove(accountId, id))) throw conversationNotFound(id);
      return Response.json({ id, object: "conversation.deleted", deleted: true });
    },
  };
}

function itemVerbs({ conversations, forget }: ConversationEndpointsDeps, { owner, writer, found, read, add }: Shared) {
  return {
    async addItems(request: Request, id: string): Promise<Response> {
      const accountId = await writer(request);
      await found(accountId, id);
      const added = await add(accountId, id, newItems(await read(request)));
      return Response.json(itemList(added, request, false));
    },

    async listItems(request: Request, id: string): Promise<Response> {
      const accountId = await owner(request);
      await found(accountId, id);
      const page = pageOf(new URL(request.url).searchParams);
      const listed = await conversations.list(accountId, id, page);
      if (listed === undefined) throw itemNotFound(page.after ?? "", id);
      return Response.json(itemList(listed.items, request, listed.hasMore));
    },

    async getItem(request: Request, id: string, itemId: string): Promise<Response> {
      const accountId = await owner(request);
      await found(accountId, id);
      const item = await conversations.item(accountId, id, itemId);
      if (item === undefined) throw itemNotFound(itemId, id);
      return Response.json(
        conversationItem(item.item, item.id, { encrypted: asksEncrypted(new URL(request.url).searchParams) }),
      );
    },

    /** Deletes an item, and returns its conversation. */
    async removeItem(request: Request, id: string, itemId: string): Promise<Response> {
      const accountId = await owner(request);
      const conversation = await found(accountId, id);
      if (!(await conversations.removeItem(accountId, id, itemId))) throw itemNotFound(itemId, id);
      forget(accountId, id);
      return Response.json(view(conversation));
    },
  };
}

/** Reads the body, which may be left out if it is empty. */
async function readMaybe(request: Request, read: (request: Request) => Promise<Element>): Promise<Element> {
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  return isEmpty ? {} : read(request);
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

/** The 404 for a conversation that this account does not have. */
export function conversationNotFound(id: string): ApiError {
  return new ApiError(
    "conversation_not_found",
    `There is no conversation '${id.slice(0, 100)}': it may have been deleted or have expired.`,
  );
}

function itemNotFound(itemId: string, id: string): ApiError {
  const message = `There is no item '${itemId.slice(0, 100)}' in the conversation '${id.slice(0, 100)}'.`;
  return new ApiError("conversation_item_not_found", message);
}
