// What names a conversation from now on, so that it stays where it is: after its first turn the answer, as the client will send
// it back, and after a compaction that the client is told of what stands for all that was said before.

import type { ChatMessage } from "../chat/request.ts";
import { answerElements } from "../wire/assembled.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";

/** Remembers where a conversation began again because a record went out with its answer. */
export function rememberRecord({ stay, chat, conversation }: AdmittedRequest): void {
  if (conversation?.edited?.record !== undefined) stay?.renamed(chat.messages);
}

/** Remembers where a conversation began, once its first answer is complete. `text`: what the client got. */
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
    // What no client could send back has no second turn.
    return;
  }
  const answer = messages.find(({ role }) => role === "assistant");
  if (answer !== undefined) stay.begun(answer);
}
