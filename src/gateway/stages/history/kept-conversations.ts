// Conversations that the gateway holds for Responses clients: the stored items are the history of every request that names the
// conversation. Items and metadata are sealed. A conversation is deleted `compaction.retention` after its last change, and with
// its account.

import { prefixedId } from "../../../base/ids.ts";
import { jsonInTurns } from "../../../base/json-in-slices.ts";
import { isStorable } from "../../../base/storable.ts";
import type { Element } from "../../../chat/entries.ts";
import type { ItemList, NewThreadItem, ThreadItem } from "../../../store/work/thread-items.ts";
import type { ThreadName } from "../../../store/work/thread-name.ts";
import type { ThreadStore } from "../../../store/work/threads.ts";
import { newItemId, ownItemId } from "../../../wire/responses/conversation.ts";
import type { Sealer } from "../compaction/seal.ts";

/** A conversation without its items. */
export interface HeldConversation {
  id: string;
  createdAtMs: number;
  metadata: Readonly<Record<string, string>>;
}

/** An item with its id in its conversation. */
export interface ConversationItem {
  id: string;
  item: Element;
}

/** Which items of a conversation to list. */
export type ItemPage = Omit<ItemList, "bytesMax">;

/** Maximum number of bytes that are read of one conversation; a longer one fits no model's context. */
const BYTES_MAX = 32 * 1024 * 1024;

export interface KeptConversationsDeps {
  store: ThreadStore & { makeRoom(accountId: string, bytes: number): Promise<boolean> };
  sealer: Sealer;
  retentionMs(): number;
  nowMs(): number;
}

/** The stored conversations. */
export class KeptConversations {
  readonly #deps: KeptConversationsDeps;

  constructor(deps: KeptConversationsDeps) {
    this.#deps = deps;
  }

  /** Creates a conversation. */
  async create(accountId: string, metadata: HeldConversation["metadata"]): Promise<HeldConversation> {
    const { store, nowMs } = this.#deps;
    const id = prefixedId("conv_");
    const row = { model: "", messages: 0, tokens: 0, ...this.#said(accountId, metadata) };
    await store.saveThread({ ...nameOf(accountId, id), ...row });
    await store.makeRoom(accountId, 0);
    return { id, createdAtMs: nowMs(), metadata };
  }

  /** Finds a conversation of the account; undefined if there is none that can be read. */
  async find(accountId: string, id: string): Promise<HeldConversation | undefined> {
    const found = await this.#deps.store.findThread(nameOf(accountId, id));
    const text = found && this.#deps.sealer.open(found.state, { accountId, purpose: "thread" });
    if (found === undefined || text === undefined) return undefined;
    return { id, createdAtMs: found.createdAtMs, metadata: (JSON.parse(text) as HeldConversation).metadata };
  }

  /** Changes the metadata of a conversation; false if there is none. */
  change(accountId: string, id: string, metadata: HeldConversation["metadata"]): Promise<boolean> {
    return this.#deps.store.changeThread(nameOf(accountId, id), this.#said(accountId, metadata));
  }

  /** Deletes a conversation with its items; false if there is none. */
  remove(accountId: string, id: string): Promise<boolean> {
    return this.#deps.store.deleteThread(nameOf(accountId, id));
  }

  /** Appends items at once. Returns them with their ids, or undefined if the conversation no longer exists. */
  async append(
    accountId: string,
    id: string,
    items: readonly Element[],
    change: { model?: string; tokens?: number } = {},
  ): Promise<ConversationItem[] | undefined> {
    const { store, sealer, nowMs, retentionMs } = this.#deps;
    const batch = prefixedId("items_");
    const rows: NewThreadItem[] = [];
    for (const [at, item] of items.entries()) {
      const otherId = newItemId(item, batch, at);
      const text = await jsonInTurns(item);
      const state = await sealer.sealLong(text, { accountId, purpose: "thread" });
      rows.push({ id: ownItemId(item) ?? otherId, otherId, bytes: text.length, state });
    }
    const expiresAtMs = nowMs() + retentionMs();
    const ids = await store.appendItems(nameOf(accountId, id), rows, { ...change, expiresAtMs });
    await store.makeRoom(accountId, 0);
    return ids?.map((itemId, at) => ({ id: itemId, item: items[at]! }));
  }

  /** All items in their order; undefined if they are too large for any model. */
  async history(accountId: string, id: string): Promise<ConversationItem[] | undefined> {
    const rows = await this.#deps.store.itemsOf(nameOf(accountId, id), { bytesMax: BYTES_MAX });
    return rows && this.#opened(accountId, rows);
  }

  /** Items from one end, or after a given item; undefined if that item does not exist. */
  async list(
    accountId: string,
    id: string,
    page: ItemPage,
  ): Promise<{ items: ConversationItem[]; hasMore: boolean } | undefined> {
    const found = await this.#deps.store.listItems(nameOf(accountId, id), { ...page, bytesMax: BYTES_MAX });
    return found && { items: await this.#opened(accountId, found.items), hasMore: found.hasMore };
  }

  /** Finds one item. */
  async item(accountId: string, id: string, itemId: string): Promise<ConversationItem | undefined> {
    const row = await this.#deps.store.findItem(nameOf(accountId, id), itemId);
    return row && (await this.#opened(accountId, [row]))[0];
  }

  /** Deletes one item, and the summaries that include it; false if there is none. */
  async removeItem(accountId: string, id: string, itemId: string): Promise<boolean> {
    const name = nameOf(accountId, id);
    const isGone = await this.#deps.store.deleteItem(name, itemId);
    if (isGone) await this.#deps.store.deleteSummaries(name);
    return isGone;
  }

  #said(accountId: string, metadata: HeldConversation["metadata"]) {
    const { sealer, nowMs, retentionMs } = this.#deps;
    const state = sealer.seal(JSON.stringify({ metadata }), { accountId, purpose: "thread" });
    return { state, expiresAtMs: nowMs() + retentionMs() };
  }

  async #opened(accountId: string, rows: readonly ThreadItem[]): Promise<ConversationItem[]> {
    const items: ConversationItem[] = [];
    for (const { id, state } of rows) {
      const item = await this.#deps.sealer.openValue(state, { accountId, purpose: "thread" });
      // An item that was sealed with an earlier secret cannot be read, nor can its conversation.
      if (item !== undefined) items.push({ id, item: item as Element });
    }
    return items;
  }
}

/** The stored name of a conversation. An id that this gateway did not create matches nothing. */
function nameOf(accountId: string, id: string): ThreadName {
  return { accountId, kind: "conversation", threadId: isStorable(id) ? id : "" };
}
