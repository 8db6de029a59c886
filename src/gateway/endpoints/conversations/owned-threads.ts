// An account's view of its own conversations, however they are stored: threads that its clients name, conversations of Responses
// clients, and threads that the gateway holds for Anthropic's clients.

import { type Element, textOfEntry } from "../../../chat/entries.ts";
import type { ThreadName } from "../../../store/work/thread-name.ts";
import { WIRE_FORMATS } from "../../../wire/index.ts";
import { responsesFormat } from "../../../wire/responses/format.ts";
import type { CompactionMemory } from "../../stages/compaction/memory.ts";
import type { KeptConversations } from "../../stages/history/kept-conversations.ts";
import type { KeptThreads } from "../../stages/threads/kept.ts";

/** A conversation in a list. */
export interface OwnedThread {
  readonly kind: ThreadName["kind"];
  readonly id: string;
  readonly model: string;
  readonly messages: number;
  readonly tokens: number;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The content of a conversation: its last messages, and the summaries of earlier ones. */
export interface OwnedThreadText {
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly summaries: readonly { readonly createdAtMs: number; readonly tokens: number; readonly text: string }[];
}

export interface OwnedThreadsDeps {
  threads: KeptThreads;
  conversations: KeptConversations;
  memory: CompactionMemory;
}

const KINDS: readonly ThreadName["kind"][] = ["thread", "conversation", "messages"];
/** Maximum number of conversations in a list, of all kinds together. */
const LISTED_MAX = 200;
/** Maximum number of messages that are shown of one conversation, and of characters of each. */
const MESSAGES_MAX = 200;
const CHARS_MAX = 20_000;

/** The functions for an account's conversations. */
export type OwnedThreads = ReturnType<typeof createOwnedThreads>;

/** Creates the functions. */
export function createOwnedThreads({ threads, conversations, memory }: OwnedThreadsDeps) {
  const list = async (accountId: string): Promise<OwnedThread[]> => {
    const lists = await Promise.all(
      KINDS.map(async (kind) =>
        (await threads.list(accountId, kind)).map(({ threadId, ...row }) => ({ ...row, kind, id: threadId })),
      ),
    );
    return (
      lists
        .flat()
        // Of an answer that was continued, only that fact remains, so it is not listed.
        .filter(({ kind, messages }) => kind !== "messages" || messages > 0)
        .sort((a, b) => b.updatedAtMs - a.updatedAtMs)
        .slice(0, LISTED_MAX)
    );
  };

  const elementsOf = async ({ accountId, kind, threadId }: ThreadName): Promise<Said | undefined> => {
    if (kind === "conversation") {
      const page = { order: "desc" as const, after: undefined, limit: MESSAGES_MAX };
      const listed = await conversations.list(accountId, threadId, page);
      return listed && { format: responsesFormat.name, messages: listed.items.map(({ item }) => item).reverse() };
    }
    return (await threads.find({ accountId, kind, threadId }))?.text;
  };

  return {
    list,

    /** The content of a conversation; undefined if the account has none of that name. */
    async read(name: ThreadName): Promise<OwnedThreadText | undefined> {
      const isThere = name.kind !== "conversation" || (await conversations.find(name.accountId, name.threadId));
      const thread = isThere ? await elementsOf(name) : undefined;
      if (thread === undefined) return undefined;
      const entries = WIRE_FORMATS.find((format) => format.name === thread.format)?.entries;
      const compactions = name.kind === "messages" ? [] : await threads.load(name);
      return {
        messages: thread.messages.slice(-MESSAGES_MAX).map((element) => {
          const entry = entries?.entry(element);
          const text = entry === undefined ? JSON.stringify(element) : textOfEntry(entry);
          return { role: entry?.role ?? "", text: text.slice(0, CHARS_MAX).toWellFormed() };
        }),
        summaries: compactions.flatMap(({ record, tokens, createdAtMs }) =>
          record === undefined ? [] : [{ text: record, tokens, createdAtMs }],
        ),
      };
    },

    /** Deletes a conversation; false if there is none. */
    remove(name: ThreadName): Promise<boolean> {
      const { accountId, threadId, kind } = name;
      const keeps = kind === "conversation" ? kind : undefined;
      if (kind !== "messages") memory.forget({ accountId, threadId, keeps, opening: "" });
      return threads.remove(name);
    },
  };
}

/** The text of elements in a client format. */
interface Said {
  format: string;
  messages: readonly Element[];
}
