// The messages of a messages request as compaction reads and changes them.

import type { Element, Entry, EntryFormat, Piece, ResultPiece } from "../../chat/entries.ts";
import { isFields } from "../check.ts";
import { isBound, MEDIA, mediaLabel, resultPiece, textIn, unknownPiece } from "../entry-pieces.ts";

/** The list of messages. */
export const messagesEntries: EntryFormat = {
  member: "messages",
  list: (body) => (Array.isArray(body["messages"]) ? body["messages"].filter(isFields) : []),
  fixed: (body) => JSON.stringify([body["system"] ?? null, body["tools"] ?? null, body["output_config"] ?? null]),
  entry,
  withResults(element, say) {
    const content = element["content"];
    if (!Array.isArray(content)) return element;
    let changed = false;
    const blocks = content.map((block: unknown) => {
      if (!isFields(block) || block["type"] !== "tool_result") return block;
      const text = say(resultOf(block));
      if (text === undefined) return block;
      changed = true;
      return { ...block, content: text };
    });
    return changed ? { ...element, content: blocks } : element;
  },
  withoutReasoning(element) {
    const content = element["content"];
    if (element["role"] !== "assistant" || !Array.isArray(content)) return element;
    const left = content.filter((block: unknown) => !isFields(block) || !isBoundThinking(block));
    if (left.length === content.length) return element;
    return left.length === 0 ? undefined : { ...element, content: left };
  },
  withText: (element, text) => ({ ...element, content: [...mediaOf(element), { type: "text", text }] }),
  userMessage: (text) => ({ role: "user", content: [{ type: "text", text }] }),
};

function isBoundThinking(block: Element): boolean {
  if (block["type"] === "thinking") return isBound(block["signature"]);
  return block["type"] === "redacted_thinking" && isBound(block["data"]);
}

function entry(element: Element): Entry {
  const content = element["content"];
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const pieces = blocks.map((block: unknown) => (isFields(block) ? pieceOf(block) : unknownPiece(block)));
  const role = element["role"];
  if (role === "assistant" || role === "system") return { role, pieces };
  const onlyResults = pieces.length > 0 && pieces.every((piece) => piece.type === "result");
  return { role: onlyResults ? "tool" : "user", pieces };
}

function pieceOf(block: Element): Piece {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: textIn(block, "text") };
    case "thinking":
      return { type: "reasoning", text: textIn(block, "thinking") };
    case "redacted_thinking":
      return { type: "reasoning", text: "" };
    case "tool_use":
      return {
        type: "call",
        id: textIn(block, "id"),
        name: textIn(block, "name"),
        text: JSON.stringify(block["input"] ?? {}),
      };
    case "tool_result":
      return resultOf(block);
    case "compaction":
      return {
        type: "compaction",
        text: typeof block["content"] === "string" ? block["content"] : undefined,
        sealed: typeof block["encrypted_content"] === "string" ? block["encrypted_content"] : undefined,
      };
    default:
      return MEDIA.has(block["type"]) ? { type: "media", label: mediaLabel(block) } : unknownPiece(block);
  }
}

function resultOf(block: Element): ResultPiece {
  return resultPiece(textIn(block, "tool_use_id"), block["content"]);
}

function mediaOf(element: Element): unknown[] {
  const content = element["content"];
  return Array.isArray(content) ? content.filter((block: unknown) => isFields(block) && MEDIA.has(block["type"])) : [];
}
