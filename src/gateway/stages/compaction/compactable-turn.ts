// A turn as compaction sees it: with the conversation that it may shorten, and what was done to it so far.

import type { ContextEdit, EditedContext } from "../../../chat/context-edits.ts";
import type { ChatTurn } from "../../centre/stage.ts";

/** A turn whose conversation may be shortened. */
export interface CompactableTurn extends ChatTurn {
  /** Present if the answer is a record of the conversation, which the gateway makes. */
  readonly asksRecord?: { readonly wish: string | undefined } | undefined;
  /** Present if the conversation may be shortened. */
  readonly compactable?: Compactable | undefined;
}

/** A conversation that may be shortened. */
export interface Compactable {
  /** The client's name for the conversation; if undefined, nothing of it is stored. */
  readonly threadId: string | undefined;
  /**
   * Which part is stored: only summaries, for a conversation that the gateway holds, or nothing. If undefined, everything that
   * belongs to a thread.
   */
  readonly keeps?: "conversation" | "nothing" | undefined;
  /** When the request arrived, as a mark of the memory of compactions. */
  readonly since?: number | undefined;
  /** The context edits that the client requests, which a provider may not support. */
  readonly edits?: readonly ContextEdit[];
  /** The result of these edits in this attempt. */
  readonly edited?: EditedContext & {
    /** The request before the edits. */
    readonly original: CompactableTurn;
    /** Whether it was shortened because a provider refused it as too long, so that it is not tried again. */
    readonly isAfterOverflow: boolean;
  };
  /** Present if the conversation was shortened in this attempt. */
  readonly shortened?: ShortenedConversation;
}

/** A shortened conversation. */
export interface ShortenedConversation {
  /** The request with all of the client's messages. */
  readonly original: CompactableTurn;
  /** Ids of the tool calls whose reasoning was removed. */
  readonly strippedCalls: ReadonlySet<string>;
  /** Tokens of the shortened request as counted by the gateway, without correction. */
  readonly counted: number;
  /** Whether it was shortened because a provider refused it as too long, so that it is not tried again. */
  readonly isAfterOverflow: boolean;
}
