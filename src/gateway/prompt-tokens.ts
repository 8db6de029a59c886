// Estimates the tokens of a request if no provider counts them.

import type { ChatRequest } from "../chat/request.ts";
import { TokenCounter } from "../tokens/count.ts";
import { promptText } from "./meter.ts";

/**
 * The tokens of a large image: Anthropic counts width × height / 750 and scales images down to about 1.15 megapixels. The gateway
 * does not examine pixels.
 */
const IMAGE_TOKENS = 1600;
/** The tokens assumed for a document. A page has about 1,500 to 3,000 tokens; documents are not opened here. */
const DOCUMENT_TOKENS = 3000;
/** Tokens of the role and the separators around a message, and around a tool. */
const TURN_TOKENS = 4;
const TOOL_TOKENS = 8;

/** The tokens of the messages, tools and media of a request. */
export async function promptTokens(chat: ChatRequest): Promise<number> {
  const counter = new TokenCounter();
  let tokens = (await counter.count(promptText(chat))) + TURN_TOKENS * chat.messages.length;
  for (const tool of chat.tools) {
    tokens += TOOL_TOKENS + (tool.type === "server" ? await counter.count(JSON.stringify(tool.value)) : 0);
  }
  for (const message of chat.messages) for (const part of message.content) tokens += await mediaTokens(part, counter);
  return tokens;
}

async function mediaTokens(
  part: ChatRequest["messages"][number]["content"][number],
  counter: TokenCounter,
): Promise<number> {
  switch (part.type) {
    case "image":
      return IMAGE_TOKENS;
    case "file":
      return part.source.kind === "text" ? counter.count(part.source.text) : DOCUMENT_TOKENS;
    case "opaque":
      return counter.count(JSON.stringify(part.value));
    case "tool-result": {
      let tokens = 0;
      for (const inner of part.content) tokens += await mediaTokens(inner, counter);
      return tokens;
    }
    default:
      return 0;
  }
}
