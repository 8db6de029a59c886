// Reads content blocks of the messages format into neutral parts. Unknown kinds of blocks become opaque parts, so that an
// upstream of the same protocol gets them.

import { isRecord } from "../../base/json-object.ts";
import type {
  AssistantContent,
  CacheControl,
  ChatMessage,
  FilePart,
  ImagePart,
  MediaSource,
  OpaquePart,
  SystemContent,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import * as check from "../check.ts";
import { typedPart, typedResult } from "../media-parts.ts";
import { type CarriedPart, callSeal, fromCarried, uncarry } from "../seal-envelopes.ts";

/** The protocol's name in `origin`. */
export const MESSAGES_ORIGIN = "anthropic-messages";

/** Reads system text, given as a string or as text blocks. Empty texts are left out, since upstreams refuse them. */
export function readSystem(value: unknown, path: string): SystemContent[] {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  return blocks(value, path).map(([block, at]) => (block["type"] === "text" ? readText(block, at) : opaque(block)));
}

/** Reads a user turn. Tool results become a separate `tool` message; the order is kept. */
export function readUser(value: unknown, path: string): ChatMessage[] {
  if (typeof value === "string") return [{ role: "user", content: [{ type: "text", text: value }] }];
  const messages: ChatMessage[] = [];
  for (const [block, at] of blocks(value, path)) {
    const last = messages.at(-1);
    if (block["type"] === "tool_result") {
      const part = readToolResult(block, at);
      if (last?.role === "tool") last.content.push(part);
      else messages.push({ role: "tool", content: [part] });
    } else {
      const part = readUserBlock(block, at);
      if (last?.role === "user") last.content.push(part);
      else messages.push({ role: "user", content: [part] });
    }
  }
  return messages;
}

/** Reads an assistant turn. Signatures of other protocols, which the client carried, are restored. */
export function readAssistant(value: unknown, path: string): AssistantContent[] {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  const parts: AssistantContent[] = [];
  const signatures = new Map<string, CarriedPart>();
  for (const [block, at] of blocks(value, path)) {
    const part = readAssistantBlock(block, at);
    if (part.type === "reasoning" && "callId" in part && part.callId !== undefined) signatures.set(part.callId, part);
    else parts.push(part);
  }
  if (signatures.size > 0) {
    for (const part of parts) {
      if (part.type === "tool-call") Object.assign(part, callSeal(signatures.get(part.callId)));
    }
  }
  return parts;
}

function blocks(value: unknown, path: string): [check.Fields, string][] {
  if (value !== undefined && value !== null && typeof value !== "string" && !Array.isArray(value)) {
    check.reject(path, `Invalid '${path}': expected a string or an array of content blocks.`);
  }
  return check.expectList(value, path).map((element, i) => {
    const where = check.at(path, i);
    const block = check.expectFields(element, where);
    check.need(block, "type", check.expectText, where);
    return [block, where];
  });
}

function readUserBlock(block: check.Fields, path: string): UserContent {
  switch (block["type"]) {
    case "text":
      return readText(block, path);
    case "image":
      return typedPart(readImage(block, path));
    case "document":
      return typedPart(readDocument(block, path));
    case "tool_use":
    case "thinking":
    case "redacted_thinking":
      return check.reject(
        check.at(path, "type"),
        `Invalid '${check.at(path, "type")}': this type is only allowed in an assistant message.`,
      );
    default:
      return opaque(block);
  }
}

function readAssistantBlock(block: check.Fields, path: string): AssistantContent | CarriedPart {
  switch (block["type"]) {
    case "text":
      return readText(block, path);
    case "image":
      return readImage(block, path);
    case "tool_use":
      return readToolUse(block, path);
    case "thinking":
      return readThinking(block, path);
    case "redacted_thinking":
      return reasoning("", check.need(block, "data", check.expectText, path), "redacted");
    case "tool_result":
      return check.reject(
        check.at(path, "type"),
        `Invalid '${check.at(path, "type")}': a tool result is only allowed in a user message.`,
      );
    default:
      return opaque(block);
  }
}

function readText(block: check.Fields, path: string): TextPart {
  return {
    type: "text",
    text: check.need(block, "text", check.expectString, path),
    ...cache(block, path),
    ...check.given({ annotations: check.maybe(block, "citations", citations, path) }),
  };
}

/** Reads the citations of a text, which are a list. In documents of requests, the same name is an object with settings. */
function citations(value: unknown): unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}

function readImage(block: check.Fields, path: string): ImagePart {
  const where = check.at(path, "source");
  return {
    type: "image",
    source: readMedia(check.need(block, "source", check.expectFields, path), where),
    ...cache(block, path),
  };
}

function readDocument(block: check.Fields, path: string): FilePart | OpaquePart {
  const source = check.need(block, "source", check.expectFields, path);
  const where = check.at(path, "source");
  if (source["type"] === "content") return opaque(block);
  return {
    type: "file",
    source:
      source["type"] === "text"
        ? { kind: "text", text: check.need(source, "data", check.expectString, where) }
        : readMedia(source, where),
    ...check.given({
      filename: check.maybe(block, "title", check.expectString, path),
      context: check.maybe(block, "context", check.expectString, path),
    }),
    ...cache(block, path),
  };
}

function readMedia(source: check.Fields, path: string): MediaSource {
  switch (check.need(source, "type", check.expectString, path)) {
    case "base64":
      return {
        kind: "base64",
        mediaType: check.need(source, "media_type", check.expectText, path),
        data: check.need(source, "data", check.expectText, path),
      };
    case "url":
      return { kind: "url", url: check.need(source, "url", check.expectText, path) };
    case "file":
      return { kind: "file", fileId: check.need(source, "file_id", check.expectText, path) };
    default:
      return check.reject(
        check.at(path, "type"),
        `Invalid '${check.at(path, "type")}': '${source["type"]}' is not a source type.`,
      );
  }
}

function readToolUse(block: check.Fields, path: string): ToolCallPart {
  return {
    type: "tool-call",
    callId: check.need(block, "id", check.expectText, path),
    name: check.need(block, "name", check.expectText, path),
    kind: "function",
    arguments: JSON.stringify(check.maybe(block, "input", check.expectFields, path) ?? {}),
    ...cache(block, path),
  };
}

function readToolResult(block: check.Fields, path: string): ToolResultPart {
  return {
    type: "tool-result",
    callId: check.need(block, "tool_use_id", check.expectText, path),
    content: readResultContent(block["content"], check.at(path, "content")),
    ...check.given({ isError: check.maybe(block, "is_error", check.expectBoolean, path) }),
    ...cache(block, path),
  };
}

function readResultContent(value: unknown, path: string): ToolResultPart["content"] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ type: "text", text: value }];
  return blocks(value, path).map(([block, where]) => {
    if (block["type"] === "text") return readText(block, where);
    if (block["type"] === "image") return typedResult(readImage(block, where));
    if (block["type"] === "document") return typedResult(readDocument(block, where));
    return opaque(block);
  });
}

function readThinking(block: check.Fields, path: string): CarriedPart {
  const text = check.need(block, "thinking", check.expectString, path);
  const signature = check.maybe(block, "signature", check.expectString, path) ?? "";
  return signature === "" ? { type: "reasoning", text } : reasoning(text, signature, "signature");
}

function reasoning(text: string, value: string, kind: "signature" | "redacted"): CarriedPart {
  const carried = uncarry(value);
  if (carried === undefined) return { type: "reasoning", text, [kind]: value, origin: MESSAGES_ORIGIN };
  return fromCarried(text, carried);
}

function opaque(block: check.Fields): OpaquePart {
  return { type: "opaque", origin: MESSAGES_ORIGIN, value: block };
}

/** The prompt-cache marker of a block or tool. */
export function cache(block: check.Fields, path: string): { cacheControl?: CacheControl } {
  if (!isRecord(block["cache_control"]))
    return check.given({ cacheControl: check.maybe(block, "cache_control", check.expectFields, path) });
  return { cacheControl: block["cache_control"] };
}
