// Refuses a prompt that is certainly longer than the model's context, before an upstream is called. The bound is one that holds for
// every vendor's vocabulary, so that no prompt is refused that would fit; a prompt that is only slightly too long is refused by its
// provider, which alone can count exactly.

import { ApiError } from "../../base/errors.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import type { ChatRequest, ToolResultPart } from "../../chat/request.ts";
import { TOKEN_BYTES_MAX } from "../../tokens/ranks.ts";

/** Parameters with which providers shorten a prompt that is too long, ignore a part of it, or take another model for it. */
const SHORTENING = [
  "context_management",
  "compaction",
  "transforms",
  "plugins",
  "models",
  "truncate_prompt_tokens",
  "prompt_truncate_len",
  "context_length_exceeded_behavior",
] as const;

/** Values of the header `anthropic-beta` that request a larger context than the model's usual one. */
const LARGER_CONTEXT = /\bcontext-\d+[km]\b/;

type Body = Readonly<Record<string, unknown>>;

/**
 * Throws 400 `context_length_exceeded` if the texts of the messages have more tokens than the context of any route, in case they are
 * known. `betas`: the headers in which a larger context may be requested.
 */
export function refuseTooLong(
  chat: ChatRequest,
  { body, betas }: { body: Body; betas: () => string },
  { id, largestContext: contextLength }: Pick<CatalogModel, "id" | "largestContext">,
): void {
  if (contextLength === undefined || !mayExceed(chat, contextLength) || isShortened(chat, body)) return;
  const least = leastTokens(chat);
  if (least <= contextLength || asksForLargerContext(betas())) return;
  // Coding agents recognise these words and then shorten the conversation.
  const message = `The prompt is too long: at least ${least} tokens > ${contextLength} tokens, the context length of "${id}".`;
  throw new ApiError("context_length_exceeded", message, {
    details: { input_tokens: least, context_window: contextLength },
  });
}

/** Whether `refuseTooLong` has anything to count. It is false for nearly all requests, and costs less. */
export function mayBeTooLong(chat: ChatRequest, { largestContext }: Pick<CatalogModel, "largestContext">): boolean {
  return largestContext !== undefined && mayExceed(chat, largestContext);
}

/** Whether the client's or the operator's betas request a larger context than the model's usual one. */
export function asksForLargerContext(betas: string): boolean {
  return LARGER_CONTEXT.test(betas);
}

/** Whether the bound may be above the window. A word and the space before it are two characters. */
function mayExceed(chat: ChatRequest, window: number): boolean {
  let characters = 0;
  // As in `forEachText`, without a function: every request is looked at.
  for (const { content } of chat.messages) {
    for (const part of content) {
      if (part.type === "text") characters += part.text.length;
      else if (part.type === "tool-result") characters += charactersIn(part.content);
    }
  }
  return characters > 2 * window;
}

function charactersIn(content: ToolResultPart["content"]): number {
  let characters = 0;
  for (const inner of content) if (inner.type === "text") characters += inner.text.length;
  return characters;
}

function isShortened({ messages }: ChatRequest, body: Body): boolean {
  if (SHORTENING.some((name) => body[name] != null) || (body["truncation"] ?? "disabled") !== "disabled") return true;
  // What precedes a provider's own record of the conversation is ignored by that provider.
  return messages.some(({ content }) =>
    content.some((part) => part.type === "opaque" && String(part.value["type"]).startsWith("compaction")),
  );
}

/** The least number of tokens that the texts have in any vocabulary. */
function leastTokens(chat: ChatRequest): number {
  let characters = 0;
  let words = 0;
  forEachText(chat, (text) => {
    characters += text.length;
    words += wordsIn(text);
  });
  return Math.max(words, Math.ceil(characters / TOKEN_BYTES_MAX));
}

/** The number of words after white space. No vocabulary has a token that contains parts of two words and the space between. */
function wordsIn(text: string): number {
  let words = 0;
  let afterSpace = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (afterSpace && isLetterOrDigit(code)) words++;
    afterSpace = code <= 0x20;
  }
  return words;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}

/** Calls `take` with each text that every provider reads: not with reasoning and calls, which some leave out. */
function forEachText({ messages }: ChatRequest, take: (text: string) => void): void {
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === "text") take(part.text);
      else if (part.type === "tool-result") {
        for (const inner of part.content) if (inner.type === "text") take(inner.text);
      }
    }
  }
}
