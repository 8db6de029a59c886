// The messages of a messages request, as compaction reads and changes them.

import { isRecord } from "../../base/json-object.ts";
import type {
  CallPiece,
  CarriedRecord,
  Element,
  Entry,
  EntryFormat,
  OpenedRecord,
  Piece,
  ResultPiece,
} from "../../chat/entries.ts";
import {
  isBound,
  listIn,
  MEDIA,
  mediaLabel,
  parsedFields,
  resultPiece,
  textIn,
  unknownPiece,
} from "../entry-pieces.ts";
import { messagesEdits } from "./context-edits.ts";

/** The list of messages. */
export const messagesEntries: EntryFormat = {
  member: "messages",
  list: (body) => (Array.isArray(body["messages"]) ? body["messages"].filter(isRecord) : []),
  fixed: (body) => JSON.stringify([body["system"] ?? null, body["tools"] ?? null, body["output_config"] ?? null]),
  entry,
  withResults(element, say) {
    const content = element["content"];
    if (!Array.isArray(content)) return element;
    let changed = false;
    const blocks = content.map((block: unknown) => {
      if (!isRecord(block) || block["type"] !== "tool_result") return block;
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
    const left = content.filter((block: unknown) => !isRecord(block) || !isBoundThinking(block));
    if (left.length === content.length) return element;
    return left.length === 0 ? undefined : { ...element, content: left };
  },
  withText: (element, text) => ({ ...element, content: [...mediaOf(element), { type: "text", text }] }),
  userMessage: (text) => ({ role: "user", content: [{ type: "text", text }] }),
  expand,
  asksRecord({ compaction }) {
    if (!isRecord(compaction) || compaction["type"] !== "summarize") return undefined;
    const wish = compaction["instructions"];
    return { wish: typeof wish === "string" ? wish : undefined };
  },
  withoutAsking: ({ compaction: _compaction, ...body }) => body,
  record: ({ text, sealed }) => ({ type: "compaction", content: text, encrypted_content: sealed }),
  editing: {
    member: "context_management",
    edits: messagesEdits,
    failedRecord: { type: "compaction", content: null, encrypted_content: null },
    withoutThoughts(element) {
      const content = element["content"];
      if (element["role"] !== "assistant" || !Array.isArray(content)) return element;
      const left = content.filter((block: unknown) => !isRecord(block) || !THOUGHTS.has(block["type"]));
      if (left.length === content.length) return element;
      return left.length === 0 ? undefined : { ...element, content: left };
    },
    withoutInputs(element, clears) {
      const content = element["content"];
      if (!Array.isArray(content)) return element;
      let changed = false;
      const blocks = content.map((block: unknown) => {
        if (!isRecord(block) || block["type"] !== "tool_use" || !clears(callOf(block))) return block;
        changed = true;
        return { ...block, input: {} };
      });
      return changed ? { ...element, content: blocks } : element;
    },
  },
  answer: ({ content }) => (Array.isArray(content) ? [{ role: "assistant", content }] : []),
  streamed: ofEvents,
};

const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

function isBoundThinking(block: Element): boolean {
  if (block["type"] === "thinking") return isBound(block["signature"]);
  return block["type"] === "redacted_thinking" && isBound(block["data"]);
}

/**
 * Replaces everything up to the newest record by the record's content. A block without content is a failed record and is ignored.
 */
function expand(
  list: readonly Element[],
  open: (record: CarriedRecord, param: string) => OpenedRecord | undefined,
): readonly Element[] {
  for (let at = list.length - 1; at >= 0; at--) {
    const element = list[at]!;
    const blocks = listIn(element, "content");
    const j = blocks.findLastIndex((block) => isRecord(block) && block["type"] === "compaction" && isSaid(block));
    const block = blocks[j];
    if (!isRecord(block)) continue;
    const opened = open(carriedBy(block), `messages[${at}].content[${j}]`);
    if (opened === undefined) return list;
    const rest = blocks.slice(j + 1);
    const left = rest.length === 0 ? [] : [{ ...element, content: rest }];
    const before = "list" in opened ? opened.list : [messagesEntries.userMessage(opened.text), ...changesIn(block)];
    return [...before, ...left, ...list.slice(at + 1)];
  }
  return withoutFailed(list, open);
}

/** The tools that a record's messages added and removed, as the message that does the same. */
function changesIn(record: Element): Element[] {
  const content = listIn(record, "tool_changes");
  return content.length === 0 ? [] : [{ role: "system", content }];
}

/** The list without failed records, which only upstreams of this protocol ignore. */
function withoutFailed(
  list: readonly Element[],
  open: (record: CarriedRecord, param: string) => OpenedRecord | undefined,
): readonly Element[] {
  const isFailed = (block: unknown) => isRecord(block) && block["type"] === "compaction";
  const at = list.findIndex((element) => listIn(element, "content").some(isFailed));
  if (at < 0 || open({ text: "", sealed: undefined }, `messages[${at}]`) === undefined) return list;
  return list.flatMap((element) => {
    const blocks = listIn(element, "content");
    if (!blocks.some(isFailed)) return [element];
    const content = blocks.filter((block) => !isFailed(block));
    return content.length === 0 ? [] : [{ ...element, content }];
  });
}

function isSaid(block: Element): boolean {
  return typeof block["content"] === "string" || typeof block["encrypted_content"] === "string";
}

function carriedBy(block: Element): CarriedRecord {
  const { content, encrypted_content: sealed } = block;
  return {
    text: typeof content === "string" ? content : undefined,
    sealed: typeof sealed === "string" ? sealed : undefined,
  };
}

function entry(element: Element): Entry {
  const content = element["content"];
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const pieces = blocks.map((block: unknown) => (isRecord(block) ? pieceOf(block) : unknownPiece(block)));
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
      return callOf(block);
    case "tool_result":
      return resultOf(block);
    case "compaction":
      return { type: "compaction", ...carriedBy(block) };
    default:
      return MEDIA.has(block["type"]) ? { type: "media", label: mediaLabel(block) } : unknownPiece(block);
  }
}

function callOf(block: Element): CallPiece {
  const text = JSON.stringify(block["input"] ?? {});
  return { type: "call", id: textIn(block, "id"), name: textIn(block, "name"), text };
}

function resultOf(block: Element): ResultPiece {
  return resultPiece(textIn(block, "tool_use_id"), block["content"]);
}

function mediaOf(element: Element): unknown[] {
  const content = element["content"];
  return Array.isArray(content) ? content.filter((block: unknown) => isRecord(block) && MEDIA.has(block["type"])) : [];
}

/** Assembles the message of a stream from its blocks. */
function ofEvents(frames: readonly Element[]): Element[] {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const frame of frames) {
    const index = Number(frame["index"]);
    if (frame["type"] === "content_block_start" && isRecord(frame["content_block"])) {
      blocks[index] = { ...frame["content_block"] };
    } else if (frame["type"] === "content_block_delta" && isRecord(frame["delta"]) && blocks[index] !== undefined) {
      addDelta(blocks[index], frame["delta"], (text) => inputs.set(index, (inputs.get(index) ?? "") + text));
    }
  }
  for (const [index, text] of inputs) {
    const block = blocks[index];
    if (block !== undefined) block["input"] = parsedFields(text) ?? block["input"] ?? {};
  }
  const content = blocks.filter((block) => block !== undefined);
  return content.length === 0 ? [] : [{ role: "assistant", content }];
}

function addDelta(block: Record<string, unknown>, delta: Element, input: (text: string) => void): void {
  switch (delta["type"]) {
    case "text_delta":
      block["text"] = `${block["text"] ?? ""}${delta["text"]}`;
      break;
    case "thinking_delta":
      block["thinking"] = `${block["thinking"] ?? ""}${delta["thinking"]}`;
      break;
    case "signature_delta":
      block["signature"] = delta["signature"];
      break;
    case "citations_delta":
      block["citations"] = [
        ...(Array.isArray(block["citations"]) ? (block["citations"] as unknown[]) : []),
        delta["citation"],
      ];
      break;
    case "input_json_delta":
      input(String(delta["partial_json"] ?? ""));
      break;
    case "compaction_delta":
      for (const name of ["content", "encrypted_content"]) if (delta[name] !== undefined) block[name] = delta[name];
      break;
    default:
      break;
  }
}
