// Estimates the tokens of a request if no provider counts them.

import type { ChatRequest } from "../../chat/request.ts";
import { TokenCounter } from "../../tokens/count.ts";
import { mediaOf } from "./media-tokens.ts";
import { promptTexts } from "./meter.ts";

/** Tokens of the role and the separators around a message. */
export const TURN_TOKENS = 4;
/** The same around a tool. */
const TOOL_TOKENS = 8;

/** The tokens of the messages, tools and media of a request. */
export async function promptTokens(chat: ChatRequest): Promise<number> {
  const counter = new TokenCounter();
  let tokens = (await counter.count(promptTexts(chat).join("\n"))) + TURN_TOKENS * chat.messages.length;
  for (const tool of chat.tools) {
    tokens += TOOL_TOKENS + (tool.type === "server" ? await counter.count(JSON.stringify(tool.value)) : 0);
  }
  for (const { tokens: known, text } of mediaOf(chat)) tokens += known + (await counter.count(text));
  return tokens;
}
