// The history of a responses request. References to earlier answers (`previous_response_id`, `conversation`, item references) are
// replaced by the items themselves, from the store of the caller's account. The storage of upstreams is never used.

import { ApiError } from "../../../base/errors.ts";
import { prefixedId } from "../../../base/ids.ts";
import type { ResponseStore } from "../../../store/work/responses.ts";
import { conversationIdOf } from "../../../wire/responses/conversation.ts";
import { isCompactionTrigger } from "../../../wire/responses/entries.ts";
import {
  inputItems,
  portableItems,
  referencedItems,
  resolveReferences,
  responseOfItem,
} from "../../../wire/responses/references.ts";
import { requireKeeping, type TextOwner } from "../../admission/kept-text.ts";
import type { ClientConnection } from "../../centre/request-source.ts";
import { conversationNotFound } from "../../rules/not-found.ts";
import type { ConversationItem, KeptConversations } from "./kept-conversations.ts";

/** A parsed JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/** Stores a finished answer in the client's format. */
export type Keep = (answer: Readonly<Record<string, unknown>>) => Promise<void>;

export interface HistoryDeps {
  store: Pick<ResponseStore, "responseChain" | "findResponse" | "findItems" | "saveResponse"> & {
    /** Deletes an account's oldest texts until it is within its quota. */
    makeRoom(accountId: string, bytes: number): Promise<boolean>;
  };
  conversations: Pick<KeptConversations, "find" | "history" | "append">;
  /** The setting `compaction.enabled`. If it is off, no conversation is stored. */
  keepsConversations(): boolean;
  /** The configuration section `responses`. */
  settings(): { store: boolean; retentionMs: number };
  nowMs(): number;
}

/** A request with its history inserted. */
export interface Expanded {
  /** The body, with all items in its input. */
  body: Fields;
  /** The input for an upstream of the same protocol, without ids that only the gateway knows. */
  portableInput: readonly unknown[] | undefined;
  /** Whether the answer can be fetched later. */
  stores: boolean;
  /** Stores the answer and appends it to its conversation; undefined if it is not stored. */
  keep: Keep | undefined;
  /** The conversation to which the request belongs. */
  conversationId: string | undefined;
}

/** The limit of a history in bytes; a longer one fits no model's context. */
const HISTORY_BYTES_MAX = 32 * 1024 * 1024;
/** Maximum number of references in one request, as each costs a look-up. */
const REFERENCES_MAX = 2000;

/**
 * Inserts the history. Throws 400 `previous_response_not_found`, 404 `conversation_not_found`, or 413 `context_too_large`.
 * `connection`: may hold the answer that the request continues, and takes the new one.
 */
export async function expandHistory(
  deps: HistoryDeps,
  caller: TextOwner,
  body: Fields,
  connection?: ClientConnection,
): Promise<Expanded> {
  const { accountId, noStore } = caller;
  const resolved = await withItems(deps, accountId, body);
  const own = inputItems(resolved);
  const previousId = typeof body["previous_response_id"] === "string" ? body["previous_response_id"] : undefined;
  const conversationId = conversationIdOf(body);
  if (conversationId !== undefined) requireKeeping(caller, "conversation");
  const stores = !noStore && (body["store"] ?? deps.settings().store) === true;
  const held = previousId === undefined ? undefined : connection?.held(previousId);
  const earlier = held?.items ?? (await earlierItems(deps, accountId, { previousId, conversationId }));
  const asked = own.filter((item) => !isCompactionTrigger(item));
  // An answer that is stored must not continue from one that is not.
  const keeper =
    held?.isStored === false
      ? { accountId, own: [...held.items, ...asked], previousId: undefined, conversationId }
      : { accountId, own: asked, previousId, conversationId };
  const stored = stores || conversationId !== undefined ? keeperOf(deps, { ...keeper, stores }) : undefined;
  const holds = conversationId === undefined ? connection : undefined;
  holds?.asked({ continued: held && previousId, before: earlier ?? [], own: asked });
  const keep = holds === undefined ? stored : holderOf(holds, stored, stores);
  if (earlier === undefined && resolved === body)
    return { body, portableInput: undefined, stores, keep, conversationId };
  const { previous_response_id: _previous, conversation: _conversation, ...rest } = resolved;
  const input = [...(earlier ?? []), ...own];
  return { body: { ...rest, input }, portableInput: portableItems(input), stores, keep, conversationId };
}

/** Creates the function that lets the connection hold an answer, beside what stores it. */
function holderOf(connection: ClientConnection, stored: Keep | undefined, isStored: boolean): Keep {
  return async (answer) => {
    if (typeof answer["id"] === "string") connection.hold(answer["id"], outputOf(answer), isStored);
    await stored?.(answer);
  };
}

/** Creates the function that stores an answer with its input. */
function keeperOf(
  deps: HistoryDeps,
  {
    accountId,
    own,
    previousId = null,
    conversationId,
    stores,
  }: {
    accountId: string;
    own: readonly unknown[];
    previousId: string | null | undefined;
    conversationId: string | undefined;
    stores: boolean;
  },
): Keep {
  return async (answer) => {
    const model = String(answer["model"]);
    try {
      if (conversationId !== undefined) {
        const items = [...own, ...outputOf(answer)] as Fields[];
        // If the conversation was deleted meanwhile, nothing is stored for it.
        await deps.conversations.append(accountId, conversationId, items, { model });
      }
    } finally {
      if (stores) {
        await deps.store.saveResponse({
          id: typeof answer["id"] === "string" ? answer["id"] : prefixedId("resp_"),
          accountId,
          model,
          previousId,
          provider: null,
          upstreamId: null,
          input: own,
          body: answer,
          expiresAtMs: deps.nowMs() + deps.settings().retentionMs,
        });
        await deps.store.makeRoom(accountId, 0);
      }
    }
  };
}

function outputOf(answer: Fields): readonly unknown[] {
  return Array.isArray(answer["output"]) ? (answer["output"] as unknown[]) : [];
}

/** The items from which a request continues; undefined if it starts a conversation. */
async function earlierItems(
  deps: HistoryDeps,
  accountId: string,
  { previousId, conversationId }: { previousId: string | undefined; conversationId: string | undefined },
): Promise<readonly unknown[] | undefined> {
  if (conversationId !== undefined) {
    return (await conversationItems(deps, accountId, conversationId)).map(({ item }) => item);
  }
  return previousId === undefined ? undefined : answeredItems(deps, accountId, previousId);
}

async function conversationItems(deps: HistoryDeps, accountId: string, id: string): Promise<ConversationItem[]> {
  const { conversations, keepsConversations } = deps;
  const found = keepsConversations() ? await conversations.find(accountId, id) : undefined;
  if (found === undefined) throw conversationNotFound(id);
  const items = await conversations.history(accountId, id);
  if (items === undefined) throw tooLong("conversation");
  return items;
}

/** The items that lead to an answer, followed by the answer's own. */
async function answeredItems(deps: HistoryDeps, accountId: string, id: string): Promise<unknown[]> {
  const chain = await deps.store.responseChain(accountId, id, { bytesMax: HISTORY_BYTES_MAX });
  if (chain?.tooLarge) throw tooLong("previous_response_id");
  if (chain === undefined || !chain.complete) throw previousNotFound(chain === undefined ? id : undefined);
  const [first] = chain.responses;
  const before = first === undefined ? [] : await itemsBefore(deps, accountId, first);
  return [...before, ...chain.responses.flatMap(({ input, body }) => [...input, ...outputOf(body)])];
}

/** The items before an answer in its conversation, if it belongs to one. */
async function itemsBefore(
  deps: HistoryDeps,
  accountId: string,
  { input, body }: { input: readonly unknown[]; body: Fields },
): Promise<unknown[]> {
  const id = conversationIdOf({ conversation: body["conversation"] });
  if (id === undefined) return [];
  const [first] = outputOf(body) as Fields[];
  const items = await conversationItems(deps, accountId, id).catch((error: unknown) => {
    const isGone = error instanceof ApiError && error.apiCode === "conversation_not_found";
    throw isGone ? previousNotFound(undefined) : error;
  });
  const at = items.findIndex((one) => one.id === first?.["id"]);
  if (at < input.length) throw previousNotFound(undefined);
  return items.slice(0, at - input.length).map(({ item }) => item);
}

function tooLong(param: string): ApiError {
  return new ApiError(
    "context_too_large",
    "The conversation is too long. Start a new one, or send its recent items only.",
    { param },
  );
}

/** The error for a missing earlier response. `id`: the id in the request; undefined for a response before that one. */
function previousNotFound(id: string | undefined): ApiError {
  const which = id === undefined ? "An earlier response of this conversation" : `The response '${id.slice(0, 100)}'`;
  const message = `${which} was not found. It may have been deleted or have expired.`;
  return new ApiError("previous_response_not_found", message, { param: "previous_response_id" });
}

/** Replaces references in items by the stored items, as far as they are stored. */
export async function resolveItems(
  deps: Pick<HistoryDeps, "store">,
  accountId: string,
  items: readonly unknown[],
): Promise<readonly unknown[]> {
  return inputItems(await withItems(deps, accountId, { input: items }));
}

/** Replaces references in the body by the stored items, as far as they are stored. */
async function withItems(deps: Pick<HistoryDeps, "store">, accountId: string, body: Fields): Promise<Fields> {
  const ids = referencedItems(body).slice(0, REFERENCES_MAX);
  if (ids.length === 0) return body;
  const items = new Map<string, Fields>();
  const unknown: string[] = [];
  const responses = new Map<string, string[]>();
  for (const id of ids) {
    const response = responseOfItem(id);
    if (response === undefined) unknown.push(id);
    else responses.set(response, [...(responses.get(response) ?? []), id]);
  }
  for (const [response, wanted] of responses) {
    const stored = await deps.store.findResponse(accountId, response);
    const output = Array.isArray(stored?.body["output"]) ? (stored.body["output"] as Fields[]) : [];
    for (const item of output) if (wanted.includes(String(item["id"]))) items.set(String(item["id"]), item);
  }
  // The newest item comes first, and of several items with one id the newest is used.
  for (const item of await deps.store.findItems(accountId, unknown)) {
    const id = String(item["id"]);
    if (!items.has(id)) items.set(id, item);
  }
  return items.size === 0 ? body : resolveReferences(body, items);
}
