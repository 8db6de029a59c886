// Gives a conversation the name by which it stays on its route: after its first turn, from the answer as the client will return
// it; after a compaction that the client sees, from the record.

import type { ChatMessage } from "../../../chat/request.ts";
import { answerElements } from "../../../wire/assembled.ts";
import type { AdmittedRequest } from "../../centre/chat-exchange.ts";

/** Remembers the conversation under its new beginning, because a record was sent with its answer. */
export function rememberRecord({ placement, chat, compactable }: AdmittedRequest): void {
  if (compactable?.edited?.record !== undefined) placement?.rename(chat.messages);
}

/** Remembers the conversation once its first answer is complete. `text`: the answer as the client got it. */
export function rememberBeginning({ placement, format, body, options }: AdmittedRequest, text: string): void {
  const { entries } = format;
  if (placement?.rememberFirstAnswer === undefined || entries === undefined) return;
  const elements = answerElements(entries, text);
  if (elements.length === 0) return;
  let messages: readonly ChatMessage[];
  try {
    const list = [entries.userMessage("."), ...elements];
    messages = format.decode({ ...body, [entries.member]: list }, options).messages;
  } catch {
    // The client cannot return this answer, so there is no second turn to recognise.
    return;
  }
  const answer = messages.find(({ role }) => role === "assistant");
  if (answer !== undefined) placement.rememberFirstAnswer(answer);
}
