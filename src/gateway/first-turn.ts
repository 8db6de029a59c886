// Names a conversation so that it stays on its route: after its first turn by the answer, as the client will return it, and
// after a compaction that the client sees by the record.

import type { ChatMessage } from "../chat/request.ts";
import { answerElements } from "../wire/assembled.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";

/** Remembers where a conversation started again because a record was sent with its answer. */
export function rememberRecord({ stay, chat, conversation }: AdmittedRequest): void {
  if (conversation?.edited?.record !== undefined) stay?.renamed(chat.messages);
}

/** Remembers where a conversation started, once its first answer is complete. `text`: what the client got. */
export function rememberBeginning({ stay, format, body, options }: AdmittedRequest, text: string): void {
  const { entries } = format;
  if (stay?.begun === undefined || entries === undefined) return;
  const elements = answerElements(entries, text);
  if (elements.length === 0) return;
  let messages: readonly ChatMessage[];
  try {
    const list = [entries.userMessage("."), ...elements];
    messages = format.decode({ ...body, [entries.member]: list }, options).messages;
  } catch {
    // An answer that no client can return has no second turn.
    return;
  }
  const answer = messages.find(({ role }) => role === "assistant");
  if (answer !== undefined) stay.begun(answer);
}
