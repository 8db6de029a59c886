// The tokens that a chat request may use: its prompt is counted, and its output limit is assumed to be used up.

import type { AtOnce } from "../../base/at-once.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { TokenWish } from "../../shared-state/token-windows.ts";
import { countTokens } from "../../tokens/count.ts";
import type { Defaults } from "../rules/policy.ts";
import { promptTokens, TURN_TOKENS } from "./prompt-tokens.ts";

/** Texts up to this size are counted at once. */
const SHORT_CHARACTERS = 4096;

/** The tokens of a request. `defaults`: the output limit that is sent if the client names none. */
export function tokenWish(
  chat: ChatRequest,
  { maxOutputTokens }: Pick<CatalogModel, "maxOutputTokens">,
  { maxTokens }: Defaults,
): AtOnce<TokenWish> {
  const answers = Math.max(1, chat.n ?? 1);
  const named = chat.maxTokens === undefined ? undefined : Math.min(chat.maxTokens, maxOutputTokens) * answers;
  const most = named ?? (maxTokens ?? maxOutputTokens) * answers;
  const wish = (input: number): TokenWish => ({ least: Math.max(1, input + (named ?? 0)), most: input + most });
  const text = shortText(chat);
  if (text !== undefined) return wish(countTokens(text) + TURN_TOKENS * chat.messages.length);
  return promptTokens(chat).then(wish);
}

/** All text of a short prompt of nothing but text. */
function shortText(chat: ChatRequest): string | undefined {
  if (chat.tools.length > 0) return undefined;
  let text = "";
  for (const { content } of chat.messages) {
    for (const part of content) {
      if (part.type !== "text") return undefined;
      text += `${part.text}\n`;
      if (text.length > SHORT_CHARACTERS) return undefined;
    }
  }
  return text;
}
