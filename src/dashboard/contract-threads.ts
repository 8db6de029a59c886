// What the pages and the API say to each other of an account's own conversations. Types alone.

/** How a conversation is kept: under a client's name, as one of the Responses API, or for a client of Anthropic's threads. */
export type ThreadKind = "thread" | "conversation" | "messages";

/** A conversation in `GET threads`, latest first. */
export interface ThreadRow {
  readonly kind: ThreadKind;
  readonly id: string;
  /** The model that answered last; "" where none has. */
  readonly model: string;
  readonly messages: number;
  /** Of the last request and its answer. */
  readonly tokens: number;
  /** What it takes of the account's storage. */
  readonly bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Answer of `GET threads/KIND/ID`: its last messages, and what stands for earlier ones. `DELETE` of the same ends it. */
export interface ThreadView {
  readonly kind: ThreadKind;
  readonly id: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly summaries: readonly { readonly created_at: string; readonly tokens: number; readonly text: string }[];
}
