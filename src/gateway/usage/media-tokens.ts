// How many tokens the parts of a request have that are not text of the conversation.

import type { ChatRequest } from "../../chat/request.ts";
import { countTokens } from "../../tokens/count.ts";

/**
 * The tokens of a large image: Anthropic counts width × height / 750 and scales images down to about 1.15 megapixels. The gateway
 * does not examine pixels.
 */
const IMAGE_TOKENS = 1600;
/** The tokens assumed for a document. A page has about 1,500 to 3,000 tokens; documents are not opened here. */
const DOCUMENT_TOKENS = 3000;

/** A part, as a number of tokens and as text that must be counted. */
interface MediaPart {
  readonly tokens: number;
  readonly text: string;
}

type Part = ChatRequest["messages"][number]["content"][number];

/** The parts of a request that are not text of the conversation. */
export function mediaOf(chat: ChatRequest): MediaPart[] {
  return chat.messages.flatMap(({ content }) => content.flatMap(partsOf));
}

/** The tokens of these parts. */
export function mediaTokens(chat: ChatRequest): number {
  return mediaOf(chat).reduce((sum, { tokens, text }) => sum + tokens + countTokens(text), 0);
}

function partsOf(part: Part): MediaPart[] {
  switch (part.type) {
    case "image":
      return [{ tokens: IMAGE_TOKENS, text: "" }];
    case "file":
      return part.source.kind === "text"
        ? [{ tokens: 0, text: part.source.text }]
        : [{ tokens: DOCUMENT_TOKENS, text: "" }];
    case "opaque":
      return [{ tokens: 0, text: JSON.stringify(part.value) }];
    case "tool-result":
      return part.content.flatMap(partsOf);
    default:
      return [];
  }
}
