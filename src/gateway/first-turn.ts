// The end of a conversation's first turn: what was answered, as the client will send it back, names the conversation from then
// on, so that it stays where it began.

import type { ChatMessage } from "../chat/request.ts";
import { answerElements } from "../wire/assembled.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";

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
