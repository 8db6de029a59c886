// Sealed values (signatures, encrypted reasoning) are readable by the protocol that minted them and by no other.

import type { ChatRequest } from "./request.ts";

/**
 * True when the history holds values that another protocol sealed, as after a conversation moved between models: then
 * the client's bytes cannot go up as they are, even where its format is the upstream's own.
 */
export function hasForeignSeals(chat: ChatRequest, protocol: string): boolean {
  return chat.messages.some(
    (message) =>
      message.role === "assistant" &&
      message.content.some((part) => {
        if (part.type === "reasoning") return part.origin !== undefined && part.origin !== protocol;
        // Chat completions have a place of their own for a call's signature; elsewhere it came in an envelope.
        return part.type === "tool-call" && part.signature !== undefined && protocol !== "openai-chat";
      }),
  );
}
