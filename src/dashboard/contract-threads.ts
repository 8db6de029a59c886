// Types that the pages and the API share for an account's own conversations.

/**
 * How a conversation is stored: under a name that the client chose, as a conversation of the Responses API, or as a
 * thread of a client that speaks Anthropic's format.
 */
export type ThreadKind = "thread" | "conversation" | "messages";

/** A conversation in `GET threads`, latest first. */
export interface ThreadRow {
  readonly kind: ThreadKind;
  readonly id: string;
  /** The model that answered last; "" where no model has answered yet. */
  readonly model: string;
  readonly messages: number;
  /** Tokens of the last request and its answer. */
  readonly tokens: number;
  /** Its part of the account's storage, in bytes. */
  readonly bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * Answer of `GET threads/KIND/ID`: the last messages, and the summary that replaces earlier ones. `DELETE` on the same
 * path deletes the conversation.
 */
export interface ThreadView {
  readonly kind: ThreadKind;
  readonly id: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly summaries: readonly { readonly created_at: string; readonly tokens: number; readonly text: string }[];
}
