// Reads input items of the responses format into neutral turns. Unknown kinds of items become opaque parts, so that an upstream
// of the same protocol gets them.

import { isRecord } from "../../base/json-object.ts";
import type { Directions } from "../../chat/directions.ts";
import type {
  AssistantContent,
  ChatMessage,
  FilePart,
  ImagePart,
  MediaSource,
  OpaquePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import {
  at,
  expectFields,
  expectList,
  expectOneOf,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
} from "../check.ts";
import { readBreakpoint, readDataUrl, typedPart, typedResult } from "../media-parts.ts";
import { type CarriedPart, callSeal, fromCarried, uncarry } from "../seal-envelopes.ts";
import { readTextOptions } from "./text-options.ts";
import { RESPONSES_ORIGIN, readTools } from "./tools.ts";

/** The content of the input: the turns, and what it directs (`additional_tools`, `configuration_update`). */
export interface Input {
  messages: ChatMessage[];
  directions: Directions;
}

/** Reads the input: a string is one user message, an array contains items. */
export function readInput(value: unknown, path: string): Input {
  if (typeof value === "string") {
    return { messages: [{ role: "user", content: [{ type: "text", text: value }] }], directions: { changes: [] } };
  }
  if (value !== undefined && !Array.isArray(value)) {
    reject(path, `Invalid '${path}': expected a string or an array of input items.`);
  }
  const turns = new Turns();
  expectList(value, path).forEach((element, i) => {
    readItem(expectFields(element, at(path, i)), at(path, i), turns);
  });
  return { messages: turns.messages, directions: turns.directions };
}

/**
 * Groups items into turns. The items of one answer (reasoning, text, calls) become one assistant turn, and results become another
 * turn.
 */
class Turns {
  readonly messages: ChatMessage[] = [];
  readonly directions: Directions = { changes: [] };
  /** The signatures of tool calls, which come before the calls. */
  readonly signatures = new Map<string, CarriedPart>();

  assistant(parts: AssistantContent[]): void {
    const last = this.messages.at(-1);
    // Two consecutive messages stay separate turns, since their texts are separate.
    const apart = parts.some(isSaid) && last?.role === "assistant" && last.content.some(isSaid);
    if (last?.role === "assistant" && !apart) last.content.push(...parts);
    else this.messages.push({ role: "assistant", content: parts });
  }

  /** Declares tools within the input. `loads`: also deferred ones are offered. */
  declare(tools: unknown, path: string, loads = false): void {
    for (const declared of readTools(tools, at(path, "tools"))) {
      const own = loads ? { ...declared, deferred: false } : declared;
      this.directions.changes.push({ type: "define", declared: own });
    }
  }

  result(part: ToolResultPart): void {
    const last = this.messages.at(-1);
    if (last?.role === "tool") last.content.push(part);
    else this.messages.push({ role: "tool", content: [part] });
  }
}

function isSaid(part: AssistantContent): boolean {
  return part.type === "text" || part.type === "refusal";
}

function readItem(item: Fields, path: string, turns: Turns): void {
  const type =
    item["type"] ?? (item["role"] === undefined && typeof item["id"] === "string" ? "item_reference" : "message");
  switch (expectText(type, at(path, "type"))) {
    case "message":
      readMessage(item, path, turns);
      break;
    case "function_call":
    case "custom_tool_call":
      turns.assistant([readCall(item, path, turns)]);
      break;
    case "function_call_output":
      if ((item["call_id"] ?? undefined) === undefined) {
        turns.messages.push({ role: "user", content: readUncalled(item, path) });
        break;
      }
      turns.result(readResult(item, path));
      break;
    case "custom_tool_call_output":
      turns.result(readResult(item, path));
      break;
    case "reasoning":
      readReasoning(item, path, turns);
      break;
    case "additional_tools":
      turns.declare(item["tools"], path);
      break;
    case "configuration_update":
      readUpdate(item, path, turns.directions);
      break;
    case "tool_search_output":
      // Tools that a search found can be called from here on.
      if (Array.isArray(item["tools"])) turns.declare(item["tools"], path, true);
      turns.assistant([opaque(item)]);
      break;
    default:
      readOther(item, String(type), turns);
  }
}

/** Reads new settings, each of which is in force until the next one. */
function readUpdate(item: Fields, path: string, directions: Directions): void {
  const reasoning = maybe(item, "reasoning", expectFields, path) ?? {};
  directions.effort = maybe(reasoning, "effort", expectString, at(path, "reasoning")) ?? directions.effort;
  const { verbosity, responseFormat } = readTextOptions(item, path);
  directions.verbosity = verbosity ?? directions.verbosity;
  directions.responseFormat = responseFormat ?? directions.responseFormat;
}

/**
 * Reads an item of another type. Items that clients add (outputs, approvals) belong to the user; items that models create belong
 * to the assistant.
 */
function readOther(item: Fields, type: string, turns: Turns): void {
  const part: OpaquePart = { type: "opaque", origin: RESPONSES_ORIGIN, value: item };
  if (type.endsWith("_output") || type.endsWith("_response")) turns.messages.push({ role: "user", content: [part] });
  else turns.assistant([part]);
}

function readMessage(item: Fields, path: string, turns: Turns): void {
  const role = need(item, "role", expectOneOf("user", "assistant", "system", "developer"), path);
  const content = item["content"];
  const where = at(path, "content");
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
    reject(where, `Invalid '${where}': expected a string or an array of content parts.`);
  }
  if (role === "assistant") {
    const parts = readParts(content, where, readAssistantPart);
    if (parts.length > 0) turns.assistant(parts);
  } else if (role === "user") {
    turns.messages.push({ role, content: readParts(content, where, readUserPart) });
  } else {
    turns.messages.push({ role: "system", content: readParts(content, where, readSystemPart) });
  }
}

function readParts<T>(value: unknown, path: string, read: (part: Fields, path: string) => T): (T | TextPart)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return expectList(value, path).map((element, i) => {
    const part = expectFields(element, at(path, i));
    need(part, "type", expectText, at(path, i));
    return read(part, at(path, i));
  });
}

function readSystemPart(part: Fields, path: string): TextPart | OpaquePart {
  return isText(part) ? readText(part, path) : opaque(part);
}

function readUserPart(part: Fields, path: string): UserContent {
  return typedPart(readNamedPart(part, path));
}

/** Reads a part as its name says. */
function readNamedPart(part: Fields, path: string): UserContent {
  if (isText(part)) return readText(part, path);
  switch (part["type"]) {
    case "input_image":
    case "image_url":
      return readImage(part, path);
    case "input_file":
      return readFile(part, path);
    case "input_audio": {
      const audio = need(part, "input_audio", expectFields, path);
      const where = at(path, "input_audio");
      return {
        type: "audio",
        data: need(audio, "data", expectText, where),
        format: need(audio, "format", expectText, where),
      };
    }
    default:
      return opaque(part);
  }
}

function readAssistantPart(part: Fields, path: string): AssistantContent {
  if (isText(part)) return readText(part, path);
  if (part["type"] === "refusal") return { type: "refusal", text: need(part, "refusal", expectString, path) };
  return part["type"] === "input_image" ? readImage(part, path) : opaque(part);
}

function isText(part: Fields): boolean {
  return part["type"] === "input_text" || part["type"] === "output_text" || part["type"] === "text";
}

function readText(part: Fields, path: string): TextPart {
  const annotations = part["annotations"];
  return {
    type: "text",
    text: need(part, "text", expectString, path),
    ...(Array.isArray(annotations) && annotations.length > 0 ? { annotations } : {}),
    ...cache(part, path),
  };
}

function cache(part: Fields, path: string): { cacheControl?: Fields } {
  return given({ cacheControl: readBreakpoint(part, path) });
}

/** Reads an image. `image_url` is a string, or an object as in chat completions. */
function readImage(part: Fields, path: string): ImagePart {
  const where = at(path, "image_url");
  const fileId = maybe(part, "file_id", expectText, path);
  const nested = isRecord(part["image_url"]) ? part["image_url"] : undefined;
  const detail = maybe(part, "detail", expectString, path) ?? (nested && maybe(nested, "detail", expectString, where));
  const source: MediaSource =
    fileId === undefined
      ? readUrl(nested ? need(nested, "url", expectText, where) : need(part, "image_url", expectText, path))
      : { kind: "file", fileId };
  return { type: "image", source, ...given({ detail }), ...cache(part, path) };
}

/** Reads a URL. A data URL becomes its bytes; `file-…` instead of a URL is the id of an uploaded file. */
function readUrl(url: string): MediaSource {
  if (url.startsWith("file-")) return { kind: "file", fileId: url };
  return readDataUrl(url) ?? { kind: "url", url };
}

function readFile(part: Fields, path: string): FilePart {
  const filename = maybe(part, "filename", expectString, path);
  const fileId = maybe(part, "file_id", expectText, path);
  const url = maybe(part, "file_url", expectText, path);
  let source: FilePart["source"];
  if (fileId !== undefined) source = { kind: "file", fileId };
  else if (url !== undefined) source = readUrl(url);
  else {
    const data = need(part, "file_data", expectText, path);
    source = readDataUrl(data) ?? { kind: "base64", mediaType: "application/pdf", data };
  }
  return { type: "file", source, ...given({ filename }), ...cache(part, path) };
}

function readCall(item: Fields, path: string, turns: Turns): ToolCallPart {
  const custom = item["type"] === "custom_tool_call";
  const callId = need(item, "call_id", expectText, path);
  return {
    type: "tool-call",
    callId,
    name: need(item, "name", expectText, path),
    kind: custom ? "custom" : "function",
    arguments: need(item, custom ? "input" : "arguments", expectString, path),
    ...given({
      namespace: maybe(item, "namespace", expectText, path),
      itemId: maybe(item, "id", expectText, path),
    }),
    ...callSeal(turns.signatures.get(callId)),
  };
}

/** Reads a result that names no call, as the user's: only the name of its tool says where it comes from. */
function readUncalled(item: Fields, path: string): UserContent[] {
  const name = maybe(item, "name", expectText, path);
  const title = `Result of ${name === undefined ? "a tool" : `the tool ${name}`}:`;
  const [first, ...rest] = readOutput(item, path);
  if (first?.type === "text") return [{ ...first, text: `${title} ${first.text}` }, ...rest];
  return [{ type: "text", text: title }, ...(first === undefined ? [] : [first, ...rest])];
}

function readResult(item: Fields, path: string): ToolResultPart {
  return {
    type: "tool-result",
    callId: need(item, "call_id", expectText, path),
    content: readOutput(item, path),
    ...given({ name: maybe(item, "name", expectText, path) }),
    kind: item["type"] === "custom_tool_call_output" ? "custom" : "function",
  };
}

function readOutput(item: Fields, path: string): ToolResultPart["content"] {
  const output = item["output"];
  const where = at(path, "output");
  if (output !== undefined && output !== null && typeof output !== "string" && !Array.isArray(output)) {
    reject(where, `Invalid '${where}': expected a string or an array of content parts.`);
  }
  return readParts(output, where, readNamedPart).map((part, i) =>
    part.type === "audio" ? opaque((output as Fields[])[i] as Fields) : typedResult(part),
  );
}

function readReasoning(item: Fields, path: string, turns: Turns): void {
  const summary = textsOf(item, "summary", path);
  const text = textsOf(item, "content", path).join("");
  const encrypted = maybe(item, "encrypted_content", expectString, path);
  const itemId = maybe(item, "id", expectText, path);
  const carried = encrypted === undefined ? undefined : uncarry(encrypted);
  // The envelope in a stored answer only contains the value; all other members are in the item itself, as in this protocol's own
  // items.
  const own = carried?.stored === undefined ? encrypted : carried.encrypted;
  if (carried !== undefined && carried.stored === undefined) {
    const part = fromCarried(text === "" ? summary.join("\n\n") : text, carried);
    if (part.callId !== undefined) turns.signatures.set(part.callId, part);
    else turns.assistant([part]);
    return;
  }
  const part: ReasoningPart = {
    type: "reasoning",
    text,
    ...given({ itemId, encrypted: own, summary: summary.length > 0 ? summary : undefined, minter: carried?.minter }),
    ...(own === undefined ? {} : { origin: RESPONSES_ORIGIN }),
  };
  turns.assistant([part]);
}

function textsOf(item: Fields, key: string, path: string): string[] {
  const where = at(path, key);
  return (maybe(item, key, expectList, path) ?? []).map((element, i) =>
    need(expectFields(element, at(where, i)), "text", expectString, at(where, i)),
  );
}

function opaque(part: Fields): OpaquePart {
  return { type: "opaque", origin: RESPONSES_ORIGIN, value: part };
}
