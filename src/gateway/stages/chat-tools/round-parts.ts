// Parts of the conversation that the rounds of an answer make.

import type { AssistantContent, ChatMessage, ToolChoice, ToolResultPart } from "../../../chat/request.ts";
import type { ResultBlock } from "../../../chat/result.ts";
import { isSealedHere } from "../compaction/seal.ts";
import type { OwnCall } from "./hear.ts";

/** A message whose results have their texts, if they waited for them. */
export function toldIn(message: ChatMessage, texts: ReadonlyMap<string, string>): ChatMessage {
  if (message.role !== "tool" || texts.size === 0) return message;
  return { ...message, content: message.content.map((one) => told(one, texts)) };
}

/** A result with its text, if it waited for it. */
function told(result: ToolResultPart, texts: ReadonlyMap<string, string>): ToolResultPart {
  const text = result.content.length === 0 ? texts.get(result.callId) : undefined;
  return text === undefined ? result : { ...result, content: [{ type: "text", text }] };
}

/** A choice that lets the model answer too. */
export function freed(choice: ToolChoice): ToolChoice {
  return choice.type === "allowed" ? { ...choice, mode: "auto" } : choice;
}

/** What a call gave, for the model. */
export function resultOfCall({ callId, tool }: OwnCall, text: string): ToolResultPart {
  return { type: "tool-result", callId, name: tool.name, content: [{ type: "text", text }] };
}

/** A block of a round as a part of the conversation. */
export function contentOf(block: ResultBlock, owns: ReadonlyMap<string, OwnCall>): AssistantContent[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: block.refusal === true ? "refusal" : "text", text: block.text }];
    case "reasoning":
      return [block];
    case "opaque":
      // The gateway's record of the conversation stands before the answer; the model was given what it says.
      return Object.values(block.value).some((value) => typeof value === "string" && isSealedHere(value))
        ? []
        : [block];
    case "image":
      return [{ type: "image", source: block.source }];
    case "tool-call": {
      const { itemId: _itemId, ...call } = block;
      return [{ ...call, callId: owns.get(block.callId)?.callId ?? block.callId }];
    }
    default:
      return [];
  }
}
